#include "plan/structure.h"

#include <algorithm>

#include "data/error.h"
#include "data/shape.h"

namespace fovea {
namespace {

template <class T>
const std::vector<T>& values_of(const StructureTensor* tensor) {
  static const std::vector<T> none;
  const auto* values = tensor ? std::get_if<std::vector<T>>(&tensor->values) : nullptr;
  return values ? *values : none;
}

}  // namespace

bool operator==(const Structure& a, const Structure& b) {
  return a.tensors_.size() == b.tensors_.size() &&
         std::ranges::all_of(a.tensors_, [&](const StructureTensor& tensor) {
           const StructureTensor* other = b.find(tensor.name);
           return other && *other == tensor;
         });
}

void Structure::set(StructureTensor tensor) {
  Index places = 1;
  for (const Index size : tensor.shape) places *= size;
  if (places != tensor.size())
    throw Error(1, "the structure's '" + tensor.name + "' has " + std::to_string(tensor.size()) +
                       " values for the shape " + shape_text(tensor.shape));
  const auto known = std::ranges::find(tensors_, tensor.name, &StructureTensor::name);
  if (known != tensors_.end())
    *known = std::move(tensor);
  else
    tensors_.push_back(std::move(tensor));
}

void Structure::set(std::string name, std::vector<std::int32_t> values) {
  const auto size = static_cast<Index>(values.size());
  set({std::move(name), {size}, std::move(values)});
}

void Structure::set(std::string name, std::vector<float> values) {
  const auto size = static_cast<Index>(values.size());
  set({std::move(name), {size}, std::move(values)});
}

void Structure::erase(std::string_view name) {
  std::erase_if(tensors_, [&](const StructureTensor& tensor) { return tensor.name == name; });
}

const StructureTensor* Structure::find(std::string_view name) const {
  const auto found = std::ranges::find(tensors_, name, &StructureTensor::name);
  return found == tensors_.end() ? nullptr : &*found;
}

const std::vector<std::int32_t>& Structure::integers(std::string_view name) const {
  return values_of<std::int32_t>(find(name));
}

const std::vector<float>& Structure::reals(std::string_view name) const {
  return values_of<float>(find(name));
}

}  // namespace fovea
