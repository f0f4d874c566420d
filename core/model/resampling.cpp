#include "model/resampling.h"

#include <algorithm>
#include <cmath>

#include "data/stop.h"

namespace fovea {
namespace {

/// Keys' cubic.
double cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

double weight_at(double x, Resampling kind) {
  return kind == Resampling::bilinear ? std::max(0.0, 1 - std::abs(x)) : cubic(x, -0.5);
}

Taps widened_taps(Index i, double scale, Index from, Resampling kind) {
  const double stretch = std::max(scale, 1.0),
               reach = (kind == Resampling::bilinear ? 1 : 2) * stretch,
               centre = (static_cast<double>(i) + 0.5) * scale;
  const auto begin = static_cast<Index>(std::max(0.0, centre - reach + 0.5)),
             end = std::min(from, static_cast<Index>(centre + reach + 0.5));
  Taps taps{.first = begin};
  double sum = 0;
  for (Index j = begin; j < end; ++j) {
    taps.weights.push_back(weight_at((static_cast<double>(j) - centre + 0.5) / stretch, kind));
    sum += taps.weights.back();
  }
  for (double& weight : taps.weights) weight /= sum;
  return taps;
}

Taps point_taps(Index i, double scale, Index from) {
  const double at = (static_cast<double>(i) + 0.5) * scale - 0.5;
  const auto left = static_cast<Index>(std::floor(at));
  const auto inside = [&](Index j) { return std::clamp<Index>(j, 0, from - 1); };
  Taps taps{.first = inside(left - 1)};
  taps.weights.resize(inside(left + 2) - taps.first + 1);
  for (Index j = left - 1; j <= left + 2; ++j)
    taps.weights[inside(j) - taps.first] += cubic(at - static_cast<double>(j), -0.75);
  return taps;
}

}  // namespace

std::vector<Taps> resampling_taps(Index from, Index to, IndexRange wanted, Resampling kind) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  std::vector<Taps> taps;
  for (Index i = wanted.begin; i < wanted.end; ++i)
    taps.push_back(kind == Resampling::bicubic_points ? point_taps(i, scale, from)
                                                      : widened_taps(i, scale, from, kind));
  return taps;
}

Matrix resample_grid(MatrixView grid, Index rows, Index cols, Index to_rows, Index to_cols,
                     Resampling kind, const std::stop_token& stop) {
  const auto down = resampling_taps(rows, to_rows, {0, to_rows}, kind),
             across = resampling_taps(cols, to_cols, {0, to_cols}, kind);
  Matrix out = Matrix::padded(to_rows * to_cols, grid.cols);
  std::vector<double> sum(grid.cols);
  for (Index r = 0; r < to_rows; ++r) {
    check_stop(stop);
    for (Index c = 0; c < to_cols; ++c) {
      std::ranges::fill(sum, 0.0);
      for (Index y = 0; y < std::ssize(down[r].weights); ++y)
        for (Index x = 0; x < std::ssize(across[c].weights); ++x) {
          const double weight = down[r].weights[y] * across[c].weights[x];
          const float* place = grid.row((down[r].first + y) * cols + across[c].first + x);
          for (Index j = 0; j < grid.cols; ++j) sum[j] += weight * double{place[j]};
        }
      float* to = out.row(r * to_cols + c);
      for (Index j = 0; j < grid.cols; ++j) to[j] = static_cast<float>(sum[j]);
    }
  }
  return out;
}

}  // namespace fovea
