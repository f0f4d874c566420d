// Diagnostics are the figures of a variant's own paper: alpha and kappa, chi, level spread. The row
// of a variant in the table lists its diagnostics (Variant::diagnostics).
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "data/number_text.h"

namespace fovea {

struct Diagnostic {
  std::string id;                // "chi", as in JSON
  std::string label;             // "Collision fraction χ"
  double value = 0;              // may be +inf
  std::string meaning;           // for a tool tip
  bool sampled = false;          // from a sample of rows, or of blocks
  bool left_out = false;         // not computed, value NaN; the meaning says why
  double standard_error = 0;     // of a sampled figure; NaN if it has none
  std::string words = {};        // a sentence in place of a number, shown among the notes
  std::vector<float> rows = {};  // [queries] of which it is the mean; NaN: not read; may be empty
};

/// "0.2752", "≈ 0.61 ± 0.02" for a sample, "∞", "left out", or "–" if the figure is not defined.
inline std::string to_text(const Diagnostic& figure) {
  if (!figure.words.empty()) return figure.words;
  if (figure.left_out) return "left out";
  std::string text = std::isinf(figure.value) ? "∞" : format_number(figure.value, 4);
  if (!figure.sampled || std::isnan(figure.value)) return text;
  if (figure.standard_error > 0) text += " ± " + format_number(figure.standard_error, 2);
  return "≈ " + text;
}

/// What the figures say in sentences.
inline std::vector<std::string> sentences_of(const std::vector<Diagnostic>& figures) {
  std::vector<std::string> sentences;
  for (const Diagnostic& figure : figures)
    if (!figure.words.empty()) sentences.push_back(figure.words);
  return sentences;
}

/// An approximation beside exact attention of the same scale and mask, both applied, and the back
/// end that computed them.
struct Diagnosis {
  const Operator& approximate;
  const Output& approximate_output;
  const Operator& exact;
  const Output& exact_output;
  const Backend& backend;
};

/// Finds one group of figures; empty if they do not apply to the plan. Throws Cancelled.
using DiagnosticSource = std::function<std::vector<Diagnostic>(const Diagnosis& of, Run& run)>;

}  // namespace fovea
