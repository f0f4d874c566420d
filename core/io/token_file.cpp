#include "io/token_file.h"

#include <optional>

#include "data/error.h"
#include "io/json.h"
#include "io/token_marks.h"

namespace fovea {
namespace {

using Tokens = std::vector<std::string>;

Tokens read_strings(const std::string& path, const std::string& name, const Json& list) {
  if (!list.is_array())
    throw InputError(path, name + " is " + kind_of(list) + "; expected a list of strings");
  Tokens out;
  for (const Json& token : list) {
    if (!token.is_string())
      throw InputError(path, name + "[" + std::to_string(out.size()) + "] is " + kind_of(token) +
                                 "; expected a string");
    out.push_back(token.get_ref<const std::string&>());
  }
  return display_tokens(out);
}

Tokens read_ids(const std::string& path, const std::string& name, const Json& list) {
  if (!list.is_array())
    throw InputError(path, name + " is " + kind_of(list) + "; expected a list of integers");
  // Tokenizers return a batch, [[101, ...]], when tensors are asked for.
  if (list.size() == 1 && list[0].is_array()) return read_ids(path, name + "[0]", list[0]);
  Tokens out;
  for (const Json& id : list) {
    if (!id.is_number_integer())
      throw InputError(path, name + "[" + std::to_string(out.size()) + "] is " + excerpt(id) +
                                 "; expected an integer");
    out.push_back(id.dump());
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
  const auto find = [&](const char* name) {
    const auto found = object.find(name);
    return found == object.end() || found->is_null() ? nullptr : &*found;
  };
  if (object.contains("added_tokens") || (object.contains("model") && object.contains("version")))
    throw InputError(path,
                     "holds a tokenizer's vocabulary, not a tokenized text; expected "
                     "what it returns for a text, {\"tokens\": [...]} or {\"input_ids\": [...]}");
  if (object.contains("fovea_session"))
    throw InputError(
        path,
        "is a session of Fovea; expected a source: fovea render or the window opens a session");
  std::optional<Tokens> tokens, ids;
  if (const Json* list = find("tokens")) tokens = read_strings(path, "tokens", *list);
  for (const char* name : {"input_ids", "ids"})
    if (const Json* list = find(name); list && !ids) ids = read_ids(path, name, *list);
  if (!tokens && !ids)
    throw InputError(path,
                     "is an object without tokens and input_ids; expected at least one of them");
  if (tokens && ids) require_same_length(path, "input_ids", ids->size(), tokens->size());
  const std::size_t count = (tokens ? *tokens : *ids).size();
  if (const Json* offsets = find("offsets"); offsets && offsets->is_array())
    require_same_length(path, "offsets", offsets->size(), count);
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
  if (list[0].is_string()) return {read_strings(path, "the list", list), {}};
  return {read_ids(path, "the list", list),
          {"The file has token ids without their text: the ids are shown."}};
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
