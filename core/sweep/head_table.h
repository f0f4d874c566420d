// A HeadTable tells for each head which setting keeps a Budget best, over all variants and for each
// variant.
#pragma once

#include <string>
#include <vector>

#include "sweep/explorer.h"

namespace fovea {

struct HeadTable {
  struct Row {
    ExploredHead head;
    const Trial* choice = nullptr;      // exact attention if no trial keeps the budget
    bool kept = false;                  // the choice keeps the budget
    std::vector<const Trial*> best_of;  // each variant; null if no setting of it keeps the budget
  };
  Budget budget;
  std::vector<const Variant*> variants;  // that were tried, without exact
  std::vector<Row> rows;                 // of heads on which exact attention was tried already

  /// The numbers that all tables show.
  const Quantity& error() const;
  const Quantity& cost() const;
  /// The quantity that the budget does not limit.
  const Quantity& wanted() const;
};

/// "within": at most this error with the least multiply-adds; "at most": this share of the
/// multiply-adds of exact attention with the least error. `error` is a measure, or one of
/// model_measures().
Budget error_budget(double within, const std::string& error = "output_rel_fro");
Budget cost_budget(double at_most, const std::string& error = "output_rel_fro");

/// The table points into the trials.
HeadTable head_table(const std::vector<Trial>& trials, const std::vector<ExploredHead>& heads,
                     const Budget& budget);

/// "The least multiply-adds with a relative output error of at most 0.05".
std::string to_text(const Budget& budget);
/// How many heads keep the budget, and what all heads take together.
std::string sum_text(const HeadTable& table);

}  // namespace fovea
