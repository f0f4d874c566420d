#include "sweep/head_table.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "data/number_text.h"

namespace fovea {
namespace {

const std::string cost_measure = "ratio_to_exact", standard_error_measure = "output_rel_fro";

const std::string& error_of(const Budget& budget) {
  if (budget.measure.empty()) return standard_error_measure;  // nothing is budgeted yet
  return budget.measure == cost_measure ? budget.least : budget.measure;
}

using Trials = std::vector<const Trial*>;

Trials of_variant(const Trials& trials, const Variant* variant) {
  Trials all;
  std::ranges::copy_if(trials, std::back_inserter(all),
                       [&](const Trial* trial) { return trial->variant == variant; });
  return all;
}

}  // namespace

const Quantity& HeadTable::error() const {
  return quantity_named(error_of(budget));
}

const Quantity& HeadTable::cost() const {
  return quantity_named(cost_measure);
}

const Quantity& HeadTable::wanted() const {
  return budget.least.empty() ? error() : quantity_named(budget.least);
}

Budget error_budget(double within, const std::string& error) {
  return {.measure = error, .most = within, .least = cost_measure};
}

Budget cost_budget(double at_most, const std::string& error) {
  return {.measure = cost_measure, .most = at_most, .least = error};
}

HeadTable head_table(const std::vector<Trial>& trials, const std::vector<ExploredHead>& heads,
                     const Budget& budget) {
  HeadTable table{.budget = budget, .variants = {}, .rows = {}};
  std::map<std::pair<Index, Index>, Trials> of_head;
  for (const Trial& trial : trials) {
    if (trial.repeats) continue;  // the best of several seeds would be luck
    of_head[{trial.layer, trial.head}].push_back(&trial);
    if (!trial.variant->reference &&
        std::ranges::find(table.variants, trial.variant) == table.variants.end())
      table.variants.push_back(trial.variant);
  }
  for (const ExploredHead& head : heads) {
    const Trials& tried = of_head[{head.layer, head.head}];
    const auto exact =
        std::ranges::find_if(tried, [](const Trial* trial) { return trial->variant->reference; });
    if (exact == tried.end()) continue;
    const Trial* best = best_choice(tried, budget);
    HeadTable::Row row{head, best ? best : *exact, best != nullptr, {}};
    for (const Variant* variant : table.variants)
      row.best_of.push_back(best_choice(of_variant(tried, variant), budget));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string to_text(const Budget& budget) {
  const std::string error = quantity_named(error_of(budget)).measure().label;
  return budget.measure == cost_measure
             ? "The least " + error + " with at most " + format_plain(budget.most) +
                   " of the multiply-adds of exact attention"
             : "The least multiply-adds with a " + error + " of at most " +
                   format_plain(budget.most);
}

std::string sum_text(const HeadTable& table) {
  Index served = 0;
  double spent = 0, exact = 0;
  for (const HeadTable::Row& row : table.rows) {
    served += row.kept && !row.choice->variant->reference;
    spent += row.choice->cost.multiply_adds;
    exact += row.choice->cost.exact_multiply_adds;
  }
  const auto all = static_cast<Index>(table.rows.size());
  std::string text;
  if (served < all)
    text = std::to_string(served) + " of " + plural(all, "head") +
           (served == 1 ? " fits" : " fit") + " the budget, " +
           (served > 0 ? "the others" : "all") + " take exact attention";
  else
    text = all == 1 ? "The head fits the budget" : "All " + plural(all, "head") + " fit the budget";
  if (!(exact > 0)) return text;
  return text + "; " + (all == 1 ? "" : "together ") + format_percent(spent / exact) +
         " of the multiply-adds";
}

}  // namespace fovea
