#include "io/layer_tensors.h"

#include <algorithm>
#include <cctype>

#include "data/error.h"
#include "data/shape.h"

namespace fovea {
namespace {

constexpr std::string_view separators = "./:_-";

}  // namespace

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string name_in_layer(const std::string& tensor, const std::string& prefix) {
  if (!tensor.starts_with(prefix)) return {};
  std::string rest = tensor.substr(prefix.size());
  if (prefix.empty()) return rest;
  if (rest.empty() || separators.find(rest[0]) == std::string_view::npos) return {};
  return rest.substr(1);
}

bool ends_in(const std::string& name, Names names) {
  const std::string lower = lower_case(name);
  return std::ranges::any_of(names, [&](std::string_view word) {
    return lower == word ||
           (lower.size() > word.size() && lower.ends_with(word) &&
            separators.find(lower[lower.size() - word.size() - 1]) != std::string_view::npos);
  });
}

const NamedTensor* LayerTensors::find(Names names) const {
  for (const std::string& prefix : {place_.prefix, std::string()}) {
    for (const NamedTensor& tensor : file_.tensors) {
      const std::string found = lower_case(name_in_layer(tensor.name, prefix));
      if (std::ranges::find(names, found) != names.end()) return &tensor;
    }
    if (prefix.empty()) break;
  }
  return nullptr;
}

NamedTensor LayerTensors::of_batch(NamedTensor tensor, std::size_t rank) const {
  if (!tensor.type || !tensor.bytes)
    throw InputError(file_.path, fovea::quoted(tensor.name) + " has dtype " + tensor.dtype +
                                     "; expected a floating type, BOOL, I32 or I64");
  const bool batched = tensor.shape.size() == rank + 1 ||
                       (place_.batches > 1 && tensor.shape.size() > 1 &&
                        tensor.shape[0] == place_.batches && tensor.shape.size() <= rank);
  if (!batched || (tensor.shape[0] != 1 && tensor.shape[0] != place_.batches)) return tensor;
  if (tensor.shape[0] > 1) tensor.begin += place_.batch * tensor.strides[0];
  tensor.shape.erase(tensor.shape.begin());
  tensor.strides.erase(tensor.strides.begin());
  return tensor;
}

HeadTensor LayerTensors::matrices(const NamedTensor& whole, Index heads, Index rows,
                                  Index cols) const {
  const NamedTensor tensor = of_batch(whole, 3);
  require_float(file_, tensor);
  const std::vector<Index> expected{heads, rows, cols};
  const bool one_head = heads == 1 && tensor.shape == std::vector<Index>{rows, cols};
  if (!one_head && tensor.shape != expected) refuse(whole, shape_text(expected));
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
  throw InputError(file_.path, fovea::quoted(tensor.name) + " has shape " +
                                   shape_text(tensor.shape) + "; expected " + expected);
}

}  // namespace fovea
