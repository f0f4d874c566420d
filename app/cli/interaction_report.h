// What `bench --interaction` says: figures of exploring, with the goals of a hand that does not
// wait.
#pragma once

#include <ostream>

#include "cli/json_output.h"
#include "window/interaction.h"

namespace fovea {

Document to_json(const InteractionFigures& figures);
void print(std::ostream& out, const InteractionFigures& figures);

}  // namespace fovea
