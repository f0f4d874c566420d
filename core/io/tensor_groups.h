// A TensorGroup is the tensors of one layer: those whose names share a prefix, by Role.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "io/tensor_file.h"
#include "io/tensor_names.h"

namespace fovea {

struct TensorGroup {
  std::string prefix;
  std::array<const NamedTensor*, 5> tensors{};

  const NamedTensor* operator[](Role role) const { return tensors[static_cast<std::size_t>(role)]; }
  bool has_qk() const { return (*this)[Role::qkv] || ((*this)[Role::q] && (*this)[Role::k]); }
  bool usable() const { return has_qk() || (*this)[Role::attention]; }
  /// "'q' without k, v"
  std::string complaint() const;
};

/// In natural order of their prefixes; tensors without a role are ignored. They point into `file`.
/// Throws InputError when two tensors have the same role.
std::vector<TensorGroup> groups_of(const TensorFile& file);

}  // namespace fovea
