// The mean of a number over several inputs, with the interval that holds it.
#pragma once

#include <optional>
#include <span>

#include "data/matrix.h"

namespace fovea {

/// The mean over n inputs that are drawn independently. The interval is
/// mean ± t s / √n, where s is the standard deviation of the sample, s² = Σ (x - mean)² / (n - 1),
/// and t the value that Student's distribution of n - 1 degrees of freedom stays below in size with
/// a probability of 95 %. It contains the mean over all inputs with that probability if their
/// numbers are distributed normally.
struct MeanOverInputs {
  double mean = 0;             // NaN if there is no input
  std::optional<double> half;  // of the interval's width; nothing below two inputs
  Index inputs = 0;

  double low() const { return mean - half.value_or(0); }
  double high() const { return mean + half.value_or(0); }
};

/// `values` are finite.
MeanOverInputs mean_over_inputs(std::span<const double> values);

/// t such that |T| < t with a probability of 95 %, for Student's distribution of `degrees` >= 1
/// degrees of freedom.
double students_t(Index degrees);

}  // namespace fovea
