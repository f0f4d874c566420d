#include "model/encoder_shape.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "data/error.h"
#include "data/text.h"
#include "model/config.h"

namespace fovea {
namespace {

constexpr std::pair<std::string_view, Activation> activations[] = {
    {"gelu", Activation::gelu},
    {"gelu_python", Activation::gelu},
    {"gelu_new", Activation::tanh_gelu},
    {"gelu_fast", Activation::tanh_gelu},
    {"gelu_accurate", Activation::tanh_gelu},
    {"gelu_pytorch_tanh", Activation::tanh_gelu},
    {"quick_gelu", Activation::quick_gelu},
    {"relu", Activation::relu},
    {"silu", Activation::silu},
    {"swish", Activation::silu},
};

Activation activation_of(const Config& config, const char* name, const char* otherwise) {
  const std::string text = config.text(name, otherwise);
  std::string known;
  for (const auto& [called, activation] : activations) {
    if (text == called) return activation;
    add_item(known, called);
  }
  config.refuse(name, known);
}

const Architecture& architecture_of(const Config& config) {
  const std::string type = config.text("model_type", "");
  const auto all = architectures();
  const auto found = std::ranges::find(all, type, &Architecture::model_type);
  if (found == all.end()) config.refuse("model_type", architecture_list());
  return *found;
}

/// What changes the computation, and an Encoder has not.
void refuse_what_is_missing(const Config& config) {
  if (config.text("position_embedding_type", "absolute") != "absolute")
    config.refuse("position_embedding_type", "absolute");
  if (config.flag("is_decoder", false)) config.refuse("is_decoder", "false: an encoder");
  if (config.flag("add_cross_attention", false))
    config.refuse("add_cross_attention", "false: an encoder");
  if (config.count("num_channels", 3) != 3) config.refuse("num_channels", "3");
}

void read_feed_forward(const Config& config, const Architecture& of, EncoderShape& shape) {
  if (*of.config->inner != '\0') {
    shape.inner = config.count(of.config->inner, 3072);
  } else {
    const double ratio = config.number("mlp_ratio", 4, 1e-3, 1000);
    shape.inner = static_cast<Index>(static_cast<double>(shape.width) * ratio);
    if (config.flag("use_swiglu_ffn", false)) {
      // Two thirds of the width, rounded up to a multiple of 8, as DINOv2 has it.
      shape.inner = (static_cast<Index>(static_cast<double>(shape.inner * 2) / 3) + 7) / 8 * 8;
      shape.activation = Activation::gated_silu;
    }
    if (shape.inner < 1) config.refuse("mlp_ratio", "a larger number");
  }
}

}  // namespace

Index EncoderShape::tokens_with_position() const {
  return (*architecture->names->class_token != '\0') +
         (*architecture->names->distillation_token != '\0');
}

Index EncoderShape::most_tokens() const {
  return architecture->first_position == FirstPosition::zero ? positions : positions - padding - 1;
}

bool describes_encoder(const std::string& where, std::string_view text,
                       const std::stop_token& stop) {
  const Json json = parse_json(where, text, stop);
  try {
    const Config whole(where, json);
    const Architecture& of = architecture_of(whole);
    refuse_what_is_missing(*of.section == '\0' ? whole : whole.section(of.section));
  } catch (const InputError&) {
    return false;
  }
  return true;
}

EncoderShape parse_encoder_shape(const std::string& where, std::string_view text,
                                 const std::stop_token& stop) {
  const Json json = parse_json(where, text, stop);
  const Config file(where, json);
  const Architecture& of = architecture_of(file);
  const Config config = *of.section == '\0' ? file : file.section(of.section);
  refuse_what_is_missing(config);

  EncoderShape shape;
  shape.architecture = &of;
  shape.layers = config.count(of.config->layers, of.usual_layers);
  shape.heads = config.count(of.config->heads, 12);
  shape.width = config.count(of.config->width, 768);
  if (shape.width % shape.heads != 0)
    config.refuse(of.config->heads, "a divisor of " + std::string(of.config->width) +
                                        ", which is " + std::to_string(shape.width));
  if (config.count("head_dim", shape.head_width()) != shape.head_width())
    config.refuse("head_dim", std::to_string(shape.head_width()) + ": " + of.config->width +
                                  " divided by " + of.config->heads);
  shape.activation = activation_of(config, of.config->activation, of.usual_activation);
  if (*of.config->epsilon == '\0')
    shape.epsilon = of.usual_epsilon;
  else
    shape.epsilon = config.number(of.config->epsilon, of.usual_epsilon, 1e-30, 1);
  shape.qkv_bias = *of.config->qkv_bias == '\0' || config.flag(of.config->qkv_bias, true);
  read_feed_forward(config, of, shape);

  if (of.reads_images()) {
    const auto [height, width] = config.sides("image_size", 224);
    std::tie(shape.patch_height, shape.patch_width) = config.sides("patch_size", of.usual_patch);
    shape.grid = {height / shape.patch_height, width / shape.patch_width};
    if (shape.grid.patches() == 0)
      config.refuse("patch_size", "at most image_size, which is " + std::to_string(height) + " x " +
                                      std::to_string(width));
    if (*of.names->register_tokens != '\0')
      shape.registers = config.count("num_register_tokens", of.usual_registers, 0);
  } else {
    shape.words = config.count("vocab_size", of.usual_words);
    if (*of.names->types != '\0') shape.types = config.count("type_vocab_size", of.usual_types);
    shape.positions = config.count("max_position_embeddings", 512);
    shape.padding = config.count("pad_token_id", of.usual_padding, 0);
    if (shape.most_tokens() < 1)
      config.refuse("max_position_embeddings",
                    "more than pad_token_id + 1, which is " + std::to_string(shape.padding + 1));
  }
  return shape;
}

}  // namespace fovea
