#include "cli/options/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "backend/backends.h"
#include "cli/options/whole_numbers.h"
#include "data/address.h"
#include "data/error.h"
#include "data/memory.h"
#include "data/text.h"
#include "data/utf8.h"
#include "input/bundled_models.h"
#include "input/model_place.h"
#include "io/file_bytes.h"
#include "io/folder.h"
#include "report/text_table.h"
#include "worker/interpreter.h"

namespace fovea {
namespace {

std::pair<std::string, std::string> key_and_value(const std::string& setting) {
  const auto equals = setting.find('=');
  if (equals == std::string::npos || equals == 0)
    throw UsageError("--set " + setting + "; expected KEY=VALUE");
  return {setting.substr(0, equals), setting.substr(equals + 1)};
}

/// CLI11 would read -1, and every number that is too large, as 2^64 - 1.
std::string check_seed(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool good = error == std::errc() && end == text.data() + text.size();
  return good ? std::string()
              : "'" + text + "' found; expected a whole number from 0 to 18446744073709551615";
}

/// "layer2" and "encoder.2.self" have the number 2, "layer12" has not.
bool has_number(const std::string& name, std::int64_t number) {
  constexpr const char* digits = "0123456789";
  std::size_t end = 0;
  for (std::size_t at = name.find_first_of(digits); at != name.npos;
       at = name.find_first_of(digits, end)) {
    end = std::min(name.find_first_not_of(digits, at), name.size());
    if (whole_number_from(name.substr(at, end - at)) == number) return true;
  }
  return false;
}

template <class T>
std::string with_default(const Condition<T>& condition) {
  return std::string(condition.meaning) + " (default: what the source says, else " +
         condition.otherwise + ")";
}

void add_condition(CLI::App& command, const Condition<bool>& condition, HeadConditions& to) {
  const std::string id = condition.id;
  std::optional<bool>& value = to.*condition.member;
  auto* on = command.add_flag_callback(
      "--" + id, [&value] { value = true; }, with_default(condition));
  command
      .add_flag_callback(
          "--no-" + id, [&value] { value = false; }, "Each query sees all keys")
      ->excludes(on);
}

template <class T>
void add_condition(CLI::App& command, const Condition<T>& condition, HeadConditions& to) {
  command
      .add_option(std::string("--") + condition.id, to.*condition.member, with_default(condition))
      ->check([&condition](const std::string& text) {
        T value = {};
        const bool good = CLI::detail::lexical_cast(text, value) && condition.allows(value);
        return good ? std::string() : "'" + text + "' found; expected " + condition.expected;
      });
}

}  // namespace

bool has_parameter(const Variant& variant, const std::string& id) {
  return std::ranges::find(variant.schema, id, &Field::id) != variant.schema.end();
}

std::string refuse_empty(const std::string& text) {
  return text.empty() ? "'' found; expected a name" : std::string();
}

CLI::Validator number_from(double least, double most) {
  CLI::Validator check = CLI::Range(least, most);
  return check.operation([least, most](const std::string& text) {
    double value = 0;
    const bool good = CLI::detail::lexical_cast(text, value) && value >= least && value <= most;
    return good ? std::string()
                : "'" + text + "' found; expected a number from " + format_plain(least) + " to " +
                      format_plain(most);
  });
}

void SourceOptions::add_model_to(CLI::App& command) {
  const std::string of_model = "What a model reads";
  auto* text =
      command.add_option("--text", model_text, "A text for a model of texts")->group(of_model);
  command
      .add_option("--input", model_input,
                  "A file for the model: a text, or an image for a model "
                  "of images")
      ->check(refuse_empty)
      ->excludes(text)
      ->group(of_model);
  max_tokens_ = command
                    .add_option("--max-tokens", model_tokens,
                                "At most this many tokens of the text; a note says what is cut off")
                    ->check(CLI::Range(Index{1}, most_tokens))
                    ->capture_default_str()
                    ->group(of_model);
  command
      .add_option_function<std::string>(
          "--python",
          [](const std::string& path) {
            choose_interpreter({path, "--python"});
          },
          "The Python that computes models which Fovea does not compute itself, with torch and "
          "transformers (default: $FOVEA_PYTHON, the active environment, or python3)")
      ->check(refuse_empty)
      ->type_name("PROGRAM")
      ->group(of_model);
  command
      .add_flag("--trust-remote-code", trust_remote_code,
                "Code that comes with the model may run in Python")
      ->group(of_model);
}

void SourceOptions::add_to(CLI::App& command, bool required) {
  auto* source = command.add_option(
      "SOURCE", what,
      "A .safetensors or .npz file, a directory of .npy files, a text, a tokenizer's .json, an "
      "image, a model (its folder, a .gguf file, its name in the local cache of Hugging Face's "
      "hub, "
      "bundled:text or bundled:image) with --text or --input, or "
      "synthetic:NAME?n=...&d=...&seed=... "
      "(hmatrix, gaussian, clusters, smooth, needle, golden)");
  source->check(refuse_empty);
  if (required) source->required();
  add_model_to(command);
  of_content_ = {command.add_flag("--one-token-per-line", open.one_token_per_line,
                                  "In a .txt file each line is a token, with --content or "
                                  "--tensors"),
                 command
                     .add_option("--patch", open.patch,
                                 "With --content, the side of an image patch in pixels; 1: every "
                                 "pixel is a token")
                     ->check(CLI::Range(1, 4096))
                     ->capture_default_str(),
                 command
                     .add_option("--max-side", open.max_side,
                                 "With --content, scale an image down to at most this many pixels "
                                 "a side")
                     ->check(CLI::Range(1, 65536))};
  command
      .add_option("--mask", open.kept,
                  "Pairs that are kept, from this file: a mask of pairs or blocks, or lists "
                  "of keys or blocks, as the column of the variant imported")
      ->check(refuse_empty)
      ->type_name("FILE")
      ->group("How SOURCE is read");
  command
      .add_option("--order", order,
                  "Puts the tokens of a picture or a video in another order: hilbert, along a "
                  "Hilbert curve, or tiles, tile by tile; with height=30,width=45 and others as in "
                  "the variant sta, such as tiles,tile_rows=4; as SOURCE: ordered:ORDER:SOURCE")
      ->check(refuse_empty)
      ->group("How SOURCE is read");
  how_it_is_read_ = {
      command.add_option("--layout", layout, "Axes of its tensors, such as [B,n,H,d] or [n,3,H,d]")
          ->check(refuse_empty),
      command
          .add_option("--tensors", open.tensors,
                      "Read Q, K and V of a text or of tokens from this file")
          ->check(refuse_empty),
      command.add_flag("--content", content,
                       "Content similarity of a text or an image instead of a model: a toy "
                       "embedding, not for choosing an attention; as SOURCE: content:FILE"),
      command.add_flag("--bf16", open.as_bfloat16,
                       "16-bit integers in .npy and .npz files are bfloat16")};
  how_it_is_read_.insert(how_it_is_read_.end(), of_content_.begin(), of_content_.end());
  for (CLI::Option* option : how_it_is_read_) option->group("How SOURCE is read");
}

void refuse_to_replace(const std::string& option, const std::string& output, const Source& source,
                       const std::vector<std::string>& others) {
  std::vector<std::string> read = others;
  for (const auto& file : source.files) read.push_back(file->path());
  for (const std::string& file : read)
    if (std::error_code none; std::filesystem::equivalent(output, innermost(file), none))
      throw UsageError(option + " " + fovea::quoted(output) +
                       ": this command reads the file, and would replace it; name another one");
}

std::string SourceOptions::address() const {
  const std::string from = source_address();
  refuse_ignored(is_model_address(innermost(from)));
  if (order.find(':') != order.npos)
    throw UsageError("--order " + fovea::quoted(order) +
                     ": expected hilbert or tiles, with parameters behind commas");
  return order.empty() ? from : std::string(ordered_prefix) + order + ":" + from;
}

std::string SourceOptions::source_address() const {
  if (!model_text && !model_input) return with_absolute_paths(file_address());
  const std::string option = model_text ? "--text" : "--input";
  if (is_address(what) || (is_there(what) && !names_model(what)))
    throw UsageError(option + " goes with a model: " + fovea::quoted(what) +
                     " found; expected a folder with config.json and model.safetensors, a .gguf "
                     "file, ORG/NAME of the local cache, bundled:text or bundled:image");
  const ModelPlace place = find_model(what);  // throws if something is missing
  if (trust_remote_code) trust_code_of(place.path);
  return with_absolute_paths(to_text(
      {.folder = what, .text = model_text, .input = model_input, .most_tokens = model_tokens}));
}

std::string SourceOptions::file_address() const {
  if (content) return is_content(what) ? what : std::string(content_prefix) + what;
  if (is_address(what) || !open.tensors.empty()) return what;
  const std::string address = address_of(what);
  if (!is_model_address(address)) return what;
  for (const CLI::Option* option : of_content_)
    if (option->count() > 0)
      throw UsageError(option->get_name() + " goes with --content: a bundled model reads " + what);
  ModelAddress its = parse_model_address(address);
  its.most_tokens = model_tokens;
  return to_text(its);
}

void SourceOptions::refuse_ignored(bool model) const {
  if (max_tokens_ && max_tokens_->count() > 0 && (!model || is_model_address(innermost(what))))
    throw UsageError(
        "--max-tokens goes with a model; in the address of a model, expected max_tokens=N");
  for (const CLI::Option* option : how_it_is_read_)
    if (model && option->count() > 0)
      throw UsageError(option->get_name() +
                       " does not go with a model: its own files say how it "
                       "reads a text or an image");
}

Source SourceOptions::load(const std::stop_token& stop, int threads) const {
  return load_from(address(), stop, threads);
}

Source SourceOptions::load_from(const std::string& from, const std::stop_token& stop,
                                int threads) const {
  OpenOptions options = open;
  options.stop = stop;
  options.threads = threads;
  if (!layout.empty()) options.layout = layout;
  return open_source(from, options);
}

void HeadOptions::add_to(CLI::App& command, const std::string& standard, bool all) {
  head = standard;
  all_allowed_ = all;
  command.add_option("--layer", layer, "Layer, by name or counted from 0")->capture_default_str();
  command.add_option("--head", head, all ? "Head, counted from 0, or all" : "Head, counted from 0")
      ->capture_default_str();
  for_conditions([&](const auto& condition) { add_condition(command, condition, conditions); });
  command.add_flag(
      "--allow-non-finite", allow_non_finite,
      "Compute even if the input holds NaN, Inf or numbers beyond 1e14: all of them count as NaN");
}

void HeadOptions::add_all_to(CLI::App& command, const std::string& standard_layer) {
  layer = standard_layer;
  add_to(command, "all", true);
  command.get_option("--layer")->description("Layer, by name or counted from 0, or all");
}

std::vector<Index> HeadOptions::layers_in(const Source& source) const {
  if (layer != "all") return {layer_in(source)};
  std::vector<Index> layers;
  for (std::size_t l = 0; l < source.layers.size(); ++l) layers.push_back(static_cast<Index>(l));
  return layers;
}

Index HeadOptions::layer_in(const Source& source) const {
  if (layer_index) return *layer_index;
  std::string names;
  for (std::size_t l = 0; l < source.layers.size(); ++l) {
    if (!source.layers[l].name.empty() && source.layers[l].name == layer)
      return static_cast<Index>(l);
    add_item(names, source.layers[l].name);
  }
  const auto count = static_cast<Index>(source.layers.size());
  const auto index = whole_number_from(layer);
  if (index && *index >= 0 && *index < count) return *index;
  throw UsageError("--layer " + layer + "; expected 0 to " + std::to_string(count - 1) +
                   (names.empty() ? "" : ", or one of " + names));
}

void HeadOptions::tell_layer(const Source& source, std::ostream& err) const {
  const auto number = whole_number_from(layer);
  if (layer_index || !number) return;
  const auto chosen = static_cast<std::size_t>(layer_in(source));
  if (has_number(source.layers[chosen].name, *number)) return;
  std::string others;
  for (std::size_t l = 0; l < source.layers.size(); ++l)
    if (const std::string& name = source.layers[l].name; has_number(name, *number))
      add_item(others, "the one named " + printable(name) + " is number " + std::to_string(l));
  if (!others.empty())
    print_note(err, "layer " + layer + " is " +
                        printable(layer_label(source, static_cast<Index>(chosen))) + " (" + others +
                        ")");
}

std::vector<Index> HeadOptions::heads_in(const Source& source) const {
  return heads_of(source, layer_in(source));
}

std::vector<Index> HeadOptions::heads_of(const Source& source, Index of_layer) const {
  const Index count = source.layers[static_cast<std::size_t>(of_layer)].heads();
  std::vector<Index> heads;
  if (head == "all" && all_allowed_) {
    for (Index h = 0; h < count; ++h) heads.push_back(h);
    return heads;
  }
  const auto index = whole_number_from(head);
  if (!index || *index < 0 || *index >= count)
    throw UsageError("--head " + head + "; expected 0 to " + std::to_string(count - 1));
  return {*index};
}

Problem HeadOptions::problem(const Source& source, Index head_index,
                             const std::stop_token& stop) const {
  return problem(source, layer_in(source), head_index, stop);
}

Problem HeadOptions::problem(const Source& source, Index of_layer, Index head_index,
                             const std::stop_token& stop) const {
  const HeadChoice choice{.layer = of_layer,
                          .head = head_index,
                          .conditions = conditions,
                          .allow_non_finite = allow_non_finite};
  return problem_of(source, choice, stop);
}

void add_columns(CLI::App& command, std::vector<std::string>& variants) {
  command
      .add_option("--variant", variants,
                  "A column, or " + words_for_groups() + "; may be repeated (default: papers)")
      ->allow_extra_args(false)
      ->type_name("ID");
}

void add_seed(CLI::App& command, std::uint64_t& seed) {
  command.add_option("--seed", seed, "Seed of every random choice")
      ->check(check_seed)
      ->capture_default_str();
}

void add_memory(CLI::App& command) {
  const auto check = [](const std::string& text) {
    try {
      parse_memory_budget(text);
      return std::string();
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
  };
  command
      .add_option_function<std::string>(
          "--memory", [](const std::string& text) { set_memory_budget(parse_memory_budget(text)); },
          "Memory that one action may take, such as 16G, at least 64M, or half: half of what is "
          "free; what needs more is refused before it begins (default: half)")
      ->check(check)
      ->type_name("SIZE");
  for (CLI::App* below : command.get_subcommands([](CLI::App*) { return true; }))
    add_memory(*below);
}

void BackendOptions::add_to(CLI::App& command) {
  command.add_option("--backend", backend, "auto, cpu or cuda")
      ->check(CLI::IsMember(backend_choices()))
      ->capture_default_str();
  command
      .add_option("--precision", precision,
                  "Precision of products: fp32; with CUDA also, on tensor cores, bf16, fp16 and "
                  "fp32-split, which has the errors of fp32; with --backend auto, fp32 uses "
                  "fp32-split where "
                  "that is expected to be faster")
      ->check(CLI::IsMember(precision_choices()))
      ->capture_default_str();
  command
      .add_option("--threads", threads, "CPU threads, also used beside CUDA; 0: one for each core")
      ->check(CLI::Range(0, 1024));
}

std::unique_ptr<Backend> BackendOptions::make(std::ostream& notes) const {
  std::vector<std::string> sentences;
  auto made = make_backend(*this, &sentences);
  for (const std::string& sentence : sentences) notes << "fovea: " << sentence << '\n';
  return made;
}

void ParameterOptions::add_to(CLI::App& command) {
  command
      .add_option(
          "--set", settings,
          "A parameter of the variant (see fovea variants); may be repeated. Others are as in the "
          "window: the default, or what suits a head of fewer than 4096 tokens")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  add_seed(command, seed);
}

Values ParameterOptions::applied(const Variant& variant, Index n) const {
  return values_for_length(variant, n, by_key());
}

std::map<std::string, std::string> ParameterOptions::by_key() const {
  std::map<std::string, std::string> out;
  for (const auto& setting : settings) {
    const auto [key, value] = key_and_value(setting);
    out[key] = value;
  }
  return out;
}

void ParameterOptions::apply_to(std::vector<Column>& columns) const {
  for (const auto& setting : settings) {
    const auto [key, value] = key_and_value(setting);
    bool known = false;
    for (Column& column : columns) {
      const Variant& variant = find_variant(column.variant);
      if (!has_parameter(variant, key)) continue;
      set_value(variant.schema, column.values, key, value);
      known = true;
    }
    if (!known)
      throw UsageError("--set " + setting + ": none of the variants has a parameter '" + key + "'");
  }
}

std::vector<Values> ParameterOptions::applied(const std::vector<const Variant*>& chosen,
                                              Index n) const {
  std::vector<Column> columns;
  for (const Variant* variant : chosen)
    columns.push_back({variant->id, values_for_length(*variant, n), seed});
  apply_to(columns);
  std::vector<Values> values;
  for (Column& column : columns) values.push_back(std::move(column.values));
  return values;
}

namespace {

bool is_group(const std::string& id) {
  return id == "all" || std::ranges::find(groups(), id, &GroupKind::id) != groups().end();
}

std::vector<const Variant*> variants_in(const std::string& group) {
  std::vector<const Variant*> found;
  for (const Variant& variant : variants())
    if (group == "all" || group == kind_of(variant.group).id) found.push_back(&variant);
  return found;
}

}  // namespace

std::vector<const Variant*> variants_named(const std::vector<std::string>& ids,
                                           const Problem* head) {
  std::vector<const Variant*> chosen;
  const auto add = [&](const Variant& variant) {
    if (std::ranges::find(chosen, &variant) == chosen.end()) chosen.push_back(&variant);
  };
  for (const auto& id : ids) {
    if (!is_group(id)) {
      add(find_variant(id));
      continue;
    }
    for (const Variant* variant : variants_in(id))
      if (!head || variant->refusal(*head).empty()) add(*variant);
  }
  return chosen;
}

void refuse_imported(const std::vector<const Variant*>& variants) {
  for (const Variant* variant : variants)
    if (variant->imported)
      throw UsageError("--variant " + variant->id +
                       ": what another program computed is read, not computed; expected variants "
                       "that are. `fovea compute` compares it with exact attention");
}

void tell_left_out(const std::vector<std::string>& ids, const Problem& head, std::ostream& out) {
  const auto chosen = variants_named(ids, &head);
  std::string not_causal, only_causal, of_softmax, of_tokens;
  for (const Variant* variant : variants_named(ids)) {
    if (std::ranges::find(chosen, variant) != chosen.end()) continue;
    if (head.recurrence)
      add_item(of_softmax, variant->id);
    else if (head.compressed && !variant->any_keys)
      add_item(of_tokens, variant->id);
    else if (head.causal && !variant->has_causal_form())
      add_item(not_causal, variant->id);
    else if (!head.causal && !variant->has_bidirectional_form())
      add_item(only_causal, variant->id);
    else
      print_note(out, "left out: " + variant->refusal(head));
  }
  const auto tell = [&](const std::string& why, const std::string& which) {
    if (!which.empty()) print_note(out, "left out, as they " + why + ": " + which);
  };
  tell("have no causal form", not_causal);
  tell("have no form without a causal mask", only_causal);
  tell("take all keys for the tokens of a sequence", of_tokens);
  tell("replace softmax attention, and the head is a recurrence", of_softmax);
}

}  // namespace fovea
