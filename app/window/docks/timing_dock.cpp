#include "window/docks/timing_dock.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <array>

#include "study/background.h"
#include "window/widgets/readings.h"
#include "window/widgets/theme.h"

namespace fovea {
namespace {

constexpr double caption_height = 24, reading_width = 740, row_limit = 28;
constexpr int row_least = 16;

// Right edges of the columns of numbers, from the left of the readings.
constexpr std::array<double, 8> number_edges{66, 136, 270, 314, 384, 454, 540, 620};

QString times(double exact_ms, double ms) {
  const double ratio = exact_ms / ms;
  if (!(ms > 0)) return QString();
  if (ratio < 0.001) return "< 0.001 ×";  // more signs would run into the next column
  if (ratio < 0.1) return QString::number(ratio, 'f', 3) + " ×";
  return QString::number(ratio, ratio < 1000 ? 'g' : 'f', ratio < 1000 ? 3 : 0) + " ×";
}

// Times of one run: few samples until repeats have come in.
const Timing& timing_of(const ColumnState& state) {
  return state.timing ? *state.timing : state.computation->timing;
}

/// Counted and measured memory are named as such.
QString memory_of(const ColumnState& state) {
  QString text = "memory: " + bytes_text(state.computation->cost.bytes) +
                 " counted, of plan and operator beside Q, K, V and Z";
  if (state.memory)
    text += QString("; measured: the program's resident peak in one run %1, %2 more than before it")
                .arg(bytes_text(state.memory->peak), bytes_text(state.memory->rise()));
  return text;
}

constexpr const char* caption_tip =
    "memory: counted, of the plan and of what it needs, beside Q, K, V and Z\n"
    "resident: measured, how far this program's resident memory rose in one run of planning,\n"
    "upload and apply; what it still held of earlier work and used again is not seen\n"
    "few: of fewer than 5 runs;  slow: the machine ran at less than two thirds of its best pace";

double total_of(const Timing& t) {
  return t.plan_total.median_ms + t.upload_total.median_ms + t.apply_total.median_ms;
}

}  // namespace

TimingDock::TimingDock(Study& study, QWidget* parent) : QWidget(parent), study_(study) {
  setObjectName("dock_page");
  setAccessibleName("Timing");
  setMouseTracking(true);
}

void TimingDock::refresh() {
  auto now = bars();
  if (now == bars_) return;
  bars_ = std::move(now);
  setMinimumHeight(int(caption_height) + rhythm + row_least * std::max(1, int(bars_.size())));
  QStringList said;
  for (const Bar& bar : bars_) said << bar.title + ": " + bar.reading;
  setAccessibleDescription(said.join("\n"));
  update();
}

TimingDock::Bar TimingDock::bar_of(const ColumnState& state) const {
  Bar bar{.title = study_.shows_matrix()
                       ? "Attention matrix"
                       : QString::fromStdString(find_variant(state.column.variant).label),
          .stale = state.stale};
  if (!state.computation) {
    bar.reading = study_.shows_matrix() ? "nothing to time: an attention matrix alone"
                  : state.error.empty() ? "not measured yet"
                                        : "error";
    return bar;
  }
  if (!state.computation->applied()) {
    bar.reading = "being computed";
    return bar;
  }
  const Timing& timing = timing_of(state);
  int colour = 2;
  bar.segments.push_back(
      {"plan", timing.plan_total.median_ms, timing.plan_total.p10_ms, timing.plan_total.p90_ms, 0});
  bar.segments.push_back({"upload", timing.upload_total.median_ms, timing.upload_total.p10_ms,
                          timing.upload_total.p90_ms, 1});
  for (const StageSummary& stage : timing.apply)
    bar.segments.push_back({QString::fromStdString(stage.name), stage.median_ms, stage.p10_ms,
                            stage.p90_ms, colour++});
  bar.total = total_of(timing);
  const StageSummary& apply = timing.apply_total;
  bar.numbers = {
      time_text(bar.total),
      time_text(apply.median_ms),
      apply.samples > 1 ? time_text(apply.p10_ms) + " – " + time_text(apply.p90_ms) : "–",
      QString::number(apply.samples),
      "",
      "",
      bytes_text(state.computation->cost.bytes),
      state.memory ? "+" + bytes_text(state.memory->rise()) : "–"};
  bar.memory = memory_of(state);
  // Around the sum: what apply scatters.
  bar.whisker_low = bar.total - apply.median_ms + apply.p10_ms;
  bar.whisker_high = bar.total - apply.median_ms + apply.p90_ms;
  const bool few = timing.few_samples || !state.timing;
  bar.note = state.throttled ? (few ? "few, slow" : "slow machine") : few ? "few runs" : "";
  const ColumnState* exact = study_.exact();
  if (exact && exact->computation->applied() && bar.total > 0 &&
      !is_reference(state.column.variant)) {
    const Timing& reference = timing_of(*exact);
    bar.numbers[4] = times(reference.apply_total.median_ms, apply.median_ms);
    bar.numbers[5] = times(total_of(reference), bar.total);
  }
  bar.reading = QString("%1, of it apply %2 (%3), %4 runs")
                    .arg(bar.numbers[0], bar.numbers[1], bar.numbers[2], bar.numbers[3]);
  if (!bar.numbers[4].isEmpty())
    bar.reading += QString("; as fast as exact: apply %1, with planning %2")
                       .arg(bar.numbers[4], bar.numbers[5]);
  if (few) bar.reading += "; few runs";
  if (state.throttled) bar.reading += "; the machine was slow meanwhile";
  bar.reading += "; " + bar.memory;
  return bar;
}

std::vector<TimingDock::Bar> TimingDock::bars() const {
  std::vector<Bar> out;
  for (const ColumnState& state : study_.columns()) out.push_back(bar_of(state));
  return out;
}

double TimingDock::row_height() const {
  if (bars_.empty()) return row_limit;
  return std::min(row_limit, (height() - caption_height - 4) / static_cast<double>(bars_.size()));
}

QString TimingDock::conditions() const {
  const Backend& backend = study_.backend();
  return QString("medians after a warm-up, whiskers: p10–p90 of apply   ·   %1, %2%3")
      .arg(QString::fromStdString(backend.device()), QString::fromStdString(backend.precision()),
           niceness > 0 ? QString(", at nice %1").arg(niceness) : "");
}

void TimingDock::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Theme& theme = Theme::current();
  painter.fillRect(rect(), theme.surface);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(theme.muted);
  const QString caption = conditions();
  const double numbers_from = width() - reading_width + 4;
  painter.drawText(QRectF(12, 0, numbers_from - 24, caption_height), Qt::AlignVCenter,
                   fontMetrics().elidedText(caption, Qt::ElideRight, int(numbers_from - 24)));
  draw_numbers(painter,
               {"total", "apply", "p10 – p90", "runs", "apply ×", "total ×", "memory", "resident"},
               QRectF(numbers_from, 0, reading_width, caption_height), theme.muted);
  double label_width = 0, longest = 1e-9;
  for (const Bar& bar : bars_) {
    label_width = std::max(label_width, double(fontMetrics().horizontalAdvance(bar.title)));
    longest = std::max(longest, bar.total);
  }
  label_width = std::min(label_width + 24, width() / 4.0);
  const double scale = std::max(20.0, width() - label_width - reading_width - 64) / longest;
  for (std::size_t i = 0; i < bars_.size(); ++i)
    draw_bar(painter, bars_[i], QRectF(0, caption_height + i * row_height(), width(), row_height()),
             label_width, scale);
}

