// k-means of queries and keys, against Lloyd's algorithm in float64.
#include "variants/token_clusters.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "data/draw_purpose.h"
#include "data/error.h"
#include "data/random.h"
#include "harness.h"
#include "messages.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr std::uint64_t seed = 7;

/// Rounds of k-means of some rows on a back end.
TokenClusters found(const Backend& backend, MatrixView rows, Index count, int rounds) {
  Profile profile;
  Run run{profile};
  const Structure none;
  Planning planning{backend, run, seed, none};
  return clusters_of(rows, count, rounds, stream_of(DrawPurpose::key_means, 0), planning);
}

double square_distance(MatrixView rows, Index i, const std::vector<double>& mean) {
  double sum = 0;
  for (Index c = 0; c < rows.cols; ++c)
    sum += std::pow(double{rows(i, c)} - mean[static_cast<std::size_t>(c)], 2);
  return sum;
}

struct Lloyd {
  std::vector<std::vector<double>> means;
  std::vector<std::int32_t> of_row;

  Lloyd(MatrixView rows, Index count) {
    for (const std::int32_t i :
         draw_subset(rows.rows, count, Random(seed, stream_of(DrawPurpose::key_means, 0))))
      means.emplace_back(rows.row(i), rows.row(i) + rows.cols);
  }
  void round(MatrixView rows) {
    of_row.clear();
    auto sums = means;
    std::vector<Index> sizes(means.size());
    for (auto& sum : sums) std::ranges::fill(sum, 0.0);
    for (Index i = 0; i < rows.rows; ++i) {
      std::size_t best = 0;
      for (std::size_t m = 1; m < means.size(); ++m)
        if (square_distance(rows, i, means[m]) < square_distance(rows, i, means[best])) best = m;
      of_row.push_back(static_cast<std::int32_t>(best));
      ++sizes[best];
      for (Index c = 0; c < rows.cols; ++c)
        sums[best][static_cast<std::size_t>(c)] += double{rows(i, c)};
    }
    for (std::size_t m = 0; m < means.size(); ++m)
      for (std::size_t c = 0; c < sums[m].size() && sizes[m] > 0; ++c)
        means[m][c] = sums[m][c] / static_cast<double>(sizes[m]);
  }
  /// The sum of squared distances from the means of the clusters.
  double spread(MatrixView rows) const {
    double sum = 0;
    for (Index i = 0; i < rows.rows; ++i)
      sum += square_distance(rows, i,
                             means[static_cast<std::size_t>(of_row[static_cast<std::size_t>(i)])]);
    return sum;
  }
};

}  // namespace

TEST_CASE("clusters of tokens are those of Lloyd's algorithm, round by round") {
  for (const auto& [n, count, d] :
       {std::tuple<Index, Index, Index>{200, 9, 5}, {64, 64, 3}, {50, 1, 8}, {90, 30, 1}}) {
    const Problem head = make_data(Data::gaussian, n, d, 1, false);
    for (const auto& backend : backends()) {
      CAPTURE(backend->device());
      Lloyd truth(head.k, count);
      double before = std::numeric_limits<double>::infinity();
      for (int rounds = 1; rounds <= 6; ++rounds) {
        truth.round(head.k);
        CAPTURE(rounds);
        const TokenClusters clusters = found(*backend, head.k, count, rounds);
        // No distances of these rows are so near each other that float32 cannot tell them apart.
        CHECK(clusters.of_token == truth.of_row);
        CHECK(clusters.count() == count);
        for (Index m = 0; m < count; ++m) {
          CHECK(clusters.sizes[static_cast<std::size_t>(m)] ==
                std::ranges::count(truth.of_row, static_cast<std::int32_t>(m)));
          for (Index c = 0; c < d; ++c)
            CHECK(double{clusters.means(m, c)} ==
                  doctest::Approx(
                      truth.means[static_cast<std::size_t>(m)][static_cast<std::size_t>(c)])
                      .epsilon(1e-6));
        }
        // A round never makes clusters wider.
        const double spread = truth.spread(head.k);
        CHECK(spread <= before * (1 + 1e-12));
        before = spread;
      }
    }
  }
}

