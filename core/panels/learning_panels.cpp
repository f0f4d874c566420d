#include "panels/learning_panels.h"

#include <cmath>

namespace fovea {
namespace {

constexpr std::size_t most_snapshots = 12;

using Points = std::vector<std::pair<double, double>>;

template <class Number>
Points points_of(const LearningRecord& record, Number number) {
  Points points;
  for (const CurvePoint& point : record.curve)
    points.emplace_back(double(point.step), number(point));
  return points;
}

CurvePlot over_steps() {
  return {.x_label = "steps of learning"};
}

Panel panel_of(const std::string& title, CurvePlot plot) {
  return {.title = title, .subtitle = {}, .caption = {}, .body = std::move(plot)};
}

CurvePlot errors_of(const LearningRecord& record) {
  CurvePlot plot = over_steps();
  plot.curves.push_back({.name = "rows learned from",
                         .points = points_of(record, [](const CurvePoint& p) { return p.error; }),
                         .colour = 1});
  if (!std::isnan(record.start.held_out_error))
    plot.curves.push_back(
        {.name = "rows held out",
         .points = points_of(record, [](const CurvePoint& p) { return p.held_out_error; }),
         .colour = 2});
  plot.levels = {{1, "output of zeros"}};
  return plot;
}

CurvePlot pairs_of(const LearningRecord& record) {
  const auto leaves = static_cast<double>(record.leaves);
  CurvePlot plot = over_steps();
  plot.curves.push_back(
      {.points = points_of(record, [leaves](const CurvePoint& p) { return p.chi * leaves; }),
       .colour = 3});
  plot.levels = {{record.cost_limit, "limit"}};
  return plot;
}

CurvePlot effective_leaves_of(const LearningRecord& record) {
  CurvePlot plot = over_steps();
  plot.curves.push_back(
      {.points = points_of(record, [](const CurvePoint& p) { return p.effective_leaves; }),
       .colour = 4});
  if (!record.curve.empty()) plot.levels = {{static_cast<double>(record.leaves), "all leaves"}};
  return plot;
}

CurvePlot sizes_of(const LearningRecord& record) {
  CurvePlot plot{.x_label = "leaf, the largest first"};
  const std::size_t count = record.snapshots.size();
  for (std::size_t s = 0; s < count; ++s) {
    const LeafSnapshot& snapshot = record.snapshots[s];
    CurvePlot::Curve curve{.colour = 1, .shade = count > 1 ? double(s) / double(count - 1) : 1};
    if (s == 0 || s + 1 == count) curve.name = "step " + std::to_string(snapshot.step);
    // Stairs, down to 0 behind the last leaf that holds a key.
    for (std::size_t leaf = 0; leaf < snapshot.keys.size(); ++leaf)
      for (const std::size_t edge : {leaf, leaf + 1})
        curve.points.emplace_back(double(edge), double(snapshot.keys[leaf]));
    curve.points.emplace_back(double(snapshot.keys.size()), 0);
    curve.points.emplace_back(double(record.leaves), 0);
    plot.curves.push_back(std::move(curve));
  }
  return plot;
}

}  // namespace

// Removes every second snapshot; the first and the last stay.
void LearningRecord::add(LeafSnapshot snapshot) {
  snapshots.push_back(std::move(snapshot));
  if (snapshots.size() <= most_snapshots) return;
  std::vector<LeafSnapshot> kept;
  for (std::size_t s = 0; s < snapshots.size(); ++s)
    if (s % 2 == 0 || s + 1 == snapshots.size()) kept.push_back(std::move(snapshots[s]));
  snapshots = std::move(kept);
}

std::vector<Panel> make_panels(const LearningRecord& record) {
  return {panel_of("Relative output error", errors_of(record)),
          panel_of("Pairs that meet, χ × leaves", pairs_of(record)),
          panel_of("Effective leaves of the keys", effective_leaves_of(record)),
          panel_of("Keys of each leaf", sizes_of(record))};
}

}  // namespace fovea
