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

using Tokens = std::vector<std::string>;

std::string display_token(const std::string& token) {
  return display_tokens({token}).front();
}

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
  CHECK(display_token("Ċ") == "↵");
  CHECK(display_token("Ġĉ") == " ⇥");
  CHECK(display_token("čĊ") == "⇤↵");
  CHECK(display_token("<0x0A>") == "↵");
  CHECK(display_token("Ġð") == " <0xF0>");  // the first byte of an emoji
}

TEST_CASE("whether tokens are byte-level is decided for all of them") {
  // As vocabularies of WordPiece, SentencePiece and its byte fallback, and GPT-2 write them.
  const Tokens turkish{"[CLS]", "ağ", "##ır", "çalışma", "[SEP]"};
  CHECK(display_tokens(turkish) == Tokens{"[CLS]", "ağ", "ır", "çalışma", "[SEP]"});
  CHECK(display_tokens({"<s>", "▁mała", "▁żół", "ć", "</s>"}) ==
        Tokens{"<s>", " mała", " żół", "ć", "</s>"});
  CHECK(display_tokens({"▁Člověk", "▁a", "ğır"}) == Tokens{" Člověk", " a", "ğır"});
  for (const char* word : {"ağır", "mała", "člověk", "să", "ļoti", "đak", "Ģimene", "ñandú"}) {
    CAPTURE(word);
    CHECK(display_tokens({word}) == Tokens{word});
    CHECK(display_tokens({word, "the"}) == Tokens{word, "the"});
  }
  // Ġ and Ċ are letters of Maltese.
  CHECK(display_tokens({"▁Il", "-", "Ġ", "imgħa", "▁Ċ", "irku"}) ==
        Tokens{" Il", "-", "Ġ", "imgħa", " Ċ", "irku"});
  CHECK(display_tokens({"Ġimgħa", "##t"}) == Tokens{"Ġimgħa", "t"});
  // The same words in bytes, with a heading, a special token of another alphabet and an added one.
  CHECK(display_tokens({"aÄŁ", "Ä±r", "ĠmaÅĤa", "ĠÄįlovÄĽk"}) ==
        Tokens{"ağ", "ır", " mała", " člověk"});
  CHECK(display_tokens({"##", "ĠTitle", "Ċ", "##Ċ"}) == Tokens{"##", " Title", "↵", "##↵"});
  CHECK(display_tokens({"<｜begin▁of▁sentence｜>", "a", "ĠÃ©"}) ==
        Tokens{"<｜begin of sentence｜>", "a", " é"});
  CHECK(display_tokens({"日本", "ĠÃ©"}) == Tokens{"日本", " é"});
  // Without a space.
  CHECK(display_tokens({"ä½ł", "å¥½", "ï¼Į", "ä¸ĸçķĮ"}) == Tokens{"你", "好", "，", "世界"});
  CHECK(display_tokens({"日本", "Ã©"}) == Tokens{"日本", "Ã©"});
}

TEST_CASE("a character that tokens share goes to the first of them") {
  CHECK(display_tokens({"ä½", "ł", "å¥½"}) == Tokens{"你", "…", "好"});
  CHECK(display_tokens({"ĠðŁ", "ĳ", "©", "Ġb"}) == Tokens{" 👩", "…", "…", " b"});
  CHECK(display_tokens({"ä½", "łÃ", "©Ġx"}) == Tokens{"你", "…é", "… x"});
  CHECK(display_tokens({"▁a", "<0xF0>", "<0x9F>", "<0x91>", "<0xA9>", "▁b"}) ==
        Tokens{" a", "👩", "…", "…", "…", " b"});
  // What is not whole stays by its bytes.
  CHECK(display_tokens({"Ġa", "ä½", "Ġb"}) == Tokens{" a", "<0xE4><0xBD>", " b"});
  CHECK(display_tokens({"<0xF0>", "<0x9F>", "▁b", "<0x91>"}) ==
        Tokens{"<0xF0>", "<0x9F>", " b", "<0x91>"});
  CHECK(display_tokens({"<0xF0>", "ł", "<0x91>"}) == Tokens{"<0xF0>", "ł", "<0x91>"});
  CHECK(display_tokens({}).empty());
}

TEST_CASE("what has no sign of its own gets one") {
  CHECK(with_signs("a\nb\tc\r") == "a↵b⇥c⇤");
  CHECK(with_signs(std::string("\0\x1f\x7f", 3)) == "U+0000U+001FU+007F");
  CHECK(with_signs("a\u202eb\ufeff") == "aU+202EbU+FEFF");
  CHECK(with_signs(" \u200d") == " U+200D");
  CHECK(with_signs("\u00a0") == "U+00A0");
  // In words they are as they should be.
  for (const char* text : {"👩‍👩‍👧", "می‌خواهم", "10\u00a0€", " ", "❤️"})
    CHECK(with_signs(text) == text);
  CHECK(display_tokens({"Ġa", "âĢ", "į", "âĢĭ"}) == Tokens{" a", "U+200D", "…", "U+200B"});
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
      for (const std::string& text : display_tokens({token, "Ġ"}))
        if (!is_utf8(text)) FAIL_CHECK("bytes " << a << " " << b);
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
  CHECK_SAYS(read("{\"tokens\": \"a b\"}"), "'tokens' is \"a b\"", "a list of strings");
  CHECK_SAYS(read("{\"tokens\": [\"a\", 3]}"), "'tokens[1]' is 3", "expected a string");
  CHECK_SAYS(read("[\"a\", 3]"), "'[1]' is 3");
  CHECK_SAYS(read("[3, \"a\"]"), "'[1]' is \"a\"", "an integer");
  CHECK_SAYS(read("[3, 1.5]"), "'[1]' is 1.5", "an integer");
  CHECK_SAYS(read("{\"input_ids\": {}}"), "'input_ids' is {}");
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