void TimingDock::draw_bar(QPainter& painter, const Bar& bar, const QRectF& row, double label_width,
                          double scale) {
  const Theme& theme = Theme::current();
  painter.setPen(theme.text);
  painter.drawText(QRectF(12, row.top(), label_width - 20, row.height()),
                   Qt::AlignVCenter | Qt::AlignRight,
                   fontMetrics().elidedText(bar.title, Qt::ElideRight, int(label_width - 20)));
  double x = label_width;
  const double inset = std::min(5.0, row.height() * 0.15);
  painter.setOpacity(bar.stale ? 0.4 : 1);
  for (const Segment& segment : bar.segments) {
    const QRectF box(x, row.top() + inset, segment.ms * scale, row.height() - 2 * inset);
    painter.fillRect(box, theme.series[std::size_t(segment.colour) % theme.series.size()]);
    // A name gives way to the whisker.
    const double end = bar.whisker_high > 0 ? label_width + bar.whisker_low * scale : width();
    const double room = std::min(box.right(), end) - box.left();
    if (fontMetrics().horizontalAdvance(segment.name) + 8 < room) {
      painter.setPen(QColor("#101216"));
      painter.drawText(QRectF(box.left(), box.top(), room, box.height()), Qt::AlignCenter,
                       segment.name);
    }
    x += box.width();
  }
  const double bars_end = width() - reading_width - 12;
  draw_whisker(painter, bar, row.center().y(), label_width, scale);
  painter.setOpacity(1);
  const QRectF rest(bars_end + 16, row.top(), reading_width - 16, row.height());
  if (bar.numbers.isEmpty()) {
    painter.setPen(theme.muted);
    painter.drawText(rest, Qt::AlignVCenter, bar.reading);
    return;
  }
  draw_numbers(painter, bar.numbers, rest, bar.stale ? theme.muted : theme.text);
  painter.setPen(theme.warning);
  painter.drawText(rest.adjusted(number_edges.back() + 10, 0, 0, 0), Qt::AlignVCenter,
                   bar.stale ? "stale" : bar.note);
}

