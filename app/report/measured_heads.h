// Measured heads as files: what each head of a source does, over one input or several.
#pragma once

#include <string>
#include <vector>

#include "analysis/head_measures.h"
#include "data/source.h"
#include "report/json_output.h"

namespace fovea {

struct MeasuredHeadRow {
  Index layer = 0, head = 0;
  std::string layer_label;
  std::vector<MeasuredHead> inputs;  // at least one
};

/// {"measures": [{id, label, definition}], "heads": [{layer, layer_label, head, queries, keys,
/// rows, rows_without_keys, ...}]}. A head has each measure under its id, null if it is not known,
/// which "missing" explains. From one input, an estimate has a standard error,
/// "entropy_standard_error". From several, each is a mean, with "entropy_deviation" and
/// "entropy_inputs", and lengths and rows are lists.
Document to_json(const std::vector<MeasuredHeadRow>& heads);

/// The same as a table: a heading, and a line for each head. What is not known is empty.
std::string to_csv(const std::vector<MeasuredHeadRow>& heads);

}  // namespace fovea
