// A model that is missing, damaged or contradicts itself is refused with a message: where, what was
// found, what was expected.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <limits>
#include <stop_token>

#include "backend/backends.h"
#include "data/error.h"
#include "memory_budget.h"
#include "messages.h"
#include "model/encoder.h"
#include "model/fixture.h"
#include "temporary_directory.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// A fixture that a test may damage.
class Model {
 public:
  explicit Model(const std::string& name) {
    for (const auto& file : std::filesystem::directory_iterator(fixtures + name))
      std::filesystem::copy(file.path(), folder / file.path().filename().string());
  }
  const std::string& path() const { return folder.path(); }
  /// Replaces the first occurrence in a file.
  void replace(const std::string& file, const std::string& from, const std::string& to) const {
    std::string bytes = read_bytes(folder / file);
    const std::size_t at = bytes.find(from);
    REQUIRE(at != std::string::npos);
    folder.write(file, bytes.replace(at, from.size(), to));
  }
  void config(const std::string& from, const std::string& to) const {
    replace("config.json", from, to);
  }
  /// Overwrites entry `index` of a tensor of 4-byte numbers.
  void set(const std::string& file, const std::string& name, Index index, float value) const {
    const TensorFile tensors = read_safetensors(folder / file);
    std::string bytes = read_bytes(folder / file);
    for (const NamedTensor& tensor : tensors.tensors)
      if (tensor.name == name)
        std::memcpy(bytes.data() + tensor.begin + index * 4, &value, sizeof(value));
    folder.write(file, bytes);
  }

  TemporaryDirectory folder;
};

void encode_ids(const Encoder& encoder, const std::vector<std::int32_t>& ids,
                const std::vector<std::int32_t>& types = {}) {
  const auto backend = make_cpu_backend({.threads = 1});
  Profile profile;
  Run run{profile};
  (void)encoder.encode(ids, types, *backend, run, [](EncodedLayer&&) {});
}

void encode_image(const Encoder& encoder, Index height, Index width) {
  const auto backend = make_cpu_backend({.threads = 1});
  Profile profile;
  Run run{profile};
  const ImagePlanes image{
      .height = height,
      .width = width,
      .values = std::vector<float>(static_cast<std::size_t>(3 * height * width), 0.5f)};
  (void)encoder.encode(image, *backend, run, [](EncodedLayer&&) {});
}

const std::string second_shard = "model-00002-of-00002.safetensors";

}  // namespace

TEST_CASE("files of a model that are missing") {
  const TemporaryDirectory empty;
  CHECK_SAYS(read_encoder(empty.path()), "config.json", "there is no such file");
  CHECK_SAYS(read_encoder(empty / "nowhere"), "nowhere/config.json", "there is no such file");
  {
    const Model model("distilbert");
    std::filesystem::remove(model.folder / "model.safetensors");
    CHECK_SAYS(read_encoder(model.path()), "model.safetensors: there is no such file",
               "model.safetensors.index.json");
  }
  const Model model("bert");
  std::filesystem::remove(model.folder / second_shard);
  CHECK_SAYS(read_encoder(model.path()), second_shard + ": there is no such file",
             "model.safetensors.index.json lists", "download it again");
}

TEST_CASE("files of a model that may not be read") {
  if (::geteuid() == 0) return;  // who may read everything
  const Model model("distilbert");
  for (const char* file : {"model.safetensors", "config.json"}) {
    std::filesystem::permissions(model.folder / file, std::filesystem::perms::none);
    CHECK_SAYS(read_encoder(model.path()), file, "cannot be opened: Permission denied");
  }
}

TEST_CASE("a shard that is cut off, or holds other tensors than the index says") {
  const Model model("bert");
  const std::string whole = read_bytes(model.folder / second_shard);
  model.folder.write(second_shard, whole.substr(0, whole.size() - 5));
  CHECK_SAYS(read_encoder(model.path()), second_shard, "but the file holds");
  model.folder.write(second_shard, whole.substr(0, 7));
  CHECK_SAYS(read_encoder(model.path()), second_shard, "too short for a safetensors file");
  model.folder.write(second_shard, whole);
  model.replace(second_shard, "layer.1", "layer.9");
  CHECK_SAYS(read_encoder(model.path()), second_shard, "has no 'encoder.layer.1",
             "download the model again");
}

