// A PairMask says which pairs of query and key count beside a causal mask and a sliding window:
// those within one document, and those that a mask of pairs admits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/bit_rows.h"

namespace fovea {

class PairMask {
 public:
  static constexpr std::int32_t padding = -1;  // the document of a key that counts for no query

  /// The documents of each query and of each key are any numbers from 0 on, or padding; they are
  /// renumbered. If both lists are empty, all tokens are one document. `pairs` is [queries, keys];
  /// if it is empty, all pairs count. Throws InputError if sizes disagree or a document is below
  /// -1.
  PairMask(std::vector<std::int32_t> query_document, std::vector<std::int32_t> key_document,
           BitRows pairs);

  bool has_documents() const { return !key_document_.empty(); }
  bool has_pairs() const { return !pairs_.empty(); }
  const std::vector<std::int32_t>& query_document() const { return query_document_; }
  const std::vector<std::int32_t>& key_document() const { return key_document_; }
  const BitRows& pairs() const { return pairs_; }

  bool admits(Index i, Index j) const {
    if (has_documents() && query_document_[i] != key_document_[j]) return false;
    return pairs_.empty() || pairs_(i, j);
  }
  /// The mask of the first queries and keys.
  PairMask prefix(Index queries, Index keys) const;
  /// The number of keys in `keys` that query i may attend.
  Index count(Index i, IndexRange keys) const;
  /// The first run of consecutive keys in `keys` that query i may attend; empty if there is none.
  IndexRange next_run(Index i, IndexRange keys) const;
  /// From the first to one past the last key of the documents from `first` to `last`.
  IndexRange keys_of_documents(std::int32_t first, std::int32_t last) const;

 private:
  IndexRange document_run(Index i, IndexRange keys) const;

  std::vector<std::int32_t> query_document_, key_document_;
  BitRows pairs_;
  std::vector<std::vector<std::int32_t>> keys_of_;  // of each document, ascending
  std::vector<std::int32_t> run_end_;               // [keys] end of its run of equal documents
};

}  // namespace fovea
