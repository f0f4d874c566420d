// Bits of pairs, row by row: a BitMatrix holds them, BitRows hold them or make each row when it is
// asked for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
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
        words_(rows * stride_) {}

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index stride() const { return stride_; }  // words from row to row
  bool empty() const { return words_.empty(); }
  /// Bit j of row i is bit j mod 32 of word j div 32.
  const std::uint32_t* row(Index i) const { return words_.data() + i * stride_; }
  std::uint32_t* row(Index i) { return words_.data() + i * stride_; }
  bool operator()(Index i, Index j) const { return row(i)[j / word_bits] >> (j % word_bits) & 1; }
  void set(Index i, Index j) { row(i)[j / word_bits] |= std::uint32_t{1} << (j % word_bits); }
  void clear(Index i, Index j) { row(i)[j / word_bits] &= ~(std::uint32_t{1} << (j % word_bits)); }
  void copy_row(Index from, Index to) { std::copy_n(row(from), stride_, row(to)); }

 private:
  Index rows_ = 0, cols_ = 0, stride_ = 0;
  std::vector<std::uint32_t> words_;
};

/// Bits of a row that are set, within columns.
Index count_bits(const std::uint32_t* row, IndexRange cols);
/// Sets the bits of columns.
void set_bits(std::uint32_t* row, IndexRange cols);
/// The first of the columns whose bit is set, or is not; their end if there is none.
Index next_bit(const std::uint32_t* row, bool is_set, IndexRange cols);
/// Ascending runs of the bits that are set in a row of `words` words. Two runs with a gap of at
/// most `largest_gap` bits are one.
std::vector<IndexRange> runs_of_bits(const std::uint32_t* row, Index words, Index largest_gap = 0);

/// A [rows, cols] array of bits that cannot be changed. Rows that would take more memory than the
/// lists or blocks they come from are not held: a Maker makes each one on request.
class BitRows {
 public:
  class Maker {
   public:
    virtual ~Maker() = default;
    /// Sets bits of `words`, which are 0. Called on any thread. Asks other BitRows by copy_row
    /// alone, as row() would overwrite what is made here. Throws what Bytes::read does.
    virtual void make(Index row, std::uint32_t* words) const = 0;
  };

  BitRows() = default;
  BitRows(BitMatrix held)  // NOLINT: a BitMatrix is one way to have rows
      : rows_(held.rows()), cols_(held.cols()), stride_(held.stride()), held_(std::move(held)) {}
  BitRows(Index rows, Index cols, std::shared_ptr<const Maker> maker);

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index stride() const { return stride_; }  // words of a row
  bool empty() const { return !maker_ && held_.empty(); }
  bool held() const { return !maker_; }
  /// A made row is valid until this thread asks for a row of other BitRows, or for row i + 192 m of
  /// these. Throws what Maker::make throws.
  const std::uint32_t* row(Index i) const { return maker_ ? made(i) : held_.row(i); }
  void copy_row(Index i, std::uint32_t* to) const;
  /// Clears the bits of `words` that row i does not have. Takes memory for a row.
  void keep_row(Index i, std::uint32_t* words) const;
  bool operator()(Index i, Index j) const {
    return row(i)[j / BitMatrix::word_bits] >> (j % BitMatrix::word_bits) & 1;
  }

 private:
  const std::uint32_t* made(Index i) const;

  Index rows_ = 0, cols_ = 0, stride_ = 0;
  BitMatrix held_;
  std::shared_ptr<const Maker> maker_;
  std::uint64_t number_ = 0;  // of the maker: no other one has it
};

}  // namespace fovea
