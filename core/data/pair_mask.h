// A PairMask says which pairs of query and key count beside a causal mask and a sliding window:
// those within one document, and those that a mask of pairs admits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "data/matrix.h"

namespace fovea {

/// A [rows, cols] array of bits.
class BitMatrix {
 public:
  static constexpr Index word_bits = 32;

  BitMatrix() = default;
  BitMatrix(Index rows, Index cols)
      : rows_(rows),
        cols_(cols),
        stride_((cols + word_bits - 1) / word_bits),
        words_(static_cast<std::size_t>(rows * stride_)) {}

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index stride() const { return stride_; }  // words from row to row
  bool empty() const { return words_.empty(); }
  const std::vector<std::uint32_t>& words() const { return words_; }
  /// Bit j of row i is bit j mod 32 of word j div 32.
  const std::uint32_t* row(Index i) const { return words_.data() + i * stride_; }
  bool operator()(Index i, Index j) const { return row(i)[j / word_bits] >> (j % word_bits) & 1; }
  void set(Index i, Index j) {
    words_[static_cast<std::size_t>(i * stride_ + j / word_bits)] |= std::uint32_t{1}
                                                                     << (j % word_bits);
  }
  void clear(Index i, Index j) {
    words_[static_cast<std::size_t>(i * stride_ + j / word_bits)] &=
        ~(std::uint32_t{1} << (j % word_bits));
  }
  void copy_row(Index from, Index to) {
    std::copy_n(row(from), stride_, words_.begin() + to * stride_);
  }
  /// Bits of a row that are set, within columns.
  Index count(Index i, IndexRange cols) const;

 private:
  Index rows_ = 0, cols_ = 0, stride_ = 0;
  std::vector<std::uint32_t> words_;
};

class PairMask {
 public:
  static constexpr std::int32_t padding = -1;  // the document of a key that counts for no query

  /// The documents of each query and of each key are any numbers from 0 on, or padding; they are
  /// renumbered. If both lists are empty, all tokens are one document. `pairs` is [queries, keys];
  /// if it is empty, all pairs count. Throws InputError if sizes disagree or a document is below
  /// -1.
  PairMask(std::vector<std::int32_t> query_document, std::vector<std::int32_t> key_document,
           BitMatrix pairs);

  bool has_documents() const { return !key_document_.empty(); }
  bool has_pairs() const { return !pairs_.empty(); }
  const std::vector<std::int32_t>& query_document() const { return query_document_; }
  const std::vector<std::int32_t>& key_document() const { return key_document_; }
  const BitMatrix& pairs() const { return pairs_; }

  bool admits(Index i, Index j) const {
    if (has_documents() &&
        query_document_[static_cast<std::size_t>(i)] != key_document_[static_cast<std::size_t>(j)])
      return false;
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
  BitMatrix pairs_;
  std::vector<std::vector<std::int32_t>> keys_of_;  // of each document, ascending
  std::vector<std::int32_t> run_end_;               // [keys] end of its run of equal documents
};

}  // namespace fovea
