#include "panels/readings.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "data/larger.h"

namespace fovea {

PairReading read_pair(const Computation& approximate, const Computation& exact, Index query,
                      Index key, Run& run) {
  const IndexRange row{query, query + 1}, col{key, key + 1};
  PairReading reading{.query = query,
                      .key = key,
                      .exact = exact.op->tile(row, col, run)(0, 0),
                      .approximate = has_entries(approximate.op->plan())
                                         ? approximate.op->tile(row, col, run)(0, 0)
                                         : std::numeric_limits<float>::quiet_NaN(),
                      .info = pair_info(approximate.op->plan(), query, key)};
  if (const auto& block = reading.info.block) {
    const Matrix weights = exact.op->tile(row, block->keys, run);
    reading.block_mass = std::accumulate(weights.row(0), weights.row(0) + block->keys.size(), 0.0);
  }
  return reading;
}

RowReading read_row(const Computation& computation, Index query, Run& run) {
  const Index keys = computation.op->problem().keys();
  if (!has_entries(computation.op->plan()))
    return {.query = query,
            .values = std::vector<float>(keys, std::numeric_limits<float>::quiet_NaN())};
  const Matrix row = computation.op->tile({query, query + 1}, {0, keys}, run);
  return {.query = query, .values = {row.row(0), row.row(0) + keys}};
}

SelectionReading read_selection(const Computation& approximate, const Computation& exact,
                                IndexRange rows, IndexRange cols, Run& run) {
  SelectionReading reading{.rows = rows, .cols = cols};
  constexpr Index entries = 4'000'000;  // about .1 s
  const Index step = std::max<Index>(1, rows.size() * cols.size() / entries);
  std::vector<double> exact_mass, approximate_mass, squares;  // a number a row
  for (Index i = rows.begin; i < rows.end; i += step) {
    const Matrix p = exact.op->tile({i, i + 1}, cols, run);
    const Matrix q = approximate.op->tile({i, i + 1}, cols, run);
    double of_exact = 0, of_approximate = 0, square = 0;
    for (Index j = 0; j < cols.size(); ++j) {
      const double a = q(0, j), e = p(0, j);
      of_exact += e;
      of_approximate += a;
      reading.exact_max = larger_or_nan(reading.exact_max, e);
      reading.approximate_max = larger_or_nan(reading.approximate_max, a);
      square += (a - e) * (a - e) / static_cast<double>(cols.size());
    }
    exact_mass.push_back(of_exact);
    approximate_mass.push_back(of_approximate);
    squares.push_back(square);
  }
  reading.rows_read = std::ssize(squares);
  const RowBands sample{.rows = reading.rows_read, .queries = rows.size()};
  reading.exact_mass = mean_of(sample, exact_mass);
  reading.approximate_mass = mean_of(sample, approximate_mass);
  reading.rms_error = root_of(mean_of(sample, squares));
  return reading;
}

}  // namespace fovea
