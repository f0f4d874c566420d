#include "bench/map_errors.h"

#include <algorithm>
#include <cmath>

#include "bench/in_parallel.h"
#include "larger_error.h"

namespace fovea::bench {
namespace {

template <class Real>
struct MapRow {
  std::vector<Real> most, mean;
};

// Adds one row of P.
template <class Real>
void add_query(const Problem& problem, Index query, Index pixel, MapRow<Real>& row) {
  const Index keys = problem.causal ? query + 1 : problem.n();
  std::vector<Real> p(static_cast<std::size_t>(keys));
  for (Index j = 0; j < keys; ++j) {
    Real product = 0;
    for (Index c = 0; c < problem.d(); ++c)
      product += static_cast<Real>(problem.q(query, c)) * static_cast<Real>(problem.k(j, c));
    p[static_cast<std::size_t>(j)] = product * static_cast<Real>(problem.scale);
  }
  const Real top = *std::ranges::max_element(p);
  Real sum = 0;
  for (Real& x : p) sum += x = std::exp(x - top);
  for (Index j = 0; j < keys; ++j) {
    const Real entry = p[static_cast<std::size_t>(j)] / sum;
    const auto column = static_cast<std::size_t>(j / pixel);
    row.most[column] = std::max(row.most[column], entry);
    row.mean[column] += entry;
  }
}

template <class Real>
MapRow<Real> map_row(const Problem& problem, Index row, Index pixel) {
  const Index n = problem.n(), end = std::min(n, (row + 1) * pixel);
  const auto columns = static_cast<std::size_t>((n + pixel - 1) / pixel);
  MapRow<Real> out{std::vector<Real>(columns, Real(0)), std::vector<Real>(columns, Real(0))};
  for (Index query = row * pixel; query < end; ++query) add_query(problem, query, pixel, out);
  for (std::size_t c = 0; c < columns; ++c) {
    const Index first = static_cast<Index>(c) * pixel;
    out.mean[c] /= static_cast<Real>((end - row * pixel) * (std::min(n, first + pixel) - first));
  }
  return out;
}

struct Sums {
  double ours = 0, plain = 0, norm = 0;

  void add(const float* found, const std::vector<double>& truth, const std::vector<float>& simple,
           RowErrors& errors) {
    for (std::size_t c = 0; c < truth.size(); ++c) {
      const double apart = static_cast<double>(found[c]) - truth[c],
                   plain_apart = static_cast<double>(simple[c]) - truth[c];
      ours += apart * apart;
      plain += plain_apart * plain_apart;
      norm += truth[c] * truth[c];
      errors.largest = test::larger_error(errors.largest, apart);
    }
    ++errors.rows;
    errors.ours = std::sqrt(ours / norm);
    errors.plain = std::sqrt(plain / norm);
  }
};

}  // namespace

MapErrors map_errors_of(const Problem& problem, const RowsOutput& maps, Index pixel, int count,
                        const std::string& precision) {
  const Problem simple_problem = rounded_to(problem, precision);
  MapErrors out;
  struct Sample {
    Index row = 0;
    MapRow<double> truth = {};
    MapRow<float> simple = {};
  };
  std::vector<Sample> samples(static_cast<std::size_t>(count));
  for_each_of(count, [&](int sample) {
    const Index row = (2 * sample + 1) * maps.most.rows() / (2 * count);
    samples[static_cast<std::size_t>(sample)] = {row, map_row<double>(problem, row, pixel),
                                                 map_row<float>(simple_problem, row, pixel)};
  });
  Sums most, mean;
  for (const auto& [row, truth, simple] : samples) {
    most.add(maps.most.row(row), truth.most, simple.most, out.most);
    mean.add(maps.mean.row(row), truth.mean, simple.mean, out.mean);
  }
  return out;
}

}  // namespace fovea::bench
