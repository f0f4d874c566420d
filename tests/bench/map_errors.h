// Errors of maps of exact attention against float64, on a few rows of pixels.
#pragma once

#include "backend/operator.h"
#include "bench/sampled_rows.h"

namespace fovea::bench {

struct MapErrors {
  RowErrors most, mean;

  /// Those of the map that is further beyond what is accurate, or nearer to it.
  const RowErrors& worse() const {
    if (accurate(most) != accurate(mean)) return accurate(most) ? mean : most;
    return most.ours * mean.plain < mean.ours * most.plain ? mean : most;
  }
};

/// For `count` rows of pixels, spread over the sequence, of maps over all queries, in as many
/// threads as there are processors.
MapErrors map_errors_of(const Problem& problem, const RowsOutput& maps, Index pixel, int count,
                        const std::string& precision);

}  // namespace fovea::bench
