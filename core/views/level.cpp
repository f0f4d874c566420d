// The level of a hierarchy that owns each pair.
#include <limits>
#include <utility>

#include "analysis/support.h"
#include "views/parts.h"

namespace fovea::views {
namespace {

/// "Logit spread σ, level 1", ", level 2", ...: the common words are said once.
void add_spread(std::string& caption, const std::vector<Diagnostic>& diagnostics) {
  bool first = true;
  for (const Diagnostic& d : diagnostics) {
    if (!d.id.starts_with("block_spread")) continue;
    const std::size_t comma = d.label.find(", ");
    if (std::exchange(first, false)) add(caption, d.label.substr(0, comma) + ":");
    caption += (caption.ends_with(':') ? " " : ", ") + d.label.substr(comma + 2) + " " +
               format_number(d.value);
    if (d.standard_error > 0) caption += " ± " + format_number(d.standard_error, 2);
  }
}

/// "exact attention on levels 0, 1, ...: 71 %, 20 %, ...; given: 74 %, 18 %, ...".
void add_level_mass(std::string& caption, const std::vector<Diagnostic>& diagnostics) {
  std::string exact, approximate;
  double largest_error = 0;
  for (const Diagnostic& d : diagnostics)
    for (const auto& [start, words] : {std::pair{"level_mass_exact_", &exact},
                                       std::pair{"level_mass_approximate_", &approximate}}) {
      if (!d.id.starts_with(start)) continue;
      *words += (words->empty() ? "" : ", ") + format_percent(d.value, 2);
      largest_error = std::max(largest_error, d.standard_error);
    }
  if (exact.empty()) return;
  add(caption, "exact attention on levels 0, 1, …: " + exact + "; given to them: " + approximate +
                   (largest_error > 0 ? " (from sampled rows, each ± " +
                                            format_percent(largest_error) + " or less)"
                                      : ""));
}

Body level(const PanelInputs& in, std::string& caption, Run& run) {
  const Plan& plan = in.computation.op->plan();
  const auto* tiles = plan.as<TilePlan>();
  int top = 0;
  for (const Pass& pass : tiles ? tiles->passes : std::vector<Pass>{})
    top = std::max(top, pass.key_level);
  if (top == 0) return Message{"no cluster levels"};
  const Grid grid(in.rows, in.cols, in.max_pixels);
  Raster raster;
  raster.rows = in.rows;
  raster.cols = in.cols;
  raster.palette = Palette::categories;
  raster.quantity = "level that owns the pair";
  raster.high = top;
  for (int l = 0; l <= top; ++l) raster.categories.push_back("level " + std::to_string(l));
  raster.values = Matrix(grid.down, grid.across, -std::numeric_limits<float>::infinity());
  const Support support(plan);
  for (Index r = 0; r < grid.down; ++r) {
    run.check();
    std::vector<float> owner(in.cols.size(), -std::numeric_limits<float>::infinity());
    support.for_parts(grid.row_centre(r), in.cols, [&](const Support::Part& part) {
      std::fill_n(owner.begin() + (part.keys.begin - in.cols.begin), part.keys.size(),
                  static_cast<float>(part.pass->key_level));
    });
    for (Index c = 0; c < grid.across; ++c)
      raster.values(r, c) = owner[grid.col_centre(c) - in.cols.begin];
  }
  if (in.diagnostics) {
    add_spread(caption, *in.diagnostics);
    add_level_mass(caption, *in.diagnostics);
  }
  return raster;
}

}  // namespace
}  // namespace fovea::views

namespace fovea {

ViewKind level_view() {
  return {.id = "level",
          .label = "Level",
          .meaning =
              "The level of the token pyramid at which each pair attends: the larger the level, "
              "the more tokens share an entry.",
          .make = views::level,
          .needs_entries = true,
          .uses_diagnostics = true,
          .has_keys = true,
          .has_colours = true};
}

}  // namespace fovea
