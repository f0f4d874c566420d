#include "window/widgets/readings.h"

#include <QContextMenuEvent>
#include <QEnterEvent>
#include <QMenu>
#include <QMouseEvent>
#include <algorithm>

#include "window/widgets/copying.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

QString full_name(const Reading& reading) {
  return reading.name.isEmpty() ? reading.label : reading.name;
}

/// A value that can be selected. QLabel makes a document of such a text, which takes as long to set
/// as a row of panels to paint: it becomes one under the pointer.
class ValueLabel : public QLabel {
 public:
  ValueLabel() {
    setTextFormat(Qt::PlainText);  // it may be a token
    setAlignment(Qt::AlignRight | Qt::AlignTop);
    setContextMenuPolicy(Qt::NoContextMenu);  // the menu of all readings opens
  }

 protected:
  void enterEvent(QEnterEvent* event) override {
    make_selectable(*this);
    QLabel::enterEvent(event);
  }
  void leaveEvent(QEvent* event) override {
    if (!hasSelectedText()) setTextInteractionFlags(Qt::NoTextInteraction);
    QLabel::leaveEvent(event);
  }
};

/// The name of a row, or a link: plain text in either case, for the same reason.
class NameLabel : public QLabel {
 public:
  NameLabel() {
    setTextFormat(Qt::PlainText);
    setWordWrap(true);
    setContextMenuPolicy(Qt::NoContextMenu);
    set_style(*this, "note");
  }
  void show_name(const QString& name, const QString& link) {
    link_ = link;
    set_style(*this, link.isEmpty() ? "note" : "key");
    setCursor(link.isEmpty() ? Qt::ArrowCursor : Qt::PointingHandCursor);
    // A number stands before its token in any script.
    static const QString left_to_right(QChar(0x200E));
    setText(link.isEmpty() ? name : left_to_right + name);
  }

 protected:
  // Links are not reached by Tab: there may be a dozen, and Ctrl+G goes to any pair.
  void mousePressEvent(QMouseEvent* event) override { event->setAccepted(!link_.isEmpty()); }
  void mouseReleaseEvent(QMouseEvent* event) override {
    if (event->button() != Qt::LeftButton || !rect().contains(event->position().toPoint())) return;
    if (!link_.isEmpty()) emit linkActivated(link_);
  }

 private:
  QString link_;
};

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
  Row row{new NameLabel, new ValueLabel, new ValueLabel};
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
  const bool wide = reading.second.isEmpty();
  static_cast<NameLabel*>(row.label)->show_name(reading.label, reading.link);
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
