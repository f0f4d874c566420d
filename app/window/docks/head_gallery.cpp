#include "window/docks/head_gallery.h"

#include <QContextMenuEvent>
#include <QMenu>
#include <QPainter>
#include <QSignalBlocker>
#include <QStyledItemDelegate>
#include <algorithm>
#include <cmath>

#include "drawing/colormap.h"
#include "figure/painter_ink.h"
#include "window/widgets/text.h"
#include "window/widgets/theme.h"
#include "window/widgets/weight_picture.h"

namespace fovea {
namespace {

constexpr int preferred_side = 44, cell_gap = 6;
constexpr std::size_t most_heads = 512;  // others are chosen by their number

class CardDelegate : public QStyledItemDelegate {
 public:
  explicit CardDelegate(HeadGallery& gallery) : QStyledItemDelegate(&gallery), gallery_(gallery) {}
  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    gallery_.draw(*painter, option.rect, index.row());
  }
  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
    return gallery_.gridSize();
  }

 private:
  HeadGallery& gallery_;
};

QString caption(const Source& source, const HeadGallery::Head& head, const HeadCard* card) {
  QString text = to_qt(layer_label(source, head.first)) + QString(", head %1").arg(head.second);
  if (!card) return text;
  text += QString("\nentropy %1 of log n\ndensity %2 of the entries above 1/n")
              .arg(number_text(card->entropy), number_text(card->density));
  if (card->error)
    text += "\nrelative output error of the selected variant " + number_text(*card->error);
  if (card->sampled) text += "\npicture of evenly spaced rows";
  text += "\nCtrl+click shows it beside the opened head";
  return text;
}

}  // namespace

HeadGallery::HeadGallery(Study& study, SessionEditor& editor) : study_(study), editor_(editor) {
  setObjectName("heads");
  setAccessibleName("Heads");
  setViewMode(IconMode);
  setMovement(Static);
  setResizeMode(Adjust);
  setSelectionMode(NoSelection);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setItemDelegate(new CardDelegate(*this));
  connect(this, &QListWidget::currentRowChanged, this, [this](int row) {
    if (row >= 0) editor_.choose_head(head(row).first, head(row).second);
  });
  connect(&study, &Study::cards_changed, this, &HeadGallery::refresh);
}

void HeadGallery::set_layer(std::optional<Index> layer) {
  Followed now{study_.source(), study_.session(), study_.selected_column()};
  now.session.viewport = {};  // each step of a pan changes it
  now.session.pinned_query.reset();
  if (std::exchange(layer_, layer) == layer && now == followed_) return;
  followed_ = std::move(now);
  refresh();
}

void HeadGallery::set_order(HeadOrder order) {
  order_ = order;
  refresh();
}

// Heads without a card come last, and so do those whose measure is not defined.
double HeadGallery::measure(const Shown& shown) const {
  if (!shown.card) return -1;
  const double measure = order_ == HeadOrder::error     ? shown.card->error.value_or(-1)
                         : order_ == HeadOrder::entropy ? shown.card->entropy
                                                        : shown.card->density;
  return std::isnan(measure) ? -1 : measure;
}

void HeadGallery::refresh() {
  const auto source = study_.source();
  if (!source) return;
  HeadCards::Heads heads;
  for (Index l = 0; l < std::ssize(source->layers); ++l)
    for (Index h = 0; (!layer_ || *layer_ == l) && h < source->layers[l].heads(); ++h)
      if (heads.size() < most_heads) heads.emplace_back(l, h);
  study_.choose_cards(heads);
  shown_.clear();
  for (const Head& head : heads) shown_.push_back({head, study_.card(head.first, head.second)});
  if (order_ != HeadOrder::index)
    std::ranges::stable_sort(shown_, std::greater{},
                             [this](const Shown& shown) { return measure(shown); });
  if (study_.session().settings.colormap != colormap_ || pictures_.size() > 2 * most_heads)
    pictures_.clear();
  colormap_ = study_.session().settings.colormap;

  const QSignalBlocker quiet(this);
  while (count() > std::ssize(shown_)) delete takeItem(count() - 1);
  while (count() < std::ssize(shown_)) addItem(QString());
  for (int row = 0; row < count(); ++row) {
    const QString text = caption(*study_.source(), head(row), shown_[row].card.get());
    item(row)->setToolTip(plain_tip(text));
    item(row)->setData(Qt::AccessibleTextRole, text);
  }
  const Head now{study_.session().layer, study_.session().head};
  setCurrentRow(int(std::ranges::find(shown_, now, &Shown::head) - shown_.begin()));
  fit_height();
  viewport()->update();
}

