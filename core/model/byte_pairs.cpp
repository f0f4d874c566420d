#include "model/byte_pairs.h"

#include <queue>
#include <tuple>
#include <utility>

#include "data/stop.h"
#include "data/utf8.h"

namespace fovea {

/// A part of a word that is one token so far. It is linked to its neighbours, so that a merge moves
/// no other part.
struct BytePairs::Part {
  std::int32_t id = 0;
  Index length = 0;  // of its name; 0 if it was merged with the part before it
  Index before = -1, after = -1;
};

BytePairs::BytePairs(const Vocabulary& vocabulary, Rules rules)
    : vocabulary_(vocabulary), rules_(std::move(rules)) {
  // In names, printable characters of Latin-1 stand for themselves, and the characters from 256 on
  // for all other bytes.
  char32_t next = 256;
  for (char32_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte != 0xad);
    Byte& out = bytes_[byte];
    append_utf8(out.name, printable ? byte : next++);
    out.id = vocabulary.id_of(out.name);
    out.id_of_last = vocabulary.id_of(out.name + rules_.end_of_word);
  }
}

bool BytePairs::add_merge(const std::string& left, const std::string& right) {
  const auto left_id = vocabulary_.id_of(left), right_id = vocabulary_.id_of(right),
             both = vocabulary_.id_of(left + right);
  if (!left_id || !right_id || !both) return false;
  const auto pair =
      static_cast<std::uint64_t>(*left_id) << 32 | static_cast<std::uint64_t>(*right_id);
  merges_[pair] = {next_rank_++, *both};
  return true;
}

const BytePairs::Merge* BytePairs::merge_of(std::int32_t left, std::int32_t right) const {
  const auto found =
      merges_.find(static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint64_t>(right));
  return found == merges_.end() ? nullptr : &found->second;
}

void BytePairs::merge(std::vector<Part>& parts, const std::stop_token& stop) const {
  const auto part = [&](Index i) -> Part& { return parts[i]; };
  using Next = std::tuple<std::int32_t, Index, std::int32_t>;  // rank, the left part, the new id
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  const auto propose = [&](Index left) {
    if (left < 0 || part(left).after < 0) return;
    if (const Merge* merge = merge_of(part(left).id, part(part(left).after).id))
      next.emplace(merge->rank, left, merge->id);
  };
  for (Index i = 0; i < std::ssize(parts); ++i) propose(i);
  for (Index steps = 0; !next.empty(); ++steps) {
    if (steps % 1024 == 0) check_stop(stop);
    const auto [rank, left, id] = next.top();
    next.pop();
    const Index right = part(left).after;
    if (part(left).length == 0 || right < 0) continue;
    const Merge* merge = merge_of(part(left).id, part(right).id);
    if (!merge || merge->id != id) continue;  // one of the two was merged since
    part(left).id = id;
    part(left).length += std::exchange(part(right).length, 0);
    part(left).after = part(right).after;
    if (part(left).after >= 0) part(part(left).after).before = left;
    propose(part(left).before);
    propose(left);
  }
}

void BytePairs::add_tokens(const AlignedText& text, IndexRange word, std::vector<TextToken>& tokens,
                           const std::stop_token& stop) const {
  std::string bytes;
  std::vector<std::size_t> characters;  // of each byte, its character in the text
  for (Index i = word.begin; i < word.end; ++i) {
    append_utf8(bytes, text[i].code);
    characters.resize(bytes.size(), i);
  }
  // `tokenizers` places tokens by the lengths of their names, which holds where no byte is left
  // out.
  std::string name;
  std::vector<std::size_t> owners;  // of each byte of the name, the character in the text
  std::vector<Part> parts;
  parts.reserve(bytes.size());
  bool joins = false;  // the last part is unknown, and goes on
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const Byte& byte = bytes_[static_cast<unsigned char>(bytes[i])];
    const Index length = std::ssize(byte.name);
    name += byte.name;
    owners.resize(name.size(), characters[i]);
    const auto known = i + 1 < bytes.size() ? byte.id : byte.id_of_last;
    const auto id = known ? known : rules_.unknown;
    if (!id) continue;
    if (!known && joins)
      parts.back().length += length;
    else
      parts.push_back({*id, length});
    joins = !known && rules_.joins_unknown;
  }
  if (rules_.whole_words)
    if (const auto id = vocabulary_.id_of(name))
      return tokens.push_back({*id, bytes_of(text, word)});
  for (Index i = 0; i < std::ssize(parts); ++i) {
    parts[i].before = i - 1;
    parts[i].after = i + 1 < std::ssize(parts) ? i + 1 : -1;
  }
  merge(parts, stop);
  std::size_t at = 0;
  for (const Part& part : parts) {
    if (part.length == 0) continue;
    const std::size_t end = at + static_cast<std::size_t>(part.length);
    tokens.push_back({part.id, {text[owners[at]].bytes.begin, text[owners[end - 1]].bytes.end}});
    at = end;
  }
}

}  // namespace fovea
