// Treeformer: a tree routes queries and keys; a query attends the keys of its leaf (TF) or takes
// the means of the values along its path (TC).
#include <algorithm>
#include <span>

#include "analysis/leaf_skew.h"
#include "data/group_by.h"
#include "variants/learned_tree.h"
#include "variants/tree_builder.h"
#include "variants/variant.h"

namespace fovea {
namespace {

enum class EmptyLeaf { zero, ancestor };

struct TfParameters : TreeParameters {
  EmptyLeaf empty = EmptyLeaf::zero;

  static std::vector<TypedField<TfParameters>> fields() {
    auto fields = tree_fields<TfParameters>();
    fields.push_back(
        choice_field("empty", "Empty leaf", &TfParameters::empty, {"zero", "ancestor"},
                     "What a query gets whose leaf holds no key it may attend: Z = 0, or "
                     "the keys of the nearest ancestor that holds one."));
    return fields;
  }
};

struct TcParameters : TreeParameters {
  std::vector<double> alpha;

  static std::vector<TypedField<TcParameters>> fields() {
    auto fields = tree_fields<TcParameters>();
    for (auto* sized : {&fields[0], &fields[1]})  // height and branching: as many alphas as depths
      sized->field.followers.push_back("alpha");
    fields.push_back(
        list_field("alpha", "Alpha", "", &TcParameters::alpha, -1e6, 1e6,
                   "Weight of each depth, root first: h + 1 numbers, of any sum. Empty: "
                   "all 1/(h + 1), or learned with the tree."));
    return fields;
  }
};

// The keys of a head in the order of the leaves, ascending in each.
struct LeafKeys {
  const Problem& problem;
  const std::vector<std::int32_t>& keys;  // [nk]
  const std::vector<Index>& start;        // [leaves + 1]

