#include "fuzz/encoder_parsers.h"

#include <algorithm>
#include <span>

#include "backend/backends.h"
#include "fuzz/file_parsers.h"
#include "fuzz/rules.h"
#include "gguf_bytes.h"
#include "io/gguf_header.h"
#include "io/safetensors.h"
#include "model/encoder.h"
#include "temporary_directory.h"

namespace fovea::test {
namespace {

/// Computes at most 64 tokens: a config.json may ask for more than there is time for.
void compute(const Encoder& encoder) {
  static const auto backend = make_cpu_backend({.threads = 1});
  const EncoderShape& shape = encoder.shape();
  Profile profile;
  Run run{profile};
  const auto take = [&](const EncodedLayer& layer) {
    for (const Matrix* part : {&layer.q, &layer.k, &layer.v, &layer.hidden})
      require(part->cols() == shape.width, "a matrix of a layer has another width than the model");
  };
  if (!shape.reads_images()) {
    const std::vector<std::int32_t> ids(
        static_cast<std::size_t>(std::min<Index>(2, shape.most_tokens())));
    (void)encoder.encode(ids, *backend, run, take);
    return;
  }
  const Index height = 2 * shape.patch_height, width = shape.patch_width;
  if (height * width > 4096 || shape.registers > 60) return;
  const ImagePlanes image{
      .height = height,
      .width = width,
      .values = std::vector<float>(static_cast<std::size_t>(3 * height * width), 0.5f)};
  (void)encoder.encode(image, *backend, run, take);
}

/// A model of safetensors whose entries are all the same.
class Weights {
 public:
  void add(const std::string& name, const std::vector<Index>& shape, const std::string& dtype,
           const std::string& one) {
    const std::size_t begin = data_.size();
    Index count = 1;
    for (const Index side : shape) count *= side;
    for (Index i = 0; i < count; ++i) data_ += one;
    header_ += (header_.empty() ? "" : ",") +
               entry(name, dtype, shape_text(shape),
                     "[" + std::to_string(begin) + "," + std::to_string(data_.size()) + "]");
  }
  void add_norm(const std::string& name, Index width) {
    for (const char* part : {".weight", ".bias"}) add(name + part, {width}, "F16", half);
  }
  void add_linear(const std::string& name, Index outputs, Index inputs, bool blocks) {
    if (blocks) {
      add(name + ".weight", {outputs, inputs}, "I8", "\x11");
      add(name + ".weight.scale", {outputs, inputs / block_of_8_bits}, "F16", half);
    } else {
      add(name + ".weight", {outputs, inputs}, "BF16", "\xc0\x3e");
    }
    add(name + ".bias", {outputs}, "F16", half);
  }
  std::string bytes() const { return safetensors_bytes("{" + header_ + "}", data_); }

  static inline const std::string half = std::string("\0\x38", 2);  // 0.5

