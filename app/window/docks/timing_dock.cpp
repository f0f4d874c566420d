#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "figure/painter_ink.h"
#include "study/background.h"
#include "study/study.h"
#include "window/docks/docks.h"
#include "window/widgets/copying.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"
#include "window/widgets/theme.h"

namespace fovea {
namespace {

// Columns of the table.
enum {
  title_place,
  bar_place,
  first_number,
  total_ratio_place = first_number + 4,
  note_place = first_number + 10,
  place_count
};
struct NumberHeading {
  const char* text;
  const char* tip;
  bool is_ratio = false;

  QString whole_tip() const {
    return QString(tip) + (is_ratio ? QString(speed_up_words) +
                                          ". No difference: it holds 1 and lies within a tenth of "
                                          "it. Not decided: it holds 1 and is wider."
                                    : QString());
  }
};
constexpr NumberHeading number_headings[] = {
    {"total",
     "From Q, K and V to Z: the median over rounds of the sums of plan, prepare (on a GPU: upload) "
     "and apply. Building a tree is not in it."},
    {"p10 – p90",
     "One round in ten has a total below the first number, and one in ten above the second."},
    {"apply", "From a plan that is there to Z: the median over rounds."},
    {"runs", "Rounds after a warm-up; in each of them every column runs once."},
    {"total ×", "Exact's total over this one's", true},
    {"apply ×", "Exact's apply over this one's", true},
    {"first", "The total of the first, cold run."},
    {"building", "Building the tree: what the paper does beforehand. It is in no total."},
    {"memory", "Counted: of the plan and of the operator, without Q, K, V and Z."},
    {"process",
     "Memory of the process, measured: its rise in one run, without memory that earlier "
     "work had left allocated."},
    {"",
     "Few runs: too few for an interval. Processor was slowed down: it ran at less than two "
     "thirds of its best pace in some of the rounds. Unsteady: p90 of the totals is 1.5 times p10 "
     "or more, so that ratios say little."}};

/// What was measured of a column.
struct TimingRow {
  QStringList texts;   // of the table's columns
  QStringList ratios;  // total and apply, with their intervals
  QString tip;
  std::vector<StageSummary> stages;
  double total = 0, whisker_low = 0, whisker_high = 0;  // ms
  bool stale = false;
};

QString ms_text(double milliseconds) {
  return to_qt(format_time(milliseconds));
}

QString spread_text(const StageSummary& stage) {
  return ms_text(stage.p10_ms) + " – " + ms_text(stage.p90_ms);
}

// Without the interval where it does not tell which is faster: the tool tip has it.
QString ratio_text(const SpeedUp& ratio) {
  return to_qt(ratio.undecided() ? short_text(ratio) : to_text(ratio));
}

// The timing of several rounds, or of the first run until these have been measured.
Timing timing_of(const ColumnState& state) {
  return state.time ? state.time->timing : summarise(std::vector{state.computation->first_run});
}

// Says which memory was counted and which was measured.
QString memory_words(const ColumnState& state) {
  QString text = "memory: " + to_qt(format_bytes(state.computation->cost.bytes)) +
                 " counted, of plan and operator beside Q, K, V and Z";
  if (state.memory)
    text += QString("; measured: the peak of the process in one run %1, %2 more than before it")
                .arg(to_qt(format_bytes(state.memory->peak)),
                     to_qt(format_bytes(state.memory->rise())));
  return text;
}

// Exact's time over the column's in the same rounds. Where exact is not repeated there is none: its
// first run is cold, and found a map besides.
std::pair<QString, QString> speed_ups(const ColumnState& state) {
  if (is_reference(state.column.variant)) return {};
  if (!state.time || !state.time->total_speed_up) return {"–", "–"};
  return {ratio_text(*state.time->total_speed_up), ratio_text(*state.time->apply_speed_up)};
}

QString note_of(const ColumnState& state) {
  if (state.stale) return "stale";
  if (!state.time) return "not yet repeated: press F5";
  QStringList notes;
  if (state.time->timing.few_samples()) notes << "few runs";
  if (state.time->slow) notes << "processor was slowed down";
  if (state.time->timing.total.unsteady()) notes << "unsteady";
  return notes.join(", ");
}

void add_measurements(TimingRow& row, const ColumnState& state, const Backend& backend) {
  const Timing timing = timing_of(state);
  row.stages = {timing.plan_total, timing.upload_total};
  row.stages[1].name = upload_label(backend.id());
  row.stages.insert(row.stages.end(), timing.apply.begin(), timing.apply.end());
  for (const StageSummary& stage : row.stages) row.total += stage.median_ms;
  row.whisker_low = timing.total.p10_ms;
  row.whisker_high = timing.total.p90_ms;
  const auto [total_ratio, apply_ratio] = speed_ups(state);
  row.texts << "" << ms_text(timing.total.median_ms)
            << (timing.total.samples > 1 ? spread_text(timing.total) : "–")
            << ms_text(timing.apply_total.median_ms) << QString::number(timing.total.samples)
            << total_ratio << apply_ratio << ms_text(state.computation->first_run.total_ms())
            << (timing.learning.samples > 0 ? ms_text(timing.learning.median_ms) : "–")
            << to_qt(format_bytes(state.computation->cost.bytes))
            << (state.memory ? "+" + to_qt(format_bytes(state.memory->rise())) : "–")
            << note_of(state);
  if (state.time && state.time->total_speed_up)
    row.ratios << to_qt(to_text(*state.time->total_speed_up))
               << to_qt(to_text(*state.time->apply_speed_up));
  for (const StageSummary& stage : row.stages)
    row.tip += QString("\n%1  %2  [%3]")
                   .arg(to_qt(stage.name), ms_text(stage.median_ms), spread_text(stage));
  if (state.time && state.time->total_speed_up)
    row.tip += "\nexact / this: total " + to_qt(to_text(*state.time->total_speed_up)) + ", apply " +
               to_qt(to_text(*state.time->apply_speed_up)) + "; " +
               to_qt(basis_text(*state.time->total_speed_up));
  row.tip += "\n" + memory_words(state);
}

TimingRow row_of(const Study& study, int column) {
  const ColumnState& state = study.columns()[column];
  TimingRow row{.stale = state.stale};
  row.texts << to_qt(study.title_of(column));
  row.tip = row.texts.front();
  if (state.computation && is_read(state.computation->op->plan()))
    row.texts << "read from the file: there is no time";
  else if (state.computation && state.computation->applied())
    add_measurements(row, state, study.backend());
  else
    row.texts << (study.shows_matrix()  ? "nothing to time: an attention matrix alone"
                  : state.computation   ? "being computed"
                  : state.error.empty() ? "not measured yet"
                                        : "error");
  while (row.texts.size() < place_count) row.texts << "";
  return row;
}

class TimingTable : public QTableWidget {
 public:
  explicit TimingTable(Study& study);
  QSize sizeHint() const override { return {900, 190}; }
  QSize minimumSizeHint() const override { return {360, 96}; }
  void draw_bar(QPainter& painter, const QRectF& cell, const TimingRow& row) const;
  void draw_whisker(QPainter& painter, const TimingRow& row, QPointF left, double scale) const;
  void draw_legend(QPainter& painter, const QRect& line) const;
  const std::vector<TimingRow>& rows() const { return rows_; }

