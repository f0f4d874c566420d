#include "analysis/block_mask.h"

#include "analysis/support.h"

namespace fovea {
namespace {

// The tokens of one side of a tile that fall into one block.
struct Piece {
  Index block = 0, tokens = 0;
  std::vector<IndexRange> runs;  // ascending

  Index low() const { return runs.front().begin; }
  Index high() const { return runs.back().end - 1; }
};

std::vector<Piece> split(const std::vector<IndexRange>& runs, Index origin, Index block) {
  std::vector<Piece> pieces;
  for (IndexRange run : runs)
    while (run.size() > 0) {
      const Index index = (run.begin - origin) / block;
      const IndexRange part{run.begin, std::min(run.end, origin + (index + 1) * block)};
      if (pieces.empty() || pieces.back().block != index) pieces.push_back({index, 0, {}});
      pieces.back().tokens += part.size();
      pieces.back().runs.push_back(part);
      run.begin = part.end;
    }
  return pieces;
}

double covered(const Piece& rows, const Piece& cols, const Band& band) {
  const Index least = rows.low() - cols.high(), most = rows.high() - cols.low();
  if (most < band.lo || least > band.hi) return 0;
  if (least >= band.lo && most <= band.hi)
    return static_cast<double>(rows.tokens) * static_cast<double>(cols.tokens);
  double sum = 0;
  for (const IndexRange& r : rows.runs)
    for (const IndexRange& c : cols.runs) sum += pairs_in_band(r, c, band);
  return sum;
}

std::string times(Index count) {
  return count == 1   ? "sampled once"
         : count == 2 ? "sampled twice"
                      : "sampled " + std::to_string(count) + " times";
}

bool has_levels(const Plan& plan) {
  const auto* tiles = std::get_if<TilePlan>(&plan.form);
  return tiles && std::ranges::any_of(tiles->passes, [](const Pass& p) { return p.key_level > 0; });
}

std::string place_of(const Plan& plan, const Support::Part& part, Index i, Index j) {
  const Structure& s = plan.structure;
  if (!part.pass->weight.empty()) {
    const Index count =
        plan.causal ? 0 : std::ranges::count(s.sampled_keys, static_cast<std::int32_t>(j));
    return count > 0 ? times(count) : "sampled";
  }
  if (const auto* nodes = std::get_if<NodePlan>(&plan.form))
    return "leaf " + std::to_string(nodes->query_leaf[static_cast<std::size_t>(i)]);
  if (!s.query_leaf.empty())
    return "leaf " + std::to_string(s.query_leaf[static_cast<std::size_t>(i)]);
  if (has_levels(plan)) return "level " + std::to_string(part.pass->key_level);
  if (!s.query_order.empty()) return "block " + std::to_string(part.tile);
  return {};
}

}  // namespace

Matrix block_fill(const Plan& plan, IndexRange rows, IndexRange cols, Index block) {
  const Index down = (rows.size() + block - 1) / block, across = (cols.size() + block - 1) / block;
  std::vector<double> pairs(static_cast<std::size_t>(down * across));
  const Support support(plan);
  for (const auto& layer : support.layers())
    for (const auto& group : layer.groups) {
      const auto row_pieces = split(layer.rows.runs(group.rows, rows), rows.begin, block);
      if (row_pieces.empty()) continue;
      for (std::size_t t = group.first; t < group.last; ++t) {
        const Tile& tile = layer.pass->tiles[t];
        const Band band = is_banded(*layer.pass, tile) ? tile.band : Band{};
        const auto col_pieces = split(layer.cols.runs(tile.cols, cols), cols.begin, block);
        for (const Piece& r : row_pieces)
          for (const Piece& c : col_pieces)
            pairs[static_cast<std::size_t>(r.block * across + c.block)] += covered(r, c, band);
      }
    }
  Matrix fill(down, across);
  for (Index r = 0; r < down; ++r)
    for (Index c = 0; c < across; ++c) {
      const Index height = std::min(block, rows.size() - r * block);
      const Index width = std::min(block, cols.size() - c * block);
      fill(r, c) = static_cast<float>(pairs[static_cast<std::size_t>(r * across + c)] /
                                      static_cast<double>(height * width));
    }
  return fill;
}

Matrix element_mask(const Plan& plan, IndexRange rows, IndexRange cols) {
  const Support support(plan);
  Matrix mask(rows.size(), cols.size());
  for (Index i = rows.begin; i < rows.end; ++i)
    support.for_parts(i, cols, [&](const Support::Part& part) {
      std::fill_n(mask.row(i - rows.begin) + part.keys.begin - cols.begin, part.keys.size(), 1.0f);
    });
  return mask;
}

Matrix level_owner(const Plan& plan, IndexRange rows, IndexRange cols) {
  const Support support(plan);
  Matrix owner(rows.size(), cols.size(), -1.0f);
  for (Index i = rows.begin; i < rows.end; ++i)
    support.for_parts(i, cols, [&](const Support::Part& part) {
      std::fill_n(owner.row(i - rows.begin) + part.keys.begin - cols.begin, part.keys.size(),
                  static_cast<float>(part.pass->key_level));
    });
  return owner;
}

std::vector<Index> row_sizes(const Plan& plan) {
  const Support support(plan);
  std::vector<Index> sizes(static_cast<std::size_t>(plan.n));
  for (Index i = 0; i < plan.n; ++i) sizes[static_cast<std::size_t>(i)] = support.count(i);
  return sizes;
}

PairInfo pair_info(const Plan& plan, Index i, Index j) {
  PairInfo info;
  Support(plan).for_parts(i, {j, j + 1}, [&](const Support::Part& part) {
    info = {true, part.pass->key_level, part.weight(plan.n), place_of(plan, part, i, j)};
  });
  return info;
}

}  // namespace fovea
