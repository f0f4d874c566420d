// What variants share in which each query selects blocks of keys by scores of its own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/blocks.h"
#include "variants/variant.h"

namespace fovea {

/// Consecutive keys in blocks; the last block has what is left.
struct KeyBlocks {
  Index keys = 0, size = 1;

  Index count() const { return number_of_blocks(keys, size); }
  IndexRange tokens(Index block) const {
    return {block * size, std::min((block + 1) * size, keys)};
  }
  IndexRange tokens(IndexRange blocks) const {
    return {blocks.begin * size, std::min(blocks.end * size, keys)};
  }
  /// The blocks in which some keys lie.
  IndexRange around(IndexRange tokens) const {
    return {tokens.begin / size, number_of_blocks(tokens.end, size)};
  }
};

/// The mean of the rows of each block: [blocks, d]. Sums are in double.
Matrix block_means(MatrixView rows, KeyBlocks blocks);

struct BlockSelector {
  Index size = 0;    // keys of a block
  Index blocks = 0;  // how many a query selects, its own included
  bool own = true;   // the block of the query's own place is selected, whatever its score
  /// Writes the scores of some blocks: [queries, blocks]. A query reads only those of blocks with a
  /// key that it may attend.
  std::function<void(IndexRange queries, IndexRange blocks, double* scores)> score;
  double block_multiply_adds = 0;  // of the score of a block
  double pair_multiply_adds = 0;   // of each pair that the head admits
};

/// The plan in which every query attends the blocks of its largest scores, the first among equal
/// ones. A block can be selected if the head lets the query attend one of its keys; scores that are
/// not numbers come last. All blocks are exact attention, which selects nothing.
Plan plan_selected_blocks(const Problem& problem, const BlockSelector& selector,
                          Planning& planning);

/// The tensors that such a plan holds; `score` says what the scores are: "q.k̄".
std::vector<TensorField> selected_block_tensors(const std::string& score);

/// Whether the selected blocks hold all n keys. The first two parameters are the size of a block
/// and the number of blocks.
inline bool blocks_hold_all(const Values& values, Index n) {
  const auto of = [&](std::size_t field) { return std::get<std::int64_t>(values[field]); };
  return of(0) * of(1) >= n;
}

/// How many blocks are selected, as a parameter; half and twice the default are worth trying.
template <class P>
TypedField<P> blocks_field(Index P::*member, const std::string& meaning) {
  auto blocks =
      int_field<P, Index>("blocks", "Blocks k", "blocks", member, 1, 131072, Axis::log2, meaning);
  const std::int64_t standard = P{}.*member;
  blocks.field.worth_trying = [standard](Index) {
    std::vector<Value> tried;
    for (const std::int64_t k : {standard, std::max<std::int64_t>(1, standard / 2), 2 * standard})
      if (std::ranges::find(tried, Value(k)) == tried.end()) tried.emplace_back(k);
    return tried;
  };
  return blocks;
}

}  // namespace fovea
