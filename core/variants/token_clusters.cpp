#include "variants/token_clusters.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "data/random.h"

namespace fovea {
namespace {

/// |m|^2 - 2 x.m of some rows x and all means m is their squared distance, but for |x|^2.
class NearestMean {
 public:
  NearestMean(const Matrix& means, Planning& planning)
      : planning_(planning), across_(means.cols(), means.rows()) {
    for (Index m = 0; m < means.rows(); ++m) {
      double square = 0;
      for (Index c = 0; c < means.cols(); ++c) {
        across_(c, m) = means(m, c);
        square += static_cast<double>(means(m, c)) * static_cast<double>(means(m, c));
      }
      half_squares_.push_back(static_cast<float>(square / 2));
    }
  }

  void find(MatrixView rows, std::vector<std::int32_t>& nearest) const {
    // Products of 64 MiB at a time.
    const Index together = std::max<Index>(1, (Index{1} << 24) / across_.cols());
    for (Index begin = 0; begin < rows.rows; begin += together) {
      const IndexRange some{begin, std::min(rows.rows, begin + together)};
      const Matrix products = planning_.backend.product(rows.slice(some), across_, planning_.run);
      planning_.backend.share_out(some.size(), planning_.run, [&](Index r) {
        const float* const row = products.row(r);
        std::size_t best = 0;
        const auto closeness = [&](std::size_t m) { return row[m] - half_squares_[m]; };
        for (std::size_t m = 1; m < half_squares_.size(); ++m)
          if (closeness(m) > closeness(best)) best = m;
        nearest[static_cast<std::size_t>(some.begin + r)] = static_cast<std::int32_t>(best);
      });
    }
  }

 private:
  Planning& planning_;
  Matrix across_;  // [d, means]
  std::vector<float> half_squares_;
};

bool is_finite(MatrixView rows, Index i) {
  return std::all_of(rows.row(i), rows.row(i) + rows.cols,
                     [](float x) { return std::isfinite(x); });
}

/// Rows of which one may begin a cluster; all if none is finite.
std::vector<std::int32_t> possible_means(MatrixView rows) {
  std::vector<std::int32_t> finite;
  for (Index i = 0; i < rows.rows; ++i)
    if (is_finite(rows, i)) finite.push_back(static_cast<std::int32_t>(i));
  if (finite.empty()) {
    finite.resize(static_cast<std::size_t>(rows.rows));
    std::iota(finite.begin(), finite.end(), 0);
  }
  return finite;
}

/// Sets sizes, and the means of the finite rows of clusters.
void find_means(MatrixView rows, TokenClusters& clusters) {
  const auto d = static_cast<std::size_t>(rows.cols);
  std::vector<double> sums(clusters.sizes.size() * d), finite(clusters.sizes.size());
  std::ranges::fill(clusters.sizes, 0);
  for (Index i = 0; i < rows.rows; ++i) {
    const auto cluster = static_cast<std::size_t>(clusters.of_token[static_cast<std::size_t>(i)]);
    ++clusters.sizes[cluster];
    if (!is_finite(rows, i)) continue;
    ++finite[cluster];
    for (std::size_t c = 0; c < d; ++c)
      sums[cluster * d + c] += static_cast<double>(rows(i, static_cast<Index>(c)));
  }
  for (Index m = 0; m < clusters.count(); ++m)
    if (const double size = finite[static_cast<std::size_t>(m)]; size > 0)
      for (std::size_t c = 0; c < d; ++c)
        clusters.means(m, static_cast<Index>(c)) =
            static_cast<float>(sums[static_cast<std::size_t>(m) * d + c] / size);
}

}  // namespace

TokenClusters clusters_of(MatrixView rows, Index count, int rounds, std::uint64_t stream,
                          Planning& planning) {
  TokenClusters out{.of_token = std::vector<std::int32_t>(static_cast<std::size_t>(rows.rows)),
                    .sizes = std::vector<Index>(static_cast<std::size_t>(count)),
                    .means = Matrix(count, rows.cols)};
  const std::vector<std::int32_t> possible = possible_means(rows),
                                  first = draw_subset(std::ssize(possible), count,
                                                      Random(planning.seed, stream));
  for (std::size_t m = 0; m < first.size(); ++m)
    std::copy_n(rows.row(possible[static_cast<std::size_t>(first[m])]), rows.cols,
                out.means.row(static_cast<Index>(m)));
  for (int round = 0; round < rounds; ++round) {
    planning.run.check();
    NearestMean(out.means, planning).find(rows, out.of_token);
    find_means(rows, out);
  }
  return out;
}

TokenClusters given_clusters(MatrixView rows, std::vector<std::int32_t> of_token) {
  const auto count = static_cast<std::size_t>(std::ranges::max(of_token)) + 1;
  TokenClusters out{.of_token = std::move(of_token),
                    .sizes = std::vector<Index>(count),
                    .means = Matrix(static_cast<Index>(count), rows.cols)};
  find_means(rows, out);
  return out;
}

}  // namespace fovea
