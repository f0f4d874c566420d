// LayerTensors finds the tensors that stand beside the q, k and v of a layer, by their names.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "io/tensor_file.h"

namespace fovea {

/// Which layer, and which member of a batch of it.
struct LayerPlace {
  std::string prefix;  // of its tensors' names; those without one are of every layer
  Index batches = 1, batch = 0;
};

using Names = std::span<const std::string_view>;  // in lower case

/// What follows the layer's prefix and a separator in the name of a tensor, in the case of the
/// file: "flash.z" of "layer3.flash.z"; empty: it is of another layer.
std::string name_in_layer(const std::string& tensor, const std::string& prefix);

/// Whether a name is one of these, or ends in one after a separator.
bool ends_in(const std::string& name, Names names);

std::string lower_case(std::string text);

class LayerTensors {
 public:
  LayerTensors(const TensorFile& file, const LayerPlace& place) : file_(file), place_(place) {}

  const TensorFile& file() const { return file_; }
  /// Of the layer itself, or else of the whole file; null: there is none.
  const NamedTensor* find(Names names) const;
  /// The tensor without the axis of the batch, if it has one before `rank` others. Throws
  /// InputError for a type that cannot be read.
  NamedTensor of_batch(NamedTensor tensor, std::size_t rank) const;
  /// [heads, rows, cols], or [rows, cols] of one head. Throws InputError for another shape or a
  /// type that is not floating.
  HeadTensor matrices(const NamedTensor& tensor, Index heads, Index rows, Index cols) const;
  [[noreturn]] void refuse(const NamedTensor& tensor, const std::string& expected) const;

 private:
  const TensorFile& file_;
  const LayerPlace& place_;
};

}  // namespace fovea
