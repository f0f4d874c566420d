#include "fuzz/tokenizer_parser.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>

#include "fuzz/file_parsers.h"
#include "fuzz/rules.h"
#include "model/tokenizer.h"
#include "temporary_directory.h"

namespace fovea::test {
namespace {

constexpr std::array files{"tokenizer.json", "tokenizer_config.json", "vocab.txt", "vocab.json",
                           "merges.txt"};

std::string files_of(std::array<std::string, files.size()> contents, const std::string& text) {
  std::string bytes;
  for (const std::string& content : contents) bytes += content + between_files;
  return bytes + text;
}

}  // namespace

void parse_tokenizer(const std::string& bytes) {
  static const TemporaryDirectory folder;
  std::string_view rest = bytes;
  for (const char* name : files) {
    const std::string_view content = rest.substr(0, rest.find(between_files));
    rest.remove_prefix(std::min(rest.size(), content.size() + 1));
    std::filesystem::remove(folder / name);
    if (!content.empty()) folder.write(name, content);
  }
  const auto tokenizer = read_tokenizer(folder.path());
  const auto whole = tokenizer->encode(rest, std::numeric_limits<Index>::max());
  require(whole.left_out == 0, "tokens were left out though there was room");
  for (const TextToken& token : whole.tokens) {
    require(token.id < tokenizer->ids(), "a token has an id beyond the largest");
    (void)tokenizer->name_of(token.id);
    require(0 <= token.bytes.begin && token.bytes.begin <= token.bytes.end &&
                token.bytes.end <= std::ssize(rest),
            "a token lies beyond the text");
  }
  const Index added = std::ssize(tokenizer->encode("", std::numeric_limits<Index>::max()).tokens);
  const Index most = std::max(added, std::ssize(whole.tokens) / 2);
  const auto part = tokenizer->encode(rest, most);
  require(std::ssize(part.tokens) == std::min(most, std::ssize(whole.tokens)),
          "there are more or fewer tokens than asked for");
  require((part.left_out > 0) <= (most < std::ssize(whole.tokens)),
          "bytes are left out though all tokens are there");
}

std::vector<std::string> tokenizer_seeds() {
  const std::string text =
      "A b[MASK] ab, \xC3\xA9 e\xCC\x81 \xE4\xB8\xAD\xE6\x96\x87 1\xC2\xBD don't  \n x\xFF\xE2\x82 "
      "<s>";
  const std::string added =
      R"("added_tokens":[{"content":"[MASK]","lstrip":true,"normalized":false},)"
      R"({"content":"New","single_word":true,"rstrip":true}],)";
  const std::string bert =
      R"({"model":{"type":"WordPiece","unk_token":"[UNK]","max_input_chars_per_word":9,)"
      R"("vocab":{"[UNK]":0,"a":1,"##b":2,"b":3,"[MASK]":4}},)" +
      added + R"("pre_tokenizer":{"type":"BertPreTokenizer"},)";
  const std::string pairs =
      R"({"model":{"type":"BPE","unk_token":"a","fuse_unk":true,)"
      R"("vocab":{"a":0,"b":1,"ab":2,"Ġ":3,"Ġa":4,"a</w>":5},"merges":["a b",["Ġ","a"]],)";
  return {
      files_of(
          {bert +
           R"("normalizer":{"type":"BertNormalizer"},"post_processor":{"type":"TemplateProcessing",)"
           R"("single":[{"SpecialToken":{"id":"x"}},{"Sequence":{"id":"A"}}],"special_tokens":{"x":{"ids":[1,2]}}}})"},
          text),
      files_of(
          {bert +
               R"("normalizer":{"type":"Sequence","normalizers":[{"type":"NFD"},{"type":"StripAccents"},)"
               R"({"type":"Lowercase"}]},"post_processor":{"type":"BertProcessing","cls":["a",1],"sep":["b",3]}})",
           R"({"do_lower_case":true,"strip_accents":null})"},
          text),
      files_of(
          {pairs + R"("ignore_merges":true},)" + added +
           R"("pre_tokenizer":{"type":"ByteLevel"},"post_processor":{"type":"Sequence","processors":[)"
           R"({"type":"ByteLevel"},{"type":"RobertaProcessing","cls":["a",0],"sep":["b",1]}]}})"},
          text),
      files_of(
          {pairs +
           R"("end_of_word_suffix":"</w>"},)"
           R"("normalizer":{"type":"Sequence","normalizers":[{"type":"NFC"},)"
           R"({"type":"Replace","pattern":{"Regex":"\\s+"},"content":" "},{"type":"Lowercase"}]},)"
           R"("pre_tokenizer":{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":)"
           R"("'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+"},"behavior":"Removed","invert":true},)"
           R"({"type":"ByteLevel","add_prefix_space":false}]}})"},
          text),
      files_of({"", R"({"mask_token":{"content":"b"}})", "[UNK]\n[CLS]\n[SEP]\na\nb\n##b\n"}, text),
      files_of({"", R"({"add_prefix_space":true})", "", R"({"<s>":0,"</s>":1,"a":2,"b":3,"ab":4})",
                "#version: 0.2\na b\n"},
               text),
      files_of({"", "", "", R"({"<|startoftext|>":0,"<|endoftext|>":1,"a":2,"b</w>":3,"ab</w>":4})",
                "a b</w>\n"},
               text)};
}

}  // namespace fovea::test
