// The folder of a model: which files of a tokenizer it has.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "data/error.h"
#include "data/utf8.h"
#include "io/file_bytes.h"
#include "model/tokenizer_file.h"

namespace fovea {
namespace {

/// Whether there is anything of the name; links are followed, as the caches of models have them.
bool has_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

Json read_json(const std::string& path, const std::stop_token& stop) {
  return parse_json(path, FileBytes(path).text(stop), stop);
}

Json config_of(const std::string& folder, const std::stop_token& stop) {
  const std::string path = folder + "/tokenizer_config.json";
  if (!has_file(path)) return Json::object();
  Json config = read_json(path, stop);
  if (!config.is_object())
    throw InputError(path, "holds " + kind_of(config) + "; expected an object");
  return config;
}

/// The lines of a text, without what ends them.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    if (lines.back().ends_with('\r')) lines.back().pop_back();
    begin = end + 1;
  }
  return lines;
}

/// A special token of tokenizer_config.json: "[CLS]" or {"content": "[CLS]", ...}.
std::string special_token(const Json& config, const char* name, const char* otherwise) {
  const auto found = config.find(name);
  if (found == config.end()) return otherwise;
  if (found->is_string()) return *found;
  if (found->is_object() && found->contains("content") && (*found)["content"].is_string())
    return (*found)["content"];
  return otherwise;
}

/// A setting of tokenizer_config.json.
Json setting(const Json& config, const char* name, Json otherwise) {
  const auto found = config.find(name);
  return found == config.end() ? std::move(otherwise) : *found;
}

/// The id of a token that the model adds.
const Json& id_of_added(const std::string& where, const Json& vocabulary,
                        const std::string& token) {
  const auto found = vocabulary.find(token);
  if (found == vocabulary.end())
    throw InputError(where, "the vocabulary has no token " + fovea::quoted(token) +
                                ", which the model adds to a text; expected it there, or another "
                                "in tokenizer_config.json");
  return *found;
}

/// The list of tokens that are found before a text is cut into words: those of the configuration,
/// or those of `special` that the vocabulary has.
Json added_tokens(const Json& config, const Json& vocabulary,
                  const std::vector<std::string>& special) {
  Json out = Json::array();
  if (const auto listed = config.find("added_tokens_decoder");
      listed != config.end() && listed->is_object()) {
    for (const Json& token : *listed) out.push_back(token);
    return out;
  }
  std::vector<std::string> done;
  for (const std::string& token : special) {
    if (!vocabulary.contains(token) || std::ranges::count(done, token) > 0) continue;
    done.push_back(token);
    out.push_back({{"content", token}, {"normalized", false}, {"lstrip", token == "<mask>"}});
  }
  return out;
}

}  // namespace

Json bert_tokenizer(const std::string& where, const std::string& vocabulary, const Json& config) {
  Json ids = Json::object();
  std::int32_t id = 0;
  for (const std::string& line : lines_of(vocabulary)) {
    if (!is_utf8(line))
      throw InputError(where, "line " + std::to_string(id + 1) + " is not UTF-8: " +
                                  fovea::quoted(line) + "; expected one token a line");
    ids[line] = id++;
  }
  const auto special = [&](const char* name, const char* otherwise) {
    return special_token(config, name, otherwise);
  };
  const std::string unknown = special("unk_token", "[UNK]"), begin = special("cls_token", "[CLS]"),
                    end = special("sep_token", "[SEP]");
  Json out;
  out["added_tokens"] = added_tokens(
      config, ids,
      {special("pad_token", "[PAD]"), unknown, begin, end, special("mask_token", "[MASK]")});
  out["normalizer"] = {{"type", "BertNormalizer"},
                       {"lowercase", setting(config, "do_lower_case", true)},
                       {"handle_chinese_chars", setting(config, "tokenize_chinese_chars", true)},
                       {"strip_accents", setting(config, "strip_accents", nullptr)}};
  out["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  out["post_processor"] = {{"type", "BertProcessing"},
                           {"cls", {begin, id_of_added(where, ids, begin)}},
                           {"sep", {end, id_of_added(where, ids, end)}}};
  out["model"] = {{"type", "WordPiece"}, {"unk_token", unknown}, {"vocab", std::move(ids)}};
  return out;
}

