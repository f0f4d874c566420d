#include "model/tokenizer_file.h"

#include <limits>
#include <unordered_set>
#include <utility>

#include "data/error.h"
#include "data/utf8.h"
#include "model/byte_pairs.h"
#include "model/tokenizer_parts.h"
#include "model/word_piece.h"

namespace fovea {
namespace {

constexpr char other_tokenizers[] = ". The worker in Python can open the model";

/// An object of the file, its name in messages, and its fields.
class TokenizerObject {
 public:
  TokenizerObject(std::string where, std::string name, const Json& value)
      : where_(std::move(where)), name_(std::move(name)), value_(value) {
    if (!value.is_object()) fail(kind_of(value), "an object");
  }

  /// A field, unless it is missing or null.
  const Json* find(const char* field) const {
    const auto found = value_.find(field);
    return found == value_.end() || found->is_null() ? nullptr : &*found;
  }
  const Json& at(const char* field) const {
    if (const Json* found = find(field)) return *found;
    throw InputError(where_, path_of(field) + " is missing; expected it in " +
                                 (name_.empty() ? "the file" : name_));
  }
  TokenizerObject object(const char* field) const { return {where_, path_of(field), at(field)}; }
  /// The objects of a list; none where the field is missing.
  std::vector<TokenizerObject> objects(const char* field) const {
    std::vector<TokenizerObject> out;
    const Json* list = find(field);
    if (!list) return out;
    if (!list->is_array()) fail(field, kind_of(*list), "a list");
    for (const Json& item : *list)
      out.emplace_back(where_, path_of(field) + "[" + std::to_string(out.size()) + "]", item);
    return out;
  }
  const std::string& text(const char* field) const {
    const Json& value = at(field);
    if (!value.is_string()) fail(field, kind_of(value), "a string");
    return value.get_ref<const std::string&>();
  }
  std::string text_or(const char* field, const char* otherwise) const {
    return find(field) ? text(field) : otherwise;
  }
  bool flag(const char* field, bool otherwise) const {
    const Json* value = find(field);
    if (value && !value->is_boolean()) fail(field, kind_of(*value), "true or false");
    return value ? value->get<bool>() : otherwise;
  }
  Index count(const char* field, Index otherwise) const {
    const Json* value = find(field);
    if (value && (!value->is_number_unsigned() || *value > std::numeric_limits<Index>::max()))
      fail(field, excerpt(*value), "a number of characters");
    return value ? value->get<Index>() : otherwise;
  }
  std::int32_t id(const Json& value, const std::string& of) const {
    constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max() - 1;
    if (!value.is_number_unsigned() || value > largest)
      throw InputError(where_, "the id of " + of + " is " + excerpt(value) +
                                   "; expected an integer from 0 to " + std::to_string(largest));
    return value.get<std::int32_t>();
  }
  std::string type() const { return text("type"); }
  const Json& value() const { return value_; }
  const std::string& where() const { return where_; }

  [[noreturn]] void fail(const std::string& found, const std::string& expected) const {
    throw InputError(
        where_, (name_.empty() ? "the file" : name_) + " is " + found + "; expected " + expected);
  }
  [[noreturn]] void fail(const char* field, const std::string& found,
                         const std::string& expected) const {
    throw InputError(where_, path_of(field) + " is " + found + "; expected " + expected);
  }
  /// For what other tokenizers have.
  [[noreturn]] void refuse(const char* field, const std::string& expected) const {
    fail(field, excerpt(at(field)), expected + other_tokenizers);
  }

 private:
  std::string path_of(const char* field) const {
    return name_.empty() ? field : name_ + "." + field;
  }

