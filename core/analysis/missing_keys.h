// Missing keys are a tile of keys that some rows of a result leave out, as if the loop of a kernel
// had skipped it.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "data/head_tensor.h"
#include "data/problem.h"

namespace fovea {

struct Run;

struct MissingKeys {
  Index side = 0;  // keys of a tile
  /// The number of the tile; or, if it moves with the queries, how many tiles it lies before that
  /// of a query's own token.
  Index tile = 0;
  bool moves = false;

  IndexRange of(const Lengths& lengths, Index query) const;
  /// "keys 128 to 191", "the 64 keys of each query's own tile".
  std::string text(const Lengths& lengths) const;
};

/// The smallest tile, of 16 to 256 keys, without which the softmax of each row is `z`, up to
/// rounding to `type`; nothing if there is none, or if the head has a sink. Looks at 24 of the
/// `rows`, of which there is at least one. Throws Cancelled.
std::optional<MissingKeys> missing_keys(const Problem& head, MatrixView z, ElementType type,
                                        std::span<const Index> rows, Run& run);

}  // namespace fovea