 protected:
  void changeEvent(QEvent* event) override {
    QTableWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) fit();  // the legend in its tool tip has colours
  }
  void paintEvent(QPaintEvent* event) override {
    QTableWidget::paintEvent(event);
    const int line = legend_height();
    const int below = rowCount() * verticalHeader()->defaultSectionSize();
    QPainter painter(viewport());
    if (const QRect all = viewport()->rect(); below + line <= all.height())
      draw_legend(painter, {all.left(), all.bottom() + 1 - line, all.width(), line});
  }
  void scrollContentsBy(int dx, int dy) override {
    QTableWidget::scrollContentsBy(dx, dy);
    viewport()->update();  // the legend stays
  }
  void resizeEvent(QResizeEvent* event) override {
    QTableWidget::resizeEvent(event);
    fit();
  }

 private:
  void refresh();
  void fit();
  MarkedTable whole() const;
  QString legend_of_stages() const;
  int legend_height() const { return fontMetrics().lineSpacing() + 4; }
  /// A stage has its colour in all rows.
  drawing::Rgba colour_of(const QString& stage) const;

  Study& study_;
  QLabel* nothing_;     // shown instead of the headings while nothing is open
  QString conditions_;  // how and on what is measured
  std::vector<TimingRow> rows_;
  QStringList stages_;  // of all rows
};

class TimingDelegate : public QStyledItemDelegate {
 public:
  explicit TimingDelegate(TimingTable& table) : QStyledItemDelegate(&table), table_(table) {}
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    const drawing::Style& style = window_style();
    const bool faint = table_.rows()[index.row()].stale && index.column() >= first_number;
    const drawing::Rgba colour = index.column() == note_place ? style.warning
                                 : faint                      ? style.faint
                                                              : style.text;
    option->palette.setColor(QPalette::Text, qcolor(colour));
  }
  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    if (index.column() == bar_place)
      table_.draw_bar(*painter, option.rect, table_.rows()[index.row()]);
    else
      QStyledItemDelegate::paint(painter, option, index);
  }

 private:
  const TimingTable& table_;
};

