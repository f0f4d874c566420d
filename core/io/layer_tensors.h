// LayerTensors are the tensors that stand beside the q, k and v of a layer, found by their names.
// A TensorIndex is made once for a file, so that no layer has to look at all tensors.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "io/tensor_file.h"
#include "io/tensor_groups.h"

namespace fovea {

using Names = std::span<const std::string_view>;  // in lower case

/// Whether a name is one of these, or ends in one after a separator.
bool ends_in(const std::string& name, Names names);

/// Indexes the tensors of a file for LayerTensors. The file must outlive it.
class TensorIndex {
 public:
  TensorIndex(const TensorFile& file, std::span<const TensorGroup> groups);

  const TensorFile& file() const { return file_; }
  /// Tensors whose names begin with `prefix`, in the order of the file.
  std::vector<const NamedTensor*> beginning_with(std::string_view prefix) const;
  /// The tensor without a prefix, which is for all layers; null if there is none with these names.
  const NamedTensor* of_all_layers(Names names) const;
  bool is_layer(const std::string& prefix) const { return layers_.contains(prefix); }

 private:
  friend class LayerTensors;
  // In lower case. Only names without marks are there, as no word that is searched for has one.
  using ByName = std::map<std::string, const NamedTensor*, std::less<>>;
  static void add(ByName& tensors, std::string_view name, const NamedTensor& tensor);
  static const NamedTensor* first_of(const ByName& tensors, Names names);

  const TensorFile& file_;
  std::vector<const NamedTensor*> by_name_;  // sorted
  ByName without_prefix_;
  std::set<std::string> layers_;
};

class LayerTensors {
 public:
  struct Named {
    std::string_view name;  // without the prefix and its separator: "flash.z" of "layer3.flash.z"
    const NamedTensor* tensor;
  };

  /// `batches` members of a batch share the tensors, and each becomes a layer.
  LayerTensors(const TensorIndex& index, std::string prefix, Index batches);

  void choose_member(Index batch) { batch_ = batch; }
  Index batches() const { return batches_; }
  const TensorFile& file() const { return index_.file(); }
  /// The tensor of the layer itself, or else that of all layers; null if there is neither.
  const NamedTensor* find(Names names) const;
  /// All tensors of the layer, in the order of the file.
  std::span<const Named> all() const { return all_; }
  /// Whether `name` after the prefix, with the separator that `of` has there, is itself the prefix
  /// of a layer.
  bool is_layer_within(const std::string& name, const NamedTensor& of) const;
  /// The tensor without the axis of the batch, if it has one before `rank` others. Throws
  /// InputError for a type that cannot be read.
  NamedTensor of_batch(NamedTensor tensor, std::size_t rank) const;
  /// [heads, rows, cols], or [rows, cols] of one head. Throws InputError for another shape or a
  /// type that is not floating.
  HeadTensor matrices(const NamedTensor& tensor, Index heads, Index rows, Index cols) const;
  /// The same of a tensor that has no axis of the batch, or has lost it.
  HeadTensor matrices_of_member(const NamedTensor& tensor, Index heads, Index rows,
                                Index cols) const;
  [[noreturn]] void refuse(const NamedTensor& tensor, const std::string& expected) const;

 private:
  const TensorIndex& index_;
  const std::string prefix_;
  const Index batches_;
  Index batch_ = 0;
  std::vector<Named> all_;
  TensorIndex::ByName by_name_;
};

}  // namespace fovea
