// The Precision of a back end: the numbers that Q, K, V and the weights of the softmax are rounded
// to before they are multiplied. Products are added up in fp32 always, and so is the softmax.
#pragma once

#include <string>

namespace fovea::cuda {

enum class Precision { fp32, bf16, fp16 };

/// The precision of that name. Throws UsageError for any other name.
Precision parse_precision(const std::string& name);
std::string name_of(Precision precision);

}  // namespace fovea::cuda
