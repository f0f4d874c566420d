#include "bench/side_by_side.h"

#include <algorithm>
#include <memory>

#include "data/error.h"

namespace fovea::bench {
namespace {

using Indices = std::vector<std::int32_t>;

void require_same(bool same) {
  if (!same) throw Error(1, "heads side by side: their plans have different forms");
}

void append(Indices& to, const Indices& from, Index offset) {
  for (const std::int32_t i : from) to.push_back(i + static_cast<std::int32_t>(offset));
}

IndexRange shifted(IndexRange range, Index by) {
  return {range.begin + by, range.end + by};
}

// Positions of an order: those of the list, or all clusters of the head.
Index positions(const Indices& order, Index clusters) {
  return order.empty() ? clusters : static_cast<Index>(order.size());
}

Pass merge(const std::vector<Plan>& heads, std::size_t p) {
  const auto pass_of = [&](const Plan& head) -> const Pass& {
    return std::get<TilePlan>(head.form).passes[p];
  };
  const Pass& first = pass_of(heads.front());
  const Index n = heads.front().lengths.n();
  const Index row_clusters = clusters(n, first.query_level),
              col_clusters = clusters(n, first.key_level);
  Pass out{.query_level = first.query_level, .key_level = first.key_level};
  Index row_offset = 0, col_offset = 0;
  for (Index h = 0; h < static_cast<Index>(heads.size()); ++h) {
    const Pass& pass = pass_of(heads[static_cast<std::size_t>(h)]);
    require_same(
        pass.query_level == first.query_level && pass.key_level == first.key_level &&
        pass.rows.empty() == first.rows.empty() && pass.cols.empty() == first.cols.empty() &&
        pass.weight.empty() == first.weight.empty() && pass.earlier.size() == first.earlier.size());
    append(out.rows, pass.rows, h * row_clusters);
    append(out.cols, pass.cols, h * col_clusters);
    out.weight.insert(out.weight.end(), pass.weight.begin(), pass.weight.end());
    for (const Tile& tile : pass.tiles)
      out.tiles.push_back(
          {shifted(tile.rows, row_offset), shifted(tile.cols, col_offset), tile.band});
    row_offset += positions(pass.rows, row_clusters);
    col_offset += positions(pass.cols, col_clusters);
  }
  for (std::size_t round = 0; round < first.earlier.size(); ++round) {
    Chunks all;
    for (const Plan& head : heads) {
      const Chunks& chunks = *pass_of(head).earlier[round];
      all.query.insert(all.query.end(), chunks.query.begin(), chunks.query.end());
      all.key.insert(all.key.end(), chunks.key.begin(), chunks.key.end());
    }
    out.earlier.push_back(std::make_shared<const Chunks>(std::move(all)));
  }
  return out;
}

TilePlan merge_tiles(const std::vector<Plan>& heads) {
  const TilePlan& first = std::get<TilePlan>(heads.front().form);
  TilePlan out{{}, first.coarse_query};
  for (const Plan& head : heads)
    require_same(std::get<TilePlan>(head.form).passes.size() == first.passes.size());
  for (std::size_t p = 0; p < first.passes.size(); ++p) out.passes.push_back(merge(heads, p));
  return out;
}

// The trees are below a new root whose alpha is 0.
NodePlan merge_trees(const std::vector<Plan>& heads) {
  const NodePlan& first = std::get<NodePlan>(heads.front().form);
  NodePlan out{{static_cast<int>(heads.size())}, {}, {}, {0.0f}};
  out.branching.insert(out.branching.end(), first.branching.begin(), first.branching.end());
  out.alpha.insert(out.alpha.end(), first.alpha.begin(), first.alpha.end());
  Index leaves = 1;
  for (const int b : first.branching) leaves *= b;
  for (Index h = 0; h < static_cast<Index>(heads.size()); ++h) {
    const NodePlan& head = std::get<NodePlan>(heads[static_cast<std::size_t>(h)].form);
    require_same(head.branching == first.branching && head.alpha == first.alpha);
    append(out.query_leaf, head.query_leaf, h * leaves);
    append(out.key_leaf, head.key_leaf, h * leaves);
  }
  return out;
}

Matrix stack(const std::vector<Problem>& heads, MatrixView Problem::*part) {
  const MatrixView first = heads.front().*part;
  Matrix out(first.rows * static_cast<Index>(heads.size()), first.cols);
  Index row = 0;
  for (const Problem& head : heads)
    for (Index i = 0; i < first.rows; ++i)
      std::copy_n((head.*part).row(i), first.cols, out.row(row++));
  return out;
}

}  // namespace

Problem side_by_side(const std::vector<Problem>& heads) {
  if (heads.size() == 1) return heads.front();
  return make_problem(stack(heads, &Problem::q), stack(heads, &Problem::k),
                      stack(heads, &Problem::v), heads.front().scale, heads.front().causal);
}

Plan side_by_side(const std::vector<Plan>& heads) {
  if (heads.size() == 1) return heads.front();
  Plan out;
  const Index n = heads.front().lengths.n() * static_cast<Index>(heads.size());
  out.lengths = {n, n};
  out.causal = heads.front().causal;
  for (const Plan& head : heads) {
    require_same(head.lengths == heads.front().lengths &&
                 head.form.index() == heads.front().form.index());
    out.planning_multiply_adds += head.planning_multiply_adds;
  }
  if (std::holds_alternative<TilePlan>(heads.front().form))
    out.form = merge_tiles(heads);
  else
    out.form = merge_trees(heads);
  return out;
}

}  // namespace fovea::bench
