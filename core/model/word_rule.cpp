#include "model/word_rule.h"

#include <string_view>
#include <utility>

#include "model/characters.h"

namespace fovea {
namespace {

enum class CharacterClass { space, letter, number, other };

CharacterClass class_of(char32_t code) {
  return is_white_space(code) ? CharacterClass::space
         : is_letter(code)    ? CharacterClass::letter
         : is_number(code)    ? CharacterClass::number
                              : CharacterClass::other;
}

/// Reads words from some characters, from the front.
class WordReader {
 public:
  WordReader(const AlignedText& text, IndexRange among)
      : text_(text), end_(among.end), at_(among.begin) {}

  bool done() const { return at_ == end_; }
  Index at() const { return at_; }
  bool begins_with(std::u32string_view expected) const {
    if (end_ - at_ < std::ssize(expected)) return false;
    for (Index i = 0; i < std::ssize(expected); ++i)
      if (code(at_ + i) != expected[i]) return false;
    return true;
  }
  char32_t next() const { return code(at_); }
  /// Where the characters of one class that begin at `from` end.
  Index end_of_class(Index from) const {
    const CharacterClass first = class_of(code(from));
    while (from < end_ && class_of(code(from)) == first) ++from;
    return from;
  }
  Index end() const { return end_; }
  IndexRange take(Index end) { return {std::exchange(at_, end), end}; }
  IndexRange take_next(Index count) { return take(at_ + count); }

  /// The length of an English contraction, "'s" or "'ll"; 0 if there is none.
  Index contraction() const {
    for (const std::u32string_view ending : {U"'s", U"'t", U"'re", U"'ve", U"'m", U"'ll", U"'d"})
      if (begins_with(ending)) return std::ssize(ending);
    return 0;
  }

 private:
  char32_t code(Index i) const { return text_[i].code; }

  const AlignedText& text_;
  Index end_;
  Index at_;
};

void add_bert_words(WordReader& reader, std::vector<IndexRange>& words) {
  bool open = false;  // the last word goes on
  while (!reader.done()) {
    const bool space = is_white_space(reader.next()), sign = is_bert_punctuation(reader.next());
    const IndexRange character = reader.take_next(1);
    if (open && !space && !sign)
      words.back().end = character.end;
    else if (!space)
      words.push_back(character);
    open = !space && !sign;
  }
}

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
void add_gpt2_words(WordReader& reader, std::vector<IndexRange>& words) {
  while (!reader.done()) {
    if (const Index length = reader.contraction()) {
      words.push_back(reader.take_next(length));
      continue;
    }
    const Index next = reader.at() + 1;
    if (class_of(reader.next()) != CharacterClass::space) {
      words.push_back(reader.take(reader.end_of_class(reader.at())));
      continue;
    }
    const Index spaces_end = reader.end_of_class(reader.at());
    if (spaces_end == next && reader.next() == U' ' && spaces_end < reader.end())
      words.push_back(reader.take(reader.end_of_class(spaces_end)));
    else if (spaces_end == next || spaces_end == reader.end())
      words.push_back(reader.take(spaces_end));
    else
      words.push_back(reader.take(spaces_end - 1));  // the last one belongs to the next word
  }
}

// 's|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+
void add_clip_words(WordReader& reader, bool marks, std::vector<IndexRange>& words) {
  while (!reader.done()) {
    Index length = 0;
    if (marks)
      for (const std::u32string_view mark : {U"<|startoftext|>", U"<|endoftext|>"})
        if (reader.begins_with(mark)) length = std::ssize(mark);
    if (length == 0) length = reader.contraction();
    const CharacterClass first = class_of(reader.next());
    if (length > 0)
      words.push_back(reader.take_next(length));
    else if (first == CharacterClass::space)
      reader.take_next(1);
    else if (first == CharacterClass::number)
      words.push_back(reader.take_next(1));
    else
      words.push_back(reader.take(reader.end_of_class(reader.at())));
  }
}

}  // namespace

void add_words(WordRule rule, const AlignedText& text, IndexRange among,
               std::vector<IndexRange>& words) {
  WordReader reader(text, among);
  switch (rule) {
    case WordRule::bert:
      return add_bert_words(reader, words);
    case WordRule::gpt2:
      return add_gpt2_words(reader, words);
    case WordRule::clip:
    case WordRule::clip_and_marks:
      return add_clip_words(reader, rule == WordRule::clip_and_marks, words);
  }
}

}  // namespace fovea
