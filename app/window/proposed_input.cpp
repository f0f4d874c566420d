#include "window/proposed_input.h"

#include "data/address.h"
#include "data/error.h"
#include "input/assets.h"
#include "input/model_facts.h"
#include "input/model_place.h"
#include "io/file_bytes.h"

namespace fovea {
namespace {

/// A paragraph of the text that comes with the program.
std::string example_text() {
  try {
    const std::string all = FileBytes(assets_directory() + "/text/fovea.txt").text();
    const std::size_t begin = all.find("\n\n");
    if (begin != all.npos) return all.substr(begin + 2, all.find("\n\n", begin + 2) - begin - 2);
  } catch (const Error&) {  // the program was installed without examples
  }
  return "The cat sat on the mat.";
}

/// The file of a source that no model computes.
std::string file_of(const Source& source) {
  return std::string(innermost(source.path));
}

ModelAddress of_model(const std::string& model) {
  return {.folder = absolute_model(model)};
}

}  // namespace

ModelAddress reading_text(const std::string& model, const Source* shown) {
  ModelAddress address = of_model(model);
  if (shown && !shown->picture && is_model_address(shown->path)) {
    const ModelAddress now = parse_model_address(shown->path);
    address.text = now.text;
    address.input = now.input;
  } else if (shown && shown->kind == "text" && shown->path.ends_with(".txt")) {
    address.input = file_of(*shown);
  }
  if (!address.text && !address.input) address.text = example_text();
  return address;
}

ModelAddress reading_picture(const std::string& model, const Source* shown) {
  ModelAddress address = of_model(model);
  if (shown && shown->picture && is_model_address(shown->path))
    address.input = parse_model_address(shown->path).input;
  else if (shown && shown->kind == "image")
    address.input = file_of(*shown);
  if (!address.input) address.input = assets_directory() + "/image/cat.jpg";
  return address;
}

ModelAddress reading_something(const std::string& model, const Source* shown) {
  return model_facts(find_model(model).path).reads_images ? reading_picture(model, shown)
                                                          : reading_text(model, shown);
}

}  // namespace fovea
