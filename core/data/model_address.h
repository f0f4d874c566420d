// A ModelAddress names a model and what it reads: "model:FOLDER?text=the%20cat" or
// "model:FOLDER?input=cat.jpg". It is one text, so it can stand wherever a source is named: in
// sessions, figures, plans and on the command line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "data/matrix.h"

namespace fovea {

inline constexpr std::string_view model_prefix = "model:";

inline bool is_model_address(std::string_view source) {
  return source.starts_with(model_prefix);
}

/// In place of a folder: a model in a program of the user's own, which called fovea.look.
inline constexpr std::string_view offered_prefix = "look:";

inline bool is_offered_model(std::string_view model) {
  return model.starts_with(offered_prefix);
}

struct ModelAddress {
  static constexpr Index standard_tokens = 2048;

  std::string folder;
  /// A text, or the path of a text file or an image. At most one of the two is set.
  std::optional<std::string> text, input;
  /// What the decoder of a model reads that has an encoder, too; without it the model writes that.
  std::optional<std::string> decoder_text;
  Index most_tokens = standard_tokens;  // of a text; the rest is left out

  friend bool operator==(const ModelAddress&, const ModelAddress&) = default;
};

/// In folder, texts and input "%", "?", "&", "#" and what is not printable ASCII are written as
/// %XX.
std::string to_text(const ModelAddress& address);

/// Whether both are addresses of the same model with different inputs.
bool same_model(std::string_view a, std::string_view b);

/// Throws UsageError, with what was found and what was expected.
ModelAddress parse_model_address(std::string_view text);

}  // namespace fovea
