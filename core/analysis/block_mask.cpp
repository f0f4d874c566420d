#include "analysis/block_mask.h"

#include <cmath>

#include "analysis/block_side.h"
#include "data/blocks.h"
#include "data/error.h"
#include "plan/leaves.h"

namespace fovea {
namespace {

// Pairs of two pieces that lie in a band.
double covered(const BlockSide& rows, IndexRange r, const BlockSide& cols, IndexRange c,
               const Band& band) {
  const Index least = rows.token(r.begin) - cols.token(c.end - 1),
              most = rows.token(r.end - 1) - cols.token(c.begin);
  if (most < band.lo || least > band.hi) return 0;
  if (least >= band.lo && most <= band.hi)
    return static_cast<double>(r.size()) * static_cast<double>(c.size());
  if (rows.contiguous() && cols.contiguous()) return pairs_in_band(r, c, band);
  double sum = 0;
  Index low = c.begin, high = c.begin;  // columns [low, high) lie in [i - hi, i - lo]
  for (Index at = r.begin; at < r.end; ++at) {
    const Index i = rows.token(at);
    while (high < c.end && cols.token(high) <= i - band.lo) ++high;
    while (low < high && cols.token(low) < i - band.hi) ++low;
    sum += static_cast<double>(high - low);
  }
  return sum;
}

// Pairs of two pieces that lie in the band, that the pass does not leave out and that the mask, if
// there is one, admits.
double new_pairs(const Pass& pass, const PairMask* mask, const BlockSide& rows, IndexRange r,
                 const BlockSide& cols, IndexRange c, const Band& band) {
  Index count = 0;
  for (Index a = r.begin; a < r.end; ++a) {
    const Index i = rows.token(a);
    if (mask && cols.contiguous()) {
      count += mask->count(i, c.intersected(band.keys(i)));
      continue;
    }
    for (Index b = c.begin; b < c.end; ++b) {
      const Index j = cols.token(b);
      count += band.contains(i, j) && !pass.leaves_out(i, j) && (!mask || mask->admits(i, j));
    }
  }
  return count;
}

std::string times(Index count) {
  return count == 1   ? "sampled once"
         : count == 2 ? "sampled twice"
                      : "sampled " + std::to_string(count) + " times";
}

bool has_levels(const Plan& plan) {
  const auto* tiles = plan.as<TilePlan>();
  return tiles && std::ranges::any_of(tiles->passes, [](const Pass& p) { return p.key_level > 0; });
}

std::string place_of(const Plan& plan, const Support::Part& part, Index i, Index j) {
  if (!part.pass->weight.empty()) {
    const Index count =
        std::ranges::count(plan.structure.integers(plan.samples), static_cast<std::int32_t>(j));
    return count > 0 ? times(count) : "sampled";
  }
  if (!part.pass->unit.empty()) return part.pass->unit + " " + std::to_string(part.tile);
  if (const auto leaves = leaves_of(plan))
    return leaves->kind + " " + std::to_string(leaves->queries[i]);
  if (has_levels(plan)) return "level " + std::to_string(part.pass->key_level);
  return {};
}

// The score of the selected block that a part of the support is.
std::optional<PairInfo::Scored> scored_block(const Plan& plan, const Support::Part& part, Index i) {
  const auto& scores = plan.structure.reals("selected_scores");
  const auto* tiles = plan.as<TilePlan>();
  if (scores.empty() || !tiles) return {};
  const auto& blocks = plan.structure.integers("selected_blocks");
  const IndexRange keys = part.pass->tiles[part.tile].cols;
  const Index most = std::ssize(scores) / plan.queries(), first = i * most;
  // Blocks have equal sizes but for the last one, which begins where one of that size would.
  Index size = 1;
  for (const Tile& tile : part.pass->tiles) size = std::max(size, tile.cols.size());
  for (Index at = first; at < first + most; ++at) {
    const auto place = static_cast<std::size_t>(at);
    if (blocks[place] * size == keys.begin && std::isfinite(scores[place]))
      return PairInfo::Scored{keys, scores[place]};
  }
  return {};
}

}  // namespace

std::vector<double> block_pairs(const Plan& plan, IndexRange rows, IndexRange cols, Lengths block,
                                const std::stop_token& stop) {
  const Index down = number_of_blocks(rows.size(), block.queries),
              across = number_of_blocks(cols.size(), block.keys);
  std::vector<double> pairs(down * across);
  const Support support(plan);
  for (const auto& layer : support.layers()) {
    BlockSide row_side(layer.rows, rows, block.queries), col_side(layer.cols, cols, block.keys);
    for (const auto& group : layer.groups) {
      const auto& row_pieces = row_side.split(group.rows);
      if (row_pieces.empty()) continue;
      for (std::size_t t = group.first; t < group.last; ++t) {
        const Tile& tile = layer.pass->tiles[t];
        const bool banded = is_banded(*layer.pass, tile),
                   some = plan.mask || !layer.pass->earlier.empty();
        const auto& col_pieces = col_side.split(tile.cols);
        for (const auto& r : row_pieces) {
          if (stop.stop_requested()) throw Cancelled();
          double* row = pairs.data() + r.block * across;
          for (const auto& c : col_pieces)
            row[c.block] += some ? new_pairs(*layer.pass, plan.mask.get(), row_side, r.at, col_side,
                                             c.at, tile.band)
                            : banded ? covered(row_side, r.at, col_side, c.at, tile.band)
                                     : r.tokens() * c.tokens();
        }
      }
    }
  }
  return pairs;
}

Matrix block_fill(const Plan& plan, IndexRange rows, IndexRange cols, Index block,
                  const std::stop_token& stop) {
  const std::vector<double> pairs = block_pairs(plan, rows, cols, {block, block}, stop);
  Matrix fill(number_of_blocks(rows.size(), block), number_of_blocks(cols.size(), block));
  for (Index r = 0; r < fill.rows(); ++r)
    for (Index c = 0; c < fill.cols(); ++c) {
      const Index height = std::min(block, rows.size() - r * block);
      const Index width = std::min(block, cols.size() - c * block);
      fill(r, c) =
          static_cast<float>(pairs[r * fill.cols() + c] / static_cast<double>(height * width));
    }
  return fill;
}

PairInfo pair_info(const Plan& plan, Index i, Index j) {
  return pair_info(Support(plan), i, j);
}

PairInfo pair_info(const Support& support, Index i, Index j) {
  const Plan& plan = support.plan();
  PairInfo info{.admissible = is_admissible(plan, i, j)};
  support.for_parts(i, {j, j + 1}, [&](const Support::Part& part) {
    info = {true,
            info.admissible,
            part.pass->key_level,
            part.weight(plan.keys()),
            place_of(plan, part, i, j),
            scored_block(plan, part, i)};
  });
  return info;
}

}  // namespace fovea