  std::string where_;
  std::string name_;  // "model", "added_tokens[3]"; empty means the whole file
  const Json& value_;
};

/// The step, or those of a "Sequence", which lie in its field `list`.
void add_steps(const TokenizerObject& step, const char* list, std::vector<TokenizerObject>& steps) {
  if (step.type() != "Sequence") return steps.push_back(step);
  for (const TokenizerObject& inner : step.objects(list)) add_steps(inner, list, steps);
}

/// The steps of a field; none where it is missing.
std::vector<TokenizerObject> steps_of(const TokenizerObject& document, const char* field,
                                      const char* list) {
  std::vector<TokenizerObject> steps;
  if (document.find(field)) add_steps(document.object(field), list, steps);
  return steps;
}

void read_normalizer(const TokenizerObject& step, std::vector<Normalization>& out) {
  const std::string type = step.type();
  if (type == "BertNormalizer") {
    const bool lower = step.flag("lowercase", true);
    if (step.flag("clean_text", true)) out.push_back(Normalization::clean);
    if (step.flag("handle_chinese_chars", true)) out.push_back(Normalization::space_chinese);
    if (step.flag("strip_accents", lower)) {
      out.push_back(Normalization::decompose);
      out.push_back(Normalization::remove_nonspacing_marks);
    }
    if (lower) out.push_back(Normalization::lower_case);
  } else if (type == "NFD") {
    out.push_back(Normalization::decompose);
  } else if (type == "NFC") {
    out.push_back(Normalization::compose);
  } else if (type == "Lowercase") {
    out.push_back(Normalization::lower_case);
  } else if (type == "StripAccents") {
    out.push_back(Normalization::remove_marks);
  } else if (type == "Replace") {
    if (step.at("pattern") != Json{{"Regex", "\\s+"}} || step.text("content") != " ")
      step.refuse("pattern", R"({"Regex": "\\s+"} that is replaced by a space)");
    out.push_back(Normalization::join_white_space);
  } else {
    step.refuse("type", "BertNormalizer, NFC, NFD, Lowercase, StripAccents, Replace or Sequence");
  }
}

void read_pre_tokenizer(const TokenizerObject& step, TokenizerParts& out) {
  const std::string type = step.type();
  if (type == "BertPreTokenizer") {
    out.word_rules.push_back(WordRule::bert);
  } else if (type == "ByteLevel") {
    if (step.flag("add_prefix_space", true)) {
      if (!out.word_rules.empty()) step.refuse("add_prefix_space", "false after another step");
      out.prefix_space = true;
    }
    if (step.flag("use_regex", true)) out.word_rules.push_back(WordRule::gpt2);
  } else if (type == "Split") {
    const std::string_view newer = clip_words, older = newer.substr(newer.find("'s|"));
    const Json& pattern = step.at("pattern");
    const bool with_marks = pattern == Json{{"Regex", newer}};
    if (!with_marks && pattern != Json{{"Regex", older}})
      step.refuse("pattern", "the words of CLIP");
    if (step.text("behavior") != "Removed") step.refuse("behavior", "\"Removed\"");
    if (!step.flag("invert", false)) step.refuse("invert", "true");
    out.word_rules.push_back(with_marks ? WordRule::clip_and_marks : WordRule::clip);
  } else {
    step.refuse("type", "BertPreTokenizer, ByteLevel, Split or Sequence");
  }
}

void read_vocabulary(const TokenizerObject& model, Vocabulary& out) {
  const TokenizerObject vocabulary = model.object("vocab");
  for (const auto& [name, id] : vocabulary.value().items())
    if (!out.add(name, vocabulary.id(id, "the token " + fovea::quoted(name))))
      throw InputError(model.where(), "the tokens " + fovea::quoted(*out.name_of(id)) + " and " +
                                          fovea::quoted(name) + " have the same id " + id.dump() +
                                          "; expected one token for each id");
}

/// The id of a token that a field names.
std::int32_t named_id(const TokenizerObject& model, const char* field,
                      const Vocabulary& vocabulary) {
  const auto id = vocabulary.id_of(model.text(field));
  if (!id) model.fail(field, fovea::quoted(model.text(field)), "a token of the vocabulary");
  return *id;
}

std::unique_ptr<WordModel> read_word_piece(const TokenizerObject& model,
                                           const Vocabulary& vocabulary) {
  return std::make_unique<WordPiece>(
      vocabulary,
      WordPiece::Rules{.unknown = named_id(model, "unk_token", vocabulary),
                       .continued = model.text_or("continuing_subword_prefix", "##"),
                       .most_characters = model.count("max_input_chars_per_word", 100)});
}

/// The two names that a merge consists of: ["a", "b"] or "a b".
std::pair<std::string, std::string> merge_from(const TokenizerObject& model, const Json& merge,
                                               std::size_t number) {
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string())
    return {merge[0].get<std::string>(), merge[1].get<std::string>()};
  if (merge.is_string()) {
    const auto& text = merge.get_ref<const std::string&>();
    const auto space = text.find(' ');
    if (space != std::string::npos && text.find(' ', space + 1) == std::string::npos)
      return {text.substr(0, space), text.substr(space + 1)};
  }
  throw InputError(model.where(), "model.merges[" + std::to_string(number) + "] is " +
                                      excerpt(merge) + "; expected two tokens");
}

std::unique_ptr<WordModel> read_byte_pairs(const TokenizerObject& model,
                                           const Vocabulary& vocabulary) {
  if (const Json* dropout = model.find("dropout"); dropout && *dropout != 0)
    model.refuse("dropout", "null");
  if (model.text_or("continuing_subword_prefix", "") != "")
    model.refuse("continuing_subword_prefix", "none");
  if (model.flag("byte_fallback", false)) model.refuse("byte_fallback", "false");
  BytePairs::Rules rules{.unknown = {},
                         .joins_unknown = model.flag("fuse_unk", false),
                         .end_of_word = model.text_or("end_of_word_suffix", ""),
                         .whole_words = model.flag("ignore_merges", false)};
  if (model.find("unk_token")) rules.unknown = named_id(model, "unk_token", vocabulary);
  auto out = std::make_unique<BytePairs>(vocabulary, std::move(rules));
  const Json& merges = model.at("merges");
  if (!merges.is_array()) model.fail("merges", kind_of(merges), "a list");
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const auto [left, right] = merge_from(model, merges[i], i);
    if (!out->add_merge(left, right))
      throw InputError(model.where(),
                       "model.merges[" + std::to_string(i) + "] merges " + fovea::quoted(left) +
                           " and " + fovea::quoted(right) +
                           "; expected both, and what they become, in the vocabulary");
  }
  return out;
}

