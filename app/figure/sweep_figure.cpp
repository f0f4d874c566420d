#include "figure/sweep_figure.h"

#include "figure/layout.h"

namespace fovea {

Figure figure_of(const SweepFigure& sweep) {
  const SweepPanels& panels = sweep.panels;
  Figure figure = sweep.page;
  figure.footer.clear();
  for (const std::string& note : sweep_notes(panels.sweep)) figure.footer += note + "\n";
  figure.footer += sweep.page.footer;
  if (panels.sweep.series.empty()) {
    figure.rows = {{{.body = Message{panels.message}}}};
    return figure;
  }
  const FigureStyle& style = figure.style;
  const bool beside =
      style.width >= 60 * style.font_size || (style.height && *style.height < 1.2 * style.width);
  if (beside) figure.rows.emplace_back();
  for (Panel& panel : make_panels(panels)) {
    if (!beside) figure.rows.emplace_back();
    figure.rows.back().push_back(std::move(panel));
  }
  return figure;
}

std::vector<std::pair<QPointF, SweepSpot>> sweep_spots(const Figure& figure) {
  std::vector<std::pair<QPointF, SweepSpot>> spots;
  for (const RowLayout& row : lay_out(figure, PaperLettering(figure.style)).rows)
    for (const CellLayout& cell : row.cells) {
      const auto* plot = std::get_if<SeriesPlot>(&cell.prepared.panel->body);
      if (!plot) continue;
      const drawing::Plot place{cell.plot, cell.axes};
      for (std::size_t s = 0; s < plot->series.size(); ++s)
        for (const SeriesPlot::Point& point : plot->series[s].points)
          spots.push_back({{place.x(point.n), place.y(point.value)}, {s, Index(point.n)}});
    }
  return spots;
}

}  // namespace fovea
