#include "fuzz/parsers.h"

#include "data/error.h"
#include "fuzz/encoder_parsers.h"
#include "fuzz/file_parsers.h"
#include "fuzz/rules.h"
#include "fuzz/seeds.h"
#include "fuzz/text_parsers.h"
#include "fuzz/tokenizer_parser.h"

namespace fovea::test {

const std::vector<Parser>& parsers() {
  static const std::vector<Parser> table{
      {"safetensors", parse_safetensors, safetensors_seeds},
      {"given-layers", parse_given_layers, given_layers_seeds},
      {"npz", parse_npz, npz_seeds},
      {"npy", parse_npy, npy_seeds},
      {"vllm-hook", parse_vllm_hook, vllm_hook_seeds},
      {"structure", parse_structure, structure_seeds},
      {"fit", parse_fit, fit_seeds},
      {"tokens", parse_tokens, token_seeds},
      {"text", parse_text, text_seeds},
      {"tokenizer", parse_tokenizer, tokenizer_seeds},
      {"image", parse_image, image_seeds},
      {"figure", parse_figure, figure_seeds},
      {"session", parse_session, session_seeds},
      {"sweep-plan", parse_sweep_plan, sweep_plan_seeds},
      {"sweep-results", parse_sweep_results, sweep_results_seeds},
      {"results-folder", parse_results_folder, results_folder_seeds},
      {"wire", parse_wire, wire_seeds},
      {"synthetic", parse_synthetic, synthetic_seeds},
      {"model-address", parse_model_address, model_address_seeds},
      {"setting", parse_setting, setting_seeds},
      {"encoder", parse_encoder, encoder_seeds},
      {"shards", parse_shards, shard_seeds},
      {"gguf", parse_gguf, gguf_seeds},
      {"preprocessor", parse_preprocessor, preprocessor_seeds},
  };
  return table;
}

const Parser& find_parser(std::string_view name) {
  std::string known;
  for (const Parser& parser : parsers()) {
    if (parser.name == name) return parser;
    known += std::string(" ") + parser.name;
  }
  throw std::logic_error("no parser is named '" + std::string(name) + "'; there are" + known);
}

bool accepts(const Parser& parser, const std::string& bytes) {
  try {
    parser.parse(bytes);
    return true;
  } catch (const Error& error) {
    require(error.what()[0] != '\0', "a refusal says nothing");
    require_printable(error.what(), "a message");
    return false;
  }
}

}  // namespace fovea::test
