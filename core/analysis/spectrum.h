// Largest singular values of P, which is read by rows.
#pragma once

#include <span>

#include "backend/operator.h"

namespace fovea {

/// |P|_op by Lanczos iteration on P^T P; every step reads P once, in row bands. O(n) memory times
/// the steps, at most 40. Relative error about 1e-6.
double operator_norm(const Operator& op, Run& run);

/// |diag(w) P|_op in the same way, for P without negative entries; w [n] may have some. Infinite if
/// an entry is not finite.
double weighted_norm(const Operator& op, std::span<const double> w, Run& run);

/// |P~ - P|_op of two operators on equally many tokens, in the same way: every step reads both.
/// Infinite if an entry is not finite.
double difference_norm(const Operator& approximate, const Operator& exact, Run& run);

}  // namespace fovea
