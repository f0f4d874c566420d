// A WordModel turns a word into tokens of its vocabulary.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/aligned_text.h"
#include "model/vocabulary.h"

namespace fovea {

/// A token, and the bytes of the text that it stands for; none for a token that the model adds.
struct TextToken {
  std::int32_t id = 0;
  IndexRange bytes;
};

class WordModel {
 public:
  virtual ~WordModel() = default;
  /// Adds the tokens of a word, at least one character, to `tokens`.
  virtual void add_tokens(const AlignedText& text, IndexRange word, std::vector<TextToken>& tokens,
                          const std::stop_token& stop) const = 0;
};

/// The longest token first, from the front of the word; the unknown token for the whole word where
/// a part of it has none.
class WordPiece final : public WordModel {
 public:
  struct Rules {
    std::int32_t unknown = 0;
    std::string continued = "##";  // before tokens that continue a word
    Index most_characters = 100;   // of a word that is not unknown
  };
  WordPiece(const Vocabulary& vocabulary, Rules rules);
  void add_tokens(const AlignedText& text, IndexRange word, std::vector<TextToken>& tokens,
                  const std::stop_token& stop) const override;

 private:
  const Vocabulary& vocabulary_;
  const Rules rules_;
};

/// What stands for a byte in the names of tokens of byte-level models: "!" for '!', "Ġ" for ' '.
std::string name_of_byte(unsigned char byte);

/// Pairs of tokens are merged, those that were learned first first, beginning with bytes.
class BytePairs final : public WordModel {
 public:
  struct Rules {
    std::optional<std::int32_t> unknown;  // for bytes that have no token; none: they are left out
    bool joins_unknown = false;           // one token for several that follow each other
    std::string end_of_word;              // in the name of a token that ends a word: "</w>"
    bool whole_words = false;             // a word that is a token is not merged from its bytes
  };
  BytePairs(const Vocabulary& vocabulary, Rules rules);
  /// The next merge. False: a token or what both become has no id.
  bool add_merge(const std::string& left, const std::string& right);
  void add_tokens(const AlignedText& text, IndexRange word, std::vector<TextToken>& tokens,
                  const std::stop_token& stop) const override;

 private:
  struct Merge {
    std::int32_t rank = 0;
    std::int32_t id = 0;  // of the token that two become
  };
  struct Part;
  const Merge* merge_of(std::int32_t left, std::int32_t right) const;
  void merge(std::vector<Part>& parts, const std::stop_token& stop) const;

  const Vocabulary& vocabulary_;
  const Rules rules_;
  std::array<std::optional<std::int32_t>, 256> inner_,
      last_;  // ids of bytes, and of those that end a word
  std::unordered_map<std::uint64_t, Merge> merges_;
  std::int32_t next_rank_ = 0;
};

}  // namespace fovea
