#include "study/head_maps.h"

#include <algorithm>
#include <utility>

#include "views/map_drawing.h"
#include "views/views.h"

namespace fovea {
namespace {

constexpr int tiles_priority = 49;  // below first pictures and panels

/// The key of a map: that of a panel of the whole matrix, with the settings that make its numbers.
PanelKey map_key(const PanelKey& panel) {
  PanelKey key;
  key.approximate = panel.approximate;
  key.exact = panel.exact;
  key.view = panel.view;
  key.settings.pool = panel.settings.pool == Pool::Kind::mean ? Pool::Kind::mean : Pool::Kind::max;
  key.settings.own = panel.settings.own;
  return key;
}

}  // namespace

bool HeadMaps::shows(View view, const Column& column) const {
  const auto problem = results_.opened().problem;
  return problem && is_long(problem->lengths()) && view->map &&
         !(view->zero_of_exact && is_reference(column.variant));
}

bool HeadMaps::waits_for_first_estimate() const {
  const ColumnState& exact = results_.opened().exact;
  const Session& session = subject_.session;
  const auto reference = results_.exact_column(0);
  if (!reference || !exact.error.empty()) return false;
  const Column& column = results_.columns()[*reference].column;
  if (!std::ranges::count(session.views, weights_view()) || !shows(weights_view(), column))
    return false;
  return std::ranges::none_of(maps_.answers(), [&](const Cache::Answer& map) {
    return map.key.view == weights_view() && map.key.approximate == exact.key &&
           (map.result->begun() || !map.error.empty());
  });
}

HeadMaps::Cache::Answer& HeadMaps::map_of(const PanelKey& panel, const ColumnState& column) {
  const PanelKey key = map_key(panel);
  if (Cache::Answer* known = maps_.find(key)) return *known;
  const auto& exact = key.view->needs_exact ? results_.exact_of(column) : column;
  return maps_.put(
      {key, make_map(key.view, *column.computation, *exact.computation, key.settings)});
}

void HeadMaps::request_picture(const RequestId& id, const PanelKey& panel,
                               const ColumnState& column, const Take& take) {
  if (requests_.is_pending(id, panel)) return;
  requests_.interrupt_long_work();
  const auto map = map_of(panel, column).result;
  MapView pixels = map_view(panel.rows, panel.cols, panel.max_pixels);
  if (subject_.pointed.query >= 0) pixels.focus_row = subject_.pointed.query;
  if (subject_.pointed.key >= 0) pixels.focus_col = subject_.pointed.key;
  const auto drawing =
      std::make_shared<MapDrawing>(results_.sources_of(panel, column), map, pixels);
  requests_.start_pieces(
      id, panel,
      [this, drawing, take, post = requests_.poster()](const Backend& backend, Run& run) {
        std::optional<MapDrawing::Picture> picture;
        const bool more = drawing->advance(backend, run, picture);
        if (picture)
          post([this, take, picture = *picture, more] {
            take(picture, {});
            if (more) emit requests_.arrived(false);
          });
        return more;
      },
      [this, take, key = map_key(panel)](const std::string& error) {
        if (error.empty()) return;
        Cache::Answer* its = maps_.find(key);
        if (its && !its->result->begun()) its->error = error;
        take({}, error);
      },
      map->begun() ? tiles_priority : traits_of(RequestKind::map).priority);
}

bool HeadMaps::lacks_output(const HeadState& head) const {
  const ColumnState& exact = head.exact;
  return head.problem && exact.computation && !exact.computation->applied() && !exact.stale &&
         exact.error.empty();
}

// Both maps of its weights are found in the same pass.
HeadMaps::GradualExact& HeadMaps::begin_exact(const ColumnState& exact) {
  const auto known = std::ranges::find(exact_, exact.key, &GradualExact::key);
  if (known != exact_.end()) return *known;
  const auto map = [&](Pool::Kind kind) {
    PanelKey key;
    key.view = weights_view();
    key.approximate = key.exact = exact.key;
    key.settings.pool = kind;
    return map_of(key, exact).result;
  };
  exact_.push_back({exact.key,
                    std::make_shared<GradualOutput>(exact.computation, map(Pool::Kind::max),
                                                    map(Pool::Kind::mean)),
                    {RequestKind::exact_rows, 0, next_exact_++}});
  return exact_.back();
}

RequestId HeadMaps::exact_id(const HeadState& head) const {
  const auto known = std::ranges::find(exact_, head.exact.key, &GradualExact::key);
  return known == exact_.end() ? RequestId{RequestKind::exact_rows, 0, -1} : known->id;
}

void HeadMaps::update_exact() {
  *focus_row_ = subject_.focus_row();
  const auto& heads = results_.heads();
  std::erase_if(exact_, [&](GradualExact& gradual) {
    const bool wanted = std::ranges::any_of(heads, [&](const HeadState& head) {
      return lacks_output(head) && head.exact.key == gradual.key;
    });
    if (!wanted) requests_.discard(std::move(gradual.output));
    return !wanted;
  });
  if (waits_for_first_estimate()) return;
  // What is requested last runs first: the opened head.
  for (auto head = heads.rbegin(); head != heads.rend(); ++head) {
    if (!lacks_output(*head)) continue;
    const GradualExact& gradual = begin_exact(head->exact);
    const auto whole = std::make_shared<std::shared_ptr<const Computation>>();
    requests_.start_pieces(
        gradual.id, gradual.key,
        [output = gradual.output, whole, focus = focus_row_](const Backend&, Run& run) {
          if (output->advance(*focus, piece_ms, run)) return true;
          *whole = output->finish();
          return false;
        },
        [this, whole, key = gradual.key](const std::string& error) {
          results_.put(key, *whole, error);
        });
  }
}

RequestId HeadMaps::update_bands(const PanelKey& panel, int row, int column) {
  const RequestId id{RequestKind::bands, row, column};
  const PanelKey key = map_key(panel);
  const auto gradual = std::ranges::find(exact_, key.approximate, &GradualExact::key);
  if (key.view == weights_view() && gradual != exact_.end()) return gradual->id;
  const Cache::Answer* map = maps_.find(key);
  if (!map || !map->result->begun() || map->result->exact_share() == 1 || !map->error.empty())
    return id;
  const auto bands = std::make_shared<MapBands>(map->result, focus_row_);
  requests_.start_pieces(
      id, key, [bands](const Backend&, Run& run) { return bands->advance(run); },
      [this, key](const std::string& error) {
        if (Cache::Answer* its = maps_.find(key)) its->error = error;
      });
  return id;
}

void HeadMaps::clear() {
  for (GradualExact& gradual : exact_) requests_.discard(std::move(gradual.output));
  exact_.clear();
}

}  // namespace fovea
