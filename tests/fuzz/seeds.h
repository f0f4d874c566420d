// Valid bytes for each parser, to begin with.
#pragma once

#include <string>
#include <vector>

namespace fovea::test {

std::vector<std::string> safetensors_seeds();
std::vector<std::string> npz_seeds();
std::vector<std::string> npy_seeds();
std::vector<std::string> vllm_hook_seeds();
std::vector<std::string> structure_seeds();
std::vector<std::string> fit_seeds();
std::vector<std::string> token_seeds();
std::vector<std::string> text_seeds();
std::vector<std::string> image_seeds();
std::vector<std::string> figure_seeds();
std::vector<std::string> session_seeds();
std::vector<std::string> sweep_plan_seeds();
std::vector<std::string> sweep_results_seeds();
std::vector<std::string> results_folder_seeds();
std::vector<std::string> wire_seeds();
std::vector<std::string> synthetic_seeds();
std::vector<std::string> given_layers_seeds();
std::vector<std::string> model_address_seeds();
std::vector<std::string> setting_seeds();

}  // namespace fovea::test
