#include "views/map_drawing.h"

#include <algorithm>

namespace fovea {
namespace {

using Clock = std::chrono::steady_clock;

// Rows of P that an estimate takes from each row of pixels: a mean needs two to know its error, a
// maximum is only a bound.
constexpr Index rows_of_a_mean = 2, rows_of_a_maximum = 1;
constexpr Index sketch_side = 256;        // pixels, about a panel's: a quarter of the work
constexpr Index estimated_at_once = 128;  // rows of pixels: .2 s of an error map on two cores

double ms_after(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

}  // namespace

bool is_fully_drawn(const Panel& panel) {
  const auto* raster = std::get_if<Raster>(&panel.body);
  return raster && raster->complete;
}

MapDrawing::MapDrawing(PanelSources from, std::shared_ptr<MapPyramid> map, const MapView& pixels)
    : from_(std::move(from)), map_(std::move(map)), pixels_(pixels) {
  if (!map_->begun())
    sketch_ = make_map(from_.view, *from_.computation, *from_.exact, from_.settings, sketch_side);
}

const MapPyramid* MapDrawing::known() const {
  if (map_->begun()) return map_.get();
  return sketch_ && sketch_->begun() ? sketch_.get() : nullptr;
}

bool MapDrawing::advance(const Backend& backend, Run& run, std::optional<Picture>& picture) {
  const bool more = refine(run);
  const bool due = drawn_ == map_.get() && Clock::now() - drawn_at_ >= picture_interval;
  if (!known() || (more && drawn_ == known() && !due)) return true;
  picture = draw(backend, run);
  return more && !is_fully_drawn(*picture->panel);
}

bool MapDrawing::refine(Run& run) const {
  MapPyramid& map = *map_;
  if (!map.begun()) {
    Run quiet = run.quiet();
    const Index rows = map.kind() == Pool::Kind::mean ? rows_of_a_mean : rows_of_a_maximum;
    if (sketch_ && !sketch_->begun())
      sketch_->estimate_some(1, 0, estimated_at_once, quiet);
    else
      map.estimate_some(rows, 0, estimated_at_once, quiet);
    return true;
  }
  if (drawn_ != &map) return true;  // first a picture of the map, then tiles
  const auto begin = Clock::now();
  bool more = map.refine(pixels_, run);
  while (more && ms_after(begin) < piece_ms) more = map.refine(pixels_, run);
  return more;
}

MapDrawing::Picture MapDrawing::draw(const Backend& backend, Run& run) {
  drawn_ = known();
  drawn_at_ = Clock::now();
  const std::uint64_t version = map_->version();
  return {std::make_shared<const Panel>(make_panel(from_, backend, run, drawn_)), version};
}

bool MapBands::advance(Run& run) {
  const IndexRange band = map_->next_band(*focus_row_, most_);
  if (band.size() == 0) return false;
  const auto begin = Clock::now();
  Run quiet = run.quiet();
  map_->fill(band, quiet);
  run.reached(map_->exact_share());
  const double fitting =
      static_cast<double>(band.size()) * piece_ms / std::max(ms_after(begin), .1);
  most_ = std::clamp<Index>(static_cast<Index>(fitting), 1, 4 * most_);
  return map_->exact_share() < 1;
}

}  // namespace fovea
