// What an Encoder makes of a text or an image as a Source: the heads of all its layers, with their
// tokens or patches. Each layer is computed when it is first read. Whoever opens the Source adds
// the files.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "data/source.h"
#include "model/encoder.h"
#include "model/image_input.h"
#include "model/tokenizer.h"

namespace fovea {

/// A text as an encoder reads it.
struct TextTokens {
  std::vector<std::int32_t> ids;
  std::vector<std::string> labels;  // tokens as they are written in the text
  std::vector<std::string> notes;   // what is cut off
};

/// At most `most` tokens, and no more than the model has positions for. Throws InputError for an
/// empty text, Cancelled.
TextTokens tokens_of(const Encoder& encoder, const Tokenizer& tokenizer, std::string_view text,
                     Index most, const std::stop_token& stop);

/// Throws what tokens_of() and embed() throw. Reading a layer throws what encode() throws.
Source source_of_text(std::shared_ptr<const Encoder> encoder, const Tokenizer& tokenizer,
                      std::string_view text, Index most, std::shared_ptr<const Backend> backend,
                      const std::stop_token& stop = {});

/// The part of the picture that the model sees is the picture of the Source.
Source source_of_image(std::shared_ptr<const Encoder> encoder, const ImageInput& input,
                       const Picture& picture, std::shared_ptr<const Backend> backend,
                       const std::stop_token& stop = {});

}  // namespace fovea
