// The maps of a long head: pictures of what is known, at once; then finer tiles, exact bands and
// the output of exact attention, piece by piece, what is looked at first.
#include <algorithm>
#include <chrono>

#include "study/study_ask.h"

namespace fovea {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_maps = 16;  // up to 40 MiB each
// An estimate's, of every row of pixels: a mean needs two to know its error, a bound wants to be
// soon.
constexpr Index rows_of_a_mean = 2, rows_of_a_maximum = 1;
constexpr Index sketch_side = 256;        // pixels, about a panel's: a quarter of the work
constexpr Index estimated_at_once = 128;  // rows of pixels: .2 s of an error map on two cores
constexpr double piece_ms = 30;           // of work that others wait for
constexpr auto telling = std::chrono::milliseconds(250);  // from picture to picture of a map

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

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

// Bands of as many rows of pixels as fit a piece.
class Bands {
 public:
  Bands(std::shared_ptr<MapPyramid> map, std::shared_ptr<const std::atomic<Index>> focus)
      : map_(std::move(map)), focus_(std::move(focus)) {}

  bool advance(Run& run) {
    const IndexRange band = map_->next_band(*focus_, most_);
    if (band.size() == 0) return false;
    const auto begin = Clock::now();
    Run quiet{run.profile, run.stop};
    map_->fill(band, quiet);
    run.reached(map_->exact_share());
    const double wished =
        static_cast<double>(band.size()) * piece_ms / std::max(ms_since(begin), .1);
    most_ = std::clamp<Index>(static_cast<Index>(wished), 1, 4 * most_);
    return map_->exact_share() < 1;
  }

 private:
  std::shared_ptr<MapPyramid> map_;
  std::shared_ptr<const std::atomic<Index>> focus_;
  Index most_ = 1;
};

// What a cell shows of its map: first what is known, then finer and finer.
struct Picturing {
  PanelKey key;
  std::shared_ptr<const Computation> computation, exact;
  std::shared_ptr<const Metrics> metrics;
  std::shared_ptr<const Source> source;
  std::shared_ptr<MapPyramid> map;
  std::shared_ptr<MapPyramid> sketch;  // of few pixels, drawn until the map has begun; may be null
  MapView view;
  const MapPyramid* drawn = nullptr;  // the last, and when
  Clock::time_point told = {};

  const MapPyramid* known() const {
    if (map->begun()) return map.get();
    return sketch && sketch->begun() ? sketch.get() : nullptr;
  }

  // A piece of the work; false: that was all.
  bool advance(Run& run) const {
    if (!map->begun()) {
      Run quiet{run.profile, run.stop};
      const Index rows = map->kind() == Pool::Kind::mean ? rows_of_a_mean : rows_of_a_maximum;
      if (sketch && !sketch->begun())
        sketch->estimate_some(1, 0, estimated_at_once, quiet);
      else
        map->estimate_some(rows, 0, estimated_at_once, quiet);
      return true;
    }
    if (drawn != map.get()) return true;  // nobody waits for tiles
    const auto begin = Clock::now();
    bool more = map->refine(view, run);
    while (more && ms_since(begin) < piece_ms) more = map->refine(view, run);
    return more;
  }
  bool wants_telling(bool more) const {
    return known() && (!more || drawn != known() || (drawn == map.get() && due()));
  }
  void draw(MapPanel& made, const Backend& backend, Run& run) {
    drawn = known();
    told = Clock::now();
    made.version = map->version();
    made.panel = std::make_shared<const Panel>(make_panel(key.view,
                                                          {.computation = *computation,
                                                           .exact = *exact,
                                                           .backend = backend,
                                                           .metrics = metrics.get(),
                                                           .sequence = source->sequence,
                                                           .settings = key.settings,
                                                           .rows = key.rows,
                                                           .cols = key.cols,
                                                           .max_pixels = key.max_pixels,
                                                           .map = drawn},
                                                          run));
  }

 private:
  bool due() const { return Clock::now() - told >= telling; }
};

}  // namespace

bool Study::is_map(View view) const {
  return (view == View::heatmap || view == View::error) && problem_ && problem_->n() > long_head;
}

// Of a long head something is seen before other columns are computed: exact attention, estimated.
bool Study::waits_for_first_look() const {
  if (!is_map(View::heatmap) || !exact_.error.empty()) return false;
  const auto shown = [&](View view) { return std::ranges::count(session_.views, view) > 0; };
  const auto& columns = session_.columns;
  if (!shown(View::heatmap) || std::ranges::none_of(columns, is_reference, &Column::variant))
    return false;
  return std::ranges::none_of(maps_, [&](const auto& map) {
    return map.first.view == View::heatmap && map.first.approximate == exact_key_ &&
           map.second->begun();
  });
}

