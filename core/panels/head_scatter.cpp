#include "panels/head_scatter.h"

#include <algorithm>

#include "data/number_text.h"
#include "views/views.h"

namespace fovea {
namespace {

constexpr double least_shade = 0.3;  // a dot is seen on dark paper, too

}  // namespace

Panel make_panel(const HeadScatter& in) {
  const HeadMeasure &x = head_measures()[in.x], &y = head_measures()[in.y];
  Panel panel{.title = y.label + " against " + x.label};
  if (in.points.empty()) {
    panel.body = Message{in.message};
    return panel;
  }
  CurvePlot plot{.x_label = x.label, .y_label = y.label};
  for (Index layer = 0; layer < in.layers; ++layer) {
    const bool is_last = layer == in.layers - 1;
    const double share =
        is_last ? 1.0 : static_cast<double>(layer) / static_cast<double>(in.layers - 1);
    CurvePlot::Curve dots{
        .colour = 1, .shade = least_shade + (1 - least_shade) * share, .apart = true};
    if (in.layers > 1 && (layer == 0 || is_last)) dots.name = "layer " + std::to_string(layer);
    for (const HeadPoint& point : in.points)
      if (point.layer == layer) dots.points.emplace_back(point.x, point.y);
    std::ranges::sort(dots.points);
    if (!dots.points.empty() || !dots.name.empty()) plot.curves.push_back(std::move(dots));
  }
  panel.caption = plural(std::ssize(in.points), "head") +
                  (in.layers > 1 ? ". Later layers have stronger colours." : ".");
  panel.body = std::move(plot);
  return panel;
}

}  // namespace fovea
