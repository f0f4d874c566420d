// A WordRule cuts a text into words, which are turned into tokens each by itself.
#pragma once

#include "model/aligned_text.h"

namespace fovea {

enum class WordRule {
  bert,            // between white space; each sign of punctuation is a word
  gpt2,            // letters, digits or others, with the space before them; white space
  clip,            // letters, one digit, or others; no white space
  clip_and_marks,  // the same; <|startoftext|> and <|endoftext|> are words
};

/// Adds the words among some characters to `words`, as ranges of characters.
void add_words(WordRule rule, const AlignedText& text, IndexRange among,
               std::vector<IndexRange>& words);

}  // namespace fovea