/// `of_bytes`: its words are bytes.
std::unique_ptr<WordModel> read_model(const TokenizerObject& document, bool of_bytes,
                                      TokenizerParts& parts) {
  const TokenizerObject model = document.object("model");
  // Files of before 2022 have no type; WordPiece alone has a longest word.
  const std::string type = model.find("type")                       ? model.type()
                           : model.find("max_input_chars_per_word") ? "WordPiece"
                                                                    : "BPE";
  if (type != "WordPiece" && type != "BPE") model.refuse("type", "\"WordPiece\" or \"BPE\"");
  if (of_bytes && type == "WordPiece")
    model.fail("type", "WordPiece after the step ByteLevel", std::string("BPE") + other_tokenizers);
  if (!of_bytes && type == "BPE")
    model.fail("type", "BPE without the step ByteLevel",
               std::string("that at the end of pre_tokenizer") + other_tokenizers);
  read_vocabulary(model, parts.vocabulary);
  return type == "WordPiece" ? read_word_piece(model, parts.vocabulary)
                             : read_byte_pairs(model, parts.vocabulary);
}

std::u32string characters_of(const AlignedText& text) {
  std::u32string out;
  for (const AlignedCharacter& character : text) out += character.code;
  return out;
}

std::string utf8_of(const std::u32string& characters) {
  std::string out;
  for (const char32_t code : characters) append_utf8(out, code);
  return out;
}

/// Tokens have the ids of the vocabulary, others the next ids after it, as in `tokenizers`, which
/// does not read the ids of the file.
void read_added_tokens(const TokenizerObject& document, TokenizerParts& parts) {
  auto next_id = static_cast<std::int32_t>(parts.vocabulary.size());
  std::unordered_set<std::string> contents;
  for (const TokenizerObject& token : document.objects("added_tokens")) {
    const std::string& content = token.text("content");
    if (content.empty()) continue;
    if (content.size() > longest_added_token)
      token.fail("content", std::to_string(content.size()) + " bytes long",
                 "at most " + std::to_string(longest_added_token));
    const auto known = parts.vocabulary.id_of(content);
    const std::int32_t id = known ? *known : next_id++;
    if (!contents.insert(content).second)
      token.fail("content", "the same as that of another: " + fovea::quoted(content),
                 "each token once");
    AlignedText written = aligned_text(content, {0, std::ssize(content)});
    const bool normalized = token.flag("normalized", true);
    if (normalized)
      for (const Normalization step : parts.normalizations) normalize(written, step);
    if (written.empty())
      token.fail("content",
                 fovea::quoted(content) + ", of which nothing is left when it is normalized",
                 "at least one character");
    const std::u32string characters = characters_of(written);
    AddedTokens& added = normalized ? parts.added_normalized : parts.added;
    if (!added.add(characters, {.id = id,
                                .single_word = token.flag("single_word", false),
                                .takes_space_before = token.flag("lstrip", false),
                                .takes_space_after = token.flag("rstrip", false)}))
      token.fail("content", "normalized as that of another: " + fovea::quoted(content),
                 "another token");
    parts.added_names[id] = utf8_of(characters);
  }
}

