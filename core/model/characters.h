// Characters as the library `tokenizers` of Hugging Face classes them, with which models are
// trained. Its classes are those of Unicode 8 and its normal forms those of Unicode 9. Letters,
// numbers, white space and lower case are those of the newest Unicode there, and here of the one
// that ICU has: a letter which ICU does not know yet is a character of no class.
#pragma once

#include <string>

namespace fovea {

/// Unicode's property White_Space: `\s`.
bool is_white_space(char32_t code);
/// `\p{L}` and `\p{N}`.
bool is_letter(char32_t code);
bool is_number(char32_t code);
/// `\w`: letters, marks, decimal digits, connecting punctuation, joiners.
bool is_word_character(char32_t code);

/// What BERT takes for a word of its own: punctuation, and all signs of ASCII.
bool is_bert_punctuation(char32_t code);
/// What BERT removes: control and format characters but tab and line ends, private use, U+FFFD.
bool is_bert_control(char32_t code);
/// A character of the blocks of Chinese characters that BERT takes for a word of its own.
bool is_bert_chinese(char32_t code);

/// The category Mn.
bool is_nonspacing_mark(char32_t code);
/// The categories Mn, Mc and Me.
bool is_mark(char32_t code);

/// The full canonical decomposition; empty if it is the character itself.
std::u32string decomposition(char32_t code);
/// What two characters compose to; 0 if nothing.
char32_t composition(char32_t first, char32_t second);
int combining_class(char32_t code);

/// Lower case without context: one character, but two of U+0130.
std::u32string lower_case(char32_t code);

}  // namespace fovea
