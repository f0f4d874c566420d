// TokenizerParts are the steps of a tokenizer, in the order in which a text goes through them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/added_tokens.h"
#include "model/normalization.h"
#include "model/vocabulary.h"
#include "model/word_model.h"
#include "model/word_rule.h"

namespace fovea {

struct TokenizerParts {
  AddedTokens added;  // found in the text as it is
  std::vector<Normalization> normalizations;
  AddedTokens added_normalized;  // found once it is normalized
  bool prefix_space = false;     // a space is put before the text, and after added tokens
  std::vector<WordRule> word_rules;
  std::unique_ptr<const WordModel> model;  // of `vocabulary`, which does not move

  // White space at the ends of a token is not its place.
  struct Trimming {
    bool prefix_space = false;  // one space at the front of the text was put there
  };
  std::optional<Trimming> trimming;
  std::vector<std::int32_t> before, after;  // tokens that the model adds

  Vocabulary vocabulary;
  std::unordered_map<std::int32_t, std::string> added_names;
};

/// How many bytes an added token may have, so that the part of a text around it is found quickly.
inline constexpr std::size_t longest_added_token = 512;

}  // namespace fovea
