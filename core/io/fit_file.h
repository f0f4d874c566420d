// A FitFile is what `fovea fit` writes: the best trees of some heads as a structure, which
// `--structure` reads, and everything learning needs to go on.
//
// Tensors: those of the structure, and fit_parameters, fit_first, fit_second, fit_best, [H, P] in
// F32: parameters of the trainers (alpha, then the weights), the moments of Adam and the parameters
// of the best tree; numbers that a growing tree does not have yet are 0. Metadata `fit`: JSON with
// `about` (what was fitted, name to text) and `heads` (the other numbers of each TrainerState).
#pragma once

#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "learning/trainer.h"
#include "plan/structure.h"

namespace fovea {

struct FitFile {
  std::vector<std::pair<std::string, std::string>> about;  // "variant" "tf", "height" "6", ...
  std::vector<Structure> trees;                            // of each head; not read back
  std::vector<TrainerState> states;                        // of each head
};

/// Replaces `path` only when everything is written. Throws UnavailableError and Cancelled.
void write_fit(const std::string& path, const FitFile& fit, std::stop_token stop = {});

/// Throws InputError for a file that is not one of `fovea fit`, or is damaged, and Cancelled.
FitFile read_fit(const std::string& path, const std::stop_token& stop = {});

/// Throws InputError with the first difference unless `about` is as expected.
void check_about(const std::string& path, const FitFile& fit,
                 const std::vector<std::pair<std::string, std::string>>& expected);

}  // namespace fovea
