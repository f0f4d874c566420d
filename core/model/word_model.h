// A WordModel turns a word into tokens of its vocabulary.
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "model/aligned_text.h"

namespace fovea {

/// A token, and the bytes of the text that it stands for; none for a token that the model adds.
struct TextToken {
  std::int32_t id = 0;
  IndexRange bytes;
};

class WordModel {
 public:
  virtual ~WordModel() = default;
  /// Adds the tokens of a word, at least one character, to `tokens`.
  virtual void add_tokens(const AlignedText& text, IndexRange word, std::vector<TextToken>& tokens,
                          const std::stop_token& stop) const = 0;
};

}  // namespace fovea
