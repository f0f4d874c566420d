// The fields of a Session and its file, for laws over each of them.
#pragma once

#include <doctest/doctest.h>

#include <tuple>
#include <typeinfo>
#include <utility>

#include "input/session_file.h"
#include "views/views.h"

namespace fovea::test {

// Every field is bound by name: with a new one this does not compile.
inline auto fields_of(ViewSettings& settings) {
  auto& [norm, log_floor, pool, shared_range, colormap, ranges, hidden, own] = settings;
  return std::tie(norm, log_floor, pool, shared_range, colormap, ranges, hidden, own);
}
inline auto fields_of(HeadConditions& conditions) {
  auto& [causal, scale, window, soft_cap] = conditions;
  return std::tie(causal, scale, window, soft_cap);
}
inline auto fields_of(Session& session) {
  auto& [source, patch, layer, head, conditions, columns, views, settings, viewport, pinned,
         span_choice, spans, replaced_heads, validated_on] = session;
  return std::tuple_cat(std::tie(source, patch, layer, head, columns, views, viewport, pinned,
                                 span_choice, spans, replaced_heads, validated_on),
                        fields_of(conditions), fields_of(settings));
}
// Without `directory`: the file says what the source is when it is written.
inline auto fields_of(SessionFile& file) {
  auto& [session, content_hash, layout, directory, selected_column, orders, trees] = file;
  auto& [comparison, heads, all_layers] = orders;
  return std::tuple_cat(
      std::tie(content_hash, layout, selected_column, comparison, heads, all_layers, trees),
      fields_of(session));
}
inline auto fields_of(HeldHead& held) {
  auto& [source, layer, head, conditions] = held;
  return std::tuple_cat(std::tie(source, layer, head), fields_of(conditions));
}
inline auto fields_of(Column& column) {
  auto& [variant, values, seed, held] = column;
  return std::tie(variant, values, seed, held);
}
inline auto fields_of(ColourRange& range) {
  auto& [view, column, low, high] = range;
  return std::tie(view, column, low, high);
}

// Calls `take` with the place of each field, as a constant.
template <class T, class Take>
void for_fields(Take take) {
  [&]<std::size_t... place>(std::index_sequence<place...>) {
    (take(std::integral_constant<std::size_t, place>()), ...);
  }
  (std::make_index_sequence<std::tuple_size_v<decltype(fields_of(std::declval<T&>()))>>());
}

// A value whose fields all differ from the default ones.
template <class T>
T unlike_default(T value) {
  T standard;
  for_fields<T>([&](auto place) {
    CAPTURE(typeid(T).name());
    CAPTURE(place.value);
    CHECK(std::get<place.value>(fields_of(value)) != std::get<place.value>(fields_of(standard)));
  });
  return value;
}

inline SessionFile unlike_any_default() {
  SessionFile file;
  file.content_hash = "abc123";
  file.layout = "[n,h,d]";
  file.selected_column = 2;
  file.orders = {"mass_kept", HeadOrder::density, true};
  ColumnTree tree{.column = 1, .learned_on = "a text, layer2, head 3", .tensors = {}};
  tree.tensors.set({"tree_weight", {2, 3}, std::vector<float>{1.1f, -2e-38f, 3, 0x1p-149f, 5, 6}});
  tree.tensors.set("tree_bias", std::vector<float>{0.1f, -0.0f});
  file.trees = {tree};
  Session& session = file.session;
  session.source = "synthetic:gaussian?n=64&d=8&heads=3";
  session.patch = 5;
  session.layer = 2;
  session.head = 1;
  session.conditions.causal = true;
  session.conditions.scale = 0.3;
  session.conditions.window = 12;
  session.conditions.soft_cap = 30.5;
  for (const Variant& variant : variants())
    session.columns.push_back({.variant = variant.id,
                               .values = defaults(variant.schema),
                               .seed = session.columns.size() + 1});
  Column own{.variant = "hyper", .values = defaults(find_variant("hyper").schema), .seed = 1};
  set_value(find_variant("hyper").schema, own.values, "block", "17");
  own.held = unlike_default(HeldHead{"synthetic:golden", 3, 2, {false, 0.7, 0, 20}});
  session.columns.push_back(unlike_default(own));
  session.views = {find_view("cost"),  find_view("output"),    find_view("row"),
                   find_view("tree"),  find_view("level"),     find_view("rank"),
                   find_view("reach"), find_view("selection"), find_view("tiles"),
                   find_view("mask"),  find_view("error"),     find_view("heatmap")};
  session.viewport = {1.5, 20.25, 3, 47.5};
  session.pinned_query = 7;
  session.span_choice = SpanChoice::named;
  session.spans = {{"the “system” prompt", {0, 24}}, {"question", {30, 31}}};
  session.replaced_heads = "25-29,3.1";
  session.validated_on = "/tmp/another text.txt";
  ViewSettings& settings = session.settings;
  settings.norm = Norm::row_max;
  settings.log_floor = 3e-3;
  settings.pool = Pool::Kind::max;
  for (const auto& [view, of_view] : view_fields()) {
    const Field& field = of_view->field;
    if (!field.choices.empty())
      set_value(settings, *of_view, field.choices.back());
    else if (std::holds_alternative<double>(field.standard))
      set_value(settings, *of_view, 0.05);
    else
      set_value(settings, *of_view, std::int64_t{12});
  }
  settings.shared_range = false;
  settings.colormap = "cividis";
  settings.ranges = {{find_view("heatmap"), -1, 1e-3, 0.7},
                     unlike_default(ColourRange{find_view("error"), 1, -0.25, 0.25})};
  settings.hidden = {"exact", "empty"};
  return unlike_default(file);
}

}  // namespace fovea::test
