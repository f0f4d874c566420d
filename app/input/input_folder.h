// A folder in the place of a model's input stands for all texts and images in it.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

namespace fovea {

struct InputFolder {
  std::vector<std::string> files;  // by name
  std::vector<std::string> notes;  // how many others are left out
};

/// Throws InputError if the folder cannot be read, or holds no text and no image.
InputFolder files_in_folder(const std::string& folder, const std::stop_token& stop = {});

/// Each note of the inputs once, with the number of its inputs if others lack it.
std::vector<std::string> notes_over(const std::vector<std::vector<std::string>>& of_inputs);

}  // namespace fovea
