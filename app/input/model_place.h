// A ModelPlace says where a named model lies, and its name in titles.
#pragma once

#include <string>

#include "data/model_address.h"

namespace fovea {

struct ModelPlace {
  std::string
      path;  // of a folder with config.json and weights, of a .gguf file, or an offered model
  std::string name;  // "all-MiniLM-L6-v2"
};

/// `named` is a folder, a file of it, a .gguf file, what find_in_cache() takes, or an offered
/// model; a path that exists comes first. Throws InputError with what is missing and what was
/// expected.
ModelPlace find_model(const std::string& named);

/// Whether it is a model, or a part of one, and no source by itself. It is then given to
/// find_model(), which may still refuse it.
bool names_model(const std::string& named);

/// The name of a model in titles: of its folder, of a snapshot in a cache, or of its name there.
std::string model_name(const std::string& named);
/// "all-MiniLM-L6-v2: “The cat sat…”".
std::string title_of(const ModelAddress& address, const std::string& model);
/// A ModelAddress as a person reads it, with the whole path of the model; another source as it is.
std::string readable_source(const std::string& source);

/// The source, with absolute paths if it is a ModelAddress.
std::string with_absolute_paths(const std::string& source);

/// The path of a file from any working directory; itself if it is empty.
std::string absolute_path(std::string_view path);

/// The path of a folder or file as an absolute one; another name of a model as it is.
std::string absolute_model(const std::string& named);

}  // namespace fovea
