#include "study/head_maps.h"

#include <algorithm>
#include <cmath>

namespace fovea {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_maps = 16;  // up to 40 MiB each
constexpr Index sketch_side = 256;     // pixels, about a panel's: a quarter of the work
constexpr int tiles_priority = 49;     // below first pictures and panels

std::string percent_text(double share) {
  char text[16];
  std::snprintf(text, sizeof text, "%.0f %%", std::floor(100 * share));
  return text;
}

// Of the same matrix, whatever part of it.
bool same_numbers(PanelKey a, const PanelKey& b) {
  a.rows = b.rows;
  a.cols = b.cols;
  a.max_pixels = b.max_pixels;
  return a == b;
}

Panel zero_error() {
  Panel panel;
  panel.view = View::error;
  panel.body = Message{"zero by definition"};
  return panel;
}

}  // namespace

bool HeadMaps::shows(View view) const {
  const auto problem = results_.problem();
  return (view == View::heatmap || view == View::error) && problem && problem->n() > long_head;
}

bool HeadMaps::waits_for_first_look() const {
  if (!shows(View::heatmap) || !results_.exact().error.empty()) return false;
  const Session& session = subject_.session;
  if (!std::ranges::count(session.views, View::heatmap) ||
      std::ranges::none_of(session.columns, is_reference, &Column::variant))
    return false;
  return std::ranges::none_of(maps_, [&](const Entry& entry) {
    return entry.key.view == View::heatmap && entry.key.approximate == results_.exact().key &&
           entry.map->begun();
  });
}

HeadMaps::Entry& HeadMaps::entry_of(const MapKey& key, const Computation& computation,
                                    const Computation& exact) {
  const auto known = std::ranges::find(maps_, key, &Entry::key);
  if (known != maps_.end()) {
    maps_.splice(maps_.begin(), maps_, known);
    return maps_.front();
  }
  ViewSettings settings;
  settings.pool = key.pool;
  settings.error = key.error;
  maps_.push_front({key, make_map(key.view, computation, exact, settings), {}});
  if (maps_.size() > most_maps) {
    requests_.discard(std::move(maps_.back().map));
    maps_.pop_back();
  }
  return maps_.front();
}

// Both maps of its weights are found in the same pass.
void HeadMaps::update_exact() {
  *focus_row_ = subject_.focus_row();
  const ColumnState& state = results_.exact();
  if (!state.computation || state.computation->applied() || state.stale || !state.error.empty()) {
    exact_.reset();
    return;
  }
  if (waits_for_first_look()) return;
  if (!exact_ || !(exact_key_ == state.key)) {
    MapKey key{.approximate = state.key, .exact = state.key};
    const auto most = entry_of(key, *state.computation, *state.computation).map;
    key.pool = Pool::Kind::mean;
    const auto mean = entry_of(key, *state.computation, *state.computation).map;
    exact_ = std::make_shared<GradualOutput>(state.computation, most, mean);
    exact_key_ = state.key;
  }
  const RequestId id{RequestKind::exact_rows};
  requests_.want(id);
  const auto whole = std::make_shared<std::shared_ptr<const Computation>>();
  requests_.start(
      id, exact_key_,
      [gradual = exact_, whole, focus = focus_row_](const Backend&, Run& run) {
        if (gradual->advance(*focus, piece_ms, run)) return true;
        *whole = std::make_shared<const Computation>(gradual->finish());
        return false;
      },
      [this, whole, key = exact_key_](const std::string& error) {
        results_.put(key, *whole, error);
      });
}

void HeadMaps::update_cell(std::size_t column, std::size_t row, const PanelKey& key,
                           CanvasCell& cell) {
  const ColumnState& state = results_.columns()[column];
  const Session& session = subject_.session;
  const bool of_errors = key.view == View::error;
  if (of_errors && is_reference(state.column.variant)) {
    if (!cell.panel || !std::holds_alternative<Message>(cell.panel->body))
      cell.panel = std::make_shared<const Panel>(zero_error());
    cell.stale = false;
    return cell.status.clear();
  }
  const MapKey map_key{
      .approximate = key.approximate,
      .exact = of_errors ? results_.exact().key : key.approximate,
      .view = key.view,
      .pool = session.settings.pool == Pool::Kind::mean ? Pool::Kind::mean : Pool::Kind::max,
      .error = of_errors ? session.settings.error : ErrorKind{}};
  const auto exact = of_errors ? results_.exact().computation : state.computation;
  const Entry& entry = entry_of(map_key, *state.computation, *exact);
  const int r = static_cast<int>(row), c = static_cast<int>(column);
  const RequestId map_id{RequestKind::map, r, c}, bands_id{RequestKind::bands, r, c};
  requests_.want(map_id);
  const Shown& shown = shown_[map_id];
  const bool news =
      !shown.picture.complete && shown.picture.version != entry.map->version() &&
      (entry.map->exact_share() == 1 || Clock::now() - shown.when >= picture_interval);
  const bool same = shown.key == key;
  if (!same || (news && shown.error.empty())) request_picture(map_id, key, state, entry.map);
  const bool by_exact = exact_ && !of_errors && map_key.approximate == exact_key_;
  if (entry.map->begun() && entry.map->exact_share() < 1 && !by_exact && entry.error.empty())
    request_bands(bands_id, entry);
  show(map_id, bands_id, entry, by_exact, key, state, cell);
}

