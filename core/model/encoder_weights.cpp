#include "model/encoder_weights.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "data/error.h"
#include "data/memory.h"
#include "io/file_bytes.h"

namespace fovea {
namespace {

using Tensor = std::vector<Index>;  // the shape of one

/// Reads the weights of a model whose shape is known.
class WeightReader {
 public:
  WeightReader(const EncoderShape& shape, const ModelTensors& tensors, const std::stop_token& stop)
      : shape_(shape), tensors_(tensors), stop_(stop) {}

  WeightRows table(const std::string& name, const Tensor& shape, const std::string& says) const {
    return tensors_.rows(name, shape, shape.back(), says);
  }
  Matrix matrix(const std::string& name, const Tensor& shape, const std::string& says) const {
    const WeightRows rows = table(name, shape, says);
    return rows.read({0, rows.rows()}, stop_);
  }
  std::vector<float> vector(const std::string& name, Index size, const std::string& says) const {
    const Matrix row = matrix(name, {size}, says);
    return {row.data(), row.data() + size};
  }
  LayerNorm norm(const std::string& name) const {
    if (name.empty()) return {};
    const std::string says = width_says();
    return {vector(name + ".weight", shape_.width, says),
            vector(name + ".bias", shape_.width, says), shape_.epsilon};
  }
  /// One after another the outputs of several: `names`, of `outputs` each.
  Linear linear(const std::vector<std::string>& names, Index inputs, Index outputs, bool bias,
                const std::string& says) const {
    const Index all = std::ssize(names) * outputs;
    Linear out{Matrix::padded(inputs, all), std::vector<float>(all)};
    for (Index part = 0; part < std::ssize(names); ++part) {
      const Index first = part * outputs;
      transpose(tensors_.rows(names[part] + ".weight", {outputs, inputs}, inputs, says),
                out.weights, first);
      const std::string name = names[part] + ".bias";
      if (bias)
        std::ranges::copy(vector(name, outputs, says), out.bias.begin() + first);
      else if (tensors_.has(name))
        throw InputError(tensors_.path(),
                         "has " + fovea::quoted(name) +
                             ", but config.json says qkv_bias = false; expected no "
                             "such tensor");
    }
    return out;
  }
  Linear patches(const std::string& name, bool bias) const {
    const Index pixels = 3 * shape_.patch_height * shape_.patch_width;
    const std::string says =
        width_says() + ", num_channels = 3, patch_size = " + std::to_string(shape_.patch_height) +
        " x " + std::to_string(shape_.patch_width);
    Linear out{Matrix::padded(pixels, shape_.width), std::vector<float>(shape_.width)};
    transpose(
        tensors_.rows(name + ".weight", {shape_.width, 3, shape_.patch_height, shape_.patch_width},
                      pixels, says),
        out.weights, 0);
    if (bias) out.bias = vector(name + ".bias", shape_.width, says);
    return out;
  }
  LayerWeights layer(Index index) const {
    const TensorNames& names = *shape_.architecture->names;
    const auto name = [&](const char* of) {
      return names.layer + std::to_string(index) + "." + of;
    };
    const bool gated = shape_.activation == Activation::gated_silu;
    const Index width = shape_.width, inner = shape_.inner;
    const std::string feed_says = width_says() + ", an inner width of " + std::to_string(inner);
    const bool scaled = *names.attention_scale != '\0';
    return {.qkv = linear({name(names.query), name(names.key), name(names.value)}, width, width,
                          shape_.qkv_bias, width_says()),
            .output = linear({name(names.output)}, width, width, true, width_says()),
            .inner = linear({name(gated ? names.gated_inner : names.inner)}, width,
                            shape_.inner_outputs(), true, feed_says),
            .outer = linear({name(gated ? names.gated_outer : names.outer)}, inner, width, true,
                            feed_says),
            .attention_norm = norm(name(names.attention_norm)),
            .feed_norm = norm(name(names.feed_norm)),
            .attention_scale = scaled ? vector(name(names.attention_scale), width, width_says())
                                      : std::vector<float>(),
            .feed_scale = scaled ? vector(name(names.feed_scale), width, width_says())
                                 : std::vector<float>()};
  }
  std::string width_says() const {
    return std::string("config.json says ") + shape_.architecture->config->width + " = " +
           std::to_string(shape_.width);
  }

 private:
  /// Some rows at a time: then a cache line of `out` is written at once.
  void transpose(const WeightRows& rows, Matrix& out, Index first) const {
    constexpr Index at_once = 16;
    for (Index begin = 0; begin < rows.rows(); begin += at_once) {
      const IndexRange some{begin, std::min(begin + at_once, rows.rows())};
      const Matrix part = rows.read(some, stop_);
      for (Index j = 0; j < rows.cols(); ++j)
        for (Index i = 0; i < part.rows(); ++i) out(j, first + begin + i) = part(i, j);
    }
  }

