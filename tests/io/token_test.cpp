#include <doctest/doctest.h>

#include <filesystem>

#include "data/utf8.h"
#include "io/bytes.h"
#include "io/token_file.h"
#include "io/token_marks.h"
#include "messages.h"

using namespace fovea;
using namespace fovea::test;

namespace {

TokenFile read(const std::string& text) {
  const TemporaryDirectory directory;
  write_bytes(directory / "t.json", text);
  return read_token_json(FileBytes(directory / "t.json"));
}

}  // namespace

TEST_CASE("marks of tokenizers become text") {
  CHECK(display_token("Ġthe") == " the");
  CHECK(display_token("▁the") == " the");
  CHECK(display_token("##ing") == "ing");
  CHECK(display_token("hello</w>") == "hello ");
  CHECK(display_token("cafÃ©") == "café");  // the two bytes of é, one character each
  CHECK(display_token("ĠÐ¼Ð¸ÑĢ") == " мир");
  CHECK(display_token("Ċ") == "␊");
  CHECK(display_token("ĉ") == "␉");
  CHECK(display_token("<0x0A>") == "␊");
  CHECK(display_token("Ġð") == " <0xF0>");  // the first byte of an emoji
}

TEST_CASE("text that is not a mark is unchanged") {
  for (const char* token : {"the", "[CLS]", "café", "é", "мир", "日本", "##", "###", "## Title",
                            "</w>", "<0xE9>", "<0x0a>", "", "<s>"})
    CHECK(display_token(token) == token);
}

TEST_CASE("any bytes are displayed as UTF-8") {
  CHECK(display_token("\xff") == "<0xFF>");
  CHECK(display_token("a\xc3") == "a<0xC3>");
  for (int a = 0; a < 256; ++a)
    for (int b = 0; b < 256; ++b) {
      const std::string token{'#', '#', static_cast<char>(a), static_cast<char>(b)};
      if (!is_utf8(display_token(token))) FAIL_CHECK("bytes " << a << " " << b);
    }
}

TEST_CASE("UTF-8: overlong forms, surrogates and numbers beyond Unicode are ill-formed") {
  for (const char* text :
       {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80", "\xf8"})
    CHECK_FALSE(is_utf8(text));
  std::string text;
  for (const char32_t code : {U'a', U'é', U'日', U'\U0001F600'}) append_utf8(text, code);
  CHECK(text == "aé日😀");
  CHECK(is_utf8(text));
  CHECK(first_character("😀").code == U'\U0001F600');
}

TEST_CASE("tokens: every form that tokenizers and people write") {
  const std::vector<std::string> words{"a", " b"};
  CHECK(read(R"(["a", "Ġb"])").tokens == words);
  CHECK(read(R"({"tokens": ["a", "Ġb"], "input_ids": [1, 2]})").tokens == words);
  CHECK(
      read(
          R"({"ids": [1, 2], "type_ids": [0, 0], "tokens": ["a", "Ġb"], "offsets": [[0, 1], [1, 3]],
                 "attention_mask": [1, 1], "special_tokens_mask": [0, 0], "overflowing": []})")
          .tokens == words);
  CHECK(read(R"([{"tokens": ["a", "Ġb"], "input_ids": null}])").tokens == words);
  CHECK(read(R"({"tokens": ["a", "Ġb"], "input_ids": [[1, 2]]})").notes.empty());
  const std::vector<std::string> ids{"101", "7"};
  for (const char* text : {"[101, 7]", R"({"input_ids": [101, 7]})", R"({"input_ids": [[101, 7]]})",
                           R"({"ids": [101, 7]})"}) {
    CHECK(read(text).tokens == ids);
    CHECK(read(text).notes.size() == 1);
  }
}

TEST_CASE("tokens: a vocabulary is recognised and refused") {
  CHECK_SAYS(
      read(R"({"version": "1.0", "added_tokens": [], "model": {"type": "BPE", "vocab": {}}})"),
      "t.json", "holds a tokenizer's vocabulary", "input_ids");
}

TEST_CASE("tokens: a file that is not a tokenized text is refused with what was found") {
  CHECK_SAYS(read(""), "t.json", "is empty");
  CHECK_SAYS(read("[1, 2"), "t.json", "not JSON", "line 1, column 6");
  CHECK_SAYS(read("[\"\xff\"]"), "not JSON", "UTF-8");
  CHECK_SAYS(read("\"text\""), "a string", "a list of tokens");
  CHECK_SAYS(read("[]"), "an empty list");
  CHECK_SAYS(read("{\"tokens\": []}"), "no tokens", "at least one");
  CHECK_SAYS(read("{\"words\": []}"), "is an object without tokens and input_ids");
  CHECK_SAYS(read("{\"fovea_session\": 1}"), "t.json", "is a session of Fovea");
  CHECK_SAYS(read("{\"tokens\": \"a b\"}"), "tokens is a string", "a list of strings");
  CHECK_SAYS(read("{\"tokens\": [\"a\", 3]}"), "tokens[1] is a number", "expected a string");
  CHECK_SAYS(read("[\"a\", 3]"), "the list[1] is a number");
  CHECK_SAYS(read("[3, \"a\"]"), "the list[1] is \"a\"", "an integer");
  CHECK_SAYS(read("[3, 1.5]"), "the list[1] is 1.5", "an integer");
  CHECK_SAYS(read("{\"input_ids\": {}}"), "input_ids is an object");
  CHECK_SAYS(read("{\"input_ids\": [[1], [2]]}"), "expected an integer");
  CHECK_SAYS(read("{\"tokens\": [\"a\"], \"input_ids\": [1, 2]}"), "input_ids has 2 entries",
             "1 tokens");
  CHECK_SAYS(read("{\"tokens\": [\"a\"], \"offsets\": []}"), "offsets has 0 entries");
  CHECK_SAYS(read("{\"tokens\": [\"a\"], \"tokens\": [\"b\"]}"), "'tokens' occurs twice");
  CHECK_SAYS(read("[{\"tokens\": [\"a\"]}, {\"tokens\": [\"b\"]}]"), "2 encodings", "expected one");
  CHECK_SAYS(read(std::string(100000, '[')), "nested");
}

TEST_CASE("a token file is no larger than any text") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("t.json", "[0]");
  std::filesystem::resize_file(path, (std::uintmax_t{64} << 20) + 1);
  CHECK_SAYS(read_token_json(FileBytes(path)), "t.json: a text of 65 MiB",
             "expected at most 64 MiB");
}
