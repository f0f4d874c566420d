// FitValidation tries fitted trees on heads that they were not learned from.
#pragma once

#include <string>
#include <vector>

#include "cli/options/head_options.h"
#include "cli/options/source_options.h"
#include "report/json_output.h"
#include "session/tree_trial.h"

namespace fovea {

struct ValidatedHead {
  Index head = 0;
  TriedTree learned, median;
};

/// The trees of some heads, tried on these heads of a source.
struct ValidatedSource {
  std::string source;
  bool learned_from = false;
  std::vector<ValidatedHead> heads;
};

Document to_json(const std::vector<ValidatedSource>& validated);
/// Nothing if there is no source.
void print(std::ostream& out, const std::vector<ValidatedSource>& validated);

class FitValidation {
 public:
  /// Opens `files` as `from` opens its own source, which `learned` is: a text or an image is read
  /// by the same model. Throws what opening does, and InputError for a source without the layer or
  /// the heads, or with heads on which the trees cannot be tried.
  FitValidation(const std::vector<std::string>& files, const SourceOptions& from,
                const HeadOptions& heads, const Source& learned, int threads,
                const std::stop_token& stop);

  bool wanted() const { return !sources_.empty(); }
  /// `trees`: the request of each head, with the tree given. On the heads learned from first.
  std::vector<ValidatedSource> measure(const std::vector<ComputeRequest>& trees,
                                       const Backend& backend, const std::stop_token& stop) const;

 private:
  const HeadOptions& options_;
  const Source& learned_;
  std::vector<Source> sources_;
};

}  // namespace fovea