Index Study::focus_row() const {
  const Viewport& part = session_.viewport;
  if (hovered_query_ >= 0) return hovered_query_;
  return static_cast<Index>((part.row_begin + part.row_end) / 2);
}

std::shared_ptr<MapPyramid> Study::map_of(const MapKey& key, const Computation& computation,
                                          const Computation& exact) {
  const auto known = std::ranges::find(maps_, key, &decltype(maps_)::value_type::first);
  if (known != maps_.end()) {
    maps_.splice(maps_.begin(), maps_, known);
    return maps_.front().second;
  }
  ViewSettings settings;
  settings.pool = key.pool;
  settings.error = key.error;
  maps_.emplace_front(key, make_map(key.view, computation, exact, settings));
  if (maps_.size() > most_maps) {
    engine_->discard(std::move(maps_.back().second));
    maps_.pop_back();
  }
  return maps_.front().second;
}

void Study::update_map_cell(std::size_t i, std::size_t row, CanvasCell& cell) {
  const ColumnState& state = columns_[i];
  const View view = session_.views[row];
  const std::string tag = "map " + std::to_string(row) + " " + std::to_string(i);
  const bool of_errors = view == View::error;
  if (of_errors && is_reference(state.column.variant)) {
    Panel zero;
    zero.view = view;
    zero.body = Message{"zero by definition"};
    if (!cell.panel || !std::holds_alternative<Message>(cell.panel->body))
      cell.panel = std::make_shared<const Panel>(std::move(zero));
    cell.stale = false;
    cell.status.clear();
    return;
  }
  const PanelKey key = panel_key(view, column_keys_[i], state);
  const MapKey its{
      .approximate = key.approximate,
      .exact = of_errors ? exact_key_ : key.approximate,
      .view = view,
      .pool = session_.settings.pool == Pool::Kind::mean ? Pool::Kind::mean : Pool::Kind::max,
      .error = of_errors ? session_.settings.error : ErrorKind{}};
  const auto exact = of_errors ? exact_.computation : state.computation;
  const auto map = map_of(its, *state.computation, *exact);
  const std::string its_bands = bands_tag + std::to_string(row) + " " + std::to_string(i);
  wanted_tags_.insert(tag);
  const MapPanel& shown = map_panels_[tag];
  const Raster* seen = shown.panel ? std::get_if<Raster>(&shown.panel->body) : nullptr;
  const bool news = !(seen && seen->complete) && shown.version != map->version() &&
                    (map->exact_share() == 1 || Clock::now() - shown.when >= telling);
  const bool failed = !shown.error.empty() && shown.key == key;  // until asked again
  if (!failed && (!(shown.key == key) || news)) ask_picture(tag, key, state, map);
  const bool by_exact = gradual_ && !of_errors && its.approximate == gradual_key_;
  if (map->begun() && map->exact_share() < 1 && !by_exact) {
    wanted_tags_.insert(its_bands);
    ask_bands(its_bands, its, map);
  }

  if (failed) {
    cell.status = "error: " + shown.error;
    return;
  }
  const ComputeKey& its_own = shown.key.approximate;  // kept by place: columns may have moved
  if (shown.panel && its_own.head == key.approximate.head && shown.key.view == view &&
      its_own.column.variant == key.approximate.column.variant)
    cell.panel = shown.panel;
  cell.stale = cell.panel && (!same_numbers(shown.key, key) || state.stale);
  if (!cell.panel) {
    say_waiting(tag, cell);
    return;
  }
  const auto* raster = std::get_if<Raster>(&cell.panel->body);
  if (cell.stale)
    say_waiting(state.stale ? "compute " + std::to_string(i) : tag, cell);
  else if (!raster || (raster->complete && shown.key == key))
    return cell.status.clear();
  else if (asked_pictures_.contains(tag) && raster->estimated == 0)
    cell.status = "refining";
  else if (paused_)
    cell.status = "cancelled: F5 goes on";
  else {
    cell.progress = map->exact_share();
    cell.status = (raster->estimated > 0 ? "estimate, exact: " : "exact: ") +
                  percent_text(*cell.progress) + time_left_text(by_exact ? gradual_tag : its_bands);
  }
  filling_ = true;
}

