// A Pyramid is the means of clusters of 2^level consecutive rows, level by level.
#pragma once

#include <vector>

#include "backend/workers.h"
#include "data/matrix.h"
#include "plan/plan.h"

namespace fovea {

/// Levels 1 .. top: means over the tokens a cluster really has; [l - 1] is level l, [clusters,
/// cols]. Every mean is of exact sums of the level below, weighted by their tokens.
std::vector<Matrix> mean_pyramid(MatrixView rows, int top, Workers& workers, std::stop_token stop);

}  // namespace fovea
