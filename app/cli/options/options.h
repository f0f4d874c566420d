// Options that several commands share, and the objects that they describe.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "data/model_address.h"
#include "input/backend_choice.h"
#include "input/open_source.h"
#include "session/session.h"
#include "variants/variant.h"

namespace fovea {

/// A check for options that name something: `-o ''` usually comes from an unset variable in a
/// script.
std::string refuse_empty(const std::string& text);
/// CLI::Range for options that take a number; NaN is refused, too.
CLI::Validator number_from(double least, double most);

/// Throws UsageError if the output, given as `option`, is a file that the command reads: of the
/// source, or one of `others`. Empty names, of options that were not given, are skipped.
void refuse_to_replace(const std::string& option, const std::string& output, const Source& source,
                       const std::vector<std::string>& others = {});

/// SOURCE and how to read it.
struct SourceOptions {
  std::string what, layout;
  std::string order;  // of tokens, if it is another one than that of the source
  OpenOptions open;
  /// The input of a model whose folder is `what`.
  std::optional<std::string> model_text, model_input;
  Index model_tokens = ModelAddress::standard_tokens;
  bool trust_remote_code = false;
  bool content = false;  // content similarity is asked for

  void add_to(CLI::App& command, bool required = true);
  /// Adds only the options of models.
  void add_model_to(CLI::App& command);
  /// `what`, or the ModelAddress of the model with its input. Throws UsageError if `what` is no
  /// model, and for options of content similarity with a model.
  std::string address() const;
  /// A model uses `threads` threads of the CPU; 0 means one for each core. Throws UsageError also
  /// for options that would be ignored.
  Source load(const std::stop_token& stop, int threads = 0) const;
  /// The source at another address, opened in the same way.
  Source load_from(const std::string& from, const std::stop_token& stop, int threads) const;

 private:
  std::string source_address() const;
  std::string file_address() const;
  void refuse_ignored(bool model) const;

  std::vector<CLI::Option*> of_content_;      // those of content similarity alone
  std::vector<CLI::Option*> how_it_is_read_;  // options that models do not have
  const CLI::Option* max_tokens_ = nullptr;
};

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

/// `--variant` of commands that show several.
void add_columns(CLI::App& command, std::vector<std::string>& variants);

/// `--seed`.
void add_seed(CLI::App& command, std::uint64_t& seed);

/// `--memory` of a command, and of the commands below it. It holds for the process.
void add_memory(CLI::App& command);

/// What computes.
struct BackendOptions : BackendChoice {
  void add_to(CLI::App& command);
  /// Writes to `notes` what is not available.
  std::unique_ptr<Backend> make(std::ostream& notes) const;
};

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
