// The tokenizers of models against those of transformers. make_tokenizer_fixtures.py made the
// cases.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include "data/error.h"
#include "data/utf8.h"
#include "io/file_bytes.h"
#include "messages.h"
#include "model/tokenizer_file.h"
#include "temporary_directory.h"

using namespace fovea;
using namespace fovea::test;

namespace {

const std::string kept_cases = FOVEA_TESTS "/model/fixtures/tokenizers";

Json read(const std::string& path) {
  return parse_json(path, FileBytes(path).text());
}

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

std::vector<std::string> folders_in(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_directory()) out.push_back(entry.path().string());
  REQUIRE(!out.empty());
  return out;
}

void check_cases(const std::string& folder) {
  const std::vector<std::string> texts = read_texts(folder + "/texts.json");
  for (const std::string& path : folders_in(folder)) {
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

TEST_CASE("tokenizer: ids, places and names are those of transformers") {
  check_cases(kept_cases);
}

TEST_CASE("tokenizer: the same of the cases in FOVEA_TOKENIZER_CASES") {
  if (const char* folder = std::getenv("FOVEA_TOKENIZER_CASES")) check_cases(folder);
}

namespace {

std::string repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

/// The tokens of the text, without those that the model adds.
std::vector<TextToken> text_tokens(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<TextToken> tokens = encode_all(tokenizer, text).tokens;
  tokens.erase(tokens.begin());
  tokens.pop_back();
  return tokens;
}

/// A text of BERT, of which "a" and "b" are tokens.
std::string small_bert(const std::string& more = "") {
  return R"({"normalizer":{"type":"BertNormalizer"},"pre_tokenizer":{"type":"BertPreTokenizer"},)"
         R"("post_processor":{"type":"BertProcessing","cls":["[CLS]",1],"sep":["[SEP]",2]},)"
         R"("model":{"type":"WordPiece","unk_token":"[UNK]",)"
         R"("vocab":{"[UNK]":0,"[CLS]":1,"[SEP]":2,"a":3,"b":4,"##b":5}})" +
         more + "}";
}

std::unique_ptr<Tokenizer> from(const std::string& json) {
  return tokenizer_from("t.json", parse_json("t.json", json));
}

std::string with(std::string text, const std::string& found, const std::string& replacement) {
  const auto place = text.find(found);
  REQUIRE(place != std::string::npos);
  return text.replace(place, found.size(), replacement);
}

}  // namespace

TEST_CASE("tokenizer: a long text has the tokens of its parts") {
  // It is read in pieces of 64 KiB; a part begins with a letter and ends with the end of a word.
  std::string words;
  for (const std::string& text : read_texts(kept_cases + "/texts.json")) {
    if (words.size() > 2000) break;
    words += text + "\n";
  }
  for (const std::string& path : folders_in(kept_cases)) {
    CAPTURE(path);
    const auto tokenizer = read_tokenizer(path);
    for (const std::string& part : {words, std::string("我能吞下玻璃，而不伤身体。")}) {
      const auto parts = static_cast<int>(300000 / part.size());
      // The second of two: a space may be put before the first.
      const std::size_t first = text_tokens(*tokenizer, part).size();
      std::vector<TextToken> second = text_tokens(*tokenizer, part + part);
      second.erase(second.begin(), second.begin() + static_cast<Index>(first));
      const std::vector<TextToken> whole = text_tokens(*tokenizer, repeated(part, parts));
      REQUIRE(whole.size() == first + second.size() * static_cast<std::size_t>(parts - 1));
      Index different = 0;
      for (std::size_t i = first; i < whole.size(); ++i) {
        const TextToken& one = second[(i - first) % second.size()];
        const Index shift = static_cast<Index>((i - first) / second.size() * part.size());
        different += whole[i].id != one.id ||
                     whole[i].bytes != IndexRange{one.bytes.begin + shift, one.bytes.end + shift};
      }
      CHECK(different == 0);
    }
  }
}

TEST_CASE("tokenizer: an added token is found where a piece of a long text ends") {
  const auto tokenizer = read_tokenizer(kept_cases + "/bert-added");
  for (Index before = 0; before < 40; ++before) {
    // Each word of five bytes has one token; "<tag>" takes the spaces around it.
    const Index words = ((Index{62} << 10) - 40) / 6 + before;
    const std::string text =
        repeated("12345 ", static_cast<int>(words)) + " <tag>  " + repeated("12345 ", 1000);
    const auto tokens = text_tokens(*tokenizer, text);
    const auto tag = std::ranges::find_if(
        tokens, [&](const TextToken& token) { return tokenizer->name_of(token.id) == "<tag>"; });
    REQUIRE(tag != tokens.end());
    CHECK(tag->bytes == IndexRange{words * 6 - 1, words * 6 + 8});
  }
}

TEST_CASE("tokenizer: a text is read no further than its tokens need") {
  const auto tokenizer = read_tokenizer(kept_cases + "/bert");
  // No tokenizer reads the end of it.
  const std::string text =
      "the quick fox " + repeated("a b ", 20000) + std::string(Index{1} << 20, 'a');
  const std::vector<TextToken> all = encode_all(*tokenizer, text.substr(0, 1000)).tokens;
  for (const Index most : {2, 3, 4, 10, 300}) {
    const auto found = tokenizer->encode(text, most);
    REQUIRE(std::ssize(found.tokens) == most);
    for (std::size_t i = 0; i + 1 < found.tokens.size(); ++i) {
      CHECK(found.tokens[i].id == all[i].id);
      CHECK(found.tokens[i].bytes == all[i].bytes);
    }
    CHECK(found.tokens.back().id == all.back().id);
    CHECK(found.left_out == std::ssize(text) - all[static_cast<std::size_t>(most) - 1].bytes.begin);
  }
  CHECK(tokenizer->encode("the  ", 20).left_out == 0);
  CHECK_SAYS(encode_all(*tokenizer, text), "more than 256 KiB without the end of a word",
             "byte 80014", "expected");
  check_says(message_of<UsageError>([&] { (void)tokenizer->encode("a", 1); }),
             {"at most 1 tokens", "2"});
  check_says(message_of<UsageError>([&] { (void)tokenizer->name_of(-1); }), {"-1", "expected"});
}

TEST_CASE("tokenizer: white space of any length has no tokens of BERT and CLIP") {
  for (const char* name : {"/bert", "/clip"}) {
    const auto tokenizer = read_tokenizer(kept_cases + name);
    const std::string spaces(Index{1} << 20, ' ');
    const auto tokens = text_tokens(*tokenizer, spaces + "a" + spaces);
    REQUIRE(tokens.size() == 1);
    CHECK(tokens[0].bytes == IndexRange{std::ssize(spaces), std::ssize(spaces) + 1});
  }
}

TEST_CASE("tokenizer: a stop that was asked for ends the reading of a text") {
  std::stop_source source;
  source.request_stop();
  const auto tokenizer = read_tokenizer(kept_cases + "/clip");
  CHECK_THROWS_AS((void)tokenizer->encode("a", 100, source.get_token()), Cancelled);
  CHECK_THROWS_AS((void)read_tokenizer(kept_cases + "/clip", source.get_token()), Cancelled);
}

TEST_CASE("tokenizer: tokenizer_config.json has the last word on BERT's normalizer") {
  const TemporaryDirectory folder;
  folder.write("tokenizer.json", small_bert());
  const auto unknown = [&] { return text_tokens(*read_tokenizer(folder.path()), "AB")[0].id == 0; };
  CHECK(!unknown());
  folder.write("tokenizer_config.json", R"({"do_lower_case":false})");
  CHECK(unknown());
  folder.write("tokenizer_config.json", R"({"do_lower_case":null})");
  CHECK(!unknown());
  folder.write("tokenizer_config.json",
               R"({"do_lower_case":false,"tokenizer_class":"PreTrainedTokenizerFast"})");
  CHECK(!unknown());
}

TEST_CASE("tokenizer: other forms of a tokenizer.json") {
  // A sequence in a sequence, a template, and no type of the model.
  const std::string text = with(
      with(
          with(
              small_bert(), R"({"type":"BertNormalizer"})",
              R"({"type":"Sequence","normalizers":[{"type":"Sequence","normalizers":[{"type":"NFD"}]},{"type":"StripAccents"},{"type":"Lowercase"}]})"),
          R"({"type":"BertProcessing","cls":["[CLS]",1],"sep":["[SEP]",2]})",
          R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"[CLS]"}},{"Sequence":{"id":"A"}},{"SpecialToken":{"id":"[SEP]"}}],)"
          R"("special_tokens":{"[CLS]":{"ids":[1]},"[SEP]":{"ids":[2,1]}}})"),
      R"("type":"WordPiece",)", R"("max_input_chars_per_word":2,)");
  const auto found = encode_all(*from(text), "ÀB abb");
  CHECK(numbers_of(found) ==
        std::vector<Index>{1, 0, 0, 3, 0, 2, 5, 2, 3, 0, 4, 7, 2, 0, 0, 1, 0, 0});
}

