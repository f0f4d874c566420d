#include "data/recurrence.h"

#include <cmath>

#include "data/error.h"
#include "data/number_text.h"

namespace fovea {
namespace {

Matrix first_rows(const Matrix& m, Index n) {
  return m.empty() ? Matrix() : Matrix::copy_of(m.view().slice({0, n}));
}

/// "Inf" and "NaN" too.
std::string number_text(float x) {
  return std::isfinite(x) ? format_plain(double{x})
         : std::isnan(x)  ? "NaN"
         : x > 0          ? "Inf"
                          : "-Inf";
}

template <class Allows>
void check_numbers(MatrixView m, const char* name, const char* expected, const std::string& where,
                   Allows allows) {
  for (Index i = 0; i < m.rows; ++i)
    for (Index c = 0; c < m.cols; ++c)
      if (!allows(m(i, c)))
        throw InputError(where, std::string(name) + " of token " + std::to_string(i) + " is " +
                                    number_text(m(i, c)) + "; expected " + expected);
}

void check_rows(MatrixView m, Index n, const char* name, const std::string& where) {
  if (!m.empty() && m.rows != n)
    throw InputError(where, std::string(name) + " of " + std::to_string(m.rows) +
                                " tokens; expected " + std::to_string(n));
}

}  // namespace

Recurrence Recurrence::prefix(Index n) const {
  return {.erases = erases,
          .beta = beta.empty() ? beta : std::vector(beta.begin(), beta.begin() + n),
          .log_decay = first_rows(log_decay, n),
          .level_weights = first_rows(level_weights, n)};
}

std::string Recurrence::name() const {
  const std::string gated = log_decay.empty() ? "" : "gated ";
  if (level_weights.empty()) return gated + (erases ? "delta rule" : "linear attention");
  return erases ? "log-linear " + gated + "delta rule" : "log-linear attention";
}

void check_recurrence(const Recurrence& recurrence, Index n, Index d, const std::string& where) {
  const MatrixView beta{recurrence.beta.data(), std::ssize(recurrence.beta),
                        recurrence.beta.empty() ? 0 : 1, 1},
      decay = recurrence.log_decay, weights = recurrence.level_weights;
  check_rows(beta, n, "beta", where);
  check_rows(decay, n, "log_decay", where);
  check_rows(weights, n, "level_weights", where);
  if (!decay.empty() && decay.cols != 1 && decay.cols != d)
    throw InputError(where, "log_decay has " + std::to_string(decay.cols) +
                                " channels; expected 1, or d = " + std::to_string(d));
  if (!weights.empty() && weights.cols < fenwick_levels(n))
    throw InputError(where, "level_weights have " + std::to_string(weights.cols) +
                                " levels; expected " + std::to_string(fenwick_levels(n)) +
                                " or more for n = " + std::to_string(n));
  const auto is_finite = [](float x) { return std::isfinite(x); };
  check_numbers(beta, "beta", "a finite number", where, is_finite);
  check_numbers(weights, "level_weights", "finite numbers", where, is_finite);
  check_numbers(decay, "log_decay", "a finite number up to 0", where,
                [](float x) { return std::isfinite(x) && x <= 0; });
}

void normalise_rows(Matrix& m) {
  constexpr double least_square = 1e-6;
  for (Index i = 0; i < m.rows(); ++i) {
    double square = 0;
    for (Index c = 0; c < m.cols(); ++c) square += double{m(i, c)} * double{m(i, c)};
    const double length = std::sqrt(square + least_square);
    for (Index c = 0; c < m.cols(); ++c) m(i, c) = static_cast<float>(double{m(i, c)} / length);
  }
}

}  // namespace fovea
