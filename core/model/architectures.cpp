#include "model/architectures.h"

#include "data/text.h"

namespace fovea {
namespace {

constexpr ConfigNames usual_config{.width = "hidden_size",
                                   .layers = "num_hidden_layers",
                                   .heads = "num_attention_heads",
                                   .inner = "intermediate_size",
                                   .activation = "hidden_act",
                                   .epsilon = "layer_norm_eps",
                                   .qkv_bias = ""};
constexpr ConfigNames distilbert_config{.width = "dim",
                                        .layers = "n_layers",
                                        .heads = "n_heads",
                                        .inner = "hidden_dim",
                                        .activation = "activation",
                                        .epsilon = "",
                                        .qkv_bias = ""};
constexpr ConfigNames vit_config{.width = "hidden_size",
                                 .layers = "num_hidden_layers",
                                 .heads = "num_attention_heads",
                                 .inner = "intermediate_size",
                                 .activation = "hidden_act",
                                 .epsilon = "layer_norm_eps",
                                 .qkv_bias = "qkv_bias"};
/// The width of the feed-forward part is stated as "mlp_ratio".
constexpr ConfigNames dinov2_config{.width = "hidden_size",
                                    .layers = "num_hidden_layers",
                                    .heads = "num_attention_heads",
                                    .inner = "",
                                    .activation = "hidden_act",
                                    .epsilon = "layer_norm_eps",
                                    .qkv_bias = "qkv_bias"};

constexpr TensorNames bert_names{.words = "embeddings.word_embeddings",
                                 .types = "embeddings.token_type_embeddings",
                                 .positions = "embeddings.position_embeddings.weight",
                                 .embedding_norm = "embeddings.LayerNorm",
                                 .layer = "encoder.layer.",
                                 .query = "attention.self.query",
                                 .key = "attention.self.key",
                                 .value = "attention.self.value",
                                 .output = "attention.output.dense",
                                 .attention_norm = "attention.output.LayerNorm",
                                 .inner = "intermediate.dense",
                                 .outer = "output.dense",
                                 .feed_norm = "output.LayerNorm"};
constexpr TensorNames distilbert_names{.words = "embeddings.word_embeddings",
                                       .positions = "embeddings.position_embeddings.weight",
                                       .embedding_norm = "embeddings.LayerNorm",
                                       .layer = "transformer.layer.",
                                       .query = "attention.q_lin",
                                       .key = "attention.k_lin",
                                       .value = "attention.v_lin",
                                       .output = "attention.out_lin",
                                       .attention_norm = "sa_layer_norm",
                                       .inner = "ffn.lin1",
                                       .outer = "ffn.lin2",
                                       .feed_norm = "output_layer_norm"};
constexpr TensorNames vit_names{.patches = "embeddings.patch_embeddings.projection",
                                .positions = "embeddings.position_embeddings",
                                .class_token = "embeddings.cls_token",
                                .layer = "encoder.layer.",
                                .query = "attention.attention.query",
                                .key = "attention.attention.key",
                                .value = "attention.attention.value",
                                .output = "attention.output.dense",
                                .attention_norm = "layernorm_before",
                                .inner = "intermediate.dense",
                                .outer = "output.dense",
                                .feed_norm = "layernorm_after",
                                .final_norm = "layernorm"};
constexpr TensorNames with_distillation(TensorNames names) {
  names.distillation_token = "embeddings.distillation_token";
  return names;
}
constexpr TensorNames deit_names = with_distillation(vit_names);
constexpr TensorNames with_layer_scale(TensorNames names) {
  names.attention_norm = "norm1";
  names.inner = "mlp.fc1";
  names.outer = "mlp.fc2";
  names.feed_norm = "norm2";
  names.gated_inner = "mlp.weights_in";
  names.gated_outer = "mlp.weights_out";
  names.attention_scale = "layer_scale1.lambda1";
  names.feed_scale = "layer_scale2.lambda1";
  return names;
}
constexpr TensorNames dinov2_names = with_layer_scale(vit_names);
constexpr TensorNames with_registers(TensorNames names) {
  names.register_tokens = "embeddings.register_tokens";
  return names;
}
constexpr TensorNames registers_names = with_registers(dinov2_names);
constexpr TensorNames siglip_names{.patches = "embeddings.patch_embedding",
                                   .positions = "embeddings.position_embedding.weight",
                                   .layer = "encoder.layers.",
                                   .query = "self_attn.q_proj",
                                   .key = "self_attn.k_proj",
                                   .value = "self_attn.v_proj",
                                   .output = "self_attn.out_proj",
                                   .attention_norm = "layer_norm1",
                                   .inner = "mlp.fc1",
                                   .outer = "mlp.fc2",
                                   .feed_norm = "layer_norm2",
                                   .final_norm = "post_layernorm"};
/// The norm before the first layer; transformers applies the one after the last to the class token
/// alone, so that it is no part of the hidden states.
constexpr TensorNames with_class(TensorNames names) {
  names.class_token = "embeddings.class_embedding";
  names.embedding_norm = "pre_layrnorm";
  names.final_norm = "";
  return names;
}
constexpr TensorNames clip_names = with_class(siglip_names);

constexpr Architecture roberta(std::string_view model_type) {
  return {.model_type = model_type,
          .config = &usual_config,
          .names = &bert_names,
          .first_position = FirstPosition::after_padding,
          .usual_words = 50265,
          .usual_types = 2,
          .usual_padding = 1};
}
constexpr Architecture vit(std::string_view model_type, const TensorNames& names) {
  return {.model_type = model_type, .config = &vit_config, .names = &names, .norm_first = true};
}
/// `section`: of a model of texts and images together.
constexpr Architecture clip(std::string_view model_type, const char* section) {
  return {.model_type = model_type,
          .section = section,
          .config = &usual_config,
          .names = &clip_names,
          .norm_first = true,
          .patch_bias = false,
          .usual_activation = "quick_gelu",
          .usual_epsilon = 1e-5,
          .usual_patch = 32};
}
constexpr Architecture siglip(std::string_view model_type, const char* section) {
  return {.model_type = model_type,
          .section = section,
          .config = &usual_config,
          .names = &siglip_names,
          .norm_first = true,
          .usual_activation = "gelu_pytorch_tanh",
          .usual_epsilon = 1e-6};
}

constexpr Architecture table[] = {
    {.model_type = "bert",
     .config = &usual_config,
     .names = &bert_names,
     .usual_words = 30522,
     .usual_types = 2},
    {.model_type = "distilbert",
     .config = &distilbert_config,
     .names = &distilbert_names,
     .usual_layers = 6,
     .usual_words = 30522},
    roberta("roberta"),
    roberta("xlm-roberta"),
    vit("vit", vit_names),
    vit("deit", deit_names),
    {.model_type = "dinov2",
     .config = &dinov2_config,
     .names = &dinov2_names,
     .norm_first = true,
     .usual_epsilon = 1e-6,
     .usual_patch = 14},
    {.model_type = "dinov2_with_registers",
     .config = &dinov2_config,
     .names = &registers_names,
     .norm_first = true,
     .filter = PositionFilter::antialiased_bicubic,
     .usual_epsilon = 1e-6,
     .usual_registers = 4},
    clip("clip_vision_model", ""),
    clip("clip", "vision_config"),
    siglip("siglip_vision_model", ""),
    siglip("siglip", "vision_config"),
};

}  // namespace

std::span<const Architecture> architectures() {
  return table;
}

std::string architecture_list() {
  return join(table, &Architecture::model_type);
}

}  // namespace fovea
