// The folder of a model: which files of a tokenizer it has.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "data/error.h"
#include "data/stop.h"
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

/// The content of a file, which is added to those that were read.
std::string read_text(const std::string& path, SourceFiles& files, const std::stop_token& stop) {
  files.push_back(std::make_shared<const FileBytes>(path));
  return files.back()->text(stop);
}

Json read_json(const std::string& path, SourceFiles& files, const std::stop_token& stop) {
  return parse_json(path, read_text(path, files, stop), stop);
}

/// tokenizer_config.json, in which the settings used here are what they should be; an empty object
/// where there is none.
Json config_of(const std::string& folder, SourceFiles& files, const std::stop_token& stop) {
  const std::string path = folder + "/tokenizer_config.json";
  if (!has_file(path)) return Json::object();
  Json config = read_json(path, files, stop);
  if (!config.is_object())
    throw InputError(path, "holds " + kind_of(config) + "; expected an object");
  const auto require = [&](const char* name, bool holds, const char* expected) {
    if (!holds)
      throw InputError(
          path, std::string(name) + " is " + excerpt(config[name]) + "; expected " + expected);
  };
  for (const char* name : {"do_lower_case", "tokenize_chinese_chars", "strip_accents",
                           "add_prefix_space", "trim_offsets"})
    if (config.contains(name))
      require(name, config[name].is_boolean() || config[name].is_null(), "true or false");
  for (const char* name : {"unk_token", "cls_token", "sep_token", "pad_token", "mask_token",
                           "bos_token", "eos_token"}) {
    if (!config.contains(name)) continue;
    Json& token = config[name];  // "[CLS]" or {"content": "[CLS]", ...}
    if (token.is_object() && token.contains("content")) token = Json(token["content"]);
    require(name, token.is_string() || token.is_null(), "a token");
  }
  return config;
}

/// The content of a file, line by line, without what ends them.
std::vector<std::string> read_lines(const std::string& path, SourceFiles& files,
                                    const std::stop_token& stop) {
  const std::string text = read_text(path, files, stop);
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    check_stop(stop);
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.pop_back();
    if (!is_utf8(line))
      throw InputError(path, "line " + std::to_string(lines.size() + 1) + " is not UTF-8: " +
                                 fovea::quoted(line) + "; expected a list of tokens, one a line");
    lines.push_back(std::move(line));
    begin = end + 1;
  }
  return lines;
}

std::string special_token(const Json& config, const char* name, const char* otherwise) {
  const auto found = config.find(name);
  return found == config.end() || found->is_null() ? otherwise : found->get<std::string>();
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
    out.push_back({{"content", token}, {"normalized", false}});
  }
  return out;
}

/// What tokenizer.json would say of BERT's tokenizer with the tokens of vocab.txt, one a line.
Json bert_tokenizer(const std::string& where, const std::vector<std::string>& vocabulary,
                    const Json& config) {
  Json ids = Json::object();
  for (std::size_t id = 0; id < vocabulary.size(); ++id) ids[vocabulary[id]] = id;
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

/// The same of the tokenizer of RoBERTa or CLIP with the tokens of vocab.json and the lines of
/// merges.txt.
Json byte_pair_tokenizer(const std::string& where, Json vocabulary, std::vector<std::string> merges,
                         const Json& config) {
  if (!vocabulary.is_object())
    throw InputError(where, "vocab.json holds " + kind_of(vocabulary) +
                                "; expected an object of tokens and ids");
  Json pairs = Json::array();
  for (std::string& line : merges)
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

/// What tokenizer_config.json says of BERT's normalizer holds, as in transformers.
void configure_bert(const Json& config, Json& document) {
  if (!document.is_object() || !document.contains("normalizer")) return;
  Json& normalizer = document["normalizer"];
  if (!normalizer.is_object() || normalizer.value("type", Json()) != "BertNormalizer") return;
  // This class takes tokenizer.json as it is.
  if (setting(config, "tokenizer_class", nullptr) == "PreTrainedTokenizerFast") return;
  for (const auto& [name, field] : {std::pair("do_lower_case", "lowercase"),
                                    std::pair("tokenize_chinese_chars", "handle_chinese_chars"),
                                    std::pair("strip_accents", "strip_accents")})
    if (config.contains(name)) normalizer[field] = config[name];
}

}  // namespace

std::unique_ptr<Tokenizer> read_tokenizer(const std::string& folder, const std::stop_token& stop) {
  const std::string whole = folder + "/tokenizer.json", lines = folder + "/vocab.txt",
                    pairs = folder + "/vocab.json", merges = folder + "/merges.txt";
  SourceFiles files;
  const Json config = config_of(folder, files, stop);
  if (has_file(whole)) {
    Json document = read_json(whole, files, stop);
    configure_bert(config, document);
    return tokenizer_from(whole, document, std::move(files));
  }
  if (has_file(lines)) {
    const Json document = bert_tokenizer(lines, read_lines(lines, files, stop), config);
    return tokenizer_from(lines, document, std::move(files));
  }
  if (has_file(pairs)) {
    Json vocabulary = read_json(pairs, files, stop);
    const std::string both = pairs + " and merges.txt";
    const Json document =
        byte_pair_tokenizer(both, std::move(vocabulary), read_lines(merges, files, stop), config);
    return tokenizer_from(both, document, std::move(files));
  }
  throw InputError(folder,
                   "the folder has no tokenizer; expected tokenizer.json, vocab.txt, or vocab.json "
                   "and merges.txt");
}

}  // namespace fovea
