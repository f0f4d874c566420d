// An Architecture is how the files of one kind of model name what an Encoder computes with. Adding
// one is a row of the table and its fixture (tests/model/make_fixtures.py).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "data/matrix.h"

namespace fovea {

/// Between the two products of a layer. `gated_silu`: the first product has two halves, and one,
/// through silu, multiplies the other.
enum class Activation { gelu, tanh_gelu, quick_gelu, relu, silu, gated_silu };

/// How config.json calls the sizes; "": it does not state them.
struct ConfigNames {
  const char *width, *layers, *heads, *inner, *activation, *epsilon, *qkv_bias;
};

/// How weights are called, without a prefix that all of them share. "": there are none. Matrices
/// and norms also have ".weight" and ".bias", names of a layer begin with `layer` and its number.
struct TensorNames {
  const char *words = "", *types = "", *patches = "";
  const char* positions;
  const char *class_token = "", *distillation_token = "", *register_tokens = "";
  const char* embedding_norm = "";
  const char *layer, *query, *key, *value, *output, *attention_norm;
  const char *inner, *outer, *feed_norm;
  const char *gated_inner = "", *gated_outer = "";
  const char *attention_scale = "", *feed_scale = "";
  const char* final_norm = "";
};

/// What a text model's positions begin with.
enum class FirstPosition { zero, after_padding };

/// How positions are interpolated for images of another size than the model was trained on.
enum class PositionFilter { bicubic, antialiased_bicubic };

struct Architecture {
  std::string_view model_type;  // of config.json
  const char* section = "";     // the object of config.json that describes it; "": the whole file
  const ConfigNames* config;
  const TensorNames* names;
  bool norm_first = false;  // before attention and products, or after what they are added to
  bool patch_bias = true;   // the projection of patches has one
  FirstPosition first_position = FirstPosition::zero;
  PositionFilter filter = PositionFilter::bicubic;
  // What transformers takes where config.json does not say.
  const char* usual_activation = "gelu";
  double usual_epsilon = 1e-12;
  Index usual_layers = 12, usual_patch = 16;
  Index usual_words = 0, usual_types = 0, usual_padding = 0, usual_registers = 0;

  bool reads_images() const { return *names->patches != '\0'; }
};

std::span<const Architecture> architectures();

/// "bert, distilbert, ...": for messages.
std::string architecture_list();

}  // namespace fovea