void HeadMaps::show(const RequestId& map_id, const RequestId& bands_id, const Entry& entry,
                    bool by_exact, const PanelKey& key, const ColumnState& state,
                    CanvasCell& cell) {
  const Shown& shown = shown_[map_id];
  if (shown.key == key && !shown.error.empty()) {
    cell.status = "error: " + shown.error;
    return;
  }
  const ComputeKey& its_own = shown.key.approximate;  // kept by place: columns may have moved
  if (shown.picture.panel && its_own.head == key.approximate.head && shown.key.view == key.view &&
      its_own.column.variant == key.approximate.column.variant)
    cell.panel = shown.picture.panel;
  cell.stale = cell.panel && (!same_numbers(shown.key, key) || state.stale);
  if (!cell.panel) return show_waiting(requests_, map_id, cell);
  const auto* raster = std::get_if<Raster>(&cell.panel->body);
  if (cell.stale) {
    show_waiting(requests_, state.stale ? RequestId{RequestKind::column, 0, map_id.column} : map_id,
                 cell);
  } else if (!raster || (raster->complete && shown.key == key)) {
    return cell.status.clear();
  } else if (!entry.error.empty()) {
    cell.status = "error: " + entry.error;
    return;
  } else if (requests_.is_pending(map_id) && raster->estimated == 0) {
    cell.status = "refining";
  } else if (requests_.paused()) {
    cell.status = "cancelled: F5 goes on";
  } else {
    const double share = entry.map->exact_share();
    cell.progress = share;
    cell.status =
        (raster->estimated > 0 ? "estimate, exact: " : "exact: ") + percent_text(share) +
        time_left_text(requests_, by_exact ? RequestId{RequestKind::exact_rows} : bands_id);
  }
  incomplete_ = true;
}

void HeadMaps::request_picture(const RequestId& id, const PanelKey& key, const ColumnState& state,
                               const std::shared_ptr<MapPyramid>& map) {
  if (requests_.is_pending(id, key) || requests_.paused()) return;
  requests_.interrupt_long_work();
  const auto exact =
      results_.exact().computation ? results_.exact().computation : state.computation;
  MapDrawing::Inputs inputs{.key = key,
                            .computation = state.computation,
                            .exact = exact,
                            .metrics = state.metrics,
                            .source = subject_.source,
                            .map = map,
                            .sketch = nullptr,
                            .view = map_view(key.rows, key.cols, key.max_pixels)};
  if (subject_.pointed.query >= 0) inputs.view.focus_row = subject_.pointed.query;
  if (subject_.pointed.key >= 0) inputs.view.focus_col = subject_.pointed.key;
  if (!map->begun())
    inputs.sketch = make_map(key.view, *state.computation, *exact, key.settings, sketch_side);
  const auto take = [this, id, key](const MapDrawing::Picture& picture, const std::string& error) {
    if (requests_.is_pending(id, key))
      shown_.insert_or_assign(id, Shown{key, picture, Clock::now(), error});
  };
  const auto drawing = std::make_shared<MapDrawing>(std::move(inputs));
  requests_.start(
      id, key,
      [this, drawing, take, post = requests_.poster()](const Backend& backend, Run& run) {
        std::optional<MapDrawing::Picture> picture;
        const bool more = drawing->advance(backend, run, picture);
        if (picture)
          post([this, take, picture = *picture, more] {
            take(picture, {});
            if (more) emit requests_.arrived();
          });
        return more;
      },
      [take](const std::string& error) {
        if (!error.empty()) take({}, error);
      },
      map->begun() ? tiles_priority : priority_of(RequestKind::map));
}

void HeadMaps::request_bands(const RequestId& id, const Entry& entry) {
  requests_.want(id);
  const auto bands = std::make_shared<MapBands>(entry.map, focus_row_);
  requests_.start(
      id, entry.key, [bands](const Backend&, Run& run) { return bands->advance(run); },
      [this, key = entry.key](const std::string& error) {
        const auto it = std::ranges::find(maps_, key, &Entry::key);
        if (it != maps_.end()) it->error = error;
      });
}

bool HeadMaps::draws_other_part() const {
  return std::ranges::any_of(shown_, [&](const auto& shown) {
    return requests_.is_pending(shown.first) &&
           !requests_.is_pending(shown.first, shown.second.key);
  });
}

void HeadMaps::clear() {
  for (Entry& entry : maps_) requests_.discard(std::move(entry.map));
  maps_.clear();
  shown_.clear();
  if (exact_) requests_.discard(std::move(exact_));
}

void HeadMaps::forget_errors() {
  std::erase_if(shown_, [](const auto& shown) { return !shown.second.error.empty(); });
  for (Entry& entry : maps_) entry.error.clear();
}

}  // namespace fovea
