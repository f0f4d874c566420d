// The report of `bench --interaction`: waiting times of a person who explores, beside the goals.
#pragma once

#include <ostream>

#include "cli/bench/interaction.h"
#include "report/json_output.h"

namespace fovea {

Document to_json(const InteractionFigures& figures);
void print(std::ostream& out, const InteractionFigures& figures);

}  // namespace fovea