Json byte_pair_tokenizer(const std::string& where, Json vocabulary, const std::string& merges,
                         const Json& config) {
  if (!vocabulary.is_object())
    throw InputError(where,
                     "holds " + kind_of(vocabulary) + "; expected an object of tokens and ids");
  Json pairs = Json::array();
  for (std::string& line : lines_of(merges))
    if (!line.empty() && !line.starts_with("#version")) pairs.push_back(std::move(line));
  const auto special = [&](const char* name, const char* otherwise) {
    return special_token(config, name, otherwise);
  };
  const bool clip = vocabulary.contains("<|startoftext|>");
  const std::string begin =
      clip ? special("bos_token", "<|startoftext|>") : special("cls_token", "<s>");
  const std::string end =
      clip ? special("eos_token", "<|endoftext|>") : special("sep_token", "</s>");
  const Json prefix = clip ? Json(false) : setting(config, "add_prefix_space", false);
  Json out;
  out["added_tokens"] =
      added_tokens(config, vocabulary,
                   {begin, end, special("pad_token", "<pad>"), special("unk_token", "<unk>"),
                    special("mask_token", "<mask>")});
  Json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", prefix}};
  if (clip) {
    out["normalizer"] = {
        {"type", "Sequence"},
        {"normalizers",
         {{{"type", "NFC"}},
          {{"type", "Replace"}, {"pattern", {{"Regex", "\\s+"}}}, {"content", " "}},
          {{"type", "Lowercase"}}}}};
    out["pre_tokenizer"] = {{"type", "Sequence"},
                            {"pretokenizers",
                             {{{"type", "Split"},
                               {"pattern", {{"Regex", clip_words}}},
                               {"behavior", "Removed"},
                               {"invert", true}},
                              std::move(byte_level)}}};
  } else {
    out["pre_tokenizer"] = std::move(byte_level);
  }
  out["post_processor"] = {
      {"type", "RobertaProcessing"},
      {"cls", {begin, id_of_added(where, vocabulary, begin)}},
      {"sep", {end, id_of_added(where, vocabulary, end)}},
      {"trim_offsets", clip ? Json(false) : setting(config, "trim_offsets", true)},
      {"add_prefix_space", prefix}};
  out["model"] = {{"type", "BPE"}, {"vocab", std::move(vocabulary)}, {"merges", std::move(pairs)}};
  if (clip) {
    out["model"]["end_of_word_suffix"] = "</w>";
    out["model"]["unk_token"] = special("unk_token", "<|endoftext|>");
  }
  return out;
}

std::unique_ptr<Tokenizer> read_tokenizer(const std::string& folder, const std::stop_token& stop) {
  const auto path = [&](const char* name) { return folder + "/" + name; };
  if (has_file(path("tokenizer.json")))
    return tokenizer_from(path("tokenizer.json"), read_json(path("tokenizer.json"), stop));
  if (has_file(path("vocab.txt")))
    return tokenizer_from(path("vocab.txt"),
                          bert_tokenizer(path("vocab.txt"), FileBytes(path("vocab.txt")).text(stop),
                                         config_of(folder, stop)));
  if (has_file(path("vocab.json")))
    return tokenizer_from(
        path("vocab.json"),
        byte_pair_tokenizer(path("vocab.json"), read_json(path("vocab.json"), stop),
                            FileBytes(path("merges.txt")).text(stop), config_of(folder, stop)));
  throw InputError(folder,
                   "the folder has no tokenizer; expected tokenizer.json, vocab.txt, or vocab.json "
                   "and merges.txt");
}

}  // namespace fovea
