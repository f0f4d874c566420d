#include "input/bundled_models.h"

#include <QFileInfo>

#include "data/error.h"
#include "data/utf8.h"
#include "input/assets.h"

namespace fovea {

std::string folder_of_model(const std::string& name) {
  if (!is_bundled(name)) return name;
  const char* const its = name == bundled_text_model    ? "all-MiniLM-L6-v2"
                          : name == bundled_image_model ? "dinov2-small"
                                                        : nullptr;
  if (!its)
    throw UsageError(fovea::quoted(name) + " is no model that comes with Fovea; expected " +
                     std::string(bundled_text_model) + " or " + std::string(bundled_image_model));
  const std::string folder = assets_directory() + "/models/" + its;
  if (!QFileInfo::exists(QString::fromStdString(folder)))
    throw UnavailableError(name + " was not installed with Fovea: there is no " + folder +
                           "; install Fovea again, or name another model");
  return folder;
}

}  // namespace fovea