TEST_CASE("an index of shards that is not one") {
  const auto parse = [](const std::string& text) { return parse_shard_index("i.json", text); };
  CHECK_SAYS(parse("[]"), "i.json: has no weight_map", "expected");
  CHECK_SAYS(parse(R"({"weight_map": {}})"), "has no weight_map");
  CHECK_SAYS(parse(R"({"weight_map": ["a"]})"), "has no weight_map");
  for (const char* file : {"\"../a\"", "\"..\"", "\"\"", "\"/etc/passwd\"", "3", "\"a\\u0000b\""})
    CHECK_SAYS(parse(std::string(R"({"weight_map": {"x": )") + file + "}}"), "'x'",
               "expected the name of a file in the same folder");
  const auto files =
      parse(R"({"metadata": {"total_size": 8}, "weight_map": {"x": "a", "y": "b", "z": "a"}})");
  CHECK(files.at("a") == std::vector<std::string>{"x", "z"});
  CHECK(files.at("b") == std::vector<std::string>{"y"});
}

TEST_CASE("a config.json that contradicts the tensors") {
  struct Change {
    const char *model, *from, *to;
    std::vector<std::string> says;
  };
  const std::vector<Change> changes{
      {"bert",
       "\"vocab_size\": 40",
       "\"vocab_size\": 41",
       {"word_embeddings.weight'", "has the shape [40,16]; expected [41,16]", "vocab_size = 41"}},
      {"bert",
       "\"hidden_size\": 16",
       "\"hidden_size\": 32",
       {"[40,16]; expected [40,32]", "hidden_size = 32"}},
      {"bert",
       "\"intermediate_size\": 24",
       "\"intermediate_size\": 25",
       {"'encoder.layer.0.intermediate.dense.weight'", "[24,16]; expected [25,16]"}},
      {"bert",
       "\"num_hidden_layers\": 2",
       "\"num_hidden_layers\": 1",
       {"has 'encoder.layer.1.attention.self.query.weight'", "num_hidden_layers = 1"}},
      {"bert",
       "\"num_hidden_layers\": 2",
       "\"num_hidden_layers\": 3",
       {"has no 'encoder.layer.2.attention.self.query.weight'"}},
      {"bert",
       "\"max_position_embeddings\": 20",
       "\"max_position_embeddings\": 512",
       {"position_embeddings.weight'", "max_position_embeddings = 512"}},
      {"bert", "\"type_vocab_size\": 2", "\"type_vocab_size\": 3", {"[2,16]; expected [3,16]"}},
      {"bert",
       "\"model_type\": \"bert\"",
       "\"model_type\": \"vit\"",
       {"has no 'embeddings.patch_embeddings.projection.weight'"}},
      {"bert_8_bits", "\"hidden_size\": 32", "\"hidden_size\": 64", {"[40,32]; expected [40,64]"}},
      {"vit",
       "\"qkv_bias\": false",
       "\"qkv_bias\": true",
       {"has no 'encoder.layer.0.attention.attention.query.bias'"}},
      {"deit",
       "\"qkv_bias\": true",
       "\"qkv_bias\": false",
       {"has 'encoder.layer.0.attention.attention.query.bias'", "qkv_bias = false"}},
      {"deit", "\"patch_size\": 4", "\"patch_size\": 8", {"[16,3,4,4]; expected [16,3,8,8]"}},
      {"deit",
       "\"image_size\": 16",
       "\"image_size\": 20",
       {"position_embeddings'", "[1,18,16]; expected [27,16]", "5 x 5 patches"}},
      {"dinov2",
       "\"use_swiglu_ffn\": false",
       "\"use_swiglu_ffn\": true",
       {"has no 'encoder.layer.0.mlp.weights_in.weight'"}},
      {"dinov2_with_registers",
       "\"num_register_tokens\": 3",
       "\"num_register_tokens\": 4",
       {"[1,3,16]; expected [4,16]", "num_register_tokens = 4"}},
  };
  for (const Change& change : changes) {
    CAPTURE(change.to);
    const Model model(change.model);
    model.config(change.from, change.to);
    const std::string message = message_of([&] { (void)read_encoder(model.path()); });
    for (const std::string& part : change.says) {
      CAPTURE(message);
      CAPTURE(part);
      CHECK(contains(message, part));
    }
  }
}

