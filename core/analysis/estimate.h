// An Estimate is a figure of all rows of P, found from the rows of a sample.
#pragma once

#include <span>

#include "analysis/row_bands.h"

namespace fovea {

/// Over all rows the standard error is 0.
struct Estimate {
  double value = 0, standard_error = 0;
};

/// The sum over all rows of one number a row by that of another, which is positive. `above` and
/// `below` have the numbers of the rows that were read [rows.rows]. A row that was drawn with
/// chance π stands for 1 / π rows. The standard error is that of the linearised ratio, for samples
/// of a fixed size whose chances differ (Rosén, "On sampling with probability proportional to
/// size", J. Stat. Plan. Inference 62, 1997, eq. 4.11). Where all chances are the same it is the
/// textbook's for samples without replacement.
Estimate ratio_of_sums(const RowBands& rows, std::span<const double> above,
                       std::span<const double> below);
/// The mean over all rows.
Estimate mean_of(const RowBands& rows, std::span<const double> values);
/// The root of what is estimated.
Estimate root_of(Estimate square);
/// The least of the values that is not exceeded by the share `q` of all rows; there is one.
double not_exceeded_by(const RowBands& rows, std::span<const double> values, double q);

}  // namespace fovea
