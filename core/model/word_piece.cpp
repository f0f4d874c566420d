#include "model/word_piece.h"

#include <algorithm>
#include <utility>

#include "data/stop.h"
#include "data/utf8.h"

namespace fovea {

WordPiece::WordPiece(const Vocabulary& vocabulary, Rules rules)
    : vocabulary_(vocabulary), rules_(std::move(rules)) {}

void WordPiece::add_tokens(const AlignedText& text, IndexRange word, std::vector<TextToken>& tokens,
                           const std::stop_token& stop) const {
  const auto whole = static_cast<Index>(tokens.size());
  const auto unknown = [&] {
    tokens.resize(whole);
    tokens.push_back({rules_.unknown, bytes_of(text, word)});
  };
  if (word.size() > rules_.most_characters) return unknown();
  for (Index begin = word.begin; begin < word.end;) {
    check_stop(stop);
    // The longest name that a token could have, and where its characters end.
    std::string name = begin > word.begin ? rules_.continued : "";
    std::vector<std::size_t> ends;
    for (Index i = begin; i < word.end && name.size() <= vocabulary_.longest_name(); ++i) {
      append_utf8(name, text[i].code);
      ends.push_back(name.size());
    }
    std::optional<std::int32_t> id;
    while (!ends.empty() &&
           !(id = vocabulary_.id_of(std::string_view(name).substr(0, ends.back()))))
      ends.pop_back();
    if (!id) return unknown();
    const Index end = begin + std::ssize(ends);
    tokens.push_back({*id, bytes_of(text, {begin, end})});
    begin = end;
  }
}

}  // namespace fovea