TimingTable::TimingTable(Study& study) : QTableWidget(0, place_count), study_(study) {
  setObjectName("timing");
  setAccessibleName("Timing");
  setSelectionMode(ContiguousSelection);
  setTabKeyNavigation(false);  // Tab goes on to the next widget
  setEditTriggers(NoEditTriggers);
  setShowGrid(false);
  setFrameShape(NoFrame);
  setHorizontalScrollMode(ScrollPerPixel);
  setTextElideMode(Qt::ElideMiddle);  // a title ends with what tells columns of a variant apart
  setItemDelegate(new TimingDelegate(*this));
  verticalHeader()->hide();
  verticalHeader()->setMinimumSectionSize(1);
  QHeaderView* header = horizontalHeader();
  header->setSectionsClickable(false);
  header->setDefaultAlignment(Qt::AlignRight | Qt::AlignVCenter);
  QStringList labels{"", "stages"};
  for (const NumberHeading& heading : number_headings) labels << heading.text;
  setHorizontalHeaderLabels(labels);
  for (int place = first_number; place < place_count; ++place)
    horizontalHeaderItem(place)->setToolTip(number_headings[place - first_number].whole_tip());
  header->setMinimumSectionSize(1);
  header->setDefaultSectionSize(1);  // see fit()
  header->setSectionResizeMode(QHeaderView::Fixed);
  header->setSectionResizeMode(bar_place, QHeaderView::Stretch);
  horizontalHeaderItem(bar_place)->setTextAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  auto* page = new QVBoxLayout(viewport());
  page->setContentsMargins(0, rhythm, 0, 0);  // beside the table's own
  page->addWidget(nothing_ = make_note("Nothing is open."), 0, Qt::AlignTop);
  new TableCopying(*this, [this](TableFormat format) { return to_text(whole(), format); });
  connect(&study, &Study::columns_changed, this, &TimingTable::refresh);
  refresh();
}

void TimingTable::refresh() {
  const Backend& backend = study_.backend();
  conditions_ = QString(
                    "Medians over rounds in which every column runs once, whiskers: p10–p90 of the "
                    "total   ·   %1, %2")
                    .arg(to_qt(backend.device()), to_qt(backend.precision()));
  std::vector<TimingRow> now;
  for (int c = 0; c < std::ssize(study_.columns()); ++c) now.push_back(row_of(study_, c));
  // Painting this dock repaints the whole window.
  const auto same = [](const TimingRow& a, const TimingRow& b) {
    return a.texts == b.texts && a.tip == b.tip && a.stale == b.stale;
  };
  if (!rows_.empty() && std::ranges::equal(now, rows_, same)) return;
  rows_ = std::move(now);
  stages_.clear();
  for (const TimingRow& row : rows_)
    for (const StageSummary& stage : row.stages)
      if (const QString name = to_qt(stage.name); !stages_.contains(name)) stages_ << name;
  setRowCount(int(rows_.size()));
  for (int r = 0; r < rowCount(); ++r)
    for (int place = 0; place < place_count; ++place) {
      auto* cell = new QTableWidgetItem(rows_[r].texts[place]);
      cell->setToolTip(plain_tip(rows_[r].tip));
      const auto side = place == note_place ? Qt::AlignLeft : Qt::AlignRight;
      cell->setTextAlignment(side | Qt::AlignVCenter);
      setItem(r, place, cell);
    }
  nothing_->setVisible(!study_.source());
  horizontalHeader()->setVisible(study_.source() != nullptr);
  setAccessibleDescription(study_.source() ? QString() : nothing_->text());
  fit();
}

drawing::Rgba TimingTable::colour_of(const QString& stage) const {
  return window_style().series_colour(stages_.indexOf(stage) + 1);
}

// Which colour each stage has, as its name is left out of a short bar.
QString TimingTable::legend_of_stages() const {
  QString legend;
  for (const QString& stage : stages_)
    legend += QString("<br><span style='color:%1'>■</span> %2")
                  .arg(qcolor(colour_of(stage)).name(), stage.toHtmlEscaped());
  return legend;
}

// As many stages as there is room for; the tool tip has all.
void TimingTable::draw_legend(QPainter& painter, const QRect& line) const {
  constexpr int side = 8, gap = 4;
  int left = line.left() + gap;
  for (const QString& stage : stages_) {
    const int width = fontMetrics().horizontalAdvance(stage);
    if (left + side + gap + width > line.right()) return;
    painter.fillRect(QRect(left, line.center().y() - side / 2, side, side),
                     qcolor(colour_of(stage)));
    left += side + gap;
    painter.setPen(qcolor(window_style().faint));
    painter.drawText(QRect(left, line.top(), width + gap, line.height()),
                     Qt::AlignLeft | Qt::AlignVCenter, stage);
    left += width + 3 * gap;
  }
}

