// The Precision of a back end: the type to which Q, K, V and the weights of the softmax are rounded
// before they are multiplied. Products are always added in fp32, and the softmax is always in fp32.
#pragma once

#include <string>

namespace fovea::cuda {

enum class Precision { fp32, bf16, fp16 };

/// The precision of that name. Throws UsageError for any other name.
Precision parse_precision(const std::string& name);
std::string name_of(Precision precision);

}  // namespace fovea::cuda
