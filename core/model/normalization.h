// A Normalization is a step that changes the characters of a text before it is cut into words.
#pragma once

#include "model/aligned_text.h"

namespace fovea {

enum class Normalization {
  clean,                    // BERT: no control characters, all white space is ' '
  space_chinese,            // BERT: spaces around Chinese characters
  decompose,                // NFD
  compose,                  // NFC
  remove_nonspacing_marks,  // BERT: accents, once decomposed
  remove_marks,
  lower_case,
  join_white_space,  // white space that follows each other is one ' '
};

void normalize(AlignedText& text, Normalization step);

}  // namespace fovea
