// WordPiece is the model of BERT's tokenizer.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "model/vocabulary.h"
#include "model/word_model.h"

namespace fovea {

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

}  // namespace fovea
