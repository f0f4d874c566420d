// What a tensor is for, told from how its name ends.
#pragma once

#include <optional>
#include <string>

namespace fovea {

enum class Role { q, k, v, qkv, attention };

struct TensorName {
  Role role = Role::q;
  std::string prefix;  // "layer3" of "layer3.q", "" of "q"
};

/// Nothing when the name ends in none of the words known.
std::optional<TensorName> parse_tensor_name(const std::string& name);

/// layer2 before layer10: runs of digits compare as numbers.
bool natural_less(const std::string& a, const std::string& b);

}  // namespace fovea
