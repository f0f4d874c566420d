#include "model/tokenizer.h"

#include <algorithm>
#include <utility>

#include "data/error.h"
#include "data/stop.h"
#include "data/utf8.h"
#include "model/characters.h"
#include "model/tokenizer_parts.h"

namespace fovea {
namespace {

// A text is read a piece at a time. Words near the end of a piece may go on after it: they are left
// to the next piece, which begins with the first of them.
constexpr Index first_piece = Index{64} << 10, largest_piece = Index{256} << 10;  // bytes
constexpr Index end_of_piece = 4 * longest_added_token;

/// The white space at both ends of a token, in characters.
struct SpaceAround {
  Index before = 0, after = 0;
};

/// The spaces in the name of a token, where "Ġ" stands for one.
SpaceAround space_around(std::string_view name) {
  constexpr std::string_view space = "Ġ";
  SpaceAround around;
  for (std::string_view rest = name; rest.starts_with(space); rest.remove_prefix(space.size()))
    ++around.before;
  for (std::string_view rest = name; rest.ends_with(space); rest.remove_suffix(space.size()))
    ++around.after;
  return around;
}

/// The spaces of an added token as it was found in the text.
SpaceAround space_around(const AlignedText& text, IndexRange found) {
  const auto space_at = [&](Index i) { return is_white_space(text[i].code); };
  SpaceAround around;
  while (around.before < found.size() && space_at(found.begin + around.before)) ++around.before;
  while (around.after < found.size() && space_at(found.end - 1 - around.after)) ++around.after;
  return around;
}

/// Reads one text.
class TextReader {
 public:
  TextReader(const TokenizerParts& parts, std::string_view text, Index room,
             const std::stop_token& stop)
      : parts_(parts), text_(text), room_(room), stop_(stop) {}

  void read() {
    Index size = first_piece;
    for (Index at = 0; at < end() && !full_;) {
      const Index next = read_piece({at, std::min(at + size, end())});
      if (next == at && size == largest_piece)
        throw InputError("", "the text has more than " + std::to_string(largest_piece >> 10) +
                                 " KiB without the end of a word, from byte " + std::to_string(at) +
                                 " on; expected shorter words");
      size = next == at ? std::min(4 * size, largest_piece) : first_piece;
      at = next;
    }
  }
  std::vector<TextToken> tokens;
  Index left_out = 0;

 private:
  Index end() const { return std::ssize(text_); }

  /// Reads words up to near the end of the piece. Returns where the next piece begins.
  Index read_piece(IndexRange piece) {
    piece_ = aligned_text(text_, piece);
    words_end_ = piece.end == end() ? end() : piece.end - end_of_piece;
    read_end_ = piece.begin;
    bool all = true;
    for (const AddedTokens::Part& part : parts_.added.parts_of(piece_)) {
      all = part.token ? take_added(piece_, part) : read_between(part.characters);
      if (!all) break;
    }
    if (!all || read_end_ > piece.begin || piece.end == end())
      return all && piece.end == end() ? end() : read_end_;
    return byte_of(index_of(words_end_));  // there is no word
  }

  /// Reads a part of the piece without added tokens as they are written. False: the piece is done.
  bool read_between(IndexRange characters) {
    const auto begin = piece_.begin();
    AlignedText text(begin + characters.begin, begin + characters.end);
    for (const Normalization step : parts_.normalizations) {
      check_stop(stop_);
      normalize(text, step);
    }
    for (const AddedTokens::Part& part : parts_.added_normalized.parts_of(text)) {
      if (part.token) {
        if (!take_added(text, part)) return false;
        continue;
      }
      AlignedText words(text.begin() + part.characters.begin, text.begin() + part.characters.end);
      if (!read_words(words)) return false;
    }
    return true;
  }

  bool read_words(AlignedText& text) {
    if (parts_.prefix_space && at_beginning_ && text[0].code != U' ')
      text.insert(text.begin(), {U' ', text[0].bytes});
    std::vector<IndexRange> words{{0, std::ssize(text)}};
    for (const WordRule rule : parts_.word_rules) {
      check_stop(stop_);
      std::vector<IndexRange> smaller;
      for (const IndexRange word : words) add_words(rule, text, word, smaller);
      words = std::move(smaller);
    }
    for (const IndexRange word : words) {
      check_stop(stop_);
      if (!begins(bytes_of(text, word))) return false;
      found_.clear();
      parts_.model->add_tokens(text, word, found_, stop_);
      for (const TextToken& token : found_)
        if (!take(token, parts_.trimming ? space_around(*parts_.vocabulary.name_of(token.id))
                                         : SpaceAround()))
          return false;
      at_beginning_ = false;
    }
    return true;
  }

