// An Estimate is a figure of all rows of P, found from the rows of a sample.
#pragma once

#include <span>

#include "analysis/row_bands.h"

namespace fovea {

/// The standard error is 0 if all rows were read.
struct Estimate {
  double value = 0, standard_error = 0;
};

/// (sum of `above` over all rows) / (sum of `below` over all rows), which must be positive. Both
/// hold a number for each row that was read [rows.rows]. A row with chance π stands for 1 / π rows.
/// The standard error is that of the linearised ratio for Pareto samples (Rosén 1997, see
/// row_bands.cpp); with equal chances it is the usual one of samples without replacement.
Estimate ratio_of_sums(const RowBands& rows, std::span<const double> above,
                       std::span<const double> below);
/// The mean over all rows.
Estimate mean_of(const RowBands& rows, std::span<const double> values);
/// The square root of an estimate, by the delta method.
Estimate root_of(Estimate square);
/// The q-quantile over all rows: the least of the values that the share `q` of the rows does not
/// exceed. `values` is not empty. NaN if a value is NaN.
double quantile_of(const RowBands& rows, std::span<const double> values, double q);
/// The quantile with its standard error, half of the distance between the quantiles at `q` plus and
/// minus one standard error of the share of rows up to the quantile (Woodruff 1952).
Estimate quantile_estimate(const RowBands& rows, std::span<const double> values, double q);

}  // namespace fovea