// Scroll areas do not ask for a height that follows from the width: it is fixed here.
void HeadGallery::fit_height() {
  const int width = viewport()->width();
  const int columns = std::max(1, (width + cell_gap) / (preferred_side + cell_gap));
  // The preferred side, stretched until the row is full but for the pixel that the list keeps free.
  const int cell = (width - 1) / columns;
  setGridSize({cell, cell});
  setFixedHeight(std::max(1, (count() + columns - 1) / columns) * cell + 2 * frameWidth());
}

void HeadGallery::resizeEvent(QResizeEvent* event) {
  QListWidget::resizeEvent(event);
  fit_height();
}

// Where the open head is not in the list, the focus makes the first one current: that is not a
// choice.
void HeadGallery::focusInEvent(QFocusEvent* event) {
  const QSignalBlocker quiet(this);
  QListWidget::focusInEvent(event);
}

// Another button or key than that which opens a head must not open it.
void HeadGallery::mousePressEvent(QMouseEvent* event) {
  const bool beside =
      event->button() == Qt::LeftButton && event->modifiers() == Qt::ControlModifier;
  const QModelIndex index = indexAt(event->position().toPoint());
  if (beside && index.isValid()) return show_beside(head(index.row()));
  if (event->button() == Qt::LeftButton) QListWidget::mousePressEvent(event);
}

void HeadGallery::contextMenuEvent(QContextMenuEvent* event) {
  const QModelIndex index =
      event->reason() == QContextMenuEvent::Keyboard ? currentIndex() : indexAt(event->pos());
  if (!index.isValid()) return;
  const Head chosen = head(index.row());
  QMenu menu;
  menu.addAction("Open", &menu, [&] { editor_.choose_head(chosen.first, chosen.second); });
  menu.addAction("Show beside the opened head\tCtrl+click", &menu, [&] { show_beside(chosen); })
      ->setEnabled(can_be_beside(chosen));
  menu.exec(event->globalPos());
}

bool HeadGallery::can_be_beside(const Head& head) const {
  const Layer& layer = study_.source()->layers[head.first];
  return !study_.shows_matrix() && layer.has_qk() && layer.lengths() == study_.lengths();
}

void HeadGallery::show_beside(const Head& head) {
  if (can_be_beside(head)) editor_.add_column_of(head.first, head.second);
}

// Left and right continue in the next row.
QModelIndex HeadGallery::moveCursor(CursorAction action, Qt::KeyboardModifiers modifiers) {
  const int by = action == MoveLeft ? -1 : action == MoveRight ? 1 : 0;
  if (by == 0 || count() == 0) return QListWidget::moveCursor(action, modifiers);
  return indexFromItem(item(std::clamp(currentRow() + by, 0, count() - 1)));
}

const QImage& HeadGallery::picture(const std::shared_ptr<const HeadCard>& card) {
  QImage& image = pictures_[card];
  if (image.isNull())
    image = weight_picture(card->picture, colormap_for(Palette::sequential, colormap_));
  return image;
}

QString HeadGallery::name_of(const Head& head) const {
  if (layer_) return QString::number(head.second);
  QString digits;
  for (const QChar c : to_qt(study_.source()->layers[head.first].name))
    if (c.isDigit()) digits += c;
  return QString("%1·%2")
      .arg(digits.isEmpty() ? QString::number(head.first) : digits)
      .arg(head.second);
}

QString HeadGallery::label(const Shown& shown) const {
  if (!shown.card || order_ == HeadOrder::index) return name_of(shown.head);
  if (order_ == HeadOrder::error && !shown.card->error) return "–";
  return number_text(measure(shown), 2);
}

void HeadGallery::draw(QPainter& painter, QRect cell, int row) {
  const drawing::Style& style = window_style();
  const auto& [head, card] = shown_[row];
  const QRect box(cell.topLeft(), cell.size() - QSize(cell_gap, cell_gap));
  if (card)
    painter.drawImage(box, picture(card));
  else
    painter.fillRect(box, qcolor(style.raised));
  QFont small = font();
  small.setPointSizeF(small.pointSizeF() * 0.8);
  painter.setFont(small);
  const QString text = label(shown_[row]);
  const QRect foot(box.left(), box.bottom() - 13, painter.fontMetrics().horizontalAdvance(text) + 6,
                   14);
  if (card) painter.fillRect(foot, QColor(0, 0, 0, 170));
  painter.setPen(card ? QColor("#f2f4f7") : qcolor(style.faint));
  painter.drawText(card ? foot : box, Qt::AlignCenter, text);
  if (head != Head{study_.session().layer, study_.session().head}) return;
  painter.setPen(QPen(qcolor(style.accent), 3));
  painter.drawRect(box.adjusted(0, 0, -1, -1));
}

}  // namespace fovea

#include "moc_head_gallery.cpp"
