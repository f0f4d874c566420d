#include "cli/panel_grid.h"

#include <algorithm>
#include <cmath>

#include "cli/timing_panel.h"
#include "engine/gradual_output.h"

namespace fovea {
namespace {

constexpr Index sampled_rows = 8;  // of every row of pixels, in an estimate

}  // namespace

PanelGrid::PanelGrid(const PanelGridRequest& request, Run& run)
    : request_(request), repeats_(request.timed ? 5 : 0) {
  look_at(request.viewport);
  find_exact(run);
  for (const Column& column : request.columns) columns_.push_back(drawn(column, run));
}

void PanelGrid::look_at(const Viewport& view) {
  const Index n = request_.problem.n();
  const auto visible = [n](double begin, double end) {
    const IndexRange range{static_cast<Index>(std::clamp(std::floor(begin), 0.0, double(n))),
                           static_cast<Index>(std::clamp(std::ceil(end), 0.0, double(n)))};
    return range.size() > 0 ? range : IndexRange{0, n};
  };
  rows_ = visible(view.row_begin, view.row_end);
  cols_ = visible(view.col_begin, view.col_end);
  query_ = std::min(n - 1, request_.query.value_or(n / 2));
}

// Of a long head with its map, in one pass; of an estimate nothing but the operator.
void PanelGrid::find_exact(Run& run) {
  const ComputeRequest request{.variant = &find_variant("exact"), .repeats = repeats_};
  const Backend& backend = request_.backend;
  if (!is_long() || request_.timed) {
    exact_ = std::make_shared<const Computation>(compute(request_.problem, request, backend, run));
    return;
  }
  exact_ = std::make_shared<const Computation>(prepare(request_.problem, request, backend, run));
  if (request_.estimate) return;
  if (!exact_->op->has_rows()) {
    exact_ = std::make_shared<const Computation>(compute(request_.problem, request, backend, run));
    return;
  }
  ViewSettings settings;
  settings.pool = Pool::Kind::max;
  const auto most = make_map(View::heatmap, *exact_, *exact_, settings);
  settings.pool = Pool::Kind::mean;
  const auto mean = make_map(View::heatmap, *exact_, *exact_, settings);
  exact_map_ = request_.settings.pool == Pool::Kind::mean ? mean : most;
  GradualOutput gradual(exact_, most, mean);
  while (gradual.advance(0, 500, run)) run.check();
  exact_ = std::make_shared<const Computation>(gradual.finish());
}

PanelGrid::Drawn PanelGrid::drawn(const Column& wanted, Run& run) const {
  Drawn column{.computation = exact_, .metrics = {}, .diagnostics = {}};
  const ComputeRequest request{.variant = &find_variant(wanted.variant),
                               .values = wanted.values,
                               .seed = wanted.seed,
                               .repeats = repeats_};
  const bool estimate = is_long() && request_.estimate;
  if (wanted.variant != "exact")
    column.computation = std::make_shared<const Computation>(
        estimate ? prepare(request_.problem, request, request_.backend, run)
                 : compute(request_.problem, request, request_.backend, run));
  if (estimate) return column;
  const Computation& its = *column.computation;
  column.metrics = std::make_shared<const Metrics>(
      compare(*its.op, its.output, *exact_->op, exact_->output, run));
  column.diagnostics = std::make_shared<const std::vector<Diagnostic>>(
      diagnose(*its.op, its.output, *exact_->op, exact_->output, run));
  return column;
}

std::vector<Panel> PanelGrid::row(View view, Run& run) const {
  std::vector<Panel> panels;
  for (const Drawn& column : columns_) panels.push_back(panel(view, column, run));
  return panels;
}

std::vector<Panel> PanelGrid::timings() const {
  std::vector<Panel> panels;
  for (const Drawn& column : columns_) panels.push_back(timing_panel(*column.computation, *exact_));
  return panels;
}

Panel PanelGrid::panel(View view, const Drawn& column, Run& run) const {
  const auto its_map = map(view, column, run);
  // A map's overview has so many pixels at most.
  const Index pixels =
      its_map ? std::min(request_.max_pixels, MapPyramid::overview_side) : request_.max_pixels;
  if (its_map && (!request_.estimate || rows_.size() < request_.problem.n())) {
    const MapView seen = map_view(rows_, cols_, pixels);
    if (seen.pixel >= its_map->overview_pixel())
      while (its_map->exact_share() < 1 && !request_.estimate) {
        const IndexRange band = its_map->next_band(0, 16);
        its_map->fill(band, run);
      }
    while (its_map->refine(seen, run)) run.check();
  }
  return make_panel(view,
                    {.computation = *column.computation,
                     .exact = *exact_,
                     .backend = request_.backend,
                     .metrics = column.metrics.get(),
                     .diagnostics = column.diagnostics.get(),
                     .sequence = request_.source.sequence,
                     .settings = request_.settings,
                     .rows = rows_,
                     .cols = cols_,
                     .max_pixels = pixels,
                     .query = query_,
                     .map = its_map.get()},
                    run);
}

std::shared_ptr<MapPyramid> PanelGrid::map(View view, const Drawn& column, Run& run) const {
  if (!is_long() || (view != View::heatmap && view != View::error)) return nullptr;
  const bool exact = column.computation->variant->id == "exact";
  if (exact && (view == View::error || exact_map_))
    return view == View::error ? nullptr : exact_map_;
  auto its = make_map(view, *column.computation, *exact_, request_.settings);
  if (request_.estimate) its->estimate(sampled_rows, 0, run);
  return its;
}

}  // namespace fovea
