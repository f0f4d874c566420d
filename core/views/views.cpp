#include "views/views.h"

#include <algorithm>
#include <deque>

#include "data/error.h"
#include "data/text.h"

namespace fovea {

// One function a file: the rows of the table.
ViewKind heatmap_view();
ViewKind error_view();
ViewKind mask_view();
ViewKind selection_view();
ViewKind tile_errors_view();
ViewKind reach_view();
ViewKind rank_view();
ViewKind level_view();
ViewKind spread_view();
ViewKind tree_view();
ViewKind row_view();
ViewKind output_view();
ViewKind cost_view();

const ViewKind no_view{};

namespace {

/// A deque, whose rows stay where they are when one is added.
std::deque<ViewKind>& kinds() {
  static std::deque<ViewKind> kinds{
      heatmap_view(), error_view(),  tile_errors_view(), mask_view(),   selection_view(),
      reach_view(),   rank_view(),   level_view(),       spread_view(), tree_view(),
      row_view(),     output_view(), cost_view()};
  return kinds;
}

/// The only field of a Schema.
Schema schema_of(const ViewField& field) {
  return {field.field};
}

}  // namespace

void add_view(ViewKind row) {
  kinds().push_back(std::move(row));
}

std::vector<View> all_views() {
  return {kinds().begin(), kinds().end()};
}

std::optional<View> view_from(std::string_view id) {
  const auto known = std::ranges::find(kinds(), id, &ViewKind::id);
  return known == kinds().end() ? std::nullopt : std::optional(View(*known));
}

View find_view(std::string_view id) {
  if (const auto view = view_from(id)) return *view;
  throw UsageError("unknown view '" + std::string(id) + "'; expected one of " +
                   names_of(all_views()));
}

std::string to_text(View view) {
  return view->id;
}

std::string names_of(const std::vector<View>& views) {
  return join(views, [](View view) { return view->id; });
}

std::string label_of(View view) {
  return view->label;
}

View weights_view() {
  return *std::ranges::find_if(kinds(),
                               [](const ViewKind& kind) { return kind.map && !kind.needs_exact; });
}

std::vector<View> views_of_matrix() {
  std::vector<View> views = all_views();
  std::erase_if(views, [](View view) { return !view->of_matrix; });
  return views;
}

std::vector<View> first_views() {
  std::vector<View> views = all_views();
  std::erase_if(views, [](View view) { return view->at_first != ViewKind::AtFirst::always; });
  return views;
}

// Those that take long are a click away, except of a short head.
std::vector<View> first_views(std::size_t rows, Index n) {
  constexpr Index short_head = 1024;
  std::vector<View> views = first_views();
  for (const View view : all_views())
    if (view->at_first == ViewKind::AtFirst::in_room && views.size() < rows &&
        !(view->takes_long && n > short_head))
      views.push_back(view);
  return views;
}

std::vector<FieldOfView> view_fields() {
  std::vector<FieldOfView> fields;
  for (const ViewKind& kind : kinds())
    for (const ViewField& field : kind.fields) fields.push_back({kind, &field});
  return fields;
}

FieldOfView find_view_field(std::string_view id) {
  const auto fields = view_fields();
  for (const FieldOfView& known : fields)
    if (known.field->field.id == id) return known;
  throw UsageError("unknown setting '" + std::string(id) + "'; expected one of " +
                   join(fields, [](const FieldOfView& known) { return known.field->field.id; }));
}

Value value_of(const ViewSettings& settings, const ViewField& field) {
  const auto own = settings.own.find(field.field.id);
  return own == settings.own.end() ? field.field.standard : own->second;
}

void set_value(ViewSettings& settings, const ViewField& field, Value value) {
  check_values(schema_of(field), {value});
  if (value == field.field.standard)
    settings.own.erase(field.field.id);
  else
    settings.own[field.field.id] = std::move(value);
}

void set_value(ViewSettings& settings, std::string_view id, const std::string& text) {
  const ViewField& field = *find_view_field(id).field;
  Values values = defaults(schema_of(field));
  set_value(schema_of(field), values, field.field.id, text);
  set_value(settings, field, std::move(values.front()));
}

ViewSettings settings_for_length(Index n) {
  ViewSettings settings;
  for (const auto& [view, field] : view_fields())
    set_value(settings, *field, value_for_length(field->field, n));
  return settings;
}

void follow_length(ViewSettings& settings, const ViewSettings& shown, Index n_before, Index n) {
  for (const auto& [view, field] : view_fields()) {
    const Value before = value_for_length(field->field, n_before);
    if (value_of(settings, *field) == before && value_of(shown, *field) == before)
      set_value(settings, *field, value_for_length(field->field, n));
  }
}

ViewSettings settings_for(View view, ViewSettings settings) {
  const ViewSettings standard;
  settings.colormap = standard.colormap;
  settings.shared_range = standard.shared_range;
  settings.ranges.clear();
  settings.hidden.clear();
  if (!view->uses_log_floor) settings.log_floor = standard.log_floor;
  std::erase_if(settings.own, [view](const auto& own) {
    return std::ranges::none_of(view->fields, [&own](const ViewField& field) {
      return field.field.id == own.first && !field.of_colours;
    });
  });
  return settings;
}

Session standard_session(const std::string& source, Index n) {
  Session session;
  session.source = source;
  // Long heads get only the variants that are computed in moments; the others are a click away.
  for (const Variant* variant : variants_of(Group::papers))
    if (n <= long_head || variant->quick)
      session.columns.push_back({.variant = variant->id, .values = values_for_length(*variant, n)});
  session.views = first_views();
  session.settings = settings_for_length(n);
  session.viewport = {0, static_cast<double>(n), 0, static_cast<double>(n)};
  return session;
}

}  // namespace fovea
