#include "window/dialogs/sweep_reading.h"

#include "window/widgets/readings.h"

namespace fovea {
namespace {

QString summary_text(const StageSummary& time) {
  QString text = time_text(time.median_ms);
  if (time.samples > 1)
    text += QString(" (%1 – %2)").arg(time_text(time.p10_ms), time_text(time.p90_ms));
  return text;
}

}  // namespace

QString sweep_reading(const Sweep& sweep, const SweepSpot& spot) {
  if (spot.series >= sweep.series.size()) return {};
  const SweepPoint* point = sweep.series[spot.series].at(spot.n);
  if (!point) return {};
  QStringList parts;
  parts << QString("%1 in all, apply %2, %3 %4")
               .arg(summary_text(point->total), summary_text(point->apply))
               .arg(point->total.samples)
               .arg(point->total.samples == 1 ? "run" : "runs");
  if (spot.series > 0) {
    const auto total = ratio_to_exact(sweep, *point, SweepTime::total),
               apply = ratio_to_exact(sweep, *point, SweepTime::apply);
    if (total && apply)
      parts << QString("%1 × as fast as exact, apply %2 ×")
                   .arg(1 / *total, 0, 'g', 3)
                   .arg(1 / *apply, 0, 'g', 3);
    else
      parts << "exact not measured here";
  }
  parts << bytes_text(point->bytes) + " counted";
  if (point->error) parts << "output error " + number_text(*point->error);
  if (!point->fitted.empty()) parts << "fitted to this n: " + QString::fromStdString(point->fitted);
  if (point->few_samples()) parts << "few runs";
  if (throttled(sweep, *point)) parts << "the machine was slow meanwhile";
  for (const std::string& note : point->notes) parts << QString::fromStdString(note);
  return QString("%1, n = %2: %3")
      .arg(QString::fromStdString(label_of(sweep, spot.series)))
      .arg(point->n)
      .arg(parts.join("  ·  "));
}

}  // namespace fovea
