// A Tokenizer turns a text into the tokens that a text encoder was trained on, each with its place
// in the text. Ids and places are those of Hugging Face's `tokenizers`, with which `transformers`
// does the same.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "data/source.h"
#include "model/word_model.h"

namespace fovea {

struct TokenizerParts;

class Tokenizer {
 public:
  explicit Tokenizer(std::unique_ptr<const TokenizerParts> parts, SourceFiles files = {});
  ~Tokenizer();

  struct Encoding {
    std::vector<TextToken> tokens;  // with those that the model adds: [CLS] ... [SEP]
    Index left_out = 0;  // bytes at the end of the text that have no token, as `most` was reached
  };
  /// At most `most` tokens; the text is read no further than they need. Bytes that are not UTF-8
  /// are U+FFFD for the model. Throws UsageError where `most` leaves no room for those that the
  /// model adds, InputError for a word of more than 256 KiB, Cancelled.
  Encoding encode(std::string_view text, Index most, const std::stop_token& stop = {}) const;

  /// As transformers' convert_ids_to_tokens: "##ing", "Ġthe". Throws UsageError for an id without
  /// a token.
  const std::string& name_of(std::int32_t id) const;
  /// One more than the largest id: a model has at least so many embeddings.
  std::int32_t ids() const;
  /// The files that the tokenizer was read from.
  const SourceFiles& files() const { return files_; }

 private:
  std::unique_ptr<const TokenizerParts> parts_;
  SourceFiles files_;
};

/// The tokenizer in the folder of a model: tokenizer.json; else vocab.txt, of BERT; else vocab.json
/// and merges.txt, of RoBERTa or CLIP. Throws InputError with the file, what was found and what was
/// expected, for a tokenizer of another kind, too; UnavailableError where the file does not fit
/// into the memory budget; Cancelled.
std::unique_ptr<Tokenizer> read_tokenizer(const std::string& folder,
                                          const std::stop_token& stop = {});

}  // namespace fovea
