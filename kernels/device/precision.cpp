#include "device/precision.h"

#include <array>
#include <utility>

#include "data/error.h"

namespace fovea::cuda {
namespace {

constexpr std::array<std::pair<Precision, const char*>, 4> names{
    {{Precision::fp32, "fp32"},
     {Precision::fp32_split, "fp32-split"},
     {Precision::bf16, "bf16"},
     {Precision::fp16, "fp16"}}};

}  // namespace

Precision parse_precision(const std::string& name) {
  for (const auto& [precision, known] : names)
    if (name == known) return precision;
  throw UsageError("CUDA: precision " + name + "; expected fp32, fp32-split, bf16 or fp16");
}

std::string name_of(Precision precision) {
  for (const auto& [known, name] : names)
    if (precision == known) return name;
  return "";
}

}  // namespace fovea::cuda