/// The ids of a special token that a template names.
void add_template_ids(const TokenizerObject& processor, const std::string& name,
                      std::vector<std::int32_t>& ids) {
  const TokenizerObject tokens = processor.object("special_tokens");
  const Json& found = tokens.object(name.c_str()).at("ids");
  if (!found.is_array()) tokens.object(name.c_str()).fail("ids", kind_of(found), "a list");
  for (const Json& id : found) ids.push_back(tokens.id(id, "the token " + fovea::quoted(name)));
}

void read_template(const TokenizerObject& processor, TokenizerParts& parts) {
  int texts = 0;
  for (const TokenizerObject& piece : processor.objects("single")) {
    if (piece.find("Sequence")) {
      if (piece.object("Sequence").text("id") != "A")
        piece.object("Sequence").refuse("id", "\"A\"");
      ++texts;
    } else {
      add_template_ids(processor, piece.object("SpecialToken").text("id"),
                       texts == 0 ? parts.before : parts.after);
    }
  }
  if (texts != 1) processor.refuse("single", "the text once");
}

/// ["[SEP]", 102]
std::int32_t pair_id(const TokenizerObject& processor, const char* field) {
  const Json& pair = processor.at(field);
  if (!pair.is_array() || pair.size() != 2)
    processor.fail(field, excerpt(pair), "a token and its id");
  return processor.id(pair[1], std::string("the token ") + field);
}

void read_post_processor(const TokenizerObject& step, TokenizerParts& parts) {
  const std::string type = step.type();
  if (type == "TemplateProcessing") {
    read_template(step, parts);
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    parts.before.push_back(pair_id(step, "cls"));
    parts.after.push_back(pair_id(step, "sep"));
  } else if (type != "ByteLevel") {
    step.refuse("type",
                "TemplateProcessing, BertProcessing, RobertaProcessing, ByteLevel or Sequence");
  }
  if ((type == "RobertaProcessing" || type == "ByteLevel") && step.flag("trim_offsets", true))
    parts.trimming = TokenizerParts::Trimming{.prefix_space = step.flag("add_prefix_space", true)};
}

void require_known(const TokenizerObject& document, const TokenizerParts& parts) {
  for (const auto* ids : {&parts.before, &parts.after})
    for (const std::int32_t id : *ids)
      if (!parts.vocabulary.name_of(id) && !parts.added_names.contains(id))
        throw InputError(document.where(), "post_processor adds the token " + std::to_string(id) +
                                               "; expected the id of a token of the vocabulary");
}

}  // namespace

std::unique_ptr<Tokenizer> tokenizer_from(const std::string& where, const Json& json,
                                          SourceFiles files) {
  const TokenizerObject document(where, "", json);
  auto parts = std::make_unique<TokenizerParts>();
  for (const TokenizerObject& step : steps_of(document, "normalizer", "normalizers"))
    read_normalizer(step, parts->normalizations);
  bool of_bytes = false;
  for (const TokenizerObject& step : steps_of(document, "pre_tokenizer", "pretokenizers")) {
    if (of_bytes) step.refuse("type", "no step after ByteLevel");
    read_pre_tokenizer(step, *parts);
    of_bytes = step.type() == "ByteLevel";
  }
  parts->model = read_model(document, of_bytes, *parts);
  read_added_tokens(document, *parts);
  for (const TokenizerObject& step : steps_of(document, "post_processor", "processors"))
    read_post_processor(step, *parts);
  require_known(document, *parts);
  return std::make_unique<Tokenizer>(std::move(parts), std::move(files));
}

}  // namespace fovea
