// A Recommendation is the answer to which attention to use: what makes the least error for a cost,
// what is next to it, and how near both come to exact attention.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sweep/pareto.h"

namespace fovea {

/// Settings of which `x` is the cost as a share of exact attention's, and `y` the error. Exact
/// attention is none of them, and all were measured on the same heads.
struct Recommendation {
  Quantity error;
  double at_most = 0;                 // the budget: a share of exact attention's cost
  std::optional<SettingSpread> best;  // of those within the budget; of equals the cheaper one
  std::optional<SettingSpread> next;  // the best of all other variants
  bool undecided = false;  // the heads do not tell whether best or next makes the lesser error
  /// An error that is small, if there is a general one: within it the output is nearly exact.
  std::optional<double> small_error;
  /// The cheapest setting with an error that small, if it is cheaper than exact attention.
  std::optional<SettingSpread> near;
  std::string missing;  // a sentence: why nothing is best
  /// How much was compared: more settings may hold a better one.
  Index settings = 0, variants = 0;

  bool best_is_near() const;
};

Recommendation recommend(const std::vector<Trial>& trials, const Quantity& error, double at_most);

/// "Treeformer TF, height 4: relative output error .37 at 8.3 % of the cost of exact attention.
/// Next best: ...". Empty if nothing was tried.
std::string to_text(const Recommendation& recommendation);

/// "Longformer, width 32": a setting in such sentences.
std::string setting_name(const SettingSpread& setting);

}  // namespace fovea
