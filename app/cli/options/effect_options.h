// The options of `fovea effect`, and what they ask for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options/backend_options.h"
#include "cli/options/source_options.h"
#include "cli/options/variant_options.h"
#include "effect/policy_search.h"

namespace fovea {

struct EffectOptions {
  SourceOptions source;
  BackendOptions backend;
  ParameterOptions parameters;
  std::vector<std::string> variants, outputs;
  std::string heads = "all", policy, units = "layer";
  std::vector<std::string> structures;
  PolicyBudget budget;
  std::optional<int> rounds;  // in which passes are timed
  bool sensitivity = false, curve = false, json = false;

  void add_to(CLI::App& command);
  /// Throws UsageError for what does not go together, before a model runs. `address` is that of the
  /// model and its input.
  void check(const std::string& address) const;
  bool searches() const { return budget.change || budget.cost; }
  UnitKind unit_kind() const { return units == "layer" ? UnitKind::layer : UnitKind::head; }
  /// The variants with their parameters. Throws UsageError for those that do not exist.
  std::vector<ReplacedPart> candidates() const;
  /// How often exact and replaced passes take turns, for a number of inputs.
  Rounds rounds_over(Index inputs) const;
};

/// Whether an output is a policy; others are figures.
bool is_policy_file(const std::string& path);

}  // namespace fovea
