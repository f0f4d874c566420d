#include "data/source.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "data/error.h"
#include "data/memory.h"

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

/// Elements may be unaligned and anywhere apart, so each is copied out before it is looked at.
template <class Word, class Convert>
void convert(const HeadTensor& from, const std::byte* begin, Matrix& out, Convert to_float) {
  const bool swap = from.big_endian != (std::endian::native == std::endian::big);
  for (Index i = 0; i < from.rows; ++i) {
    const std::byte* row = begin + i * from.row_stride;
    for (Index c = 0; c < from.cols; ++c) {
      Word word;
      std::memcpy(&word, row + c * from.col_stride, sizeof(Word));
      out(i, c) = to_float(swap ? swap_bytes(word) : word);
    }
  }
}

std::string where_of(const Source& source, const Layer& layer) {
  return layer.name.empty() ? source.path : source.path + ", " + layer.name;
}

void check_index(const char* what, Index found, Index count) {
  if (found < 0 || found >= count)
    throw UsageError(std::string(what) + " " + std::to_string(found) + ": 0 to " +
                     std::to_string(count - 1) + " expected");
}

}  // namespace

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
  }
  return "";
}

Index size_of(ElementType type) {
  switch (type) {
    case ElementType::f64:
      return 8;
    case ElementType::f32:
      return 4;
    case ElementType::f16:
    case ElementType::bf16:
      return 2;
  }
  return 0;
}

namespace {

std::size_t float_bytes(Index rows, Index cols) {
  return sizeof(float) * static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
}

}  // namespace

Matrix HeadTensor::read(Index head) const {
  check_index("head", head, heads);
  require_memory(float_bytes(rows, cols),
                 "a head of " + std::to_string(rows) + " x " + std::to_string(cols) + " numbers");
  Matrix out(rows, cols);
  const std::byte* begin = data + head * head_stride;
  switch (type) {
    case ElementType::f64:
      convert<std::uint64_t>(*this, begin, out, [](std::uint64_t word) {
        return static_cast<float>(std::bit_cast<double>(word));
      });
      break;
    case ElementType::f32:
      convert<std::uint32_t>(*this, begin, out, std::bit_cast<float, std::uint32_t>);
      break;
    case ElementType::f16:
      convert<std::uint16_t>(*this, begin, out, from_half);
      break;
    case ElementType::bf16:
      convert<std::uint16_t>(*this, begin, out, from_bfloat16);
      break;
  }
  return out;
}

HeadTensor make_head_tensor(std::vector<Matrix> heads) {
  HeadTensor out;
  if (heads.empty()) return out;
  const Index rows = heads[0].rows(), cols = heads[0].cols(), size = rows * cols;
  auto values = std::make_shared<std::vector<float>>();
  values->reserve(heads.size() * static_cast<std::size_t>(size));
  for (const Matrix& head : heads) {
    if (head.rows() != rows || head.cols() != cols)
      throw InputError("", "heads of different shapes: the same shape expected");
    for (Index i = 0; i < rows; ++i) values->insert(values->end(), head.row(i), head.row(i) + cols);
  }
  constexpr Index element = sizeof(float);
  out.big_endian = std::endian::native == std::endian::big;
  out.data = reinterpret_cast<const std::byte*>(values->data());
  out.heads = static_cast<Index>(heads.size());
  out.rows = rows;
  out.cols = cols;
  out.head_stride = size * element;
  out.row_stride = cols * element;
  out.col_stride = element;
  out.owner = std::move(values);
  return out;
}

Problem problem_of(const Source& source, const HeadChoice& choice) {
  check_index("layer", choice.layer, static_cast<Index>(source.layers.size()));
  const Layer& layer = source.layers[static_cast<std::size_t>(choice.layer)];
  const std::string where = where_of(source, layer);
  if (!layer.has_qkv())
    throw InputError(where, "an attention matrix without q and k: they are needed to compute one");
  check_index("head", choice.head, layer.heads());
  if (!layer.k.present() || layer.heads() % layer.k.heads != 0 || layer.v.heads != layer.k.heads)
    throw InputError(where, std::to_string(layer.heads()) + " query heads, " +
                                std::to_string(layer.k.heads) + " key heads and " +
                                std::to_string(layer.v.heads) +
                                " value heads: as many key as value heads expected, and a number "
                                "that divides the query heads");
  if (choice.scale && !(*choice.scale > 0 && std::isfinite(*choice.scale)))
    throw UsageError("scale is " + std::to_string(*choice.scale) + ": a number above 0 expected");
  require_memory(float_bytes(layer.n(), 2 * layer.d() + layer.dv()),
                 where + ": Q, K and V of a head of " + std::to_string(layer.n()) + " tokens");
  const Index group = choice.head / (layer.heads() / layer.k.heads);
  Problem problem =
      make_problem(layer.q.read(choice.head), layer.k.read(group), layer.v.read(group),
                   choice.scale.value_or(source.scale.value_or(0)),
                   choice.causal.value_or(source.causal.value_or(false)), choice.head);
  if (!choice.allow_non_finite) require_finite(problem, where);
  return problem;
}

}  // namespace fovea
