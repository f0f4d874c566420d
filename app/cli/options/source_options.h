// SOURCE, and the options that say how it is read.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "data/model_address.h"
#include "input/open_source.h"

namespace fovea {

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
  std::optional<std::string> model_text, model_input, decoder_text;
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

}  // namespace fovea
