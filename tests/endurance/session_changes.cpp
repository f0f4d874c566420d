// Columns, their parameters, heads, views and conditions of attention are changed.
#include <algorithm>

#include "endurance/actions.h"
#include "views/views.h"

namespace fovea::test {
namespace {

constexpr std::size_t most_columns = 9;

bool can_have_columns(MainWindow& window) {
  return window.study().source() && !window.study().shows_matrix() && window.study().length() > 0;
}

void add_variant(Desk& desk) {
  MainWindow& window = desk.window();
  if (!can_have_columns(window)) return;
  while (window.study().session().columns.size() >= most_columns) {
    window.study().select_column(desk.draws().below(int(most_columns)));
    const auto before = window.study().session().columns.size();
    window.editor().remove_column();
    if (window.study().session().columns.size() == before) break;
  }
  const Variant& variant = desk.draws().one_of(variants());
  desk.log().line("  " + variant.id);
  window.editor().add_variants({variant.id});
}

void select_column(Desk& desk) {
  MainWindow& window = desk.window();
  const int count = int(window.study().columns().size());
  if (count > 0) window.study().select_column(desk.draws().below(count));
}

void remove_column(Desk& desk) {
  select_column(desk);
  trigger(desk, desk.window(), "remove");
}

void change_columns(Desk& desk) {
  select_column(desk);
  static const std::vector<const char*> names{"duplicate", "hold",          "left",         "right",
                                              "reset",     "include_pairs", "exclude_pairs"};
  const char* name = desk.draws().one_of(names);
  desk.log().line(std::string("  ") + name);
  MainWindow& window = desk.window();
  trigger(desk, window, name);
}

void first_look(Desk& desk) {
  trigger(desk, desk.window(), "first_look");
}

/// A value that the schema allows: any of the range, mostly near its usual size.
Value drawn_value(Draws& draws, const Field& field) {
  if (!field.choices.empty()) return draws.one_of(field.choices);
  if (std::holds_alternative<std::string>(field.standard)) return field.standard;
  double number = field.min + draws.share() * (field.max - field.min);
  if (field.axis == Axis::log2 && field.min >= 0) {
    const double low = std::max(field.min, 1e-3);
    number = low * std::pow(std::min(field.max, 512.0) / low, draws.share());
    if (draws.chance(0.05)) number = draws.chance(0.5) ? field.min : field.max;
  }
  if (std::holds_alternative<std::vector<double>>(field.standard)) {
    std::vector<double> list(std::size_t(draws.from_to(1, 4)));
    for (double& x : list) x = std::clamp(double(draws.from_to(2, 8)), field.min, field.max);
    return list;
  }
  if (std::holds_alternative<double>(field.standard))
    return std::clamp(number, field.min, field.max);
  auto whole = std::int64_t(std::clamp(std::floor(number), field.min, field.max));
  if (field.must_be_even && whole % 2) whole += double(whole + 1) <= field.max ? 1 : -1;
  return whole;
}

void set_parameter(Desk& desk) {
  MainWindow& window = desk.window();
  Draws& draws = desk.draws();
  if (!can_have_columns(window) || window.study().session().columns.empty()) return;
  const std::size_t c = std::size_t(draws.below(int(window.study().session().columns.size())));
  const Column column = window.study().session().columns[c];
  if (column.variant == imported_variant().id) return;
  const Schema& schema = find_variant(column.variant).schema;
  if (schema.empty()) return;
  const std::size_t f = std::size_t(draws.below(int(schema.size())));
  const Value value = drawn_value(draws, schema[f]);
  desk.log().line("  " + column.variant + " " + schema[f].id + " = " + to_text(value));
  window.change("column " + std::to_string(c), [&](Session& s) { s.columns[c].values[f] = value; });
}

/// As a slider that is dragged: many values, one after the other.
void drag_parameter(Desk& desk) {
  MainWindow& window = desk.window();
  Draws& draws = desk.draws();
  const QPointer<MainWindow> alive = &window;
  if (!can_have_columns(window)) return;
  for (int step = 0; step < 20 && alive; ++step) {
    const auto& columns = window.study().session().columns;
    const auto h1d = std::ranges::find(columns, "h1d", &Column::variant);
    if (h1d == columns.end()) return window.editor().add_variants({"h1d"});
    const auto c = std::size_t(h1d - columns.begin());
    const std::string block = std::to_string(2 * draws.from_to(1, 32));
    window.change("column " + std::to_string(c), [&](Session& s) {
      set_value(find_variant("h1d").schema, s.columns[c].values, "block", block);
    });
    desk.wait(16);
  }
}

void set_seed(Desk& desk) {
  MainWindow& window = desk.window();
  Draws& draws = desk.draws();
  const auto count = int(window.study().session().columns.size());
  if (count == 0) return;
  const auto c = std::size_t(draws.below(count));
  const auto seed = draws.chance(0.2) ? ~std::uint64_t{0} : std::uint64_t(draws.below(100));
  window.change("column " + std::to_string(c), [&](Session& s) { s.columns[c].seed = seed; });
}

void choose_head(Desk& desk) {
  MainWindow& window = desk.window();
  const auto source = window.study().source();
  if (!source) return;
  const int layer = desk.draws().below(int(source->layers.size()));
  const int head = desk.draws().below(int(source->layers[std::size_t(layer)].heads()));
  desk.log().line("  layer " + std::to_string(layer) + " head " + std::to_string(head));
  if (desk.draws().chance(0.75) || !can_have_columns(window))
    window.editor().choose_head(layer, head);
  else
    window.editor().add_column_of(layer, head);  // two heads side by side
}

void choose_patch(Desk& desk) {
  MainWindow& window = desk.window();
  if (!window.study().source() || window.study().source()->kind != "image") return;
  static const std::vector<int> sizes{8, 12, 16, 24, 32, 64};
  window.editor().choose_patch(desk.draws().one_of(sizes));
}

void change_view(Desk& desk) {
  MainWindow& window = desk.window();
  Draws& draws = desk.draws();
  const auto views = all_views();
  const View view = draws.one_of(views);
  const int row = draws.below(std::max(1, int(window.study().session().views.size())));
  desk.log().line("  " + to_text(view));
  switch (draws.below(4)) {
    case 0:
      return window.editor().show_view(view, true);
    case 1:
      return window.editor().show_view(view, false);
    case 2:
      return window.editor().replace_view(row, view);
    default:
      window.editor().move_view(
          row, draws.below(std::max(1, int(window.study().session().views.size()))));
  }
}

void change_settings(Desk& desk) {
  MainWindow& window = desk.window();
  static const std::vector<const char*> names{
      "next_error", "row_norm",      "log_norm",     "lock_range",   "standard_pictures",
      "compare",    "compare_split", "compare_wipe", "compare_blink"};
  const char* name = desk.draws().one_of(names);
  desk.log().line(std::string("  ") + name);
  trigger(desk, window, name);
}

void change_ranks(Desk& desk) {
  MainWindow& window = desk.window();
  Draws& draws = desk.draws();
  window.editor().change_settings([&](ViewSettings& s) {
    for (const auto& [view, own] : view_fields()) {
      const Field& field = own->field;
      if (!field.choices.empty())
        set_value(s, *own, draws.one_of(field.choices));
      else if (std::holds_alternative<double>(field.standard))
        set_value(s, *own, std::pow(10.0, -6 * draws.share()));
      else
        set_value(s, *own, std::int64_t{1} << draws.from_to(1, 7));
    }
    s.pool = draws.chance(0.5) ? Pool::Kind::max : Pool::Kind::mean;
  });
}

void change_mask(Desk& desk) {
  static const std::vector<const char*> names{"causal", "causal",         "stated_mask",
                                              "scale",  "sliding_window", "soft_cap"};
  const char* name = desk.draws().one_of(names);
  desk.log().line(std::string("  ") + name);
  trigger(desk, desk.window(), name);
}

/// Such as a person sets by hand, on a head of any length.
void set_conditions(Desk& desk) {
  MainWindow& window = desk.window();
  Draws& draws = desk.draws();
  if (!can_have_columns(window)) return;
  window.change("conditions", [&](Session& s) {
    s.conditions.scale = draws.chance(0.5) ? std::optional(0.01 + draws.share()) : std::nullopt;
    s.conditions.window = draws.chance(0.3) ? std::optional<Index>(draws.below(64)) : std::nullopt;
    s.conditions.soft_cap =
        draws.chance(0.3) ? std::optional(1 + 30 * draws.share()) : std::nullopt;
  });
}

void name_spans(Desk& desk) {
  MainWindow& window = desk.window();
  Draws& draws = desk.draws();
  const Index n = window.study().length();
  if (n == 0) return;
  window.editor().choose_spans(draws.one_of(all_span_choices()));
  const auto begin = Index(draws.below(int(n)));
  const auto end = std::min<Index>(n, begin + 1 + draws.below(8));
  window.editor().name_span(
      {.name = "span " + std::to_string(draws.below(4)), .tokens = {begin, end}});
  if (draws.chance(0.3) && !window.study().session().spans.empty()) window.editor().remove_span(0);
}

}  // namespace

std::vector<Action> session_actions() {
  return {{"add a column", 6, add_variant},          {"select a column", 4, select_column},
          {"remove a column", 5, remove_column},     {"change the columns", 6, change_columns},
          {"standard columns", 2, first_look},       {"set a parameter", 12, set_parameter},
          {"drag a parameter", 3, drag_parameter},   {"set a seed", 2, set_seed},
          {"choose a head", 6, choose_head},         {"choose a patch size", 2, choose_patch},
          {"change the views", 6, change_view},      {"change view settings", 6, change_settings},
          {"change rank settings", 2, change_ranks}, {"change the mask", 3, change_mask},
          {"set conditions", 2, set_conditions},     {"name spans", 2, name_spans}};
}

}  // namespace fovea::test
