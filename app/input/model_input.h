// Reads the input that an address gives to a model, and finds the process that computes a model if
// Fovea does not.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "data/model_address.h"
#include "data/source.h"
#include "input/model_place.h"
#include "worker/hosted_model.h"

namespace fovea {

/// A text or a picture.
struct ModelInput {
  std::string text;
  std::shared_ptr<const Picture> picture;  // null if it is a text
  SourceFiles files;                       // that it was read from
  std::vector<std::string> notes;
};

/// Reads the input for a model of texts, of images or of both. Throws UsageError if the address has
/// no input for such a model, and what reading the file throws.
ModelInput read_model_input(const ModelAddress& address, bool reads_texts, bool reads_images,
                            const std::stop_token& stop);

/// Whether Fovea's own encoder computes the model. Throws InputError for an invalid config.json.
bool is_own_model(const ModelPlace& place, const std::stop_token& stop);

/// The files of a model that another process computes: config.json and the weights, or the .gguf
/// file; none for a model that a program offers. Throws InputError.
SourceFiles files_of_model(const ModelPlace& place);

/// The process that computes another model: a program that offers it, or a worker, which is
/// started. Throws UnavailableError.
std::shared_ptr<HostedModel> process_of_model(const ModelPlace& place);

}  // namespace fovea
