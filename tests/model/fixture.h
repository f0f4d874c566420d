// What make_fixtures.py made: a tiny model, and what transformers computes of an input in float64.
#pragma once

#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "io/tensor_file.h"

namespace fovea::test {

inline const std::string fixtures = FOVEA_TESTS "/model/fixtures/";

class Expected {
 public:
  explicit Expected(const std::string& folder)
      : file_(read_safetensors(folder + "/expected.safetensors")) {}

  bool has(const std::string& name) const { return find(name) != nullptr; }
  std::vector<Index> shape(const std::string& name) const { return at(name).shape; }
  /// The elements as they are stored.
  template <class T>
  std::vector<T> values(const std::string& name) const {
    const NamedTensor& tensor = at(name);
    Index count = 1;
    for (const Index side : tensor.shape) count *= side;
    std::vector<T> out(static_cast<std::size_t>(count));
    tensor.bytes->read(tensor.begin, std::as_writable_bytes(std::span(out)));
    return out;
  }
  /// |float32 - float64| / |float64| of transformers itself.
  double float32_error(const std::string& name) const { return std::stod(file_.metadata.at(name)); }

 private:
  const NamedTensor* find(const std::string& name) const {
    for (const NamedTensor& tensor : file_.tensors)
      if (tensor.name == name) return &tensor;
    return nullptr;
  }
  const NamedTensor& at(const std::string& name) const {
    const NamedTensor* const found = find(name);
    if (!found) throw std::logic_error("the fixture has no " + name);
    return *found;
  }

  TensorFile file_;
};

}  // namespace fovea::test