 private:
  std::string header_, data_;
};

std::string text_model(Index width, bool blocks) {
  Weights weights;
  for (const auto& [name, rows] : {std::pair{"word", 2}, {"position", 3}, {"token_type", 1}})
    weights.add("bert.embeddings." + std::string(name) + "_embeddings.weight", {rows, width}, "F16",
                Weights::half);
  weights.add_norm("bert.embeddings.LayerNorm", width);
  const std::string layer = "bert.encoder.layer.0.";
  for (const char* name : {"self.query", "self.key", "self.value", "output.dense"})
    weights.add_linear(layer + "attention." + name, width, width, blocks);
  weights.add_norm(layer + "attention.output.LayerNorm", width);
  weights.add_linear(layer + "intermediate.dense", width, width, blocks);
  weights.add_linear(layer + "output.dense", width, width, blocks);
  weights.add_norm(layer + "output.LayerNorm", width);
  const std::string side = std::to_string(width);
  return R"({"model_type":"bert","hidden_size":)" + side + R"(,"num_hidden_layers":1,)" +
         R"("num_attention_heads":2,"intermediate_size":)" + side +
         R"(,"vocab_size":2,"max_position_embeddings":3,"type_vocab_size":1,"hidden_act":"gelu"})" +
         between_files + weights.bytes();
}

std::string image_model() {
  constexpr Index width = 2;
  Weights weights;
  weights.add("vision_model.embeddings.patch_embedding.weight", {width, 3, 2, 2}, "F16",
              Weights::half);
  weights.add("vision_model.embeddings.class_embedding", {width}, "F16", Weights::half);
  weights.add("vision_model.embeddings.position_embedding.weight", {5, width}, "F16",
              Weights::half);
  weights.add_norm("vision_model.pre_layrnorm", width);
  const std::string layer = "vision_model.encoder.layers.0.";
  for (const char* name : {"q_proj", "k_proj", "v_proj", "out_proj"})
    weights.add_linear(layer + "self_attn." + name, width, width, false);
  weights.add_linear(layer + "mlp.fc1", 3, width, false);
  weights.add_linear(layer + "mlp.fc2", width, 3, false);
  weights.add_norm(layer + "layer_norm1", width);
  weights.add_norm(layer + "layer_norm2", width);
  return R"({"model_type":"clip","vision_config":{"hidden_size":2,"num_hidden_layers":1,)"
         R"("num_attention_heads":1,"intermediate_size":3,"image_size":4,"patch_size":2}})" +
         std::string(1, between_files) + weights.bytes();
}

}  // namespace

void parse_encoder(const std::string& bytes) {
  static const TemporaryDirectory folder;
  const std::size_t end = std::min(bytes.find(between_files), bytes.size());
  folder.write("config.json", bytes.substr(0, end));
  folder.write("model.safetensors", bytes.substr(std::min(end + 1, bytes.size())));
  compute(*read_encoder(folder.path()));
}

std::vector<std::string> encoder_seeds() {
  return {text_model(2, false), text_model(32, true), image_model()};
}

void parse_shards(const std::string& bytes) {
  for (const auto& [file, names] : parse_shard_index("i.json", bytes)) {
    require(!file.empty() && file.find('/') == std::string::npos, "a shard is in another folder");
    require(!names.empty(), "a shard has no tensors");
  }
}

std::vector<std::string> shard_seeds() {
  return {R"({"metadata":{"total_size":8},"weight_map":{"a.weight":"model-1.safetensors",)"
          R"("b":"model-2.safetensors","c":"model-1.safetensors"}})"};
}

void parse_preprocessor(const std::string& bytes) {
  const ImageInput input = parse_image_input("p.json", bytes);
  const Index sides =
      std::max({input.shortest, input.height, input.width, input.crop_height, input.crop_width});
  if (sides > 64) return;
  const Picture picture{5, 3, std::vector<std::uint8_t>(45, 200)};
  const ImagePlanes planes = input.prepare(picture);
  require(std::ssize(planes.values) == 3 * planes.height * planes.width,
          "an image has more or fewer pixels than its sides say");
  require(planes.left >= 0 && planes.top >= 0 && planes.right <= 5.001 && planes.bottom <= 3.001,
          "an image shows more than its picture");
}

void parse_gguf(const std::string& bytes) {
  const auto content = bytes_in_memory(std::as_bytes(std::span(bytes)), nullptr);
  const GgufHeader header = read_gguf_header("m.gguf", *content, std::ssize(bytes));
  require(header.architecture.size() + header.name.size() <= bytes.size(),
          "a header says more than there are bytes");
  require(header.layers >= 0 && header.heads >= 0, "a count is negative");
}

std::vector<std::string> gguf_seeds() {
  const GgufBytes other = GgufBytes(2)
                              .text("general.architecture", "q")
                              .counts("q.attention.head_count", {14, 7})
                              .entry("q.block_count", 10, bytes_of(std::uint64_t{24}))
                              .entry("a", 12, "12345678")
                              .entry("b", 7, std::string(1, '\1'));
  return {small_gguf().bytes(), other.bytes()};
}

std::vector<std::string> preprocessor_seeds() {
  return {
      R"({"size":{"height":6,"width":4},"resample":2,"image_mean":[0.5,0.5,0.5],"image_std":[1,1,1]})",
      R"({"size":{"shortest_edge":8},"crop_size":{"height":4,"width":6},"do_rescale":false})",
      R"({"feature_extractor_type":"CLIPFeatureExtractor","size":8,"crop_size":4,"do_normalize":false})",
      R"({"do_resize":false,"do_center_crop":false,"rescale_factor":0.5})"};
}

}  // namespace fovea::test
