// What variants share in which blocks of queries select blocks of keys.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "variants/selected_blocks.h"

namespace fovea {

struct MapSelector {
  KeyBlocks queries, keys;
  /// Receives the blocks of keys, ascending, in which the head lets a query of the row attend a
  /// key, and erases those that the row does not select. Writes what it selects by into `scores`,
  /// which has a place for each block of keys.
  std::function<void(Index row, std::vector<std::int32_t>& blocks, std::span<float> scores)> choose;
  double multiply_adds = 0;  // of all scores
};

/// The plan in which the queries of a block attend the keys of the blocks that it selects.
Plan plan_block_map(const Problem& problem, const MapSelector& selector, Planning& planning);

/// The tensors that such a plan holds; `score` says what the scores are.
std::vector<TensorField> block_map_tensors(const std::string& score);

/// Whether the head lets one of the queries attend one of the keys.
bool admits_any(const Problem& problem, IndexRange queries, IndexRange keys);

}  // namespace fovea
