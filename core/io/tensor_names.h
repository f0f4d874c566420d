// The role of a tensor, which follows from the end of its name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fovea {

enum class Role { q, k, v, qkv, attention };

struct TensorName {
  Role role = Role::q;
  std::string_view prefix;  // of the name: "layer3" of "layer3.q", "" of "q"
  /// Written by TransformerLens: the axis of the heads comes after that of the tokens.
  bool hook = false;
  bool rotated = false;  // after the rotary embedding: preferred to the tensor before it
};

/// Nothing if the name does not end in a known word.
std::optional<TensorName> parse_tensor_name(std::string_view name);

/// Compares runs of digits as numbers: layer2 comes before layer10.
bool natural_less(const std::string& a, const std::string& b);

}  // namespace fovea
