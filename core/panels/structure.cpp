// The views of a plan's own structure: pyramid levels, tree leaves, hash buckets.
#include <limits>
#include <span>
#include <utility>

#include "analysis/leaf_skew.h"
#include "analysis/support.h"
#include "panels/panels.h"
#include "plan/leaves.h"

namespace fovea::panels {
namespace {

/// A panel holds at most this many sizes, as many as a tree can have leaves. If a hash has more
/// buckets, nearly all are empty, and adjacent ones are shown together.
constexpr Index most_sizes = Index{1} << 20;

std::vector<Index> sizes_of(std::span<const std::int32_t> leaf_of_token, const LeafSizes& sizes,
                            Index count, Run& run) {
  std::vector<Index> out(static_cast<std::size_t>((count - 1) / sizes.together + 1));
  for (const LeafCount& leaf : count_leaves(leaf_of_token, run))
    out[static_cast<std::size_t>(leaf.leaf / sizes.together)] += leaf.tokens;
  return out;
}

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

}  // namespace

Body level(const PanelInputs& in, std::string& caption, Run& run) {
  const Plan& plan = in.computation.op->plan();
  const auto* tiles = std::get_if<TilePlan>(&plan.form);
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
    std::vector<float> owner(static_cast<std::size_t>(in.cols.size()),
                             -std::numeric_limits<float>::infinity());
    support.for_parts(grid.row_centre(r), in.cols, [&](const Support::Part& part) {
      std::fill_n(owner.begin() + (part.keys.begin - in.cols.begin), part.keys.size(),
                  static_cast<float>(part.pass->key_level));
    });
    for (Index c = 0; c < grid.across; ++c)
      raster.values(r, c) = owner[static_cast<std::size_t>(grid.col_centre(c) - in.cols.begin)];
  }
  if (in.diagnostics) {
    add_spread(caption, *in.diagnostics);
    add_level_mass(caption, *in.diagnostics);
  }
  return raster;
}

Body tree(const PanelInputs& in, std::string& caption, Run& run) {
  run.check();
  const Plan& plan = in.computation.op->plan();
  const auto leaves = leaves_of(plan);
  if (!leaves)
    return Message{plan.notes.empty() ? "neither a tree nor buckets" : plan.notes.front()};
  LeafSizes sizes{.kind = leaves->kind, .branching = leaves->branching};
  while (leaves->count / sizes.together > most_sizes) sizes.together *= 2;
  sizes.queries = sizes_of(leaves->queries, sizes, leaves->count, run);
  sizes.keys = sizes_of(leaves->keys, sizes, leaves->count, run);
  if (plan.fitted_to_all_tokens)
    add(caption, plan.causal ? "fitted to all tokens, later ones too" : "fitted to all tokens");
  if (sizes.together > 1)
    add(caption,
        "each bar: " + std::to_string(sizes.together) + " adjacent " + plural_of(sizes.kind));
  sizes.figures = skew_diagnostics(leaf_skew(plan, *leaves, run), sizes.kind);
  return sizes;
}

}  // namespace fovea::panels
