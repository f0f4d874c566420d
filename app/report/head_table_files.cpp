#include "report/head_table_files.h"

#include "data/number_text.h"
#include "session/settings.h"

namespace fovea {
namespace {

Document number_or_null(const std::optional<double>& number) {
  return number ? number_json(*number) : Document(nullptr);
}

std::string exact_text(const std::optional<double>& number) {
  return number ? format_exactly(*number) : "";
}

Document row_json(const HeadTable& table, const HeadTable::Row& row, const Source& source) {
  const Trial& trial = *row.choice;
  Document out{{"layer", trial.layer},
               {"layer_label", layer_label(source, trial.layer)},
               {"head", trial.head},
               {"n", trial.n},
               {"variant", trial.variant->id},
               {"parameters", parameters_json(*trial.variant, trial.values)},
               {"seed", trial.seed},
               {"scale", number_json(trial.scale)},
               {"causal", trial.causal},
               {"within_budget", row.kept},
               {table.error().measure().id, number_or_null(table.error().of(trial))},
               {table.cost().measure().id, number_or_null(table.cost().of(trial))},
               {"multiply_adds", number_json(trial.cost.multiply_adds)}};
  if (!trial.refused.empty()) out["refused"] = trial.refused;
  return out;
}

}  // namespace

Document to_json(const HeadTable& table, const Source& source) {
  Document heads = Document::array();
  for (const HeadTable::Row& row : table.rows) heads.push_back(row_json(table, row, source));
  return {{"budget",
           {{"measure", table.budget.measure},
            {"most", table.budget.most},
            {"least", table.budget.least}}},
          {"heads", std::move(heads)}};
}

std::string to_csv(const HeadTable& table) {
  const Quantity &error = table.error(), &cost = table.cost();
  std::string text = "layer,head,n,variant,parameters,seed,scale,causal,within_budget," +
                     error.measure().id + ',' + cost.measure().id + ",multiply_adds\n";
  for (const HeadTable::Row& row : table.rows) {
    const Trial& trial = *row.choice;
    const auto add = [&](const std::string& field, char end = ',') { text += field + end; };
    add(std::to_string(trial.layer));
    add(std::to_string(trial.head));
    add(std::to_string(trial.n));
    add(trial.variant->id);
    add('"' + assignments_text(*trial.variant, trial.values) + '"');
    add(std::to_string(trial.seed));
    add(format_exactly(trial.scale));
    add(trial.causal ? "true" : "false");
    add(row.kept ? "true" : "false");
    add(exact_text(error.of(trial)));
    add(exact_text(cost.of(trial)));
    add(format_exactly(trial.cost.multiply_adds), '\n');
  }
  return text;
}

}  // namespace fovea