void TimingDock::draw_numbers(QPainter& painter, const QStringList& numbers, const QRectF& row,
                              const QColor& colour) {
  painter.setPen(colour);
  double from = row.left();
  for (int i = 0; i < numbers.size(); ++i) {
    const double to = row.left() + number_edges[std::size_t(i)];
    painter.drawText(QRectF(from, row.top(), to - from, row.height()),
                     Qt::AlignVCenter | Qt::AlignRight, numbers[i]);
    from = to;
  }
}

// A whisker of outliers is cut short behind its bar and ends in an arrow.
void TimingDock::draw_whisker(QPainter& painter, const Bar& bar, double y, double label_width,
                              double scale) {
  constexpr double longest_tail = 40;
  if (bar.whisker_high <= 0) return;
  const double from = label_width + bar.whisker_low * scale;
  const double end = label_width + bar.whisker_high * scale;
  const double to = std::min(end, label_width + bar.total * scale + longest_tail);
  painter.setPen(QPen(Theme::current().text, 1.2));
  painter.drawLine(QPointF(from, y), QPointF(to, y));
  painter.drawLine(QPointF(from, y - 3), QPointF(from, y + 3));
  if (to < end) {
    painter.drawLine(QPointF(to - 4, y - 4), QPointF(to, y));
    painter.drawLine(QPointF(to - 4, y + 4), QPointF(to, y));
  } else {
    painter.drawLine(QPointF(to, y - 3), QPointF(to, y + 3));
  }
}

void TimingDock::mousePressEvent(QMouseEvent* event) {
  const int row = static_cast<int>((event->position().y() - caption_height) / row_height());
  if (row >= 0 && row < static_cast<int>(bars_.size())) emit column_chosen(row);
}

bool TimingDock::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  if (help->pos().y() < caption_height) {
    QToolTip::showText(help->globalPos(), caption_tip, this);
    return true;
  }
  const int row = static_cast<int>((help->pos().y() - caption_height) / row_height());
  if (row < 0 || row >= static_cast<int>(bars_.size())) return true;
  QString text = bars_[std::size_t(row)].title;
  for (const Segment& s : bars_[std::size_t(row)].segments)
    text += QString("\n%1  %2  [%3–%4]")
                .arg(s.name, time_text(s.ms), time_text(s.p10), time_text(s.p90));
  if (!bars_[std::size_t(row)].memory.isEmpty()) text += "\n" + bars_[std::size_t(row)].memory;
  QToolTip::showText(help->globalPos(), text, this);
  return true;
}

}  // namespace fovea
