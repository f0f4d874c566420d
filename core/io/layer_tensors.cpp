#include "io/layer_tensors.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "data/error.h"
#include "data/shape.h"

namespace fovea {
namespace {

bool is_separator(char c) {
  return std::string_view("./:_-").find(c) != std::string_view::npos;
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

bool ends_in(const std::string& name, Names names) {
  const std::string lower = lower_case(name);
  return std::ranges::any_of(names, [&](std::string_view word) {
    return lower == word || (lower.size() > word.size() && lower.ends_with(word) &&
                             is_separator(lower[lower.size() - word.size() - 1]));
  });
}

TensorIndex::TensorIndex(const TensorFile& file, std::span<const TensorGroup> groups)
    : file_(file) {
  for (const NamedTensor& tensor : file.tensors) {
    by_name_.push_back(&tensor);
    add(without_prefix_, tensor.name, tensor);
  }
  if (!std::ranges::is_sorted(by_name_, {}, &NamedTensor::name))
    std::ranges::sort(by_name_, {}, &NamedTensor::name);
  for (const TensorGroup& group : groups) layers_.insert(group.prefix);
}

void TensorIndex::add(ByName& tensors, std::string_view name, const NamedTensor& tensor) {
  if (name.find_first_of("./:-") == name.npos)
    tensors.try_emplace(lower_case(std::string(name)), &tensor);
}

// A tensor is listed once for each layer whose prefix begins its name, so at most once for each
// byte of its name. This bounds the work of all layers together.
std::vector<const NamedTensor*> TensorIndex::beginning_with(std::string_view prefix) const {
  std::vector<const NamedTensor*> tensors;
  const auto name = [](const NamedTensor* tensor) { return std::string_view(tensor->name); };
  for (auto at = std::ranges::lower_bound(by_name_, prefix, {}, name);
       at != by_name_.end() && name(*at).starts_with(prefix); ++at)
    tensors.push_back(*at);
  std::ranges::sort(tensors);  // addresses within one vector
  return tensors;
}

const NamedTensor* TensorIndex::first_of(const ByName& tensors, Names names) {
  const NamedTensor* first = nullptr;
  for (const std::string_view name : names)
    if (const auto found = tensors.find(name);
        found != tensors.end() && (!first || found->second < first))
      first = found->second;
  return first;
}

const NamedTensor* TensorIndex::of_all_layers(Names names) const {
  return first_of(without_prefix_, names);
}

LayerTensors::LayerTensors(const TensorIndex& index, std::string prefix, Index batches)
    : index_(index), prefix_(std::move(prefix)), batches_(batches) {
  for (const NamedTensor* tensor : index.beginning_with(prefix_)) {
    std::string_view rest = std::string_view(tensor->name).substr(prefix_.size());
    if (!prefix_.empty()) {
      if (rest.empty() || !is_separator(rest[0])) continue;
      rest.remove_prefix(1);
    }
    all_.push_back({rest, tensor});
    TensorIndex::add(by_name_, rest, *tensor);
  }
}

const NamedTensor* LayerTensors::find(Names names) const {
  const NamedTensor* own = TensorIndex::first_of(by_name_, names);
  return own ? own : index_.of_all_layers(names);
}

bool LayerTensors::is_layer_within(const std::string& name, const NamedTensor& of) const {
  return index_.is_layer(prefix_.empty() ? name : of.name.substr(0, prefix_.size() + 1) + name);
}

NamedTensor LayerTensors::of_batch(NamedTensor tensor, std::size_t rank) const {
  if (!tensor.type || !tensor.bytes)
    throw InputError(file().path, fovea::quoted(tensor.name) + " has dtype " + tensor.dtype +
                                      "; expected a floating type, BOOL, I32 or I64");
  const bool batched = tensor.shape.size() == rank + 1 ||
                       (batches_ > 1 && tensor.shape.size() > 1 && tensor.shape[0] == batches_ &&
                        tensor.shape.size() <= rank);
  if (!batched || (tensor.shape[0] != 1 && tensor.shape[0] != batches_)) return tensor;
  if (tensor.shape[0] > 1) tensor.begin += batch_ * tensor.strides[0];
  tensor.shape.erase(tensor.shape.begin());
  tensor.strides.erase(tensor.strides.begin());
  return tensor;
}

HeadTensor LayerTensors::matrices(const NamedTensor& whole, Index heads, Index rows,
                                  Index cols) const {
  return matrices_of_member(of_batch(whole, 3), heads, rows, cols);
}

HeadTensor LayerTensors::matrices_of_member(const NamedTensor& tensor, Index heads, Index rows,
                                            Index cols) const {
  require_float(file(), tensor);
  const std::vector<Index> expected{heads, rows, cols};
  const bool one_head = heads == 1 && tensor.shape == std::vector<Index>{rows, cols};
  if (!one_head && tensor.shape != expected) refuse(tensor, shape_text(expected));
  const std::size_t rank = tensor.shape.size();
  return {.type = *tensor.type,
          .big_endian = tensor.big_endian,
          .bytes = tensor.bytes,
          .begin = tensor.begin,
          .heads = heads,
          .rows = rows,
          .cols = cols,
          .head_stride = one_head ? 0 : tensor.strides[0],
          .row_stride = tensor.strides[rank - 2],
          .col_stride = tensor.strides[rank - 1]};
}

void LayerTensors::refuse(const NamedTensor& tensor, const std::string& expected) const {
  throw InputError(file().path, fovea::quoted(tensor.name) + " has shape " +
                                    shape_text(tensor.shape) + "; expected " + expected);
}

}  // namespace fovea