TEST_CASE("clusters of equal tokens: one holds them all, and the others are empty") {
  const Matrix same(20, 3, 1.5F);
  for (const auto& backend : backends()) {
    const TokenClusters clusters = found(*backend, same, 4, 3);
    CHECK(std::set(clusters.of_token.begin(), clusters.of_token.end()) ==
          std::set<std::int32_t>{0});
    CHECK(clusters.sizes == std::vector<Index>{20, 0, 0, 0});
    CHECK(clusters.means(0, 2) == 1.5F);
  }
}

TEST_CASE("tokens that are not finite move no mean") {
  const Problem head = make_data(Data::gaussian, 80, 4, 1, false);
  for (const auto& backend : backends()) {
    Matrix rows = Matrix::copy_of(head.k);
    rows(0, 1) = std::numeric_limits<float>::quiet_NaN();
    rows(41, 3) = std::numeric_limits<float>::infinity();
    const TokenClusters clusters = found(*backend, rows, 6, 5);
    for (Index m = 0; m < 6; ++m)
      for (Index c = 0; c < 4; ++c) CHECK(std::isfinite(clusters.means(m, c)));
    CHECK(std::set(clusters.of_token.begin(), clusters.of_token.end()).size() == 6);
    CHECK(clusters.of_token[0] == 0);
    CHECK(std::accumulate(clusters.sizes.begin(), clusters.sizes.end(), Index{0}) == 80);
  }
}

TEST_CASE("clusters that are given are taken, whatever their numbers, and bad ones are refused") {
  const Problem head = make_data(Data::gaussian, 8, 2, 1, false);
  const auto given = [](std::vector<std::int32_t> queries, std::vector<std::int32_t> keys) {
    Structure out;
    out.set({"query_cluster", {8}, std::move(queries)});
    out.set({"key_cluster", {8}, std::move(keys)});
    return out;
  };
  const auto plan = [&](const Structure& structure) {
    return make_plan(*backends().front(), head, "svg2", {{"tau", "0"}, {"least", "0"}}, structure);
  };
  // Clusters 1 and 2 of the queries, and 1 of the keys, are empty.
  const auto made = plan(given({0, 3, 0, 3, 0, 3, 0, 3}, {2, 2, 0, 0, 2, 2, 0, 0}));
  CHECK(made->structure.integers("query_cluster") ==
        std::vector<std::int32_t>{0, 3, 0, 3, 0, 3, 0, 3});
  const auto& tiles = std::get<TilePlan>(made->form).passes.front().tiles;
  REQUIRE(tiles.size() == 2);
  for (const Tile& tile : tiles) {
    CHECK(tile.rows.size() == 4);
    CHECK(tile.cols.size() == 4);
  }
  CHECK(made->planning_multiply_adds == 4 * 3 * 2);
  for (const std::int32_t bad : {-1, 8})
    CHECK(message_of<InputError>([&] {
            plan(given({0, 0, 0, 0, 0, 0, 0, bad}, {0, 0, 0, 0, 0, 0, 0, 0}));
          }) == "query_cluster: " + std::to_string(bad) + "; expected a number in [0, 8)");
}

TEST_CASE("queries that keep no key which they may attend are counted") {
  Problem head = make_data(Data::gaussian, 6, 2, 1, false);
  head.window = 1;  // no earlier tokens
  Structure apart;
  apart.set({"query_cluster", {6}, std::vector<std::int32_t>{0, 0, 0, 1, 1, 1}});
  apart.set({"key_cluster", {6}, std::vector<std::int32_t>{0, 1, 2, 3, 4, 5}});
  const auto plan =
      make_plan(*backends().front(), head, "svg2", {{"tau", "0"}, {"least", "0"}}, apart);
  const Pass& pass = std::get<TilePlan>(plan->form).passes.front();
  Index blind = 0;
  for (const Tile& tile : pass.tiles) {  // each of a cluster with a single token
    const std::int32_t key = pass.cols[static_cast<std::size_t>(tile.cols.begin)];
    for (Index r = tile.rows.begin; r < tile.rows.end; ++r)
      blind += !head.admits(pass.rows[static_cast<std::size_t>(r)], key);
  }
  CHECK(blind > 0);
  CHECK(plan->notes.front() ==
        std::to_string(blind) + " of 6 queries keep no key that they may attend: Z = 0");
}
