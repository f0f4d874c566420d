// BytePairs are the model of the tokenizers of RoBERTa and CLIP.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/vocabulary.h"
#include "model/word_model.h"

namespace fovea {

/// Merges pairs of tokens in the order in which they were learned, beginning with bytes.
class BytePairs final : public WordModel {
 public:
  struct Rules {
    std::optional<std::int32_t>
        unknown;                 // of bytes without a token, which are left out if it is absent
    bool joins_unknown = false;  // one token for several that follow each other
    std::string end_of_word;     // in the name of a token that ends a word: "</w>"
    bool whole_words = false;    // a word that is a token is not merged from its bytes
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
  struct Byte {
    std::string name;                            // "!" for '!', "Ġ" for ' '
    std::optional<std::int32_t> id, id_of_last;  // within a word, and at its end
  };
  std::array<Byte, 256> bytes_;
  std::unordered_map<std::uint64_t, Merge> merges_;
  std::int32_t next_rank_ = 0;
};

}  // namespace fovea
