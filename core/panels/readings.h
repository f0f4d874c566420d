// Readings are numbers from the part of a head's matrices that a person points at or selects.
#pragma once

#include <string>
#include <vector>

#include "analysis/block_mask.h"
#include "analysis/estimate.h"
#include "evaluate/computation.h"
#include "session/session.h"

namespace fovea {

/// One pair of tokens.
struct PairReading {
  Index query = 0, key = 0;
  double exact = 0, approximate = 0;
  PairInfo info;
  double block_mass = 0;  // exact mass of the query in `info.block`, if there is one
};
PairReading read_pair(const Computation& approximate, const Computation& exact, Index query,
                      Index key, Run& run);

/// A row of P over all keys.
struct RowReading {
  Index query = 0;
  std::vector<float> values;  // [n]
};
RowReading read_row(const Computation& computation, Index query, Run& run);

/// Statistics of a rectangle. Those of a large one come from evenly spaced rows, with the standard
/// errors of drawn rows.
struct SelectionReading {
  IndexRange rows, cols;
  Estimate exact_mass, approximate_mass;      // mean over the rows
  double exact_max = 0, approximate_max = 0;  // of the rows that were read
  Estimate rms_error;
  Index rows_read = 0;
  bool sampled() const { return rows_read < rows.size(); }
};
SelectionReading read_selection(const Computation& approximate, const Computation& exact,
                                IndexRange rows, IndexRange cols, Run& run);

}  // namespace fovea
