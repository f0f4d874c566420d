#include "cli/options/effect_options.h"

#include <algorithm>
#include <filesystem>

#include "cli/options/checks.h"
#include "cli/options/figure_names.h"
#include "data/address.h"
#include "data/error.h"
#include "input/input_folder.h"
#include "io/atomic_file.h"
#include "session/session.h"

namespace fovea {
namespace {

/// "ID" or "ID?KEY=VALUE&KEY=VALUE", with the settings of --set that the variant has.
ReplacedPart part_in(const std::string& text, const EffectOptions& options) {
  const std::size_t mark = text.find('?');
  const Variant& variant = find_variant(text.substr(0, mark));
  refuse_imported({&variant});
  ReplacedPart part{.variant = &variant,
                    .settings = {},
                    .seed = options.parameters.seed,
                    .heads = options.heads,
                    .structures = options.structures};
  for (const auto& [key, value] : options.parameters.by_key())
    if (options.variants.size() == 1 || has_parameter(variant, key)) part.settings[key] = value;
  std::string rest = mark == text.npos ? "" : text.substr(mark + 1);
  while (!rest.empty()) {
    const std::string item = rest.substr(0, rest.find('&'));
    rest.erase(0, item.size() + 1);
    const std::size_t equal = item.find('=');
    if (equal == item.npos || equal == 0)
      throw UsageError("--variant " + text + ": expected ID?KEY=VALUE&KEY=VALUE, found " +
                       fovea::quoted(item));
    part.settings[item.substr(0, equal)] = item.substr(equal + 1);
  }
  values_for_length(variant, default_length, part.settings);  // throws before anything is computed
  return part;
}

/// Files that the command reads.
std::vector<std::string> read_files(const EffectOptions& options) {
  std::vector<std::string> read = options.structures;
  const std::string input = options.source.model_input.value_or("");
  read.insert(read.end(), {options.source.what, input, options.policy});
  std::error_code none;
  if (std::filesystem::is_directory(input, none))
    for (const std::string& file : files_in_folder(input).files) read.push_back(file);
  return read;
}

}  // namespace

bool is_policy_file(const std::string& path) {
  return path.ends_with(".json");
}

std::vector<ReplacedPart> EffectOptions::candidates() const {
  std::vector<ReplacedPart> parts;
  for (const std::string& variant : variants) parts.push_back(part_in(variant, *this));
  return parts;
}

Rounds EffectOptions::rounds_over(Index inputs) const {
  if (rounds) return {.least = *rounds, .most = *rounds};
  Rounds standard;
  standard.least = std::min(inputs > 1 ? enough_samples : 1, static_cast<int>(inputs));
  return standard;
}

void EffectOptions::check(const std::string& address) const {
  if (!is_model_address(address))
    throw UsageError("effect: " + fovea::quoted(source.what) +
                     (is_ordered(address)
                          ? " is in another order; a model computes its tokens in their own"
                          : " is no model; expected a model with --text or --input"));
  if (variants.empty() == policy.empty())
    throw UsageError("effect: expected either --variant or --policy");
  if (!policy.empty() && (searches() || sensitivity || curve))
    throw UsageError(
        "effect: --policy is measured as it is; expected it without --loss, --cost, "
        "--sensitivity and --layer-curve");
  if (!policy.empty() && (heads != "all" || !parameters.settings.empty() || parameters.seed != 0 ||
                          !structures.empty()))
    throw UsageError(
        "effect: a policy says what each head computes; expected --policy without "
        "--heads, --set, --seed and --structure");
  if (variants.size() > 1 && !searches() && !sensitivity)
    throw UsageError(
        "effect: expected one --variant, or --loss or --cost, which choose one for "
        "each head or layer");
  for (const std::string& output : outputs) {
    if (!is_policy_file(output)) check_figure_name(output, "-o", ", or in .json for the policy");
    require_writable(output);
    refuse_to_replace("-o", output, Source{}, read_files(*this));
  }
}

void EffectOptions::add_to(CLI::App& command) {
  source.add_to(command);
  command.get_option("--input")->description(
      "A file for the model: a text, or an image for a model of images. A folder stands for all "
      "texts or images in it: numbers are means over them, with intervals of 95 % (mean ± t s / √n "
      "of Student's distribution)");
  command
      .add_option("--variant", variants,
                  "The id of a variant (see fovea variants), perhaps with its own parameters as "
                  "in window?width=64; may be repeated with --loss, --cost and --sensitivity")
      ->type_name("ID[?KEY=VALUE&...]")
      ->allow_extra_args(false);
  command
      .add_option("--heads", heads,
                  "Where it replaces exact attention: layers such as 25-29, heads such as "
                  "3.1,4.*, or all")
      ->check(refuse_empty)
      ->capture_default_str();
  parameters.add_to(command);
  command
      .add_option("--structure", structures,
                  "Use the trees, orders or samples in this .safetensors file, which fovea fit or "
                  "fovea compute has written, in the heads of the layer that they were made from; "
                  "may be repeated, for other layers. Other heads derive theirs")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->check(refuse_empty);
  backend.add_to(command);
  auto* loss = command.add_option(
      "--loss", budget.change,
      "Find a policy: replace as much as the loss per token allows, which grows by at most this; "
      "for a model without a loss, as the relative change of its last hidden states allows");
  loss->check(number_from(0, 1e9));
  command
      .add_option("--cost", budget.cost,
                  "Find a policy: replace what changes least, until attention costs at most this "
                  "share of exact attention")
      ->check(number_from(0, 1))
      ->excludes(loss);
  command
      .add_option("--units", units,
                  "What --loss, --cost and --sensitivity replace alone: each layer, or each head")
      ->check(CLI::IsMember({"layer", "head"}))
      ->capture_default_str();
  command.add_option("--policy", policy, "Measure a policy that -o policy.json has written")
      ->check(refuse_empty);
  command.add_flag("--sensitivity", sensitivity,
                   "Also replace each layer, or each head, alone, and list what that changes");
  command.add_flag("--layer-curve", curve,
                   "Also replace the last layers, in more and more of them");
  command
      .add_option(
          "--rounds", rounds,
          "Rounds in which a pass with exact attention and one with replaced attention are "
          "timed; 0 times nothing (default: rounds until 2 s have passed, at most 15, and at "
          "least 6 if they take less than 20 s)")
      ->check(CLI::Range(0, 1000));
  command
      .add_option("-o,--output", outputs,
                  "Write a figure (.png, .svg, .pdf or .pgf) or the policy (.json), which "
                  "--policy and fovea.replace of Python read; may be repeated")
      ->check(refuse_empty)
      ->allow_extra_args(false);
  command.add_flag("--json", json,
                   "One JSON document on standard output, with the losses and divergences of "
                   "each token, or of several inputs with the numbers of each");
}

}  // namespace fovea
