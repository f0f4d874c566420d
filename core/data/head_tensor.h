// A HeadTensor is an array of matrices, one a head, in the type and layout of its file.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "data/bytes.h"
#include "data/matrix.h"

namespace fovea {

/// Any byte of a boolean but 0 is true, which reads as 1. Integers beyond 2^24 are rounded.
enum class ElementType { f64, f32, f16, bf16, boolean, i32, i64 };
bool is_float(ElementType type);
std::string to_text(ElementType type);
Index size_of(ElementType type);

/// A [heads, rows, cols] array in the type and layout of its file. It is read head by head.
struct HeadTensor {
  ElementType type = ElementType::f32;
  bool big_endian = false;
  std::shared_ptr<const Bytes> bytes;  // the file or buffer that holds it
  Index begin = 0;                     // byte of element [0, 0, 0]; may be unaligned
  Index heads = 0, rows = 0, cols = 0;
  Index head_stride = 0, row_stride = 0, col_stride = 0;  // bytes, not negative
  /// Row or column i is the one of this number in the file; null means that it is number i.
  std::shared_ptr<const std::vector<std::int32_t>> row_order = {}, col_order = {};
  /// The last of the rows, which another tensor holds; null if there are none.
  std::shared_ptr<const HeadTensor> more = {};

  bool present() const { return heads > 0; }
  /// The rows that it holds itself.
  HeadTensor own_rows() const;
  /// [rows, cols] in float32. Throws UsageError for a head that does not exist, UnavailableError
  /// for one that does not fit into memory, Cancelled, and what Bytes::read throws.
  Matrix read(Index head, const std::stop_token& stop = {}) const;
  /// The numbers of some rows, one row after the other, rounded to whole ones, in the order of the
  /// file; of a tensor that is not joined. Throws what Bytes::read throws.
  void read_whole(Index head, IndexRange rows, IndexRange cols,
                  std::vector<std::int64_t>& out) const;
};

/// The rows of the second below those of the first. Both have as many heads and columns, and are
/// not joined themselves.
HeadTensor joined(HeadTensor first, HeadTensor second);

/// A HeadTensor over owned float32 matrices of the same shape, one a head.
HeadTensor make_head_tensor(std::vector<Matrix> heads);

}  // namespace fovea
