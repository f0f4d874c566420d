#include "model/model_tensors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "data/error.h"
#include "data/head_tensor.h"
#include "data/memory.h"
#include "data/stop.h"
#include "io/file_bytes.h"
#include "io/json.h"

namespace fovea {
namespace {

const char* const whole_file = "model.safetensors";
const char* const index_file = "model.safetensors.index.json";

/// A path of the folder, with a message that says what to do where it is missing.
void require_file(const std::filesystem::path& path, const std::string& advice) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw InputError(path.string(), "there is no such file; " + advice);
}

/// Without axes of one place, as the class token [1, 1, width] has.
std::vector<Index> without_ones(std::vector<Index> shape) {
  std::erase(shape, 1);
  return shape;
}

Index product_of(const std::vector<Index>& shape) {
  Index product = 1;
  for (const Index side : shape) product *= side;
  return product;
}

/// Rows of a tensor that lies in C order, whatever axes its columns are made of.
HeadTensor rows_of(const NamedTensor& tensor, IndexRange rows, Index cols) {
  const Index size = size_of(*tensor.type);
  return {.type = *tensor.type,
          .big_endian = tensor.big_endian,
          .bytes = tensor.bytes,
          .begin = tensor.begin + rows.begin * cols * size,
          .heads = 1,
          .rows = rows.size(),
          .cols = cols,
          .head_stride = 0,
          .row_stride = cols * size,
          .col_stride = size};
}

bool is_old_norm(const std::string& name) {
  return name.ends_with("LayerNorm.weight") || name.ends_with("LayerNorm.bias");
}

}  // namespace

Matrix WeightRows::read(IndexRange rows, const std::stop_token& stop) const {
  Matrix out = blocks_ ? read_blocks(rows, stop) : read_floats(rows, stop);
  for (Index i = 0; i < out.rows(); ++i)
    for (Index j = 0; j < cols_; ++j)
      if (!std::isfinite(out(i, j)))
        throw InputError(
            where_, "holds " + std::string(std::isnan(out(i, j)) ? "NaN" : "infinity") + " at [" +
                        std::to_string(rows.begin + i) + "," + std::to_string(j) +
                        "]; expected finite numbers: the weights are damaged");
  return out;
}

Matrix WeightRows::read_floats(IndexRange rows, const std::stop_token& stop) const {
  return rows_of(tensor_, rows, cols_).read(0, stop);
}

Matrix WeightRows::read_blocks(IndexRange rows, const std::stop_token& stop) const {
  const Index blocks = cols_ / block_of_8_bits;
  const Matrix scales = rows_of(scale_, rows, blocks).read(0, stop);
  Matrix out = Matrix::unwritten(rows.size(), cols_);
  std::vector<std::int8_t> entries(rows.size() * cols_);
  read_in_pieces(*tensor_.bytes, tensor_.begin + rows.begin * cols_,
                 std::as_writable_bytes(std::span(entries)), stop);
  for_each_row(rows.size(), stop, [&](Index i) {
    for (Index j = 0; j < cols_; ++j)
      out(i, j) = scales(i, j / block_of_8_bits) * static_cast<float>(entries[i * cols_ + j]);
  });
  return out;
}

std::map<std::string, std::vector<std::string>> parse_shard_index(const std::string& where,
                                                                  std::string_view text,
                                                                  const std::stop_token& stop) {
  const Json index = parse_json(where, text, stop);
  const auto map = index.is_object() ? index.find("weight_map") : index.end();
  if (map == index.end() || !map->is_object() || map->empty())
    throw InputError(where, "has no weight_map; expected an object of names and files");
  std::map<std::string, std::vector<std::string>> files;
  for (const auto& [name, file] : map->items()) {
    const auto* path = file.get_ptr<const std::string*>();
    if (!path || path->empty() || path->find('/') != std::string::npos || *path == "." ||
        *path == ".." || path->find('\0') != std::string::npos)
      throw InputError(where, "weight_map has " + fovea::quoted(name) + " in " + excerpt(file) +
                                  "; expected the name of a file in the same folder");
    files[*path].push_back(name);
  }
  return files;
}

ModelTensors::ModelTensors(const std::string& folder, const std::stop_token& stop) {
  const std::filesystem::path whole = std::filesystem::path(folder) / whole_file,
                              index = std::filesystem::path(folder) / index_file;
  std::error_code ignored;
  if (std::filesystem::exists(index, ignored) && !std::filesystem::exists(whole, ignored)) {
    read_shards(folder, index.string(), stop);
    return;
  }
  require_file(whole, std::string("expected the weights of a model there, or ") + index_file);
  path_ = whole.string();
  add(read_safetensors(path_, stop));
}

