#include "window/dialogs/add_column_dialog.h"

#include <QCoreApplication>
#include <QDialogButtonBox>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QPushButton>
#include <QStyledItemDelegate>
#include <algorithm>
#include <atomic>

#include "study/session_editor.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"
#include "window/widgets/weight_picture.h"

namespace fovea {
namespace {

constexpr int picture_side = 48, gap = 8;
constexpr int variant_role = Qt::UserRole;  // its id; a heading has none

const Variant* variant_of(const QListWidgetItem& item) {
  const QString id = item.data(variant_role).toString();
  return id.isEmpty() ? nullptr : &find_variant(id.toStdString());
}

/// A picture, the name with the paper behind it, and a sentence of at most two lines.
class VariantDelegate : public QStyledItemDelegate {
 public:
  VariantDelegate(const AddColumnDialog& dialog, QListWidget* list)
      : QStyledItemDelegate(list), dialog_(dialog), list_(list) {}

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const bool heading = index.data(variant_role).toString().isEmpty();
    const int line = option.fontMetrics.lineSpacing();
    return {100, heading ? line + 2 * gap : std::max(picture_side, 3 * line) + gap};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    const Variant* variant = variant_of(*list_->item(index.row()));
    painter->save();
    if (variant)
      draw(*painter, option, *variant);
    else
      draw_heading(*painter, option, index.data().toString());
    painter->restore();
  }

 private:
  static void draw_heading(QPainter& painter, const QStyleOptionViewItem& option,
                           const QString& text) {
    QFont bold = option.font;
    bold.setBold(true);
    painter.setFont(bold);
    painter.setPen(option.palette.color(QPalette::Disabled, QPalette::Text));
    painter.drawText(option.rect.adjusted(gap, 0, -gap, 0), Qt::AlignLeft | Qt::AlignVCenter, text);
  }

  void draw(QPainter& painter, const QStyleOptionViewItem& option, const Variant& variant) const {
    const VariantCard* card = dialog_.card(variant);
    const bool selected = option.state & QStyle::State_Selected;
    const bool enabled = option.state & QStyle::State_Enabled;
    const auto group = enabled ? QPalette::Active : QPalette::Disabled;
    if (selected) painter.fillRect(option.rect, option.palette.highlight());
    const QColor ink =
        option.palette.color(group, selected ? QPalette::HighlightedText : QPalette::Text);
    QColor faint = ink;
    if (!selected) faint.setAlphaF(0.65f);
    const QRect picture(option.rect.left() + gap,
                        option.rect.top() + (option.rect.height() - picture_side) / 2, picture_side,
                        picture_side);
    if (card && !card->picture.empty())
      painter.drawImage(picture, weight_picture(card->picture, colormap_for(Palette::sequential,
                                                                            dialog_.colours())));
    painter.setPen(faint);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(picture.adjusted(0, 0, -1, -1));

    QRect text = option.rect.adjusted(picture_side + 3 * gap, gap / 2, -gap, -gap / 2);
    QFont bold = option.font;
    bold.setBold(true);
    const QFontMetrics bold_metrics(bold), metrics(option.font);
    const QString name = to_qt(variant.label);
    painter.setFont(bold);
    painter.setPen(ink);
    painter.drawText(text, Qt::AlignLeft | Qt::AlignTop, name);
    const int behind = bold_metrics.horizontalAdvance(name) + 2 * gap;
    painter.setFont(option.font);
    painter.setPen(faint);
    painter.drawText(
        text.adjusted(behind, 0, 0, 0), Qt::AlignLeft | Qt::AlignTop,
        metrics.elidedText(to_qt(variant.paper), Qt::ElideRight, text.width() - behind));
    text.setTop(text.top() + bold_metrics.lineSpacing());
    painter.setPen(ink);
    painter.drawText(
        text, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap,
        card && !card->refused.empty() ? to_qt(card->refused) : to_qt(variant.summary));
  }

  const AddColumnDialog& dialog_;
  QListWidget* list_;
};

}  // namespace

AddColumnDialog::AddColumnDialog(Study& study, SessionEditor& editor, QWidget* parent)
    : QDialog(parent),
      study_(study),
      editor_(editor),
      pictures_(study, RequestKind::thumbnail),
      colours_(study.session().settings.colormap) {
  setWindowTitle("Add columns");
  setObjectName("add_columns");
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(12, 12, 12, 12);
  column->setSpacing(rhythm);
  column->addWidget(words_ = new QLineEdit);
  words_->setObjectName("variant_words");
  words_->setAccessibleName("Filter");
  words_->setPlaceholderText("Type to filter, for example: sparse, tree, Choromanski");
  words_->setClearButtonEnabled(true);
  words_->installEventFilter(this);
  column->addWidget(list_ = new QListWidget, 1);
  list_->setObjectName("variants");
  list_->setAccessibleName("Variants");
  list_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  list_->setItemDelegate(new VariantDelegate(*this, list_));
  column->addWidget(make_note("Pictures: the first " + QString::number(VariantCard::most_tokens) +
                              " tokens of the opened head. Ctrl or Shift and a click choose "
                              "several."));
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  add_ = buttons->addButton("&Add", QDialogButtonBox::AcceptRole);
  add_->setObjectName("add");
  add_->setDefault(true);
  column->addWidget(buttons);
  connect(words_, &QLineEdit::textChanged, this, &AddColumnDialog::filter);
  connect(list_, &QListWidget::itemSelectionChanged, this, &AddColumnDialog::refresh_button);
  connect(list_, &QListWidget::itemDoubleClicked, this, &AddColumnDialog::add_chosen);
  connect(buttons, &QDialogButtonBox::accepted, this, &AddColumnDialog::add_chosen);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  for (const auto signal : {&Study::session_changed, &Study::columns_changed})
    connect(&study_, signal, this, [this] {
      if (isVisible()) draw_pictures();
    });
  fill();
  resize(760, 640);
}

