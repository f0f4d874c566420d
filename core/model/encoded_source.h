// What an Encoder makes of a text or an image as a Source: the heads of all its layers, with their
// tokens or patches. Whoever opens it adds the files.
#pragma once

#include <string_view>

#include "data/source.h"
#include "model/encoder.h"
#include "model/image_input.h"
#include "model/tokenizer.h"

namespace fovea {

/// At most `most` tokens, and no more than the model has positions for; what is cut off is a note.
/// Throws InputError for an empty text, and what encode() throws.
Source source_of_text(const Encoder& encoder, const Tokenizer& tokenizer, std::string_view text,
                      Index most, const Backend& backend, Run& run);

/// The part of the picture that the model sees is the picture of the Source.
Source source_of_image(const Encoder& encoder, const ImageInput& input, const Picture& picture,
                       const Backend& backend, Run& run);

}  // namespace fovea
