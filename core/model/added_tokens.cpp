#include "model/added_tokens.h"

#include <algorithm>

#include "model/characters.h"

namespace fovea {

bool AddedTokens::add(std::u32string_view written, AddedToken token) {
  std::size_t node = 0;
  for (const char32_t code : written) {
    const auto [place, added] = next_.emplace(std::pair(node, code), token_of_node_.size());
    if (added) token_of_node_.push_back(0);
    node = place->second;
  }
  if (token_of_node_[node] != 0) return false;
  tokens_.push_back(token);
  token_of_node_[node] = tokens_.size();
  return true;
}

std::pair<const AddedToken*, std::size_t> AddedTokens::token_at(const AlignedText& text,
                                                                std::size_t begin) const {
  std::pair<const AddedToken*, std::size_t> longest{nullptr, begin};
  std::size_t node = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const auto place = next_.find({node, text[i].code});
    if (place == next_.end()) break;
    node = place->second;
    if (const std::size_t token = token_of_node_[node]) longest = {&tokens_[token - 1], i + 1};
  }
  return longest;
}

std::vector<AddedTokens::Part> AddedTokens::parts_of(const AlignedText& text) const {
  std::vector<Part> parts;
  const auto word_at = [&](std::size_t i) { return is_word_character(text[i].code); };
  const auto space_at = [&](std::size_t i) { return is_white_space(text[i].code); };
  std::size_t done = 0;
  const auto add = [&](std::size_t begin, std::size_t end, const AddedToken* token) {
    parts.push_back({{static_cast<Index>(begin), static_cast<Index>(end)}, token});
    done = end;
  };
  for (std::size_t i = 0; i < text.size() && !tokens_.empty();) {
    auto [token, end] = token_at(text, i);
    if (!token) {
      ++i;
      continue;
    }
    std::size_t begin = std::exchange(i, end);
    if (token->single_word &&
        ((begin > 0 && word_at(begin - 1)) || (end < text.size() && word_at(end))))
      continue;
    if (token->takes_space_before)
      while (begin > done && space_at(begin - 1)) --begin;
    if (token->takes_space_after)
      while (end < text.size() && space_at(end)) ++end;
    begin = std::max(begin, done);
    if (begin >= end) continue;  // the token before it took it with the space
    if (done < begin) add(done, begin, nullptr);
    add(begin, end, token);
  }
  if (done < text.size()) add(done, text.size(), nullptr);
  return parts;
}

}  // namespace fovea