void AddColumnDialog::fill() {
  add_heading("What the others are compared with");
  add_item(reference_variant());
  for (const GroupKind& kind : groups()) {
    add_heading(kind.title);
    for (const Variant* variant : variants_of(kind.group))
      if (!variant->reference) add_item(*variant);
  }
  add_heading("In the file");
  add_item(imported_variant());
}

void AddColumnDialog::add_heading(const QString& title) {
  (new QListWidgetItem(title, list_))->setFlags(Qt::NoItemFlags);
}

void AddColumnDialog::add_item(const Variant& variant) {
  auto* item = new QListWidgetItem(to_qt(variant.label), list_);
  item->setData(variant_role, to_qt(variant.id));
  item->setData(Qt::AccessibleTextRole, to_qt(variant.label + ". " + variant.summary));
  item->setToolTip(to_qt(variant.formula));
}

void AddColumnDialog::open_dialog() {
  words_->clear();
  filter({});
  show();
  draw_pictures();
  raise();
  activateWindow();
  words_->setFocus();
}

const VariantCard* AddColumnDialog::card(const Variant& variant) const {
  const auto found = cards_.find(variant.id);
  return found == cards_.end() ? nullptr : &found->second;
}

/// Every word must occur in the texts of a variant. A heading without variants is hidden, and so
/// are imported results if the file holds none.
void AddColumnDialog::filter(const QString& words) {
  const auto head = study_.problem();
  const QStringList wanted = words.split(' ', Qt::SkipEmptyParts);
  QListWidgetItem *heading = nullptr, *first = nullptr;
  for (int row = 0; row < list_->count(); ++row) {
    QListWidgetItem* item = list_->item(row);
    const Variant* variant = variant_of(*item);
    if (!variant) {
      heading = item;
      heading->setHidden(true);
      continue;
    }
    const QString about = to_qt(variant->id + " " + variant->label + " " + variant->paper + " " +
                                variant->summary + " " + kind_of(variant->group).title);
    const bool fits = std::ranges::all_of(
        wanted, [&](const QString& word) { return about.contains(word, Qt::CaseInsensitive); });
    const bool shown = fits && (!variant->imported || (head && head->imported));
    item->setHidden(!shown);
    if (!shown) continue;
    heading->setHidden(false);
    if (!first && item->flags().testFlag(Qt::ItemIsEnabled)) first = item;
  }
  list_->clearSelection();
  list_->setCurrentItem(first);
  refresh_button();
}

/// Draws one picture after the other while the dialog is shown, and again for another head.
void AddColumnDialog::draw_pictures() {
  const auto problem = study_.problem();
  if (problem != problem_) {
    pictures_.stop();
    problem_ = problem;
    cards_.clear();
    for (int row = 0; row < list_->count(); ++row)
      if (variant_of(*list_->item(row)))
        list_->item(row)->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable);
  }
  if (colours_ != study_.session().settings.colormap) {
    colours_ = study_.session().settings.colormap;
    list_->viewport()->update();
  }
  if (!problem || pictures_.running() || cards_.size() == variants().size() || study_.paused())
    return;
  // A picture whose result was lost is drawn again: the next one is the first that the dialog
  // lacks.
  const auto next = std::make_shared<std::atomic<std::size_t>>(cards_.size());
  pictures_.start(
      [this, problem, next](const Backend& backend, Run& run) -> std::function<void()> {
        auto made = make_variant_card(variants()[*next], *problem, backend, run);
        return [this, next, made = std::move(made)]() mutable {
          take(std::move(made));
          *next = cards_.size();
        };
      },
      [this, problem] {
        return isVisible() && cards_.size() < variants().size() && study_.problem() == problem;
      });
}

void AddColumnDialog::take(VariantCard card) {
  for (int row = 0; row < list_->count(); ++row)
    if (QListWidgetItem* item = list_->item(row); variant_of(*item) == card.variant)
      if (!card.refused.empty()) item->setFlags(Qt::NoItemFlags);
  const std::string id = card.variant->id;
  cards_[id] = std::move(card);
  list_->viewport()->update();
  refresh_button();
}

void AddColumnDialog::refresh_button() {
  const auto count = list_->selectedItems().size();
  add_->setEnabled(count > 0);
  add_->setText(count > 1 ? "&Add " + QString::number(count) + " columns" : "&Add");
}

void AddColumnDialog::add_chosen() {
  std::vector<std::string> variants;
  for (int row = 0; row < list_->count(); ++row)
    if (const QListWidgetItem* item = list_->item(row); item->isSelected() && !item->isHidden())
      variants.push_back(variant_of(*item)->id);
  if (variants.empty()) return;
  accept();
  editor_.add_variants(variants);
  emit added();
}

/// Arrows and pages move in the list while one types.
bool AddColumnDialog::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Up || key == Qt::Key_Down || key == Qt::Key_PageUp ||
        key == Qt::Key_PageDown) {
      QCoreApplication::sendEvent(list_, event);
      return true;
    }
  }
  return QDialog::eventFilter(watched, event);
}

void AddColumnDialog::hideEvent(QHideEvent* event) {
  pictures_.stop();
  QDialog::hideEvent(event);
}

}  // namespace fovea

#include "moc_add_column_dialog.cpp"
