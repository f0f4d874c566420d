// Options that several commands share, and the objects they stand for.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "input/backend_choice.h"
#include "input/open_source.h"
#include "session/session.h"
#include "variants/variant.h"

namespace fovea {

/// A check of options that name something: `-o ''` is a variable a script forgot to set.
std::string refuse_empty(const std::string& text);

/// SOURCE and how to read it.
struct SourceOptions {
  std::string what, layout;
  OpenOptions open;

  void add_to(CLI::App& command, bool required = true);
  Source load() const;
};

/// Which heads, and the scale and mask they are computed with.
struct HeadOptions {
  std::string layer = "0", head;
  std::optional<Index> layer_index;  // known by its place, from a session: before `layer`
  std::optional<double> scale;
  bool causal = false, no_causal = false, allow_non_finite = false;

  /// `all`: --head may be the word "all". `standard` is the default.
  void add_to(CLI::App& command, const std::string& standard, bool all);
  /// Throws UsageError naming the layers or heads there are.
  Index layer_in(const Source& source) const;
  std::vector<Index> heads_in(const Source& source) const;
  Problem problem(const Source& source, Index head_index) const;

 private:
  bool all_allowed_ = false;
};

/// Where it is computed.
struct BackendOptions : BackendChoice {
  void add_to(CLI::App& command);
  std::unique_ptr<Backend> make() const { return make_backend(*this); }
};

/// `--set KEY=VALUE` and `--seed`.
struct ParameterOptions {
  std::vector<std::string> settings;
  std::uint64_t seed = 0;

  void add_to(CLI::App& command);
  /// What the window would take for a head of n tokens, with the settings applied. Throws
  /// UsageError for a key the variant does not have.
  Values applied(const Variant& variant, Index n) const;
  /// For several variants at once: each takes the keys it has. Throws UsageError for a key that
  /// none of them has.
  std::vector<Values> applied(const std::vector<const Variant*>& chosen, Index n) const;
  void apply_to(std::vector<Column>& columns) const;
};

/// The variants of these ids, in this order; "all" stands for every one.
std::vector<const Variant*> variants_named(const std::vector<std::string>& ids);

}  // namespace fovea
