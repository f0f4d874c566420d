// Peaks are the largest entries of a matrix that is shown by its means, which hide them.
#pragma once

#include <vector>

#include "data/matrix.h"

namespace fovea {

struct Peak {
  Index row = 0, col = 0;  // the pixel that holds it
  float value = 0;
};

/// The entry of largest magnitude in each cell of an even grid of at most 64 cells a side, the
/// largest first; cells of zeros and of what is not finite have none. [rows, cols] of pixels, each
/// with its largest entry.
std::vector<Peak> peaks_of(const Matrix& largest);

}  // namespace fovea
