// Lengths are the numbers of queries and keys of a head. They are equal in self-attention, and
// differ in cross attention and in the steps of a model that keeps its keys.
#pragma once

#include <string>

#include "data/error.h"
#include "data/matrix.h"

namespace fovea {

/// Queries are aligned to the end of the keys: if both are of one sequence, query i is token i +
/// offset() of the sequence.
struct Lengths {
  Index queries = 0, keys = 0;

  Index offset() const { return keys - queries; }
  bool equal() const { return queries == keys; }
  /// The common length, for code that is reached with equal lengths only. Throws Error otherwise.
  Index n() const {
    if (!equal()) throw Error(1, text() + "; expected as many queries as keys");
    return queries;
  }
  std::string text() const;  // "n = 341", "7 queries, 24 keys"
  friend bool operator==(const Lengths&, const Lengths&) = default;
};

inline std::string Lengths::text() const {
  return equal() ? "n = " + std::to_string(queries)
                 : std::to_string(queries) + (queries == 1 ? " query, " : " queries, ") +
                       std::to_string(keys) + (keys == 1 ? " key" : " keys");
}

}  // namespace fovea
