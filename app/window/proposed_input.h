// What a model reads when it is opened: what the window shows already, else an example.
#pragma once

#include <string>

#include "data/model_address.h"
#include "data/source.h"

namespace fovea {

/// The text of `shown`, or its file; null if nothing is shown.
ModelAddress reading_text(const std::string& model, const Source* shown);
/// The same of a picture.
ModelAddress reading_picture(const std::string& model, const Source* shown);
/// That of both which the model reads. Throws InputError, as find_model() does.
ModelAddress reading_something(const std::string& model, const Source* shown);

}  // namespace fovea
