// The options that choose variants and their parameters.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "session/session.h"
#include "variants/variant.h"

namespace fovea {

/// `--variant` of commands that show several.
void add_columns(CLI::App& command, std::vector<std::string>& variants);

/// `--seed`.
void add_seed(CLI::App& command, std::uint64_t& seed);

/// `--set KEY=VALUE` and `--seed`.
struct ParameterOptions {
  std::vector<std::string> settings;
  std::uint64_t seed = 0;

  void add_to(CLI::App& command);
  /// The values that the window uses for a head of n tokens, with the settings applied. Throws
  /// UsageError for a key that the variant does not have.
  Values applied(const Variant& variant, Index n) const;
  /// The values of several variants: each uses the keys that it has. Throws UsageError for a key
  /// that no variant has.
  std::vector<Values> applied(const std::vector<const Variant*>& chosen, Index n) const;
  void apply_to(std::vector<Column>& columns) const;
  /// The settings by their keys.
  std::map<std::string, std::string> by_key() const;
};

/// Whether the schema of the variant has a parameter of this name.
bool has_parameter(const Variant& variant, const std::string& id);

/// Throws UsageError if a variant is read from the source and not computed: there is nothing to
/// time and no parameter to vary.
void refuse_imported(const std::vector<const Variant*>& variants);

/// The variants with these ids, in this order; the name of a group stands for its variants, "all"
/// for every variant. Variants of a group without a form for `head` are left out.
std::vector<const Variant*> variants_named(const std::vector<std::string>& ids,
                                           const Problem* head = nullptr);
/// Says which variants were left out, if any, and why.
void tell_left_out(const std::vector<std::string>& ids, const Problem& head, std::ostream& out);

}  // namespace fovea