void ModelTensors::read_shards(const std::string& folder, const std::string& index,
                               const std::stop_token& stop) {
  path_ = index;
  const auto file = std::make_shared<const FileBytes>(index);
  source_files_.push_back(file);
  for (const auto& [shard, names] : parse_shard_index(index, file->text(stop), stop)) {
    const std::filesystem::path path = std::filesystem::path(folder) / shard;
    require_file(path, std::string(index_file) + " lists " + std::to_string(names.size()) +
                           " tensors in it; download it again");
    add(read_safetensors(path.string(), stop));
    for (const std::string& name : names)
      if (!tensors_.contains(name) || tensors_.at(name).file != files_.back().get())
        throw InputError(path.string(), "has no " + fovea::quoted(name) + ", which " + index_file +
                                            " lists in it; download the model again");
  }
}

void ModelTensors::add(TensorFile file) {
  source_files_.insert(source_files_.end(), file.files.begin(), file.files.end());
  files_.push_back(std::make_unique<const TensorFile>(std::move(file)));
  const TensorFile* const kept = files_.back().get();
  for (const NamedTensor& tensor : kept->tensors)
    if (!tensors_.try_emplace(tensor.name, Place{kept, &tensor}).second)
      throw InputError(kept->path, fovea::quoted(tensor.name) + " is also in " +
                                       tensors_.at(tensor.name).file->path +
                                       "; expected each tensor in one file");
}

void ModelTensors::set_prefix_of(const std::string& name) {
  for (const auto& [whole, place] : tensors_)
    if (whole == name || whole.ends_with("." + name)) {
      prefix_ = whole.substr(0, whole.size() - name.size());
      return;
    }
  throw InputError(path_,
                   "has no " + fovea::quoted(name) + ", which the model of config.json needs");
}

const ModelTensors::Place* ModelTensors::find_whole(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

const ModelTensors::Place* ModelTensors::find(const std::string& name) const {
  const std::string whole = prefix_ + name;
  if (const Place* found = find_whole(whole)) return found;
  if (!is_old_norm(whole)) return nullptr;
  // As TensorFlow, and the first files of BERT, call them.
  const std::size_t stem = whole.rfind('.') + 1;
  return find_whole(whole.substr(0, stem) + (whole.ends_with(".weight") ? "gamma" : "beta"));
}

WeightRows ModelTensors::rows(const std::string& name, const std::vector<Index>& shape, Index cols,
                              const std::string& says) const {
  const Place* place = find(name);
  if (!place)
    throw InputError(path_,
                     "has no " + fovea::quoted(prefix_ + name) + "; expected it, since " + says);
  const NamedTensor& tensor = *place->tensor;
  WeightRows out;
  out.where_ = place->file->path + ", " + fovea::quoted(tensor.name);
  out.tensor_ = tensor;
  out.rows_ = product_of(shape) / cols;
  out.cols_ = cols;
  if (without_ones(tensor.shape) != without_ones(shape))
    throw InputError(out.where_, "has the shape " + shape_text(tensor.shape) + "; expected " +
                                     shape_text(shape) + ", since " + says);
  if (tensor.dtype != "I8") {
    if (!tensor.type || !is_float(*tensor.type))
      throw InputError(out.where_, "is of type " + tensor.dtype +
                                       "; expected F64, F32, F16, BF16, or I8 with its scales");
    return out;
  }
  const Place* scale = find_whole(tensor.name + ".scale");
  const std::vector<Index> blocks{out.rows_, cols / block_of_8_bits};
  if (!scale || cols % block_of_8_bits != 0 || scale->tensor->dtype != "F16" ||
      scale->tensor->shape != blocks)
    throw InputError(
        out.where_,
        "is of type I8, and " + fovea::quoted(tensor.name + ".scale") + " is " +
            (scale ? scale->tensor->dtype + " " + shape_text(scale->tensor->shape) : "missing") +
            "; expected F16 [" + std::to_string(out.rows_) + "," + std::to_string(cols) +
            " / 32]: a scale for every 32 entries");
  out.scale_ = *scale->tensor;
  out.blocks_ = true;
  return out;
}

}  // namespace fovea
