#include "analysis/heavy_entries.h"

#include <functional>
#include <numeric>
#include <vector>

namespace fovea {

BitMatrix heavy_entries(const Problem& problem, double tau, const Run& run) {
  const Index d = problem.d();
  BitMatrix heavy(problem.queries(), problem.keys());
  std::vector<double> squares(problem.queries());  // of a column
  for (Index j = 0; j < heavy.cols(); ++j) {
    run.check();
    for (Index i = 0; i < heavy.rows(); ++i) {
      const double dot = std::inner_product(
          problem.q.row(i), problem.q.row(i) + d, problem.k.row(j), 0.0, std::plus(),
          [](float a, float b) { return static_cast<double>(a) * static_cast<double>(b); });
      squares[i] = dot * dot;
    }
    const double least = std::reduce(squares.begin(), squares.end()) / tau;
    for (Index i = 0; i < heavy.rows(); ++i)
      if (const double square = squares[i]; square > 0 && square >= least && problem.admits(i, j))
        heavy.set(i, j);
  }
  return heavy;
}

}  // namespace fovea
