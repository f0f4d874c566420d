// Readings are numbers of a part of a head's matrices that a person points at or selects.
#pragma once

#include <string>
#include <vector>

#include "analysis/block_mask.h"
#include "session/computation.h"
#include "session/session.h"

namespace fovea {

/// One pair of tokens.
struct PairReading {
  Index query = 0, key = 0;
  double exact = 0, approximate = 0;
  PairInfo info;
};
PairReading read_pair(const Computation& approximate, const Computation& exact, Index query,
                      Index key, Run& run);

/// A row of P over all keys.
struct RowReading {
  Index query = 0;
  std::vector<float> values;  // [n]
};
RowReading read_row(const Computation& computation, Index query, Run& run);

/// Statistics of a rectangle; of a large one over evenly spaced rows.
struct SelectionReading {
  IndexRange rows, cols;
  double exact_mass = 0, approximate_mass = 0;  // mean over the rows
  double exact_max = 0, approximate_max = 0;
  double rms_error = 0;
  bool sampled = false;  // not all rows were read
};
SelectionReading read_selection(const Computation& approximate, const Computation& exact,
                                IndexRange rows, IndexRange cols, Run& run);

}  // namespace fovea
