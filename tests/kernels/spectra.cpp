// Singular values by CUDA's kernels against Eigen's Jacobi rotations in double and the CPU back
// end.
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <thread>

#include "analysis/rank_map.h"
#include "harness.h"
#include "jacobi_values.h"
#include "kernels/other_backends.h"

using namespace fovea;
using namespace fovea::test;

namespace {

using Entry = std::function<double(Index, Index)>;

Matrix filled(Index rows, Index cols, const Entry& entry) {
  Matrix out(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) out(i, j) = static_cast<float>(entry(i, j));
  return out;
}

Spectra decompose(const Backend& backend, const std::vector<Matrix>& blocks) {
  Profile profile;
  Run run{profile};
  const std::vector<MatrixView> views(blocks.begin(), blocks.end());
  return backend.singular_values(views, run);
}

const Backend& gpu() {
  return *backends().front();
}

// Sum of `terms` products, term t of weight ratio^t.
Entry product(Index rows, Index cols, Index terms, double ratio) {
  const Matrix x = gaussian(rows, terms, 7), y = gaussian(cols, terms, 8);
  return [=](Index i, Index j) {
    double sum = 0;
    for (Index t = 0; t < terms; ++t)
      sum += std::pow(ratio, static_cast<double>(t)) * static_cast<double>(x(i, t)) *
             static_cast<double>(y(j, t));
    return sum;
  };
}

struct Named {
  std::string name;
  Matrix block;
};

std::vector<Named> blocks_of(Index rows, Index cols) {
  const Matrix noise = gaussian(rows, cols, 5);
  const auto make = [&](const Entry& entry) { return filled(rows, cols, entry); };
  return {{"random", make([&](Index i, Index j) { return noise(i, j); })},
          {"zero", make([](Index, Index) { return 0.0; })},
          {"equal", make([](Index, Index) { return 0.3; })},
          {"rank 5", make(product(rows, cols, 5, 1))},
          {"rank 20, tiny",
           make([f = product(rows, cols, 20, 1)](Index i, Index j) { return 1e-30 * f(i, j); })},
          {"huge", make([&](Index i, Index j) { return 1e35 * static_cast<double>(noise(i, j)); })},
          {"rank 60", make(product(rows, cols, 60, 1))},
          {"graded", make(product(rows, cols, 40, 0.3))},
          {"one large entry", make([&](Index i, Index j) {
             return i == rows / 2 && j == cols / 3 ? 1e6 : 1e-3 * static_cast<double>(noise(i, j));
           })},
          {"smooth", make([&](Index i, Index j) {  // as off the diagonal of a rank map
             return std::exp(-0.01 * static_cast<double>(i + j)) /
                    (1 + 0.1 * static_cast<double>(i + j));
           })}};
}

void check_values(const Named& named, const std::vector<float>& found, double tolerance) {
  CAPTURE(named.name);
  const std::vector<double> expected = jacobi_values<double>(
      named.block.rows(), named.block.cols(),
      [&](Index i, Index j) { return static_cast<double>(named.block(i, j)); });
  const double norm = root_of_squares(expected);
  REQUIRE(found.size() == expected.size());
  double tail = 0, expected_tail = 0, worst = 0, worst_tail = 0;
  bool descending = true;
  for (std::size_t s = found.size(); s-- > 0;) {
    const double e = expected[s], f = static_cast<double>(found[s]);
    worst = larger_error(worst, std::abs(f - e));
    tail += f;
    expected_tail += e;
    if (!(tail >= expected_tail)) worst_tail = larger_error(worst_tail, expected_tail - tail);
    if (s > 0) descending = descending && found[s] <= found[s - 1];
  }
  CHECK(descending);
  CHECK(worst <= tolerance * norm);
  CHECK(worst_tail <= 2 * tolerance * norm);
}

void check_bound(const Named& named, const std::vector<float>& found, std::size_t resolved) {
  CAPTURE(named.name);
  const std::vector<double> expected = jacobi_values<double>(
      named.block.rows(), named.block.cols(),
      [&](Index i, Index j) { return static_cast<double>(named.block(i, j)); });
  double sum = 0, bounded = 0;
  for (std::size_t s = resolved; s < found.size(); ++s) {
    sum += static_cast<double>(found[s]);
    bounded += expected[s];
  }
  CHECK(sum >= 0.99 * bounded - 1e-12 * root_of_squares(expected));
}

void check_shape(Index rows, Index cols) {
  CAPTURE(rows);
  CAPTURE(cols);
  const std::vector<Named> cases = blocks_of(rows, cols);
  std::vector<Matrix> blocks;
  for (const Named& named : cases) blocks.push_back(named.block);
  const Spectra found = decompose(gpu(), blocks), expected = decompose(cpu(), blocks);
  // As Backend documents: for float rotations a random walk of 570 rounding errors of 3e-8; for
  // larger blocks the part that is cut off and a few times the root of double's epsilon, 1e-7 each.
  const double tolerance = std::max(rows, cols) <= 64 ? 1e-6 : 2e-7;
  for (std::size_t b = 0; b < cases.size(); ++b) {
    check_values(cases[b], found.values[b], tolerance);
    // Values that are only bounded are equal, come last, and are not counted as resolved.
    const std::vector<float>& values = found.values[b];
    const auto resolved = static_cast<std::size_t>(found.resolved[b]);
    CHECK(resolved <= values.size());
    // Their sum bounds that of the true ones, however small these are. (Double is exact to 1e-15 of
    // the largest value, and the parts that are cut off are of 1e-8.)
    if (std::max(rows, cols) > 64) check_bound(cases[b], values, resolved);
    if (std::max(rows, cols) > 64 && values.size() > 64 && values.back() > 0)
      CHECK((resolved < values.size()) == (values[values.size() - 2] == values.back()));
    const double size = static_cast<double>(expected.values[b].front());
    CHECK(numerical_rank(found.values[b], 1e-3 * size, false) ==
          numerical_rank(expected.values[b], 1e-3 * size, false));
    CHECK(numerical_rank(found.values[b], 1e-3, true) ==
          numerical_rank(expected.values[b], 1e-3, true));
  }
}

}  // namespace

