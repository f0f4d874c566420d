// The views of a plan's own structure: pyramid levels, tree leaves, hash buckets.
#include <limits>
#include <utility>

#include "analysis/leaf_skew.h"
#include "analysis/support.h"
#include "panels/panels.h"

namespace fovea::panels {
namespace {

Index places(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  std::int32_t top = 0;
  for (const auto* places : {&a, &b})
    for (const std::int32_t p : *places) top = std::max(top, p);
  return top + 1;
}

std::vector<int> branching_of(const Plan& plan) {
  if (const auto* nodes = std::get_if<NodePlan>(&plan.form)) return nodes->branching;
  std::vector<int> out;
  for (const TreeLevel& level : plan.structure.tree.levels) out.push_back(level.branching);
  return out;
}

/// "Logit spread σ, level 1", ", level 2", ...: what they have in common is said once.
void add_spread(std::string& caption, const std::vector<Diagnostic>& diagnostics) {
  bool first = true;
  for (const Diagnostic& d : diagnostics) {
    if (!d.id.starts_with("block_spread")) continue;
    const std::size_t comma = d.label.find(", ");
    if (std::exchange(first, false)) add(caption, d.label.substr(0, comma) + ":");
    caption +=
        (caption.ends_with(':') ? " " : ", ") + d.label.substr(comma + 2) + " " + number(d.value);
  }
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
  if (in.diagnostics) add_spread(caption, *in.diagnostics);
  return raster;
}

Body tree(const PanelInputs& in, std::string& caption, Run& run) {
  run.check();
  const Plan& plan = in.computation.op->plan();
  const Structure& s = plan.structure;
  const auto* nodes = std::get_if<NodePlan>(&plan.form);
  LeafSizes sizes;
  if (nodes || !s.query_leaf.empty()) {
    const auto& queries = nodes ? nodes->query_leaf : s.query_leaf;
    const auto& keys = nodes ? nodes->key_leaf : s.key_leaf;
    sizes.kind = "leaf";
    sizes.branching = branching_of(plan);
    Index count = 1;
    for (const int b : sizes.branching) count *= b;
    count = std::max(count, places(queries, keys));
    sizes.queries = sizes_of(queries, count);
    sizes.keys = sizes_of(keys, count);
  } else if (!s.query_bucket.empty()) {
    const Index count = bucket_count(s.query_bucket, s.key_bucket);
    sizes.kind = "bucket";
    sizes.queries = sizes_of(s.query_bucket, count);
    sizes.keys = sizes_of(s.key_bucket, count);
  } else {
    return Message{plan.notes.empty() ? "no tree, no buckets" : plan.notes.front()};
  }
  if (fitted_to_all_tokens(in.computation))
    add(caption, plan.causal ? "fitted to all tokens, later ones too" : "fitted to all tokens");
  sizes.figures = skew_diagnostics(leaf_skew(sizes.queries, sizes.keys), sizes.kind);
  return sizes;
}

}  // namespace fovea::panels