TEST_CASE("tokenizer: what a tokenizer.json has wrong") {
  const auto says = [](const std::string& found, const std::string& replacement,
                       std::initializer_list<std::string> parts) {
    const std::string text = with(small_bert(), found, replacement);
    check_says(message_of([&] { (void)from(text); }), {"t.json", "expected"});
    check_says(message_of([&] { (void)from(text); }), parts);
  };
  CHECK_SAYS(from("[]"), "the file is a list", "expected an object");
  CHECK_SAYS(from("{}"), "model is missing");
  says(R"("BertNormalizer")", R"("Precompiled")",
       {"normalizer.type", "Precompiled", "BertNormalizer", "The worker in Python"});
  says(R"("BertPreTokenizer")", R"("Metaspace")",
       {"pre_tokenizer.type", "Metaspace", "The worker in Python"});
  says(R"("BertProcessing")", R"("Other")",
       {"post_processor.type", "Other", "The worker in Python"});
  says(R"("WordPiece")", R"("Unigram")", {"model.type", "Unigram", "The worker in Python"});
  says(R"("WordPiece")", R"("BPE")",
       {"model.type", "BPE without the step ByteLevel", "The worker in Python"});
  says(R"("BertPreTokenizer")", R"("ByteLevel")",
       {"model.type", "WordPiece after the step ByteLevel", "The worker in Python"});
  says(R"("a":3)", R"("a":"3")", {"the id of the token 'a'", "\"3\""});
  says(R"("a":3)", R"("a":-3)", {"the id of the token 'a'", "-3"});
  says(R"("a":3)", R"("a":2147483647)", {"the id of the token 'a'", "2147483647"});
  says(R"("a":3)", R"("a":4)", {"'a' and 'b'", "the same id 4"});
  says(R"("unk_token":"[UNK]")", R"("unk_token":"?")", {"model.unk_token", "'?'"});
  says(R"("unk_token":"[UNK]",)", "", {"model.unk_token is missing"});
  says(R"(["[SEP]",2])", R"(["[SEP]",9])", {"post_processor", "9"});
  says(R"(["[SEP]",2])", R"("[SEP]")", {"post_processor.sep"});
  says(R"({"type":"BertNormalizer"})", R"({"type":"BertNormalizer","lowercase":1})",
       {"normalizer.lowercase", "true or false"});
  says(R"({"type":"BertNormalizer"})",
       R"({"type":"Replace","pattern":{"Regex":"x"},"content":" "})",
       {"normalizer.pattern", "Regex"});
  says(R"({"type":"BertNormalizer"})", R"({"type":"Sequence","normalizers":3})",
       {"normalizer.normalizers", "a number"});
}

