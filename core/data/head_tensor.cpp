#include "data/head_tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "data/error.h"
#include "data/memory.h"
#include "data/stop.h"

namespace fovea {
namespace {

float from_half(std::uint16_t h) {
  const std::uint32_t sign = std::uint32_t{h & 0x8000u} << 16;
  const std::uint32_t exponent = (h >> 10) & 31u, mantissa = h & 1023u;
  if (exponent == 0) {  // zero and subnormal: mantissa 2^-24, exact in float32
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  const std::uint32_t wide =
      exponent == 31 ? 255u : exponent + 112u;  // 112: the biases' difference
  return std::bit_cast<float>(sign | (wide << 23) | (mantissa << 13));
}

float from_bfloat16(std::uint16_t b) {
  return std::bit_cast<float>(std::uint32_t{b} << 16);
}

template <class Word>
Word swap_bytes(Word word) {
  Word out = 0;
  for (std::size_t byte = 0; byte < sizeof(Word); ++byte)
    out = static_cast<Word>(out | ((word >> (8 * byte)) & 0xff) << (8 * (sizeof(Word) - 1 - byte)));
  return out;
}

constexpr Index page = 4096;             // bytes
constexpr Index most_bytes = 64 * page;  // of one read: few calls, and it fits into the cache

/// An axis of a head: its elements, bytes from one to the next, and floats from one to the next in
/// the Matrix.
struct SourceAxis {
  Index count, stride, out_stride;
};

/// How many of `count` items, `stride` bytes apart and `size` bytes long, are read at once. Gaps of
/// up to a page between two items are read as well.
Index items_at_once(Index count, Index stride, Index size) {
  if (count == 1 || stride - size > page) return 1;
  return std::clamp<Index>((most_bytes - size) / std::max<Index>(stride, 1) + 1, 1, count);
}

/// Elements may be unaligned and anywhere, so blocks of them are read into a buffer, and each is
/// copied from there.
template <class Word, class Number, class Convert>
void convert(const HeadTensor& from, Index head, Number* out, Index out_stride,
             const std::stop_token& stop, Convert to_number) {
  constexpr Index size = sizeof(Word);
  const bool swap = from.big_endian != (std::endian::native == std::endian::big);
  SourceAxis outer{from.rows, from.row_stride, out_stride}, inner{from.cols, from.col_stride, 1};
  if (inner.stride > outer.stride) std::swap(inner, outer);
  const Index line = (inner.count - 1) * inner.stride + size;  // bytes of all inner elements
  const Index across = items_at_once(inner.count, inner.stride, size),
              down = across < inner.count ? 1 : items_at_once(outer.count, outer.stride, line);
  std::vector<std::byte> buffer;
  for (Index o = 0; o < outer.count; o += down)
    for (Index i = 0; i < inner.count; i += across) {
      check_stop(stop);
      const Index lines = std::min(down, outer.count - o),
                  words = std::min(across, inner.count - i);
      buffer.resize((lines - 1) * outer.stride + (words - 1) * inner.stride + size);
      from.bytes->read(from.begin + head * from.head_stride + o * outer.stride + i * inner.stride,
                       buffer);
      for (Index l = 0; l < lines; ++l) {
        const std::byte* at = buffer.data() + l * outer.stride;
        Number* to = out + (o + l) * outer.out_stride + i * inner.out_stride;
        for (Index w = 0; w < words; ++w, at += inner.stride, to += inner.out_stride) {
          Word word;
          std::memcpy(&word, at, sizeof(Word));
          *to = to_number(swap ? swap_bytes(word) : word);
        }
      }
    }
}

/// Rounds to a whole number; infinite numbers and NaN become the largest one, which no list admits.
template <class Number, class From>
Number as(From number) {
  if constexpr (std::is_same_v<Number, float> || std::is_integral_v<From>)
    return static_cast<Number>(number);
  else
    return std::abs(number) < 0x1p62 ? std::llround(number)
                                     : std::numeric_limits<std::int64_t>::max();
}

template <class Number>
void convert_all(const HeadTensor& from, Index head, Number* out, Index out_stride,
                 const std::stop_token& stop) {
  const auto to = [&]<class Word>(Word, auto number) {
    convert<Word>(from, head, out, out_stride, stop,
                  [&](Word word) { return as<Number>(number(word)); });
  };
  switch (from.type) {
    case ElementType::f64:
      return to(std::uint64_t{}, [](std::uint64_t word) { return std::bit_cast<double>(word); });
    case ElementType::f32:
      return to(std::uint32_t{}, [](std::uint32_t word) { return std::bit_cast<float>(word); });
    case ElementType::f16:
      return to(std::uint16_t{}, from_half);
    case ElementType::bf16:
      return to(std::uint16_t{}, from_bfloat16);
    case ElementType::boolean:
      return to(std::uint8_t{}, [](std::uint8_t byte) { return byte ? 1 : 0; });
    case ElementType::i32:
      return to(std::uint32_t{},
                [](std::uint32_t word) { return std::bit_cast<std::int32_t>(word); });
    case ElementType::i64:
      return to(std::uint64_t{},
                [](std::uint64_t word) { return std::bit_cast<std::int64_t>(word); });
  }
}

using Order = std::vector<std::int32_t>;

/// Rows and columns in an order; null leaves them as they are.
Matrix reordered(const Matrix& from, const Order* rows, const Order* cols,
                 const std::stop_token& stop) {
  require_memory(
      sizeof(float) * static_cast<double>(from.rows()) * static_cast<double>(from.cols()),
      "a head of " + std::to_string(from.rows()) + " x " + std::to_string(from.cols()) +
          " numbers in another order");
  Matrix out = Matrix::unwritten(from.rows(), from.cols());
  for (Index i = 0; i < out.rows(); ++i) {
    check_stop(stop);
    const float* row = from.row(rows ? (*rows)[i] : i);
    for (Index j = 0; j < out.cols(); ++j) out(i, j) = row[cols ? (*cols)[j] : j];
  }
  return out;
}

}  // namespace

bool is_float(ElementType type) {
  return type == ElementType::f64 || type == ElementType::f32 || type == ElementType::f16 ||
         type == ElementType::bf16;
}

std::string to_text(ElementType type) {
  switch (type) {
    case ElementType::f64:
      return "F64";
    case ElementType::f32:
      return "F32";
    case ElementType::f16:
      return "F16";
    case ElementType::bf16:
      return "BF16";
    case ElementType::boolean:
      return "BOOL";
    case ElementType::i32:
      return "I32";
    case ElementType::i64:
      return "I64";
  }
  return "";
}

Index size_of(ElementType type) {
  switch (type) {
    case ElementType::f64:
    case ElementType::i64:
      return 8;
    case ElementType::f32:
    case ElementType::i32:
      return 4;
    case ElementType::f16:
    case ElementType::bf16:
      return 2;
    case ElementType::boolean:
      return 1;
  }
  return 0;
}

Matrix HeadTensor::read(Index head, const std::stop_token& stop) const {
  if (head < 0 || head >= heads)
    throw UsageError("head " + std::to_string(head) + "; expected 0 to " +
                     std::to_string(heads - 1));
  require_memory(sizeof(float) * static_cast<double>(rows) * static_cast<double>(cols),
                 "a head of " + std::to_string(rows) + " x " + std::to_string(cols) + " numbers");
  Matrix out = Matrix::unwritten(rows, cols);  // zeroing gigabytes could not be stopped
  const HeadTensor own = own_rows();
  for (const HeadTensor* part : {&own, more.get()}) {
    if (!part) continue;
    part->bytes->prepare(stop);
    convert_all(*part, head, out.row(part == &own ? 0 : own.rows), out.stride(), stop);
  }
  return row_order || col_order ? reordered(out, row_order.get(), col_order.get(), stop)
                                : std::move(out);
}

HeadTensor HeadTensor::own_rows() const {
  HeadTensor own = *this;
  if (more) own.rows -= more->rows;
  own.more = nullptr;
  return own;
}

HeadTensor joined(HeadTensor first, HeadTensor second) {
  first.rows += second.rows;
  first.more = std::make_shared<const HeadTensor>(std::move(second));
  return first;
}

void HeadTensor::read_whole(Index head, IndexRange some_rows, IndexRange some_cols,
                            std::vector<std::int64_t>& out) const {
  HeadTensor part = *this;
  part.begin += some_rows.begin * row_stride + some_cols.begin * col_stride;
  part.rows = some_rows.size();
  part.cols = some_cols.size();
  out.resize(part.rows * part.cols);
  if (!out.empty()) convert_all(part, head, out.data(), part.cols, {});
}

HeadTensor make_head_tensor(std::vector<Matrix> heads) {
  HeadTensor out;
  if (heads.empty()) return out;
  const Index rows = heads[0].rows(), cols = heads[0].cols(), size = rows * cols;
  auto values = std::make_shared<std::vector<float>>();
  values->reserve(heads.size() * static_cast<std::size_t>(size));
  for (const Matrix& head : heads) {
    if (head.rows() != rows || head.cols() != cols)
      throw InputError("", "heads of different shapes; expected the same shape");
    for (Index i = 0; i < rows; ++i) values->insert(values->end(), head.row(i), head.row(i) + cols);
  }
  constexpr Index element = sizeof(float);
  out.big_endian = std::endian::native == std::endian::big;
  out.bytes = bytes_in_memory(std::as_bytes(std::span(*values)), values);
  out.heads = std::ssize(heads);
  out.rows = rows;
  out.cols = cols;
  out.head_stride = size * element;
  out.row_stride = cols * element;
  out.col_stride = element;
  return out;
}

}  // namespace fovea
