#include "study/map_work.h"

#include <algorithm>

namespace fovea {
namespace {

using Clock = std::chrono::steady_clock;

// Rows of P that an estimate takes from each row of pixels: a mean needs two to know its error, a
// maximum is only a bound.
constexpr Index rows_of_a_mean = 2, rows_of_a_maximum = 1;
constexpr Index estimated_at_once = 128;  // rows of pixels: .2 s of an error map on two cores

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

}  // namespace

const MapPyramid* MapDrawing::known() const {
  if (in_.map->begun()) return in_.map.get();
  return in_.sketch && in_.sketch->begun() ? in_.sketch.get() : nullptr;
}

bool MapDrawing::advance(const Backend& backend, Run& run, std::optional<Picture>& picture) {
  const bool more = refine(run);
  const bool due = drawn_ == in_.map.get() && Clock::now() - drawn_at_ >= picture_interval;
  if (!known() || (more && drawn_ == known() && !due)) return true;
  picture = draw(backend, run);
  return more && !picture->complete;
}

bool MapDrawing::refine(Run& run) const {
  MapPyramid& map = *in_.map;
  if (!map.begun()) {
    Run quiet = run.quiet();
    const Index rows = map.kind() == Pool::Kind::mean ? rows_of_a_mean : rows_of_a_maximum;
    if (in_.sketch && !in_.sketch->begun())
      in_.sketch->estimate_some(1, 0, estimated_at_once, quiet);
    else
      map.estimate_some(rows, 0, estimated_at_once, quiet);
    return true;
  }
  if (drawn_ != &map) return true;  // first a picture of it, then tiles
  const auto begin = Clock::now();
  bool more = map.refine(in_.view, run);
  while (more && ms_since(begin) < piece_ms) more = map.refine(in_.view, run);
  return more;
}

MapDrawing::Picture MapDrawing::draw(const Backend& backend, Run& run) {
  drawn_ = known();
  drawn_at_ = Clock::now();
  Picture picture{.panel = nullptr, .version = in_.map->version()};
  picture.panel = std::make_shared<const Panel>(make_panel(in_.key.view,
                                                           {.computation = *in_.computation,
                                                            .exact = *in_.exact,
                                                            .backend = backend,
                                                            .metrics = in_.metrics.get(),
                                                            .sequence = in_.source->sequence,
                                                            .settings = in_.key.settings,
                                                            .rows = in_.key.rows,
                                                            .cols = in_.key.cols,
                                                            .max_pixels = in_.key.max_pixels,
                                                            .map = drawn_},
                                                           run));
  const auto* raster = std::get_if<Raster>(&picture.panel->body);
  picture.complete = raster && raster->complete;
  return picture;
}

bool MapBands::advance(Run& run) {
  const IndexRange band = map_->next_band(*focus_row_, most_);
  if (band.size() == 0) return false;
  const auto begin = Clock::now();
  Run quiet = run.quiet();
  map_->fill(band, quiet);
  run.reached(map_->exact_share());
  const double fitting =
      static_cast<double>(band.size()) * piece_ms / std::max(ms_since(begin), .1);
  most_ = std::clamp<Index>(static_cast<Index>(fitting), 1, 4 * most_);
  return map_->exact_share() < 1;
}

}  // namespace fovea