TEST_CASE("tokenizer: what the added tokens of a tokenizer.json have wrong") {
  const auto says = [](const std::string& tokens, std::initializer_list<std::string> parts) {
    const std::string text = small_bert(R"(,"added_tokens":)" + tokens);
    check_says(message_of([&] { (void)from(text); }), {"t.json", "added_tokens", "expected"});
    check_says(message_of([&] { (void)from(text); }), parts);
  };
  says("3", {"a number"});
  says("[3]", {"added_tokens[0]", "a number"});
  says("[{}]", {"added_tokens[0].content is missing"});
  says(R"([{"content":"x"},{"content":"x","normalized":false}])",
       {"added_tokens[1].content", "'x'"});
  says(R"([{"content":"X"},{"content":"x"}])", {"added_tokens[1].content", "'x'"});
  says(R"([{"content":"\u0301"}])", {"added_tokens[0].content", "nothing is left"});
  says(R"([{"content":")" + std::string(513, 'x') + R"("}])",
       {"added_tokens[0].content", "513 bytes"});
}

TEST_CASE("tokenizer: what merges of pairs have wrong") {
  const auto says = [](const std::string& model, std::initializer_list<std::string> parts) {
    const std::string text =
        R"({"pre_tokenizer":{"type":"ByteLevel"},"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2})" +
        model + "}}";
    check_says(message_of([&] { (void)from(text); }), {"t.json", "model.", "expected"});
    check_says(message_of([&] { (void)from(text); }), parts);
  };
  says("", {"model.merges is missing"});
  says(R"(,"merges":"a b")", {"model.merges", "a string"});
  says(R"(,"merges":["a b","ab"])", {"model.merges[1]", "\"ab\""});
  says(R"(,"merges":["a b c"])", {"model.merges[0]"});
  says(R"(,"merges":[["a","b"],["a","c"]])", {"model.merges[1]", "'a' and 'c'"});
  says(R"(,"merges":[],"dropout":0.1)", {"model.dropout", "0.1", "The worker in Python"});
  says(R"(,"merges":[],"byte_fallback":true)", {"model.byte_fallback", "The worker in Python"});
  says(R"(,"merges":[],"continuing_subword_prefix":"##")",
       {"model.continuing_subword_prefix", "The worker in Python"});
}