TEST_CASE("a config.json of a model that an encoder cannot compute") {
  const auto parse = [](const std::string& text) { return parse_encoder_shape("c.json", text); };
  CHECK_SAYS(parse("[]"), "c.json: is a list; expected an object");
  CHECK_SAYS(parse("{}"), "c.json: model_type is missing; expected bert, distilbert");
  CHECK_SAYS(parse(R"({"model_type": "gpt2"})"), "model_type is \"gpt2\"; expected bert");
  const auto bert = [&](const std::string& more) {
    return parse(R"({"model_type": "bert", )" + more + "}");
  };
  CHECK_SAYS(bert(R"("hidden_size": 0)"), "hidden_size is 0; expected a whole number from 1");
  CHECK_SAYS(bert(R"("hidden_size": -16)"), "hidden_size is -16");
  CHECK_SAYS(bert(R"("hidden_size": 1e99)"), "hidden_size is 1e+99");
  CHECK_SAYS(bert(R"("hidden_size": 18446744073709551615)"), "hidden_size is 18446744073709551615");
  CHECK_SAYS(bert(R"("hidden_size": "16")"), "hidden_size is \"16\"");
  CHECK_SAYS(bert(R"("num_attention_heads": 7)"), "num_attention_heads is 7; expected a divisor",
             "768");
  CHECK_SAYS(bert(R"("head_dim": 32)"), "head_dim is 32; expected 64");
  CHECK_SAYS(bert(R"("hidden_act": "mish")"), "hidden_act is \"mish\"; expected gelu");
  CHECK_SAYS(bert(R"("layer_norm_eps": -1)"), "layer_norm_eps is -1; expected a positive number");
  CHECK_SAYS(bert(R"("position_embedding_type": "relative_key")"), "expected absolute");
  CHECK_SAYS(bert(R"("is_decoder": true)"), "is_decoder is true; expected false");
  CHECK_SAYS(parse(R"({"model_type": "clip"})"), "vision_config is missing; expected an object");
  CHECK_SAYS(parse(R"({"model_type": "clip", "vision_config": {"patch_size": 0}})"),
             "c.json, vision_config: patch_size is 0");
  CHECK_SAYS(parse(R"({"model_type": "vit", "patch_size": 225})"),
             "patch_size is 225; expected at most");
  CHECK_SAYS(parse(R"({"model_type": "vit", "image_size": [8]})"), "image_size is [8]; expected");
  CHECK_SAYS(parse(R"({"model_type": "vit", "num_channels": 1})"), "num_channels is 1; expected 3");
  CHECK_SAYS(parse(R"({"model_type": "roberta", "max_position_embeddings": 2})"),
             "max_position_embeddings is 2; expected more than");
  CHECK_SAYS(parse(R"({"model_type": "dinov2", "mlp_ratio": "a"})"), "mlp_ratio is \"a\"");
}

TEST_CASE("what config.json does not say is as transformers has it") {
  const EncoderShape bert = parse_encoder_shape("c", R"({"model_type": "bert"})");
  CHECK(bert.words == 30522);
  CHECK(bert.positions == 512);
  CHECK(bert.inner == 3072);
  CHECK(bert.head_width() == 64);
  CHECK(bert.epsilon == 1e-12);
  const EncoderShape siglip =
      parse_encoder_shape("c", R"({"model_type": "siglip", "vision_config": {}})");
  CHECK(siglip.activation == Activation::tanh_gelu);
  CHECK(siglip.grid == PatchGrid{14, 14});
  const EncoderShape wide = parse_encoder_shape(
      "c", R"({"model_type": "vit", "image_size": [32, 48], "patch_size": [8, 16]})");
  CHECK(wide.grid == PatchGrid{4, 3});
  // DINOv2-giant: 1536 * 4 * 2 / 3, in multiples of 8.
  const EncoderShape giant = parse_encoder_shape(
      "c",
      R"({"model_type": "dinov2", "hidden_size": 1536, "num_attention_heads": 24, "use_swiglu_ffn": true})");
  CHECK(giant.inner == 4096);
}

TEST_CASE("weights that are not finite are named") {
  const Model model("distilbert");
  const std::string name = "transformer.layer.1.ffn.lin1.weight";
  model.set("model.safetensors", name, 21 * 16 + 3, std::numeric_limits<float>::quiet_NaN());
  CHECK_SAYS(read_encoder(model.path()), "model.safetensors, '" + name + "': holds NaN at [21,3]",
             "expected finite numbers");
  model.set("model.safetensors", name, 21 * 16 + 3, 1);
  model.set("model.safetensors", name, 0, std::numeric_limits<float>::infinity());
  CHECK_SAYS(read_encoder(model.path()), "holds infinity at [0,0]");
  // Words are read when a text has them.
  model.set("model.safetensors", name, 0, 1);
  model.set("model.safetensors", "embeddings.word_embeddings.weight", 7 * 16,
            std::numeric_limits<float>::quiet_NaN());
  const auto encoder = read_encoder(model.path());
  encode_ids(*encoder, {5, 6});
  CHECK_SAYS(encode_ids(*encoder, {5, 7}), "word_embeddings.weight': holds NaN at [7,0]");
}

