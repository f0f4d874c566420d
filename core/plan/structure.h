// A Structure is what a planner drew or derived for one head, as named tensors: orders, samples,
// leaves, the weights of a tree. `compute -o` writes it and `--structure` reads it back. The file
// of a variant declares which tensors it has and what they mean (variants/structure_fields.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "data/matrix.h"

namespace fovea {

struct StructureTensor {
  std::string name;
  std::vector<Index> shape;                                            // of one head
  std::variant<std::vector<std::int32_t>, std::vector<float>> values;  // row-major

  Index size() const {
    return std::visit([](const auto& list) { return static_cast<Index>(list.size()); }, values);
  }
  friend bool operator==(const StructureTensor&, const StructureTensor&) = default;
};

class Structure {
 public:
  /// Adds a tensor or replaces the one of that name. Throws Error unless the shape fits the number
  /// of values.
  void set(StructureTensor tensor);
  /// A list: shape [values.size()].
  void set(std::string name, std::vector<std::int32_t> values);
  void set(std::string name, std::vector<float> values);
  void erase(std::string_view name);

  bool empty() const { return tensors_.empty(); }
  bool has(std::string_view name) const { return find(name) != nullptr; }
  const StructureTensor* find(std::string_view name) const;
  const std::vector<StructureTensor>& tensors() const { return tensors_; }

  /// The values of a tensor; empty if there is none of that name and type.
  const std::vector<std::int32_t>& integers(std::string_view name) const;
  const std::vector<float>& reals(std::string_view name) const;

  /// Whether both have the same tensors, in any order.
  friend bool operator==(const Structure& a, const Structure& b);

 private:
  std::vector<StructureTensor> tensors_;  // in the order in which they were set
};

}  // namespace fovea