  /// Whether a word is read in this piece; else the next piece begins with it.
  bool begins(IndexRange bytes) {
    const bool whole = bytes.end <= words_end_;
    read_end_ = whole ? bytes.end : bytes.begin;
    return whole;
  }

  bool take_added(const AlignedText& text, const AddedTokens::Part& part) {
    const IndexRange bytes = bytes_of(text, part.characters);
    if (!begins(bytes)) return false;
    at_beginning_ = true;
    return take({part.token->id, bytes}, space_around(text, part.characters));
  }

  /// False: there is no room for it.
  bool take(TextToken token, SpaceAround around) {
    if (std::ssize(tokens) == room_) {
      full_ = true;
      left_out = end() - token.bytes.begin;
      return false;
    }
    if (parts_.trimming) token.bytes = trimmed(token.bytes, around);
    tokens.push_back(token);
    return true;
  }

  IndexRange trimmed(IndexRange bytes, SpaceAround around) const {
    if (around.before == 0 && around.after == 0) return bytes;
    const bool first = tokens.empty() || bytes.begin == 0;
    if (first && parts_.trimming->prefix_space && around.before == 1) around.before = 0;
    const Index begin = index_of(bytes.begin), end = index_of(bytes.end);
    IndexRange characters{std::min(begin + around.before, end), end};
    if (end >= around.after) characters.end = std::max(end - around.after, characters.begin);
    return {byte_of(characters.begin), byte_of(characters.end)};
  }
  /// The character of the piece that begins at a byte, or the end.
  Index index_of(Index byte) const {
    return std::ranges::lower_bound(piece_, byte, {},
                                    [](const AlignedCharacter& c) { return c.bytes.begin; }) -
           piece_.begin();
  }
  Index byte_of(Index character) const {
    return character < std::ssize(piece_) ? piece_[character].bytes.begin : piece_.back().bytes.end;
  }

  const TokenizerParts& parts_;
  const std::string_view text_;
  const Index room_;
  const std::stop_token& stop_;
  AlignedText piece_;
  Index words_end_ = 0;       // words that end later are left to the next piece
  Index read_end_ = 0;        // how far the piece was read
  bool at_beginning_ = true;  // of the text, or after an added token
  bool full_ = false;
  std::vector<TextToken> found_;
};

}  // namespace

Tokenizer::Tokenizer(std::unique_ptr<const TokenizerParts> parts, SourceFiles files)
    : parts_(std::move(parts)), files_(std::move(files)) {}
Tokenizer::~Tokenizer() = default;

Tokenizer::Encoding Tokenizer::encode(std::string_view text, Index most,
                                      const std::stop_token& stop) const {
  const Index added = std::ssize(parts_->before) + std::ssize(parts_->after);
  if (most < added)
    throw UsageError("at most " + std::to_string(most) +
                     " tokens of a text; expected at least the " + std::to_string(added) +
                     " that the model adds");
  TextReader reader(*parts_, text, most - added, stop);
  reader.read();
  Encoding out{{}, reader.left_out};
  out.tokens.reserve(reader.tokens.size() + static_cast<std::size_t>(added));
  for (const std::int32_t id : parts_->before) out.tokens.push_back({id, {}});
  out.tokens.insert(out.tokens.end(), reader.tokens.begin(), reader.tokens.end());
  for (const std::int32_t id : parts_->after) out.tokens.push_back({id, {}});
  return out;
}

const std::string& Tokenizer::name_of(std::int32_t id) const {
  if (const auto found = parts_->added_names.find(id); found != parts_->added_names.end())
    return found->second;
  if (const std::string* name = parts_->vocabulary.name_of(id)) return *name;
  throw UsageError("there is no token with the id " + std::to_string(id) +
                   "; expected one of the vocabulary, from 0 to " + std::to_string(ids() - 1));
}

std::int32_t Tokenizer::ids() const {
  std::int32_t end = parts_->vocabulary.end();
  for (const auto& [id, name] : parts_->added_names) end = std::max(end, id + 1);
  return end;
}

}  // namespace fovea
