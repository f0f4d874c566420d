// ModelTensors are the weights in the files of a model, found by name and read in float32. They
// stay in their files, which are read when a tensor is needed.
//
// A weight is F64, F32, F16 or BF16; or 8 bits in blocks: NAME is I8 [rows, cols], and NAME.scale
// is F16 [rows, cols / 32]. An entry [i, j] is then NAME[i, j] NAME.scale[i, j / 32].
#pragma once

#include <map>
#include <string>
#include <vector>

#include "io/tensor_file.h"

namespace fovea {

inline constexpr Index block_of_8_bits = 32;  // entries that share a scale

/// A matrix that stays in its file, and is read some rows at a time.
class WeightRows {
 public:
  WeightRows() = default;
  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  /// Throws InputError for an entry that is not finite, and what Bytes::read throws; Cancelled.
  Matrix read(IndexRange rows, const std::stop_token& stop) const;

 private:
  friend class ModelTensors;
  Matrix read_floats(IndexRange rows, const std::stop_token& stop) const;
  Matrix read_blocks(IndexRange rows, const std::stop_token& stop) const;

  std::string where_;  // file and name
  NamedTensor tensor_, scale_;
  bool blocks_ = false;
  Index rows_ = 0, cols_ = 0;
};

class ModelTensors {
 public:
  /// model.safetensors of the folder, or the files that model.safetensors.index.json lists. Throws
  /// InputError where a file is missing, cut off or not what the index says.
  ModelTensors(const std::string& folder, const std::stop_token& stop);

  const std::string& path() const { return path_; }  // of the file, or of the index
  const SourceFiles& files() const { return source_files_; }
  /// From here on names begin after the prefix that this one has in the files: "bert." where they
  /// call it "bert.embeddings.word_embeddings.weight". Throws InputError where they do not have it.
  void set_prefix_of(const std::string& name);
  bool has(const std::string& name) const { return find(name) != nullptr; }

  /// The tensor as rows of `cols` entries. Its shape must be `shape`, apart from axes of one place.
  /// Throws InputError otherwise; the message ends with `says`, what config.json says of the shape.
  WeightRows rows(const std::string& name, const std::vector<Index>& shape, Index cols,
                  const std::string& says) const;

 private:
  struct Place {
    const TensorFile* file;
    const NamedTensor* tensor;
  };
  void read_shards(const std::string& folder, const std::string& index,
                   const std::stop_token& stop);
  void add(TensorFile file);
  const Place* find(const std::string& name) const;
  const Place* find_whole(const std::string& name) const;

  std::string path_;
  std::vector<std::unique_ptr<const TensorFile>> files_;
  SourceFiles source_files_;
  std::map<std::string, Place> tensors_;
  std::string prefix_;
};

/// The names of an index, model.safetensors.index.json, by the file that each is in. Throws
/// InputError for an index that is not well formed, or names files outside its folder.
std::map<std::string, std::vector<std::string>> parse_shard_index(const std::string& where,
                                                                  std::string_view text,
                                                                  const std::stop_token& stop = {});

}  // namespace fovea
