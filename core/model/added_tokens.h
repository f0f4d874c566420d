// AddedTokens are found in a text before it is cut into words: "[MASK]", "<s>".
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "model/aligned_text.h"

namespace fovea {

struct AddedToken {
  std::int32_t id = 0;
  bool single_word = false;  // not within a word
  bool takes_space_before = false, takes_space_after = false;
};

class AddedTokens {
 public:
  bool empty() const { return tokens_.empty(); }
  /// How a token is written, at least one character. False: another is written so.
  bool add(std::u32string_view written, AddedToken token);

  /// A part of a text: an added token, or what lies between two of them.
  struct Part {
    IndexRange characters;
    const AddedToken* token = nullptr;  // null: none
  };
  /// The parts of a text, which cover it; the longest token of those that begin first.
  std::vector<Part> parts_of(const AlignedText& text) const;

 private:
  /// The token that begins at a character and where it ends; null if there is none.
  std::pair<const AddedToken*, std::size_t> token_at(const AlignedText& text,
                                                     std::size_t begin) const;

  std::vector<AddedToken> tokens_;
  // A tree of characters. 0 is its root; a node is followed by a character to another.
  std::map<std::pair<std::size_t, char32_t>, std::size_t> next_;
  std::vector<std::size_t> token_of_node_{0};  // one more than the place in tokens_; 0 if none
};

}  // namespace fovea
