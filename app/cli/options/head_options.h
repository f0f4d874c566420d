// The options that choose layers and heads, and say what a head may attend.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <ostream>
#include <stop_token>
#include <string>
#include <vector>

#include "data/source.h"

namespace fovea {

/// Which heads are computed, and how.
struct HeadOptions {
  std::string layer = "0", head;
  std::optional<Index>
      layer_index;            // from a session, where it is known by its index; overrides `layer`
  HeadConditions conditions;  // that were given
  bool allow_non_finite = false;

  /// `standard` is the default of --head; with `all` it may be the word "all".
  void add_to(CLI::App& command, const std::string& standard, bool all);
  /// All heads are the default; --layer may be the word "all", too.
  void add_all_to(CLI::App& command, const std::string& standard_layer);
  /// These throw UsageError with the layers or heads that exist.
  Index layer_in(const Source& source) const;
  /// Notes which layer a number means where another layer is named by that number.
  void tell_layer(const Source& source, std::ostream& err) const;
  std::vector<Index> layers_in(const Source& source) const;
  std::vector<Index> heads_in(const Source& source) const;
  std::vector<Index> heads_of(const Source& source, Index of_layer) const;
  Problem problem(const Source& source, Index head_index, const std::stop_token& stop) const;
  Problem problem(const Source& source, Index of_layer, Index head_index,
                  const std::stop_token& stop) const;

 private:
  bool all_allowed_ = false;
};

}  // namespace fovea
