// Section mass says how much of its weight a head gives to tokens, to compressed entries and to a
// sink.
#pragma once

#include <optional>

#include "analysis/estimate.h"
#include "analysis/row_bands.h"
#include "backend/operator.h"

namespace fovea {

/// Means over the rows in which the head has a key.
struct SectionMass {
  Estimate tokens, entries;
  std::optional<Estimate> sink;  // what a row of P leaves of 1; absent without a sink
};

/// Nothing unless the head has compressed entries and the entries of P are known, or if no query
/// has a key. Throws Cancelled.
std::optional<SectionMass> section_mass(const Operator& op, const RowBands& rows, Run& run);

}  // namespace fovea