  // Whether a query may attend a key of some leaves.
  bool any(Index query, IndexRange leaves) const {
    if (start[static_cast<std::size_t>(leaves.begin)] ==
        start[static_cast<std::size_t>(leaves.end)])
      return false;
    for (Index leaf = leaves.begin; leaf < leaves.end; ++leaf) {
      const auto begin = static_cast<std::size_t>(start[static_cast<std::size_t>(leaf)]),
                 end = static_cast<std::size_t>(start[static_cast<std::size_t>(leaf) + 1]);
      if (problem.admits_any(query, std::span(keys).subspan(begin, end - begin))) return true;
    }
    return false;
  }
};

constexpr int nowhere = -1;

// The depth of the node whose keys a query of a leaf attends: that of the leaf; or, if it may
// climb, of the nearest ancestor that holds a key which the query may attend; or nowhere.
int depth_of(Index query, Index leaf, const Tree& tree, const LeafKeys& keys, EmptyLeaf empty) {
  Index below = 1;  // leaves under the node
  for (int depth = tree.height();; --depth) {
    const Index first = leaf / below * below;
    if (keys.any(query, {first, first + below})) return depth;
    if (empty == EmptyLeaf::zero || depth == 0) return nowhere;
    // The root is asked first: a query without any key would try every node on its way.
    if (below == 1 && !keys.any(query, {0, tree.leaves()})) return nowhere;
    below *= tree.levels[static_cast<std::size_t>(depth) - 1].branching;
  }
}

// Adds the tiles of one leaf of queries, those that climb furthest first; queries without a key
// come last, and have none. Orders the queries so.
void add_leaf(Pass& pass, IndexRange queries, Index leaf, const Tree& tree,
              const std::vector<Index>& key_start, const std::vector<int>& depth, Band band) {
  const auto depth_at = [&](std::int32_t query) { return depth[static_cast<std::size_t>(query)]; };
  const auto begin = pass.rows.begin() + queries.begin, end = pass.rows.begin() + queries.end;
  std::stable_sort(begin, end, [&](std::int32_t a, std::int32_t b) {
    return static_cast<unsigned>(depth_at(a)) < static_cast<unsigned>(depth_at(b));
  });
  for (auto first = begin; first != end && depth_at(*first) != nowhere;) {
    const int its = depth_at(*first);
    const auto last = std::find_if(first, end, [&](std::int32_t q) { return depth_at(q) != its; });
    const Index below = tree.leaves() / tree.nodes(its), node = leaf / below;
    pass.tiles.push_back({{first - pass.rows.begin(), last - pass.rows.begin()},
                          {key_start[static_cast<std::size_t>(node * below)],
                           key_start[static_cast<std::size_t>((node + 1) * below)]},
                          band});
    first = last;
  }
}

Plan plan_tf(const Problem& problem, const TfParameters& p, Planning& planning) {
  Plan plan{.lengths = problem.lengths(), .causal = problem.causal, .form = {}};
  const RoutedTree routed = routed_tree(problem, p, {}, planning, plan);
  if (p.tree == TreeKind::learned && p.empty == EmptyLeaf::ancestor)
    plan.notes.push_back("learned as if an empty leaf gave Z = 0");
  const Index leaves = routed.tree.leaves();
  Pass pass;
  {
    const auto stage = planning.run.profile.stage("sort");
    pass.rows = planning.backend.stable_order(routed.query_leaf, static_cast<std::int32_t>(leaves),
                                              planning.run);
    pass.cols = planning.backend.stable_order(routed.key_leaf, static_cast<std::int32_t>(leaves),
                                              planning.run);
  }
  const auto query_start = group_begins(routed.query_leaf, leaves),
             key_start = group_begins(routed.key_leaf, leaves);
  const LeafKeys keys{problem, pass.cols, key_start};
  std::vector<int> depth(routed.query_leaf.size());
  planning.backend.share_out(problem.queries(), planning.run, [&](Index query) {
    const auto i = static_cast<std::size_t>(query);
    depth[i] = depth_of(query, routed.query_leaf[i], routed.tree, keys, p.empty);
  });
  const Band band = band_of(problem.causal, 0, problem.lengths().offset());
  for (Index leaf = 0; leaf < leaves; ++leaf)
    add_leaf(pass,
             {query_start[static_cast<std::size_t>(leaf)],
              query_start[static_cast<std::size_t>(leaf) + 1]},
             leaf, routed.tree, key_start, depth, band);
  if (const auto without = std::ranges::count(depth, nowhere); without > 0)
    plan.notes.push_back(std::to_string(without) + " of " + std::to_string(problem.queries()) +
                         " queries have no key in their leaf: Z = 0");
  TilePlan tiles;
  tiles.passes.push_back(std::move(pass));
  plan.form = std::move(tiles);
  return plan;
}

/// Those given or chosen; empty if neither.
std::vector<float> fixed_alphas(const std::vector<double>& chosen, int height,
                                const Planning& planning) {
  const auto count = static_cast<std::size_t>(height) + 1;
  if (const auto& given = planning.reals("alpha", {"h+1"}, {{"h+1", height + 1}}); !given.empty())
    return given;
  if (chosen.empty()) return {};
  require_alphas(chosen.size(), count);
  return {chosen.begin(), chosen.end()};
}

Plan plan_tc(const Problem& problem, const TcParameters& p, Planning& planning) {
  Plan plan{.lengths = problem.lengths(), .causal = problem.causal, .form = {}};
  LearningGoal goal{.coarse = true};
  if (p.tree == TreeKind::learned && !planning.given.has("tree_weight"))
    goal.alpha = fixed_alphas(p.alpha, static_cast<int>(tree_shape(p).branching.size()), planning);
  RoutedTree routed = routed_tree(problem, p, goal, planning, plan);
  std::vector<float> alpha = fixed_alphas(p.alpha, routed.tree.height(), planning);
  if (alpha.empty()) alpha = std::move(routed.alpha);
  const auto depths = static_cast<std::size_t>(routed.tree.height()) + 1;
  if (alpha.empty()) alpha.assign(depths, 1.0f / static_cast<float>(depths));
  NodePlan nodes{.branching = plan.groups.branching,
                 .query_leaf = std::move(routed.query_leaf),
                 .key_leaf = std::move(routed.key_leaf),
                 .alpha = std::move(alpha)};
  plan.structure.set("alpha", nodes.alpha);
  plan.form = std::move(nodes);
  return plan;
}

std::vector<TensorField> tc_tensors() {
  std::vector<TensorField> fields = routed_tree_tensors();
  fields.push_back({.name = "alpha",
                    .element = Element::real,
                    .shapes = {{"h+1"}},
                    .meaning = "Weight of each depth of a tree of height h, root first."});
  return fields;
}

}  // namespace

Variant tf_variant() {
  return make_variant<TfParameters>(
      {.id = "tf",
       .label = "Treeformer TF",
       .paper = "Madaan et al. 2022, section 3 (TF-Attention)",
       .formula = "Pᵢⱼ = [leaf(qᵢ) = leaf(kⱼ)] exp(Sᵢⱼ) / Σ exp over the leaf",
       .summary = "The keys that a decision tree sends to the query's own leaf.",
       .mask = Mask::bidirectional_in_paper,
       .unequal_lengths = UnequalLengths::all,
       .any_keys = true,
       .structure = routed_tree_tensors(),
       .learning_stages = {building_stage},
       .tree_attention = TreeAttention::fine,
       .diagnostics = {leaf_skew_figures}},
      plan_tf);
}

Variant tc_variant() {
  return make_variant<TcParameters>(
      {.id = "tc",
       .label = "Treeformer TC",
       .paper = "Madaan et al. 2022, section 3 (TC-Attention)",
       .formula = "Pᵢⱼ = Σₗ αₗ [nodeₗ(qᵢ) = nodeₗ(kⱼ)] / |Sₗ|",
       .summary = "Mean values of the tree nodes on the query's path, without logits.",
       .mask = Mask::bidirectional_in_paper,
       .conditions = Conditions::none,
       .why_not_all = "it averages the values of tree nodes and does not look at single pairs",
       .unequal_lengths = UnequalLengths::all,
       .rows_sum_to_one = false,
       .signed_entries = true,
       .structure = tc_tensors(),
       .learning_stages = {building_stage},
       .tree_attention = TreeAttention::coarse,
       .diagnostics = {leaf_skew_figures}},
      plan_tc);
}

}  // namespace fovea
