// Recognition says what a result of another program equals: what its own mask gives, or else exact
// attention over other pairs, of another head, or by another rule.
#pragma once

#include <string>
#include <vector>

#include "analysis/diagnostics.h"

namespace fovea {

/// Sentences about z and lse of an ImportedPlan that was read; none of other plans.
std::vector<std::string> recognise(const Diagnosis& of, Run& run);

}  // namespace fovea
