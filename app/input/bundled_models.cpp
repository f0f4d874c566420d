#include "input/bundled_models.h"

#include <filesystem>

#include "data/error.h"
#include "data/utf8.h"
#include "input/assets.h"

namespace fovea {

std::string name_of_bundled(const std::string& model) {
  if (model == bundled_text_model) return "all-MiniLM-L6-v2";
  if (model == bundled_image_model) return "dinov2-small";
  return printable(model);
}

std::string folder_of_bundled(const std::string& model) {
  if (model != bundled_text_model && model != bundled_image_model)
    throw UsageError(fovea::quoted(model) + " is no model that comes with Fovea; expected " +
                     std::string(bundled_text_model) + " or " + std::string(bundled_image_model));
  const std::string folder = assets_directory() + "/models/" + name_of_bundled(model);
  if (std::error_code unknown; !std::filesystem::exists(folder, unknown))
    throw UnavailableError(model + " was not installed with Fovea: there is no " + folder +
                           "; install Fovea again, or name another model");
  return folder;
}

}  // namespace fovea
