// The Precision of a back end: the type to which Q, K, V and the weights of the softmax are rounded
// before they are multiplied. Products are always added in fp32, and the softmax is always in fp32.
// fp32_split has the errors of fp32 on tensor cores: every number is the sum of two of fp16
// (device/split_matrix.h), and a product is three products of these.
#pragma once

#include <string>

namespace fovea::cuda {

enum class Precision { fp32, bf16, fp16, fp32_split };

/// Whether factors are rounded to 16 bits.
constexpr bool of_16_bits(Precision precision) {
  return precision == Precision::bf16 || precision == Precision::fp16;
}

/// The precision of that name. Throws UsageError for any other name.
Precision parse_precision(const std::string& name);
std::string name_of(Precision precision);

}  // namespace fovea::cuda
