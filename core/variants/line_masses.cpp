#include "variants/line_masses.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "data/memory.h"
#include "data/number_text.h"
#include "variants/dot_products.h"

namespace fovea {

LineMasses line_masses(const Problem& problem, Index last_queries, const Backend& backend,
                       Run& run) {
  const Index n = problem.n(), last = std::min(last_queries, n), first = n - last;
  require_memory(8 * static_cast<double>(last) * static_cast<double>(n),
                 "weights of the last " + plural(last, "query row"),
                 "Fewer last queries need less");
  std::vector<double> weights(static_cast<std::size_t>(last * n));
  constexpr Index strip = 16;
  backend.share_out((last + strip - 1) / strip, run, [&](Index turn) {
    const IndexRange rows{turn * strip, std::min(last, (turn + 1) * strip)};
    exact_weights(problem, {first + rows.begin, first + rows.end}, {0, n},
                  weights.data() + rows.begin * n);
  });
  LineMasses masses{.of_keys = std::vector<double>(static_cast<std::size_t>(n)),
                    .of_distances = std::vector<double>(static_cast<std::size_t>(n))};
  for (Index i = first; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      const double weight = weights[static_cast<std::size_t>((i - first) * n + j)];
      masses.of_keys[static_cast<std::size_t>(j)] += weight;
      masses.of_distances[static_cast<std::size_t>(std::abs(i - j))] += weight;
      masses.pairs += problem.admits(i, j);
    }
  return masses;
}

std::vector<std::int32_t> lines_by_mass(const std::vector<double>& mass, Index forced) {
  std::vector<std::int32_t> order(mass.size());
  std::iota(order.begin(), order.end(), 0);
  const auto of = [&](std::int32_t line) { return mass[static_cast<std::size_t>(line)]; };
  std::stable_sort(order.begin() + std::min(forced, std::ssize(order)), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return is_larger(of(a), of(b)); });
  return order;
}

}  // namespace fovea
