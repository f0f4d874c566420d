// A BatchPlan is what a person asks `fovea sweep` for, read from a JSON file: heads of sources,
// settings of variants and seeds, all of them crossed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "input/backend_choice.h"
#include "io/json.h"
#include "variants/variant.h"

namespace fovea {

struct PlannedVariant {
  const Variant* variant = nullptr;
  bool of_group = false;  // named by a group: left out for heads without a form
  /// Ids of parameters with the texts of their values, as `--set` takes them.
  std::vector<std::pair<std::string, std::vector<std::string>>> set = {};
};

struct BatchPlan {
  std::string path;                                // of the file, for messages
  std::vector<std::string> sources;                // as on the command line
  std::optional<std::vector<std::string>> layers;  // by name or counted from 0; nothing means all
  std::optional<std::vector<Index>> heads;         // counted from 0; nothing means all
  std::vector<PlannedVariant> variants;
  std::vector<std::uint64_t> seeds{0};
  std::optional<bool> causal;  // the source decides if not set
  BackendChoice backend;
  std::size_t rounds = 7;  // in which times are measured; 0 if none are
  bool metrics = true;     // compared with exact attention
};

/// Throws InputError with the place in the file, what was found and what was expected: for unknown
/// keys, variants and parameters, and for values out of range. Sources are not opened.
BatchPlan read_batch_plan(const std::string& path);
/// Reads a document; `path` is for messages.
BatchPlan batch_plan_from(const std::string& path, const Json& document);

/// The values of all parameters for each combination of set values; the last parameter changes
/// first. Other parameters are as in the window for a head of n tokens.
std::vector<Values> crossed_settings(const PlannedVariant& planned, Index n);

}  // namespace fovea
