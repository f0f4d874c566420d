// An OpenedModel is the content of a model's folder: the encoder, and how it wants its texts or
// images.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "model/encoder.h"
#include "model/tokenizer.h"

namespace fovea {

struct OpenedModel {
  std::string folder;
  std::shared_ptr<const Encoder> encoder;
  std::unique_ptr<const Tokenizer> tokenizer;  // null if it reads images
  std::optional<ImageInput> image_input;       // nothing if it reads texts
  SourceFiles files;                           // all that was read
  std::shared_ptr<const Backend> backend;  // of the CPU, whatever attention is computed on: heads
                                           // are the same numbers everywhere

  /// Whether every file is still the one that was read.
  bool is_unchanged() const;
};

/// Throws InputError if a file is missing or damaged, or contradicts another; UnavailableError,
/// before the weights are read, if they do not fit into the memory budget; Cancelled. Computes with
/// `threads`; 0 means one for each core.
std::shared_ptr<const OpenedModel> open_model_folder(const std::string& folder, int threads,
                                                     const std::stop_token& stop);

}  // namespace fovea
