#include "io/source_metadata.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "data/error.h"
#include "io/json_place.h"
#include "io/token_marks.h"

namespace fovea {
namespace {

InputError refusal(const Source& source, const std::string& key, const std::string& found,
                   const char* expected) {
  return InputError(source.path, "metadata '" + key + "' is " + found + "; expected " + expected);
}

bool condition_from(const Source& source, const std::string& key, const std::string& text,
                    const Condition<bool>&) {
  if (text == "true" || text == "True" || text == "1") return true;
  if (text == "false" || text == "False" || text == "0") return false;
  throw refusal(source, key, fovea::quoted(text), "true or false");
}

/// Files do not write a 0 for what a model does not have.
template <class T>
T condition_from(const Source& source, const std::string& key, const std::string& text,
                 const Condition<T>& condition) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value > 0) ||
      !condition.allows(value))
    throw refusal(source, key, fovea::quoted(text),
                  std::is_same_v<T, Index> ? "a number of keys, 1 or more" : "a number above 0");
  return value;
}

std::vector<std::string> read_tokens(const Source& source, const std::string& key,
                                     const std::string& text, const std::stop_token& stop) {
  const std::string where = source.path + ", metadata '" + key + "'";
  const Json list = parse_json(where, text, stop);
  std::vector<std::string> tokens;
  for (const JsonPlace& token : JsonPlace(where, list).items("a list of strings"))
    tokens.push_back(token.as<std::string>());
  return display_tokens(tokens);
}

ImageGrid read_image(const Source& source, const std::string& text, const std::stop_token& stop) {
  constexpr const char* expected =
      R"({"grid": [rows, cols], "prefix": tokens before} in whole numbers)";
  const std::string where = source.path + ", metadata 'image'";
  const Json document = parse_json(where, text, stop);
  const JsonPlace image(where, document);
  if (!document.is_object()) throw image.refusal(expected);
  const auto sides = image.at("grid", expected).items(expected);
  if (sides.size() != 2) throw image.refusal(expected);
  ImageGrid grid{sides[0].whole(1, expected), sides[1].whole(1, expected)};
  if (const auto prefix = image.find("prefix")) grid.prefix = prefix->whole(0, expected);
  return grid;
}

void set_grid(Source& source, const ImageGrid& grid) {
  const Index positions = grid.prefix + grid.rows * grid.cols;
  const auto layer =
      std::ranges::find_if(source.layers, [&](const Layer& l) { return l.queries() < positions; });
  if (layer != source.layers.end()) {
    source.notes.push_back("The image grid of " + std::to_string(grid.rows) + " x " +
                           std::to_string(grid.cols) + " patches after " +
                           std::to_string(grid.prefix) + " tokens needs " +
                           std::to_string(positions) + " positions, but " +
                           layer->lengths().text() + ": the grid is left out.");
    return;
  }
  source.sequence.grid = grid;
}

/// Sets the tokens of the queries; or of the keys, whose last tokens are those of the queries if a
/// causal mask or a window says that both are of one sequence. Tokens that were set before stay.
/// Returns whether the tokens fit.
bool set_layer_tokens(Layer& layer, const std::vector<std::string>& tokens, bool causal) {
  const auto count = std::ssize(tokens);
  if (count == layer.queries()) {
    if (!layer.sequence) layer.sequence = Sequence{tokens, {}};
    return true;
  }
  if (count != layer.tokens()) return false;
  if (!layer.key_sequence) layer.key_sequence.emplace();
  if (layer.key_sequence->tokens.empty()) layer.key_sequence->tokens = tokens;
  const bool one_sequence = causal || layer.conditions.window.has_value();
  if (!layer.sequence && one_sequence && layer.queries() < layer.tokens())
    layer.sequence = Sequence{{tokens.end() - layer.queries(), tokens.end()}, {}};
  return true;
}

