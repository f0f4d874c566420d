#include "report/measured_heads.h"

#include <algorithm>
#include <cmath>

#include "data/csv_text.h"
#include "data/number_text.h"

namespace fovea {
namespace {

bool of_several(const MeasuredHeadRow& head) {
  return head.inputs.size() > 1;
}

/// A number of one input, a list of several.
template <class Get>
Document each_input(const MeasuredHeadRow& head, Get get) {
  if (!of_several(head)) return get(head.inputs.front());
  Document all = Document::array();
  for (const MeasuredHead& input : head.inputs) all.push_back(get(input));
  return all;
}

Document measures_json() {
  Document out = Document::array();
  for (const HeadMeasure& measure : head_measures())
    out.push_back(
        {{"id", measure.id}, {"label", measure.label}, {"definition", measure.definition}});
  return out;
}

void put_value(Document& out, Document& missing, const MeasuredHeadRow& head, std::size_t m) {
  const std::string& id = head_measures()[m].id;
  const OverInputs all = over_inputs(head.inputs, m);
  out[id] = number_json(all.mean);
  const HeadValue& first = head.inputs.front().values[m];
  if (all.inputs == 0) missing[id] = first.missing;
  if (of_several(head)) {
    out[id + "_deviation"] = number_json(all.inputs > 1 ? all.deviation : std::nan(""));
    out[id + "_inputs"] = all.inputs;
  } else if (first.estimate.standard_error > 0) {
    out[id + "_standard_error"] = number_json(first.estimate.standard_error);
  }
}

Document row_json(const MeasuredHeadRow& head) {
  Document out{{"layer", head.layer}, {"layer_label", head.layer_label}, {"head", head.head}};
  out["queries"] = each_input(head, [](const MeasuredHead& x) { return x.lengths.queries; });
  out["keys"] = each_input(head, [](const MeasuredHead& x) { return x.lengths.keys; });
  out["rows"] = each_input(head, [](const MeasuredHead& x) { return x.rows; });
  out["rows_without_keys"] =
      each_input(head, [](const MeasuredHead& x) { return x.rows_without_keys; });
  Document missing = Document::object();
  for (std::size_t m = 0; m < head_measures().size(); ++m) put_value(out, missing, head, m);
  if (!missing.empty()) out["missing"] = std::move(missing);
  return out;
}

std::string csv_number(double number) {
  return std::isnan(number) ? "" : format_exactly(number);
}

}  // namespace

Document to_json(const std::vector<MeasuredHeadRow>& heads) {
  Document rows = Document::array();
  for (const MeasuredHeadRow& head : heads) rows.push_back(row_json(head));
  return {{"measures", measures_json()}, {"heads", std::move(rows)}};
}

std::string to_csv(const std::vector<MeasuredHeadRow>& heads) {
  const bool several = std::ranges::any_of(heads, of_several);
  std::string text = "layer,layer_label,head,inputs";
  for (const HeadMeasure& measure : head_measures())
    text += ',' + measure.id + ',' + measure.id + (several ? "_deviation" : "_standard_error");
  text += '\n';
  for (const MeasuredHeadRow& head : heads) {
    text += std::to_string(head.layer) + ',' + csv_cell(head.layer_label) + ',' +
            std::to_string(head.head) + ',' + std::to_string(head.inputs.size());
    for (std::size_t m = 0; m < head_measures().size(); ++m) {
      const OverInputs all = over_inputs(head.inputs, m);
      const double error = head.inputs.front().values[m].estimate.standard_error;
      text += ',' + csv_number(all.mean) + ',';
      if (several ? all.inputs > 1 : all.inputs > 0)
        text += csv_number(several ? all.deviation : error);
    }
    text += '\n';
  }
  return text;
}

}  // namespace fovea