TEST_CASE("tokenizer: bytes without a token") {
  const auto text = [](const std::string& rules) {
    return R"({"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2,"?":3},"merges":["a b"])" +
           rules + "}}";
  };
  const auto numbers = [&](const std::string& rules, const char* of) {
    return numbers_of(encode_all(*from(text(rules)), of));
  };
  // As `tokenizers` does: without an unknown token, those after a byte that is left out come early.
  CHECK(numbers("", "xab") == std::vector<Index>{2, 0, 2});
  CHECK(numbers(R"(,"unk_token":"?")", "xyab") == std::vector<Index>{3, 0, 1, 3, 1, 2, 2, 2, 4});
  CHECK(numbers(R"(,"unk_token":"?","fuse_unk":true)", "xyabz") ==
        std::vector<Index>{3, 0, 2, 2, 2, 4, 3, 4, 5});
}

TEST_CASE("tokenizer: which files of a folder are wrong") {
  const TemporaryDirectory folder;
  const auto read = [&] { return read_tokenizer(folder.path()); };
  CHECK_SAYS(read(), folder.path(), "no tokenizer", "expected tokenizer.json");
  folder.write("vocab.json", R"({"<s>":0,"</s>":1})");
  CHECK_SAYS(read(), "merges.txt");
  folder.write("merges.txt", "#version: 0.2\na\n");
  CHECK_SAYS(read(), "vocab.json and merges.txt", "merges[0]", "\"a\"");
  folder.write("vocab.json", R"({"a":0})");
  CHECK_SAYS(read(), "vocab.json", "no token '<s>'", "expected");
  folder.write("vocab.json", "[]");
  CHECK_SAYS(read(), "vocab.json holds a list", "expected an object");
  folder.write("merges.txt", "a b\n\xf9\n");
  CHECK_SAYS(read(), "merges.txt: line 2 is not UTF-8", "\\xF9", "expected");
  folder.write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\n\xff\n");
  CHECK_SAYS(read(), "vocab.txt", "line 4", "not UTF-8");
  folder.write("vocab.txt", "[UNK]\r\n[CLS]\r\na\r\n");
  CHECK_SAYS(read(), "vocab.txt", "'[SEP]'");
  folder.write("tokenizer_config.json", R"({"sep_token":{"content":"a"}})");
  CHECK(read()->ids() == 3);
  folder.write("tokenizer_config.json", R"({"sep_token":7})");
  CHECK_SAYS(read(), "tokenizer_config.json", "sep_token is 7", "expected a token");
  folder.write("tokenizer_config.json", R"({"do_lower_case":"yes"})");
  CHECK_SAYS(read(), "tokenizer_config.json", "do_lower_case", "true or false");
  folder.write("tokenizer_config.json", "{");
  CHECK_SAYS(read(), "tokenizer_config.json", "not JSON");
}