TEST_CASE("weights of another type, and 8 bits without their scales") {
  const Model model("bert_8_bits");
  const std::string file = "model.safetensors", name = "query.weight.scale\":{\"dtype\":\"F16\"";
  model.replace(file, name, "query.weight.scale\":{\"dtype\":\"I16\"");
  CHECK_SAYS(read_encoder(model.path()), "query.weight'", "is of type I8", "is I16 [32,1]",
             "expected F16 [32,32 / 32]");
  const Model other("distilbert");
  other.replace(file, "\"F32\"", "\"I32\"");
  CHECK_SAYS(read_encoder(other.path()), "is of type I32; expected F64, F32, F16, BF16, or I8");
}

TEST_CASE("a model beyond the memory budget is refused before it is loaded") {
  const Model model("distilbert");
  model.config("\"n_layers\": 2", "\"n_layers\": 900000");  // of which the file has two
  const Budget budget(std::size_t{64} << 20);
  const std::string message =
      message_of<UnavailableError>([&] { (void)read_encoder(model.path()); });
  check_says(message, {model.path() + ", weights", "of memory needed", "the budget is 64"});
}

TEST_CASE("texts that a model cannot read") {
  const auto encoder = read_encoder(fixtures + "bert");
  CHECK_SAYS(encode_ids(*encoder, {}), "there are no tokens; expected at least one");
  CHECK_SAYS(encode_ids(*encoder, std::vector<std::int32_t>(21, 3)), "21 tokens",
             "has positions for 20", "expected a shorter text");
  CHECK_SAYS(encode_ids(*encoder, {3, 40}), "token 40 at position 1; the model has 0 to 39");
  CHECK_SAYS(encode_ids(*encoder, {-1}), "token -1 at position 0");
  CHECK_SAYS(encode_ids(*encoder, {3, 4}, {0, 2}), "token type 2 at position 1");
  CHECK_SAYS(encode_ids(*encoder, {3, 4}, {0}), "2 tokens and 1 token type");
  CHECK_SAYS(encode_image(*encoder, 16, 16), "the model reads texts");
  // RoBERTa's positions begin after the one of padding.
  CHECK_SAYS(encode_ids(*read_encoder(fixtures + "roberta"), std::vector<std::int32_t>(19, 3)),
             "has positions for 18");
  encode_ids(*read_encoder(fixtures + "roberta"), std::vector<std::int32_t>(18, 3));
}

TEST_CASE("images that a model cannot read") {
  const auto encoder = read_encoder(fixtures + "dinov2");
  CHECK_SAYS(encode_image(*encoder, 1, 1), "1 x 1 pixels", "at least one patch of 4 x 4");
  CHECK_SAYS(encode_image(*encoder, 20000, 3), "20000 x 3 pixels");
  CHECK_SAYS(encode_ids(*encoder, {3}), "the model reads images");
  encode_image(*encoder, 4, 4);
  encode_image(*encoder, 10, 2000);
  const Budget budget(std::size_t{64} << 20);
  const std::string message =
      message_of<UnavailableError>([&] { encode_image(*encoder, 1000, 4000); });
  check_says(message, {"a model of 250001 tokens", "of memory needed", "Fewer tokens need less"});
}

TEST_CASE("encoding stops when it is asked to") {
  const auto encoder = read_encoder(fixtures + "bert");
  const auto backend = make_cpu_backend({.threads = 2});
  std::stop_source source;
  Profile profile;
  Run run{profile, source.get_token()};
  int layers = 0;
  const std::vector<std::int32_t> ids{3, 4, 5};
  CHECK_THROWS_AS((void)encoder->encode(ids, *backend, run,
                                        [&](EncodedLayer&&) {
                                          ++layers;
                                          source.request_stop();
                                        }),
                  Cancelled);
  CHECK(layers == 1);
  CHECK_THROWS_AS((void)read_encoder(fixtures + "bert", source.get_token()), Cancelled);
}

TEST_CASE("progress is reached layer by layer") {
  const auto encoder = read_encoder(fixtures + "bert");
  const auto backend = make_cpu_backend({.threads = 2});
  Progress progress;
  Profile profile;
  Run run{profile, {}, &progress};
  std::vector<double> seen;
  const std::vector<std::int32_t> ids{3, 4, 5};
  (void)encoder->encode(ids, *backend, run,
                        [&](EncodedLayer&&) { seen.push_back(progress.fraction); });
  CHECK(seen == std::vector<double>{0, 0.5});
  CHECK(progress.fraction == 1);
}
