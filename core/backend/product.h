// Products of plain matrices with the loops of the CPU back end.
#pragma once

#include "backend/isa/attend.h"
#include "backend/workers.h"

namespace fovea {

/// a b, [m, k] times [k, n], in float32: sums of at most 2048 products, which are then added. A row
/// of the result depends neither on the number of threads nor on other rows of `a`.
Matrix product(MatrixView a, MatrixView b, const isa::Loops& loops, Workers& workers,
               const std::stop_token& stop);

/// z[first + row] += a[row] b in the columns `cols`, whose ends are multiples of 16 floats that z
/// and b both have: padding too.
void add_product(MatrixView a, MatrixView b, IndexRange cols, const isa::Loops& loops, Matrix& z,
                 Index first);

/// The numbers of the sums that product() holds, for a result [rows, width] of sums of `terms`: the
/// result, and its pieces if they are few.
double product_sums(Index rows, Index width, Index terms);

}  // namespace fovea
