// Proposes the input of a model that is opened: what the window shows already, else an example.
#pragma once

#include <string>

#include "data/model_address.h"
#include "data/source.h"

namespace fovea {

/// The model with the text of `shown`, or its file, as input. `shown` is null if nothing is shown.
ModelAddress reading_text(const std::string& model, const Source* shown);
/// The model with the picture of `shown` as input.
ModelAddress reading_picture(const std::string& model, const Source* shown);
/// The one of both that the model can read. Throws InputError, as find_model() does.
ModelAddress reading_something(const std::string& model, const Source* shown);

}  // namespace fovea
