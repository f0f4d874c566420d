// An address names a source that no file holds: a head made by a formula, the stream of a running
// program, a model with what it reads, or the content similarity of a text or an image.
#pragma once

#include <string_view>

#include "data/model_address.h"
#include "data/synthetic.h"

namespace fovea {

/// The prefix of the stream of a running program: "live:NAME".
inline constexpr std::string_view live_prefix = "live:";

inline bool is_live(std::string_view source) {
  return source.starts_with(live_prefix);
}

/// Content similarity (content_features.h): "content:cat.jpg".
inline constexpr std::string_view content_prefix = "content:";

inline bool is_content(std::string_view source) {
  return source.starts_with(content_prefix);
}

/// The file of such an address.
inline std::string_view content_path(std::string_view source) {
  return source.substr(content_prefix.size());
}

/// Whether the source needs a program that sends it or offers its model, and is gone when the
/// program ends.
inline bool is_of_a_program(std::string_view source) {
  return is_live(source) ||
         (is_model_address(source) && is_offered_model(source.substr(model_prefix.size())));
}

inline bool is_address(std::string_view source) {
  return source.starts_with(synthetic_prefix) || is_live(source) || is_model_address(source) ||
         is_content(source);
}

}  // namespace fovea
