#include "io/token_file.h"

#include <optional>

#include "data/error.h"
#include "io/json_place.h"
#include "io/token_marks.h"

namespace fovea {
namespace {

using Tokens = std::vector<std::string>;

Tokens read_strings(const JsonPlace& list) {
  Tokens out;
  for (const JsonPlace& token : list.items("a list of strings"))
    out.push_back(token.as<std::string>());
  return display_tokens(out);
}

Tokens read_ids(const JsonPlace& list) {
  const std::vector<JsonPlace> ids = list.items("a list of integers");
  // Tokenizers return a batch, [[101, ...]], when tensors are asked for.
  if (ids.size() == 1 && ids[0].value().is_array()) return read_ids(ids[0]);
  Tokens out;
  for (const JsonPlace& id : ids) {
    if (!id.value().is_number_integer()) throw id.refusal("an integer");
    out.push_back(id.value().dump());
  }
  return out;
}

void require_same_length(const std::string& path, const char* name, std::size_t found,
                         std::size_t tokens) {
  if (found != tokens)
    throw InputError(path, std::string(name) + " has " + std::to_string(found) +
                               " entries, there are " + std::to_string(tokens) +
                               " tokens; expected one for each token");
}

TokenFile read_encoding(const std::string& path, const Json& object) {
  const JsonPlace encoding(path, object);
  if (object.contains("added_tokens") || (object.contains("model") && object.contains("version")))
    throw InputError(path,
                     "holds a tokenizer's vocabulary, not a tokenized text; expected "
                     "what it returns for a text, {\"tokens\": [...]} or {\"input_ids\": [...]}");
  if (object.contains("fovea_session"))
    throw InputError(
        path,
        "is a session of Fovea; expected a source: fovea render or the window opens a session");
  std::optional<Tokens> tokens, ids;
  if (const auto list = encoding.find("tokens")) tokens = read_strings(*list);
  for (const char* name : {"input_ids", "ids"})
    if (const auto list = encoding.find(name); list && !ids) ids = read_ids(*list);
  if (!tokens && !ids)
    throw InputError(path,
                     "is an object without tokens and input_ids; expected at least one of them");
  if (tokens && ids) require_same_length(path, "input_ids", ids->size(), tokens->size());
  const std::size_t count = (tokens ? *tokens : *ids).size();
  if (const auto offsets = encoding.find("offsets"); offsets && offsets->value().is_array())
    require_same_length(path, "offsets", offsets->value().size(), count);
  if (tokens) return {std::move(*tokens), {}};
  return {std::move(*ids), {"The file has token ids without their text: the ids are shown."}};
}

TokenFile read_list(const std::string& path, const Json& list) {
  if (list.empty()) throw InputError(path, "an empty list; expected at least one token");
  if (list[0].is_object()) {
    if (list.size() > 1)
      throw InputError(path, std::to_string(list.size()) + " encodings; expected one");
    return read_encoding(path, list[0]);
  }
  const JsonPlace tokens(path, list);
  if (list[0].is_string()) return {read_strings(tokens), {}};
  return {read_ids(tokens), {"The file has token ids without their text: the ids are shown."}};
}

}  // namespace

std::string read_token_text(const FileBytes& file, const std::stop_token& stop) {
  constexpr Index most_mib = 64;
  const Index mib = (file.size() + (Index{1} << 20) - 1) >> 20;
  if (mib > most_mib)
    throw InputError(file.path(), "a text of " + std::to_string(mib) + " MiB; expected at most " +
                                      std::to_string(most_mib) + " MiB");
  return file.text(stop);
}

TokenFile read_token_json(const FileBytes& file, const std::stop_token& stop) {
  const std::string& path = file.path();
  const Json document = parse_json(path, read_token_text(file, stop), stop);
  if (!document.is_array() && !document.is_object())
    throw InputError(path,
                     kind_of(document) + "; expected a list of tokens or an object with tokens");
  TokenFile out = document.is_array() ? read_list(path, document) : read_encoding(path, document);
  if (out.tokens.empty()) throw InputError(path, "no tokens; expected at least one");
  return out;
}

}  // namespace fovea