  const EncoderShape& shape_;
  const ModelTensors& tensors_;
  const std::stop_token& stop_;
};

/// Bytes of all weights but the words.
double weight_bytes(const EncoderShape& shape) {
  const double width = shape.width, inner = shape.inner;
  const double layer =
      4 * width * width + static_cast<double>(shape.inner_outputs()) * width + inner * width;
  const double tokens = shape.reads_images()
                            ? static_cast<double>(shape.grid.patches()) +
                                  3.0 * static_cast<double>(shape.patch_height * shape.patch_width)
                            : static_cast<double>(shape.positions + shape.types);
  return sizeof(float) * (static_cast<double>(shape.layers) * layer + tokens * width);
}

void read_text_weights(const WeightReader& reader, EncoderWeights& out) {
  const EncoderShape& shape = out.shape;
  const TensorNames& names = *shape.architecture->names;
  if (*names.types != '\0')
    out.types = reader.matrix(std::string(names.types) + ".weight", {shape.types, shape.width},
                              "config.json says type_vocab_size = " + std::to_string(shape.types) +
                                  ", " + reader.width_says());
  out.positions = reader.matrix(names.positions, {shape.positions, shape.width},
                                "config.json says max_position_embeddings = " +
                                    std::to_string(shape.positions) + ", " + reader.width_says());
}

void read_image_weights(const WeightReader& reader, EncoderWeights& out) {
  const EncoderShape& shape = out.shape;
  const TensorNames& names = *shape.architecture->names;
  out.patches = reader.patches(names.patches, shape.architecture->patch_bias);
  out.positions = reader.matrix(names.positions,
                                {shape.tokens_with_position() + shape.grid.patches(), shape.width},
                                reader.width_says() + ", and " + std::to_string(shape.grid.rows) +
                                    " x " + std::to_string(shape.grid.cols) + " patches");
  out.before_patches = Matrix(shape.tokens_before_patches(), shape.width);
  Index row = 0;
  for (const char* token : {names.class_token, names.distillation_token})
    if (*token != '\0')
      std::ranges::copy(reader.vector(token, shape.width, reader.width_says()),
                        out.before_patches.row(row++));
  if (shape.registers > 0) {
    const Matrix registers =
        reader.matrix(names.register_tokens, {shape.registers, shape.width},
                      "config.json says num_register_tokens = " + std::to_string(shape.registers));
    for (Index i = 0; i < shape.registers; ++i)
      std::copy_n(registers.row(i), shape.width, out.before_patches.row(row++));
  }
}

}  // namespace

EncoderWeights read_encoder_weights(const std::string& folder, const std::stop_token& stop) {
  const auto config =
      std::make_shared<const FileBytes>((std::filesystem::path(folder) / "config.json").string());
  EncoderWeights out{.shape = parse_encoder_shape(config->path(), config->text(stop), stop)};
  const EncoderShape& shape = out.shape;
  const TensorNames& names = *shape.architecture->names;

  ModelTensors tensors(folder, stop);
  out.files = {config};
  out.files.insert(out.files.end(), tensors.files().begin(), tensors.files().end());
  tensors.set_prefix_of(std::string(shape.reads_images() ? names.patches : names.words) +
                        ".weight");
  const std::string beyond = names.layer + std::to_string(shape.layers) + "." + names.query;
  if (tensors.has(beyond + ".weight"))
    throw InputError(tensors.path(),
                     "has " + fovea::quoted(beyond + ".weight") + ", but config.json says " +
                         shape.architecture->config->layers + " = " + std::to_string(shape.layers) +
                         "; expected no such tensor");

  const WeightReader reader(shape, tensors, stop);
  // Before memory is asked for: the message about a config.json of another model names the tensor.
  if (!shape.reads_images())
    out.words = reader.table(std::string(names.words) + ".weight", {shape.words, shape.width},
                             "config.json says vocab_size = " + std::to_string(shape.words) + ", " +
                                 reader.width_says());
  require_memory(weight_bytes(shape), folder + ", weights", "A smaller model needs less");
  if (shape.reads_images())
    read_image_weights(reader, out);
  else
    read_text_weights(reader, out);
  out.embedding_norm = reader.norm(names.embedding_norm);
  out.final_norm = reader.norm(names.final_norm);
  for (Index i = 0; i < shape.layers; ++i) out.layers.push_back(reader.layer(i));
  return out;
}

}  // namespace fovea
