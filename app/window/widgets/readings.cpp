#include "window/widgets/readings.h"

#include <QContextMenuEvent>
#include <QMenu>
#include <algorithm>

#include "window/widgets/copying.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

QString full_name(const Reading& reading) {
  return reading.name.isEmpty() ? reading.label : reading.name;
}

QLabel* make_value() {
  auto* value = new QLabel;
  value->setTextFormat(Qt::PlainText);  // it may be a token
  value->setAlignment(Qt::AlignRight | Qt::AlignTop);
  make_selectable(*value);
  value->setContextMenuPolicy(Qt::NoContextMenu);  // the menu of all readings opens
  return value;
}

/// Postpones the layout to the next turn of the event loop: once for all widgets that are shown or
/// hidden meanwhile, not for each.
class LayoutAfterwards {
 public:
  explicit LayoutAfterwards(QLayout& layout) : layout_(layout) { layout_.setEnabled(false); }
  ~LayoutAfterwards() { layout_.setEnabled(true); }
  LayoutAfterwards(const LayoutAfterwards&) = delete;
  LayoutAfterwards& operator=(const LayoutAfterwards&) = delete;

 private:
  QLayout& layout_;
};

}  // namespace

Readings::Readings(const QString& name) : grid_(make_inner<QGridLayout>(this)) {
  setAccessibleName(name);
  grid_->setVerticalSpacing(rhythm / 2);
  grid_->setColumnStretch(0, 1);
}

Readings::Row Readings::make_row(int at) {
  Row row{make_note(), make_value(), make_value()};
  row.label->setContextMenuPolicy(Qt::NoContextMenu);
  connect(row.label, &QLabel::linkActivated, this, &Readings::link_activated);
  grid_->addWidget(row.label, at, 0, Qt::AlignTop);
  grid_->addWidget(row.value, at, 1, 1, 2);
  grid_->addWidget(row.second, at, 2);
  row.second->hide();
  return row;
}

void Readings::set_rows(const std::vector<Reading>& rows) {
  rows_ = rows;
  const LayoutAfterwards layout(*grid_);
  while (labels_.size() < rows.size()) labels_.push_back(make_row(int(labels_.size())));
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    Row& row = labels_[i];
    const bool used = i < rows.size();
    row.label->setVisible(used);
    row.value->setVisible(used);
    row.second->setVisible(used && !rows[i].second.isEmpty());
    if (used) show_row(row, int(i), rows[i]);
  }
}

void Readings::show_row(Row& row, int at, const Reading& reading) {
  const bool links = !reading.link.isEmpty(), wide = reading.second.isEmpty();
  row.label->setTextFormat(links ? Qt::RichText : Qt::PlainText);
  // Links are not reached by Tab: there may be a dozen, and Ctrl+G goes to any pair.
  row.label->setTextInteractionFlags(links ? Qt::LinksAccessibleByMouse : Qt::NoTextInteraction);
  // A number stands before its token in any script. (Qt looks into isolated words for the direction
  // of a text with links.)
  row.label->setText(
      links
          ? QString("<div dir=\"ltr\"><a href=\"%1\" style=\"text-decoration: none\">%2</a></div>")
                .arg(reading.link, reading.label.toHtmlEscaped())
          : reading.label);
  const QString tip = plain_tip(reading.tip);
  row.label->setToolTip(tip);
  if (std::exchange(row.wide, wide) != wide) grid_->addWidget(row.value, at, 1, 1, wide ? 2 : 1);
  // Short values stay on one line, as "0.0009766 → 0.0001234"; labels wrap.
  const QFontMetrics metrics = row.value->fontMetrics();
  row.value->setWordWrap(wide && metrics.horizontalAdvance(reading.value) >
                                     22 * metrics.horizontalAdvance('0'));
  row.value->setText(reading.value);
  row.value->setToolTip(tip);
  row.value->setAccessibleName(full_name(reading));
  row.second->setText(reading.second);
  row.second->setToolTip(plain_tip(reading.second_tip));
  row.second->setAccessibleName(full_name(reading) + ", error");
  for (QLabel* value : {row.value, row.second}) set_style(*value, reading.faint ? "note" : "value");
}

MarkedTable Readings::table() const {
  MarkedTable table{.corner = {}, .titles = {accessibleName().toStdString()}, .rows = {}};
  const bool two = std::ranges::any_of(rows_, [](const Reading& r) { return !r.second.isEmpty(); });
  if (two) table.titles.emplace_back();
  for (const Reading& reading : rows_) {
    MarkedTable::Row row{full_name(reading).toStdString(), {{reading.value.toStdString()}}};
    if (two) row.cells.push_back({reading.second.toStdString()});
    table.rows.push_back(std::move(row));
  }
  return table;
}

// The selected text at a point, else the whole row.
QString Readings::text_at(QPoint at) const {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const auto& [label, value, second, wide] = labels_[i];
    for (const QLabel* part : {value, second})
      if (part->geometry().contains(at) && part->hasSelectedText()) return part->selectedText();
    if (at.y() > value->geometry().bottom() + rhythm / 2) continue;
    QStringList words{full_name(rows_[i]), rows_[i].value};
    if (!rows_[i].second.isEmpty()) words << rows_[i].second;
    return words.join('\t');
  }
  return {};
}

void Readings::contextMenuEvent(QContextMenuEvent* event) {
  if (rows_.empty()) return;
  make_copy_menu(*this, text_at(event->pos()), [table = table()](TableFormat format) {
    return to_text(table, format);
  })->popup(event->globalPos());
}

}  // namespace fovea

#include "moc_readings.cpp"
