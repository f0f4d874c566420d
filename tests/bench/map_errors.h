// Errors of maps of exact attention against float64, on a few rows of pixels.
#pragma once

#include "backend/operator.h"
#include "bench/sampled_rows.h"

namespace fovea::bench {

struct MapErrors {
  RowErrors most, mean;
};

/// For `count` rows of pixels, spread over the sequence, of maps over all queries.
MapErrors map_errors_of(const Problem& problem, const RowsOutput& maps, Index pixel, int count,
                        const std::string& precision);

}  // namespace fovea::bench
