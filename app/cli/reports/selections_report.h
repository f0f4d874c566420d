// The report of `bench --selections`: rates on kept pairs and times of selecting, beside the goals.
#pragma once

#include <ostream>

#include "cli/bench/selections.h"
#include "report/json_output.h"

namespace fovea {

Document to_json(const SelectionFigures& figures);
void print(std::ostream& out, const SelectionFigures& figures);

}  // namespace fovea