// With the stages that bars show.
MarkedTable TimingTable::whole() const {
  MarkedTable table{
      .corner = conditions_.toStdString(), .titles = {}, .rows = {}, .foot = speed_ups_note};
  for (const NumberHeading& heading : number_headings) table.titles.emplace_back(heading.text);
  table.titles.back() = "note";
  table.titles.emplace_back("stages");
  for (const TimingRow& timing : rows_) {
    MarkedTable::Row row{timing.texts[title_place].toStdString(), {}};
    for (int place = first_number; place < place_count; ++place) {
      const int ratio = place - total_ratio_place;
      const bool is_ratio = ratio >= 0 && ratio < timing.ratios.size();
      row.cells.push_back({(is_ratio ? timing.ratios[ratio] : timing.texts[place]).toStdString()});
    }
    QStringList stages;
    for (const StageSummary& stage : timing.stages)
      stages << to_qt(stage.name) + " " + ms_text(stage.median_ms);
    row.cells.push_back({stages.join(", ").toStdString()});
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Makes rows lower where there are many, so that all are visible; very many are scrolled.
void TimingTable::fit() {
  constexpr int lowest = 16, highest = 28, margin = 4, most_rows = 9;
  const int header = horizontalHeader()->height(), count = std::max(1, rowCount());
  setMinimumHeight(header + 2 * margin + lowest * std::min(count, most_rows));
  verticalHeader()->setDefaultSectionSize(
      std::clamp((height() - header - margin - legend_height()) / count, lowest, highest));
  int widest = 0;
  for (const TimingRow& row : rows_)
    widest = std::max(widest, fontMetrics().horizontalAdvance(row.texts.front()) + 24);
  setColumnWidth(title_place, std::min(widest, width() / 4));
  // Numbers that change from round to round never make a column narrower: the bars stay in place.
  for (int place = first_number; place < place_count; ++place)
    setColumnWidth(place, std::max({columnWidth(place), sizeHintForColumn(place) + rhythm,
                                    horizontalHeader()->sectionSizeHint(place)}));
  QTableWidgetItem* heading = horizontalHeaderItem(bar_place);
  heading->setToolTip(conditions_ + ". An arrow: p90 is further on." + legend_of_stages());
  viewport()->update();
}

void TimingTable::draw_bar(QPainter& painter, const QRectF& cell, const TimingRow& row) const {
  constexpr double tail = 48;  // room for whiskers
  const drawing::Style& style = window_style();
  if (row.stages.empty()) {
    painter.setPen(qcolor(style.faint));
    painter.drawText(cell, Qt::AlignVCenter, row.texts[bar_place]);
    return;
  }
  painter.save();
  painter.setClipRect(cell);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setOpacity(row.stale ? 0.4 : 1);
  const double longest = std::ranges::max(rows_, {}, &TimingRow::total).total;
  const double scale = std::max(20.0, cell.width() - tail) / std::max(1e-9, longest);
  const double inset = std::min(5.0, cell.height() * 0.15);
  QRectF box = cell.adjusted(0, inset, 0, -inset);
  for (std::size_t i = 0; i < row.stages.size(); ++i) {
    box.setWidth(row.stages[i].median_ms * scale);
    const QString name = to_qt(row.stages[i].name);
    const drawing::Rgba colour = colour_of(name);
    painter.fillRect(box, qcolor(colour));
    QRectF room = box;  // of the name: the whisker comes first
    room.setRight(std::min(box.right(), cell.left() + row.whisker_low * scale));
    if (fontMetrics().horizontalAdvance(name) + 8 < room.width()) {
      painter.setPen(qcolor(drawing::readable_on({colour.r, colour.g, colour.b})));
      painter.drawText(room, Qt::AlignCenter, name);
    }
    box.moveLeft(box.right());
  }
  draw_whisker(painter, row, {cell.left(), cell.center().y()}, scale);
  painter.restore();
}

// A long whisker is cut behind its bar, where it ends in an arrow.
void TimingTable::draw_whisker(QPainter& painter, const TimingRow& row, QPointF left,
                               double scale) const {
  constexpr double longest_tail = 40;
  const QPointF from = left + QPointF(row.whisker_low * scale, 0);
  const double end = left.x() + row.whisker_high * scale;
  const QPointF to(std::min(end, left.x() + row.total * scale + longest_tail), left.y());
  painter.setPen(QPen(qcolor(window_style().text), 1.2));
  painter.drawLine(from, to);
  painter.drawLine(from - QPointF(0, 3), from + QPointF(0, 3));
  if (to.x() < end) {
    painter.drawLine(to - QPointF(4, 4), to);
    painter.drawLine(to - QPointF(4, -4), to);
  } else {
    painter.drawLine(to - QPointF(0, 3), to + QPointF(0, 3));
  }
}

}  // namespace

QTableWidget* make_timing_dock(Study& study) {
  return new TimingTable(study);
}

}  // namespace fovea
