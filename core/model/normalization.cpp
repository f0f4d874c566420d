#include "model/normalization.h"

#include <algorithm>

#include "model/characters.h"

namespace fovea {
namespace {

/// A character of the changed text, and how many of the old ones it takes the place of.
struct ReplacingCharacter {
  char32_t code = 0;
  Index replaced = 0;
  int combining_class = 0;
};
using ReplacingText = std::vector<ReplacingCharacter>;

/// Each character takes the bytes of the first that it replaces, in order; one that replaces none
/// has those of the character before it. `tokenizers` does so even where marks change their order.
void replace_in_order(AlignedText& text, const ReplacingText& by) {
  AlignedText out;
  out.reserve(by.size());
  std::size_t at = 0;
  for (const ReplacingCharacter& character : by) {
    const IndexRange bytes = character.replaced > 0 ? text[at].bytes
                             : at > 0               ? text[at - 1].bytes
                                      : IndexRange{text[0].bytes.begin, text[0].bytes.begin};
    out.push_back({character.code, bytes});
    at += static_cast<std::size_t>(character.replaced);
  }
  text = std::move(out);
}

ReplacingText decomposed(const AlignedText& text) {
  ReplacingText out;
  out.reserve(text.size());
  std::size_t marks = 0;  // where those begin that still change their order
  const auto order_marks = [&] {
    std::stable_sort(out.begin() + static_cast<Index>(marks), out.end(),
                     [](const ReplacingCharacter& a, const ReplacingCharacter& b) {
                       return a.combining_class < b.combining_class;
                     });
    marks = out.size();
  };
  for (const AlignedCharacter& character : text) {
    std::u32string parts = decomposition(character.code);
    if (parts.empty()) parts = {character.code};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const int order = combining_class(parts[i]);
      if (order == 0) order_marks();
      out.push_back({parts[i], i == 0 ? 1 : 0, order});
    }
  }
  order_marks();
  return out;
}

ReplacingText composed(const ReplacingText& text) {
  ReplacingText out;
  out.reserve(text.size());
  ReplacingCharacter* starter = nullptr;  // in `out`, which does not grow beyond its reserve
  int last_class = 0;                     // of the marks after the starter; 0 if there are none
  for (const ReplacingCharacter& next : text) {
    if (starter && (last_class == 0 || last_class < next.combining_class))
      if (const char32_t both = composition(starter->code, next.code)) {
        starter->code = both;
        starter->replaced += next.replaced;
        continue;
      }
    out.push_back(next);
    if (next.combining_class == 0) starter = &out.back();
    last_class = next.combining_class;
  }
  return out;
}

void space_chinese_characters(AlignedText& text) {
  AlignedText out;
  out.reserve(text.size());
  for (const AlignedCharacter& character : text) {
    const bool chinese = is_bert_chinese(character.code);
    if (chinese) out.push_back({U' ', character.bytes});
    out.push_back(character);
    if (chinese) out.push_back({U' ', character.bytes});
  }
  text = std::move(out);
}

void make_lower_case(AlignedText& text) {
  AlignedText out;
  out.reserve(text.size());
  for (const AlignedCharacter& character : text)
    for (const char32_t code : lower_case(character.code)) out.push_back({code, character.bytes});
  text = std::move(out);
}

void join_runs_of_white_space(AlignedText& text) {
  AlignedText out;
  out.reserve(text.size());
  bool space = false;
  for (const AlignedCharacter& character : text) {
    const bool joins = space && is_white_space(character.code);
    space = is_white_space(character.code);
    if (joins)
      out.back().bytes = character.bytes;  // as `tokenizers` does: those of the last one
    else
      out.push_back(space ? AlignedCharacter{U' ', character.bytes} : character);
  }
  text = std::move(out);
}

}  // namespace

void normalize(AlignedText& text, Normalization step) {
  const auto remove = [&](bool (*removed)(char32_t)) {
    std::erase_if(text, [&](const AlignedCharacter& c) { return removed(c.code); });
  };
  switch (step) {
    case Normalization::clean:
      remove([](char32_t code) { return code == 0 || is_bert_control(code); });
      for (AlignedCharacter& character : text)
        if (is_white_space(character.code)) character.code = U' ';
      return;
    case Normalization::space_chinese:
      return space_chinese_characters(text);
    case Normalization::decompose:
      return replace_in_order(text, decomposed(text));
    case Normalization::compose:
      return replace_in_order(text, composed(decomposed(text)));
    case Normalization::remove_nonspacing_marks:
      return remove(is_nonspacing_mark);
    case Normalization::remove_marks:
      return remove(is_mark);
    case Normalization::lower_case:
      return make_lower_case(text);
    case Normalization::join_white_space:
      return join_runs_of_white_space(text);
  }
}

}  // namespace fovea