void Study::ask_picture(const std::string& tag, const PanelKey& key, const ColumnState& state,
                        std::shared_ptr<MapPyramid> map) {
  const auto asked = asked_pictures_.find(tag);
  if (paused_ || (asked != asked_pictures_.end() && asked->second == key)) return;
  asked_pictures_.insert_or_assign(tag, key);
  tags_.insert(tag);
  interrupt_long_work();
  const int later = map->begun() ? priority::tiles : priority::first_look;
  const auto exact = exact_.computation ? exact_.computation : state.computation;
  const auto sketch =
      map->begun() ? nullptr
                   : make_map(key.view, *state.computation, *exact, key.settings, sketch_side);
  const auto picture =
      std::make_shared<Picturing>(Picturing{.key = key,
                                            .computation = state.computation,
                                            .exact = exact,
                                            .metrics = state.metrics,
                                            .source = source_,
                                            .map = map,
                                            .sketch = sketch,
                                            .view = map_view(key.rows, key.cols, key.max_pixels)});
  if (hovered_query_ >= 0) picture->view.focus_row = hovered_query_;
  if (hovered_key_ >= 0) picture->view.focus_col = hovered_key_;
  const auto tell = [this, tag](MapPanel made, bool more) {
    const auto arrive = [this, tag, made = std::move(made), more] {
      const auto its = asked_pictures_.find(tag);
      if (its == asked_pictures_.end() || !(its->second == made.key)) return;
      map_panels_.insert_or_assign(tag, made);
      if (!more) asked_pictures_.erase(its);
      arrived();
    };
    QMetaObject::invokeMethod(this, arrive, Qt::QueuedConnection);
  };
  engine_->submit_pieces(
      tag, priority::first_look,
      [picture, tell](const Backend& backend, std::stop_token stop, Progress& progress) {
        Profile profile;
        Run run{profile, stop, &progress};
        bool more = false, told = true;
        MapPanel made{.key = picture->key, .when = Clock::now()};
        made.error = error_of([&] {
          more = picture->advance(run);
          told = picture->wants_telling(more);
          if (told) picture->draw(made, backend, run);
          const auto* raster = told ? std::get_if<Raster>(&made.panel->body) : nullptr;
          more = more && !(raster && raster->complete);
        });
        if (!told) return true;
        more = more && made.error.empty();
        tell(std::move(made), more);
        return more;
      },
      later);
}

// A new view does not wait for a piece of what takes a minute.
void Study::interrupt_long_work() {
  const std::string running = engine_->status().tag;
  if (running == gradual_tag || running.starts_with(bands_tag)) engine_->interrupt(running);
}

void Study::ask_bands(const std::string& tag, const MapKey& key, std::shared_ptr<MapPyramid> map) {
  const auto asked = asked_bands_.find(tag);
  if (paused_ || (asked != asked_bands_.end() && asked->second == key)) return;
  asked_bands_.insert_or_assign(tag, key);
  tags_.insert(tag);
  const auto bands = std::make_shared<Bands>(std::move(map), focus_row_);
  engine_->submit_pieces(tag, priority::bands,
                         [bands](const Backend&, std::stop_token stop, Progress& progress) {
                           Profile profile;
                           Run run{profile, stop, &progress};
                           return bands->advance(run);
                         });
}

// Exact attention of a long head, with both maps of its weights in the same pass.
void Study::ask_gradual() {
  *focus_row_ = focus_row();
  const bool wanted = exact_.computation && !exact_.computation->applied() && !exact_.stale;
  if (wanted && waits_for_first_look()) return;
  if (!wanted) {
    gradual_.reset();
    gradual_runs_ = false;
    return;
  }
  if (!gradual_ || !(gradual_key_ == exact_key_)) {
    MapKey key{.approximate = exact_key_, .exact = exact_key_};
    const auto most = map_of(key, *exact_.computation, *exact_.computation);
    key.pool = Pool::Kind::mean;
    const auto mean = map_of(key, *exact_.computation, *exact_.computation);
    gradual_ = std::make_shared<GradualOutput>(exact_.computation, most, mean);
    gradual_key_ = exact_key_;
    gradual_runs_ = false;
  }
  wanted_tags_.insert(gradual_tag);
  if (gradual_runs_ || paused_) return;
  gradual_runs_ = true;
  tags_.insert(gradual_tag);
  engine_->submit_pieces(gradual_tag, priority::long_exact,
                         [this, gradual = gradual_, key = gradual_key_, focus = focus_row_](
                             const Backend&, std::stop_token stop, Progress& progress) {
                           Profile profile;
                           Run run{profile, stop, &progress};
                           if (gradual->advance(*focus, piece_ms, run)) return true;
                           const auto whole =
                               std::make_shared<const Computation>(gradual->finish());
                           const auto arrive = [this, key, whole] {
                             computations_.put(key, {.result = whole, .error = {}});
                             arrived();
                           };
                           QMetaObject::invokeMethod(this, arrive, Qt::QueuedConnection);
                           return false;
                         });
}

}  // namespace fovea