/// Applies what the metadata says about one layer, as "layer3.window", or about all.
void apply_to_layer(Source& source, Layer& layer, const std::stop_token& stop) {
  const auto use = [&](const char* key, bool of_all, auto take) {
    const std::string own = layer.name + "." + key;
    for (const std::string& name : {own, std::string(of_all ? key : "")})
      if (const auto found = source.metadata.find(name);
          !name.empty() && found != source.metadata.end())
        return take(name, found->second);
  };
  LayerConditions& to = layer.conditions;
  const auto misfit = [&](const std::string& key, Index count) {
    source.notes.push_back("Metadata " + fovea::quoted(key) + " lists " + std::to_string(count) +
                           " tokens, but " + layer.lengths().text() + ": they are left out.");
  };
  const HeadConditions of_source{.causal = source.causal, .scale = source.scale};
  for_conditions([&](const auto& condition) {
    use(condition.id, !(of_source.*condition.member),
        [&](const std::string& key, const std::string& text) {
          to.*condition.member = condition_from(source, key, text, condition);
        });
  });
  use("recurrence", true, [&](const std::string& key, const std::string& text) {
    if (text != "delta" && text != "linear")
      throw refusal(source, key, fovea::quoted(text), "delta or linear");
    to.recurrence.erases = text == "delta";
  });
  if ((to.recurrence.present() || to.compressed) && !to.causal)
    to.causal = source.causal.value_or(true);
  use("tokens", false, [&](const std::string& key, const std::string& text) {
    std::vector<std::string> tokens = read_tokens(source, key, text, stop);
    const bool causal = to.causal.value_or(source.causal.value_or(false));
    if (!set_layer_tokens(layer, tokens, causal)) misfit(key, std::ssize(tokens));
  });
  use("key_tokens", true, [&](const std::string& key, const std::string& text) {
    std::vector<std::string> tokens = read_tokens(source, key, text, stop);
    if (std::ssize(tokens) == layer.tokens()) {
      if (!layer.key_sequence) layer.key_sequence.emplace();
      layer.key_sequence->tokens = std::move(tokens);
    } else if (key.starts_with(layer.name + ".")) {
      misfit(key, std::ssize(tokens));
    }
  });
}

}  // namespace

void set_tokens(Source& source, std::vector<std::string> tokens) {
  const auto count = std::ssize(tokens);
  if (std::ranges::all_of(source.layers, [&](const Layer& l) { return l.queries() == count; })) {
    source.sequence.tokens = std::move(tokens);
    return name_keys_of_compressed(source);
  }
  const Layer* misfit = nullptr;
  for (Layer& layer : source.layers)
    if (!set_layer_tokens(layer, tokens,
                          layer.conditions.causal.value_or(source.causal.value_or(false))) &&
        !layer.sequence && !misfit)
      misfit = &layer;
  name_keys_of_compressed(source);
  if (misfit)
    source.notes.push_back(std::to_string(count) + " tokens but " + misfit->lengths().text() +
                           (source.layers.size() > 1 ? " in " + misfit->name : std::string()) +
                           ": positions are labelled by index.");
}

void apply_metadata(Source& source, const std::stop_token& stop) {
  const auto find = [&](const char* key) -> const std::string* {
    const auto found = source.metadata.find(key);
    return found == source.metadata.end() ? nullptr : &found->second;
  };
  if (const auto* text = find("scale"))
    source.scale = condition_from(source, "scale", *text, condition::scale);
  if (const auto* text = find("causal"))
    source.causal = condition_from(source, "causal", *text, condition::causal);
  for (Layer& layer : source.layers) apply_to_layer(source, layer, stop);
  if (const auto* text = find("tokens"))
    set_tokens(source, read_tokens(source, "tokens", *text, stop));
  else
    name_keys_of_compressed(source);
  if (const auto* text = find("image")) set_grid(source, read_image(source, *text, stop));
  if (const auto* text = find("model"); text && !text->empty()) source.name = printable(*text);
  if (const auto* text = find("layer");
      text && !text->empty() && source.layers.size() == 1 && source.layers[0].name.empty()) {
    const bool number = std::ranges::all_of(*text, [](char c) { return c >= '0' && c <= '9'; });
    source.layers[0].name = number ? "layer" + *text : printable(*text);
  }
}

}  // namespace fovea