TEST_CASE("spectra: small blocks have the values of Jacobi rotations in double") {
  for (const auto& [rows, cols] :
       {std::pair<Index, Index>{1, 1}, {1, 7}, {16, 16}, {31, 31}, {17, 5}, {5, 33}})
    check_shape(rows, cols);
}
TEST_CASE("spectra: 64 x 64") {
  check_shape(64, 64);
}
TEST_CASE("spectra: 63 x 40") {
  check_shape(63, 40);
}
TEST_CASE("spectra: 65 x 65") {
  check_shape(65, 65);
}
TEST_CASE("spectra: 130 x 130") {
  check_shape(130, 130);
}
TEST_CASE("spectra: 20 x 257") {
  check_shape(20, 257);
}
TEST_CASE("spectra: 257 x 64") {
  check_shape(257, 64);
}
TEST_CASE("spectra: 257 x 257") {
  check_shape(257, 257);
}

TEST_CASE("spectra: an entry that is no finite number makes all values of its block NaN") {
  std::vector<Matrix> blocks;
  for (const Index side : {1, 16, 40, 64, 70})
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
          -std::numeric_limits<float>::infinity()}) {
      blocks.push_back(gaussian(side, side, 3));
      blocks.back()(side - 1, side / 2) = bad;
      blocks.push_back(gaussian(side, side, 4));  // its neighbours are as they were
    }
  const Spectra found = decompose(gpu(), blocks), expected = decompose(cpu(), blocks);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    CAPTURE(b);
    REQUIRE(found.values[b].size() == expected.values[b].size());
    for (std::size_t s = 0; s < found.values[b].size(); ++s)
      CHECK(std::isnan(found.values[b][s]) == std::isnan(expected.values[b][s]));
    CHECK(std::isnan(found.values[b].front()) == (b % 2 == 0));
  }
}

TEST_CASE("spectra: only blocks of too high a rank are left to the CPU, and counted") {
  const std::vector<Matrix> blocks{
      gaussian(80, 90, 1),                     // rank 80
      filled(80, 90, product(80, 90, 64, 1)),  // as much as there is room for
      filled(80, 90, product(80, 90, 65, 1)),  // one more
      gaussian(64, 90, 2),
      gaussian(90, 64, 3),  // no more can be
      gaussian(64, 64, 4),
      Matrix(0, 5),
      Matrix(70, 0)};
  const Spectra found = decompose(gpu(), blocks), expected = decompose(cpu(), blocks);
  CHECK(found.left_to_cpu == 2);
  CHECK(expected.left_to_cpu == 0);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    REQUIRE(found.values[b].size() == expected.values[b].size());
    for (std::size_t s = 0; s < found.values[b].size(); ++s)
      CHECK(std::abs(found.values[b][s] - expected.values[b][s]) <=
            2e-6 * expected.values[b].front() * 8);  // |A|_F <= 8 sigma_1, twice the tolerance
  }
}

void check_map(const RankOptions& options, Index left) {
  // Off the diagonal smooth, on it rough: ranks of all kinds, blocks of 1 .. 128, cut ones too.
  const Index n = 200;
  const Matrix noise = gaussian(n, n, 11);
  const Entries entries = [&](IndexRange rows, IndexRange cols) {
    return filled(rows.size(), cols.size(), [&](Index r, Index c) {
      const Index i = rows.begin + r, j = cols.begin + c;
      const double distance = static_cast<double>(std::abs(i - j));
      const double rough = i >= 75 && j < 70 ? static_cast<double>(noise(i, j)) : 0;
      return 1 / (1 + 0.3 * distance) + rough;
    });
  };
  Profile profile;
  Progress progress;
  Run run{profile, {}, &progress};
  RankMap found = map_ranks({n, n}, entries, options, gpu(), run),
          expected = map_ranks({n, n}, entries, options, cpu(), run);
  CHECK(progress.fraction == doctest::Approx(1));
  CHECK(note_of(expected).empty());
  CHECK(found.left_to_cpu == left);
  CHECK(note_of(found).starts_with(std::to_string(left) + " of "));
  for (const bool relative : {false, true}) {
    set_tolerance(found, 1e-3, relative);
    set_tolerance(expected, 1e-3, relative);
    REQUIRE(found.blocks.size() == expected.blocks.size());
    for (std::size_t b = 0; b < found.blocks.size(); ++b)
      CHECK(found.blocks[b].rank == expected.blocks[b].rank);
  }
}

TEST_CASE("spectra: a map by hierarchy has the CPU's ranks, the rough block is left to it") {
  check_map({.leaf = 16}, 1);
}
TEST_CASE("spectra: a uniform map has the CPU's ranks, rough blocks are left to it") {
  // Also two on the diagonal, with its crest; the third there is of 60 a side.
  check_map({.leaf = 70, .partition = Partition::uniform}, 3);
}

TEST_CASE("spectra: a decomposition stops when asked") {
  std::stop_source stop;
  stop.request_stop();
  Profile profile;
  Run run{profile, stop.get_token()};
  for (const Index side : {20, 100}) {
    const Matrix block = gaussian(side, side, 1);
    const MatrixView view = block;
    CHECK_THROWS_AS(gpu().singular_values({&view, 1}, run), Cancelled);
  }
}
