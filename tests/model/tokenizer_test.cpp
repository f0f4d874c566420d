// The tokenizers of models against those of transformers. make_tokenizer_fixtures.py made the cases.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "data/error.h"
#include "data/utf8.h"
#include "io/file_bytes.h"
#include "model/tokenizer_file.h"

using namespace fovea;

namespace {

const std::string kept_cases = FOVEA_TESTS "/model/fixtures/tokenizers";

Json read(const std::string& path) { return parse_json(path, FileBytes(path).text()); }

/// Texts are written with a character for each byte.
std::vector<std::string> read_texts(const std::string& path) {
  std::vector<std::string> texts;
  for (const Json& text : read(path)) {
    std::string bytes;
    for (std::string_view rest = text.get_ref<const std::string&>(); !rest.empty();) {
      const Character character = first_character(rest);
      bytes += static_cast<char>(character.code);
      rest.remove_prefix(character.length);
    }
    texts.push_back(std::move(bytes));
  }
  return texts;
}

/// The id of each token, its first byte and the end of its bytes.
std::vector<Index> numbers_of(const Tokenizer::Encoding& encoding) {
  std::vector<Index> numbers;
  for (const TextToken& token : encoding.tokens)
    numbers.insert(numbers.end(), {token.id, token.bytes.begin, token.bytes.end});
  return numbers;
}

Tokenizer::Encoding encode_all(const Tokenizer& tokenizer, std::string_view text) {
  return tokenizer.encode(text, std::numeric_limits<Index>::max());
}

void check_cases(const std::string& folder) {
  const std::vector<std::string> texts = read_texts(folder + "/texts.json");
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.is_directory()) continue;
    const std::string path = entry.path().string();
    CAPTURE(path);
    const auto tokenizer = read_tokenizer(path);
    const Json expected = read(path + "/expected.json");
    REQUIRE(expected["tokens"].size() == texts.size());
    std::int32_t id = 0;
    for (const Json& name : expected["names"]) CHECK(tokenizer->name_of(id++) == name);
    CHECK(tokenizer->ids() == id);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      CAPTURE(texts[i]);
      const Tokenizer::Encoding found = encode_all(*tokenizer, texts[i]);
      CHECK(numbers_of(found) == expected["tokens"][i].get<std::vector<Index>>());
      CHECK(found.left_out == 0);
    }
  }
}

}  // namespace

TEST_CASE("tokenizer: ids, places and names are those of transformers") { check_cases(kept_cases); }

TEST_CASE("tokenizer: the same of the cases in FOVEA_TOKENIZER_CASES") {
  if (const char* folder = std::getenv("FOVEA_TOKENIZER_CASES")) check_cases(folder);
}
