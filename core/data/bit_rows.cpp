#include "data/bit_rows.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <utility>

namespace fovea {
namespace {

constexpr Index word_bits = BitMatrix::word_bits;

/// The bits of a word within columns; the word has at least one of them.
std::uint32_t bits_of_columns(Index word, IndexRange cols) {
  const Index begin = std::max<Index>(0, cols.begin - word * word_bits),
              end = std::min(word_bits, cols.end - word * word_bits);
  return (end == word_bits ? ~std::uint32_t{0} : (std::uint32_t{1} << end) - 1) &
         ~((std::uint32_t{1} << begin) - 1);
}

/// The rows that a thread made last: those of the tallest tile of a mask, whose parts are counted
/// one after another.
struct MadeRows {
  static constexpr Index count = 192;
  std::uint64_t number = 0;  // of their maker
  std::vector<std::uint32_t> words;
  std::array<Index, count> row = {};
};

}  // namespace

Index count_bits(const std::uint32_t* row, IndexRange cols) {
  Index sum = 0;
  if (cols.size() <= 0) return sum;
  const Index first = cols.begin / word_bits, last = (cols.end - 1) / word_bits;
  for (Index w = first; w <= last; ++w)
    sum += std::popcount(w == first || w == last ? row[w] & bits_of_columns(w, cols) : row[w]);
  return sum;
}

void set_bits(std::uint32_t* row, IndexRange cols) {
  if (cols.size() <= 0) return;
  for (Index w = cols.begin / word_bits; w <= (cols.end - 1) / word_bits; ++w)
    row[w] |= bits_of_columns(w, cols);
}

Index next_bit(const std::uint32_t* row, bool is_set, IndexRange cols) {
  for (Index j = cols.begin; j < cols.end;) {
    const Index word = j / word_bits;
    const std::uint32_t bits = (is_set ? row[word] : ~row[word]) >> (j % word_bits);
    if (bits != 0) return std::min(cols.end, j + std::countr_zero(bits));
    j = (word + 1) * word_bits;
  }
  return cols.end;
}

std::vector<IndexRange> runs_of_bits(const std::uint32_t* row, Index words, Index largest_gap) {
  std::vector<IndexRange> runs;
  for (Index w = 0; w < words; ++w)
    for (std::uint32_t bits = row[w]; bits != 0;) {
      const int first = std::countr_zero(bits), length = std::countr_one(bits >> first);
      const Index begin = w * word_bits + first;
      if (!runs.empty() && begin - runs.back().end <= largest_gap)
        runs.back().end = begin + length;
      else
        runs.push_back({begin, begin + length});
      bits = first + length == word_bits ? 0 : bits >> (first + length) << (first + length);
    }
  return runs;
}

BitRows::BitRows(Index rows, Index cols, std::shared_ptr<const Maker> maker)
    : rows_(rows),
      cols_(cols),
      stride_((cols + word_bits - 1) / word_bits),
      maker_(std::move(maker)) {
  static std::atomic<std::uint64_t> last = 0;
  number_ = ++last;
}

void BitRows::copy_row(Index i, std::uint32_t* to) const {
  if (!maker_) {
    std::copy_n(held_.row(i), stride_, to);
    return;
  }
  std::fill_n(to, stride_, 0u);
  maker_->make(i, to);
}

void BitRows::keep_row(Index i, std::uint32_t* words) const {
  std::vector<std::uint32_t> row(stride_);
  copy_row(i, row.data());
  for (const std::uint32_t word : row) *words++ &= word;
}

const std::uint32_t* BitRows::made(Index i) const {
  thread_local MadeRows made;
  if (made.number != number_) {
    made.number = 0;  // also if there is no memory for more words
    made.row.fill(-1);
    made.words.resize(MadeRows::count * stride_);
    made.number = number_;
  }
  Index& row = made.row[i % MadeRows::count];
  std::uint32_t* words = made.words.data() + i % MadeRows::count * stride_;
  if (row != i) {
    row = -1;  // also if making it throws
    copy_row(i, words);
    row = i;
  }
  return words;
}

}  // namespace fovea
