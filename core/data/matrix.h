// A Matrix is a dense row-major array of float; a MatrixView is a borrowed look at one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

namespace fovea {

using Index = std::int64_t;

/// Half-open range [begin, end) of tokens, rows or columns.
struct IndexRange {
  Index begin = 0, end = 0;
  Index size() const { return end - begin; }
  bool contains(Index i) const { return begin <= i && i < end; }
  /// What both have; empty where the later of both begins if that is nothing.
  IndexRange intersected(IndexRange other) const {
    const Index first = std::max(begin, other.begin);
    return {first, std::max(first, std::min(end, other.end))};
  }
  friend bool operator==(const IndexRange&, const IndexRange&) = default;
};

/// Floats of a padded row: whole vectors of every instruction set.
constexpr Index padded_width(Index cols) {
  return (cols + 15) / 16 * 16;
}

/// Borrowed, row-major, rows `stride` floats apart. The owner outlives the view.
struct MatrixView {
  const float* data = nullptr;
  Index rows = 0, cols = 0, stride = 0;

  const float* row(Index i) const { return data + i * stride; }
  float operator()(Index i, Index j) const { return data[i * stride + j]; }
  bool empty() const { return rows == 0 || cols == 0; }
  MatrixView slice(IndexRange range) const {
    return {row(range.begin), range.size(), cols, stride};
  }
};

/// Storage for `bytes`, 64-byte aligned so that any vector load of a padded row is legal. Blocks
/// from 256 KiB on are kept, when freed, for the next of the same size (128 MiB at most), those
/// from 2 MiB on in huge pages: the first access to new pages costs as much as the arithmetic on
/// them.
void* allocate_aligned(std::size_t bytes);
void free_aligned(void* block, std::size_t bytes);

/// Leaves elements without a value uninitialised: the caller writes them all.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <class U>
  explicit AlignedAllocator(const AlignedAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(allocate_aligned(n * sizeof(T))); }
  void deallocate(T* p, std::size_t n) { free_aligned(p, n * sizeof(T)); }
  template <class U, class... Arguments>
  void construct(U* p, Arguments&&... arguments) {
    if constexpr (sizeof...(Arguments) == 0)
      ::new (static_cast<void*>(p)) U;
    else
      ::new (static_cast<void*>(p)) U(std::forward<Arguments>(arguments)...);
  }
  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) { return true; }
};

/// Owned, row-major; rows are contiguous unless made by `padded` or `uninitialised`.
class Matrix {
 public:
  Matrix() = default;
  Matrix(Index rows, Index cols, float fill = 0.0f) : Matrix(rows, cols, cols) {
    std::ranges::fill(values_, fill);
  }

  /// Rows start a multiple of 16 floats apart; the padding is zero.
  static Matrix padded(Index rows, Index cols) {
    Matrix out = uninitialised(rows, cols);
    std::ranges::fill(out.values_, 0.0f);
    return out;
  }
  /// Like padded, but the owner writes every row up to the stride, so that the threads that fill a
  /// row are the first to touch it.
  static Matrix uninitialised(Index rows, Index cols) {
    return Matrix(rows, cols, padded_width(cols));
  }
  /// Rows are contiguous, and the owner writes every element.
  static Matrix unwritten(Index rows, Index cols) { return Matrix(rows, cols, cols); }
  static Matrix copy_of(MatrixView m) {
    Matrix out(m.rows, m.cols);
    for (Index i = 0; i < m.rows; ++i) std::copy_n(m.row(i), m.cols, out.row(i));
    return out;
  }

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index stride() const { return stride_; }
  bool empty() const { return rows_ == 0 || cols_ == 0; }
  float* data() { return values_.data(); }
  const float* data() const { return values_.data(); }
  float* row(Index i) { return values_.data() + i * stride_; }
  const float* row(Index i) const { return values_.data() + i * stride_; }
  float& operator()(Index i, Index j) { return values_[i * stride_ + j]; }
  float operator()(Index i, Index j) const { return values_[i * stride_ + j]; }
  /// Writes `count` values, or zeros for null, and zeros from there up to the stride.
  void write_row(Index i, const float* from, Index count) {
    float* const to = row(i);
    if (from) std::copy_n(from, count, to);
    std::fill(from ? to + count : to, to + stride_, 0.0f);
  }
  MatrixView view() const { return {values_.data(), rows_, cols_, stride_}; }
  operator MatrixView() const { return view(); }

 private:
  Matrix(Index rows, Index cols, Index stride)
      : rows_(rows), cols_(cols), stride_(stride), values_(rows * stride) {}

  Index rows_ = 0, cols_ = 0, stride_ = 0;
  std::vector<float, AlignedAllocator<float>> values_;
};

}  // namespace fovea
