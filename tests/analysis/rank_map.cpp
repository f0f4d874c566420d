#include "analysis/rank_map.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "backend/singular_values.h"
#include "data/random.h"
#include "harness.h"
#include "jacobi_values.h"

using namespace fovea;
using namespace fovea::test;

namespace {

// H-Transformer-1D, Eq. 11 and 12.
double paper_entry(Index i, Index j) {
  const double distance = static_cast<double>(i - j);
  return std::exp(2 * std::exp(-distance * distance) - 1);
}

Matrix paper_block(IndexRange rows, IndexRange cols) {
  Matrix out(rows.size(), cols.size());
  for (Index i = 0; i < rows.size(); ++i)
    for (Index j = 0; j < cols.size(); ++j)
      out(i, j) = static_cast<float>(paper_entry(rows.begin + i, cols.begin + j));
  return out;
}

RankMap paper_map(const RankOptions& options) {
  Profile profile;
  Run run{profile};
  return map_ranks({16, 16}, paper_block, options, *backends().front(), run);
}

std::vector<double> paper_values(IndexRange rows, IndexRange cols) {
  std::vector<double> entries;
  for (Index i = rows.begin; i < rows.end; ++i)
    for (Index j = cols.begin; j < cols.end; ++j) entries.push_back(paper_entry(i, j));
  return singular_values(entries.data(), rows.size(), cols.size()).values;
}

}  // namespace

TEST_CASE("the paper's example: ranks 4, 2, 2 and 192 entries (Eq. 13)") {
  const RankMap map = paper_map({.leaf = 4, .tolerance = 1e-3});
  int diagonal = 0, four = 0, eight = 0;
  for (const RankBlock& b : map.blocks) {
    INFO(b.rows.begin << "," << b.cols.begin << " side " << b.rows.size());
    if (b.rows == b.cols) {
      ++diagonal;
      CHECK(b.level == 0);
      CHECK(b.rank == 4);
    } else {
      CHECK(b.rank == 2);
      CHECK(b.level == (b.rows.size() == 4 ? 1 : 2));
      ++(b.rows.size() == 4 ? four : eight);
    }
  }
  CHECK(diagonal == 4);
  CHECK(four == 4);
  CHECK(eight == 2);
  CHECK(stored_entries(map) == 192);
}

TEST_CASE("singular values of the 8 x 8 block, and the whole matrix has full rank") {
  const auto values = paper_values({0, 8}, {8, 16});
  // As many digits as are given.
  CHECK(values[0] == doctest::Approx(3.003).epsilon(2e-4));
  CHECK(values[1] == doctest::Approx(.3399).epsilon(2e-4));
  CHECK(values[2] == doctest::Approx(3.28e-4).epsilon(2e-3));
  CHECK(values[3] == doctest::Approx(3.0e-9).epsilon(2e-2));
  const auto whole = paper_values({0, 16}, {0, 16});
  CHECK(numerical_rank({whole.begin(), whole.end()}, 1e-1, false) == 16);
}

TEST_CASE("tolerance moves ranks without a new decomposition") {
  RankMap map = paper_map({.leaf = 4, .tolerance = 1e-3});
  set_tolerance(map, 100.0, false);
  for (const RankBlock& b : map.blocks) CHECK(b.rank == 0);
  set_tolerance(map, 1e-2, true);
  for (const RankBlock& b : map.blocks)
    if (b.rows != b.cols) CHECK(b.rank == 2);
}

TEST_CASE("blocks tile the matrix for any n, in both partitions") {
  for (const Partition partition : {Partition::hierarchy, Partition::uniform})
    for (const Index n : {1, 3, 4, 5, 16, 17, 31}) {
      CAPTURE(n);
      Profile profile;
      Run run{profile};
      const RankMap map = map_ranks({n, n}, paper_block, {.leaf = 4, .partition = partition},
                                    *backends().front(), run);
      Matrix seen(n, n);
      for (const RankBlock& b : map.blocks)
        for (Index i = b.rows.begin; i < b.rows.end; ++i)
          for (Index j = b.cols.begin; j < b.cols.end; ++j) ++seen(i, j);
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) CHECK(seen(i, j) == 1);
    }
}

TEST_CASE("numerical rank as the paper and as others define it") {
  const std::vector<float> values{4, 2, 1, 0.5f};
  CHECK(numerical_rank(values, 0.4, false) == 4);
  CHECK(numerical_rank(values, 0.6, false) == 3);
  CHECK(numerical_rank(values, 1.6, false) == 2);
  CHECK(numerical_rank(values, 1.5, false) == 3);  // strictly less
  CHECK(numerical_rank(values, 100, false) == 0);
  CHECK(numerical_rank(values, 0.2, true) == 3);
  CHECK(numerical_rank({}, 1, true) == 0);
}

TEST_CASE("large blocks: the Gram matrix gives what bidiagonalisation gives") {
  // A product with known singular values: block-diagonal rotations of a diagonal matrix are enough
  // to leave nothing aligned with the axes.
  const Index side = direct_side + 40;
  const Matrix noise = gaussian(side, side, 3);
  std::vector<double> entries, transposed(static_cast<std::size_t>(side * (side - 8)));
  for (Index i = 0; i < side - 8; ++i)
    for (Index j = 0; j < side; ++j) {
      entries.push_back(static_cast<double>(noise(i, j)));
      transposed[static_cast<std::size_t>(j * (side - 8) + i)] = static_cast<double>(noise(i, j));
    }
  const auto values = singular_values(entries.data(), side - 8, side).values;
  const auto other = singular_values(transposed.data(), side, side - 8).values;
  double squares = 0, fourth = 0;
  for (const double x : entries) squares += x * x;
  for (Index i = 0; i < side - 8; ++i)
    for (Index k = 0; k < side - 8; ++k) {
      double dot = 0;
      for (Index j = 0; j < side; ++j)
        dot += entries[static_cast<std::size_t>(i * side + j)] *
               entries[static_cast<std::size_t>(k * side + j)];
      fourth += dot * dot;
    }
  double sum = 0, sum4 = 0;
  for (std::size_t s = 0; s < values.size(); ++s) {
    sum += values[s] * values[s];
    sum4 += std::pow(values[s], 4);
    CHECK(std::abs(values[s] - other[s]) < 1e-7 * values[0]);  // sqrt of double's epsilon, and some
    if (s > 0) CHECK(values[s] <= values[s - 1]);
  }
  CHECK(sum == doctest::Approx(squares).epsilon(1e-10));  // |A|_F^2
  CHECK(sum4 == doctest::Approx(fourth).epsilon(1e-10));  // |A^T A|_F^2
}

TEST_CASE("singular values of small blocks are those of Jacobi rotations in long double") {
  Random draw(11, 1);
  const auto normal = [&] { return draw.normal(); };
  using Entry = std::function<double(Index, Index)>;
  const std::vector<std::pair<std::string, Entry>> cases{
      {"rough", [&](Index, Index) { return normal(); }},
      {"log-normal", [&](Index, Index) { return std::exp(12 * normal()); }},
      {"of all sizes of float32", [&](Index, Index) { return std::exp(-100 * draw.uniform()); }},
      {"denormal", [&](Index, Index) { return 1e-310 * normal(); }},
      {"far from unit size", [&](Index, Index) { return 1e200 * normal(); }},
      {"causal and even",
       [](Index i, Index j) { return j <= i ? 1 / static_cast<double>(i + 1) : 0; }},
      {"graded along the diagonal",
       [](Index i, Index j) {
         return j == i       ? std::exp(-8 * static_cast<double>(i))
                : j == i + 1 ? std::exp(-12 * static_cast<double>(i))
                             : 0;
       }},
      {"a band", [](Index i, Index j) { return std::exp(-4 * std::abs(double(i - j))); }},
      {"all equal", [](Index, Index) { return 0.03125; }},
      {"equal rows", [](Index, Index j) { return 0.1 * static_cast<double>(j % 3); }},
      {"a permutation with repeats", [](Index i, Index j) { return j == i * i % 7 ? 1.0 : 0; }},
      {"sparse", [&](Index, Index) { return draw.uniform() < 0.1 ? normal() : 0; }},
      {"one entry", [](Index i, Index j) { return i == 0 && j == 0 ? -3.0 : 0; }},
      {"zero", [](Index, Index) { return 0.0; }}};
  for (const auto& matrix : cases)
    for (const Lengths& size : std::vector<Lengths>{
             {1, 1}, {1, 9}, {9, 1}, {2, 2}, {5, 3}, {16, 16}, {17, 23}, {40, 31}, {32, 32}}) {
      const Index rows = size.queries, cols = size.keys;
      const std::string& name = matrix.first;
      CAPTURE(name);
      CAPTURE(rows);
      CAPTURE(cols);
      std::vector<double> a;  // row-major
      for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < cols; ++j) a.push_back(matrix.second(i, j));
      const Index count = std::min(rows, cols);
      const std::vector<double> expected = jacobi_values<long double>(
          rows, cols, [&](Index i, Index j) { return a[static_cast<std::size_t>(i * cols + j)]; });
      const auto [found, resolved] = singular_values(a.data(), rows, cols);
      REQUIRE(std::ssize(found) == count);
      CHECK(resolved == count);
      // Each of 2 count reflections and each rotation of the eigenvalues moves values by about an
      // epsilon of the largest.
      const double most = 4 * static_cast<double>(count) * 0x1p-52 * expected[0] + 1e-323;
      for (std::size_t s = 0; s < found.size(); ++s) {
        CHECK(std::abs(found[s] - expected[s]) <= most);
        if (s > 0) CHECK(found[s] <= found[s - 1]);
      }
    }
}

TEST_CASE("singular values are those of Jacobi rotations, of low rank, graded or rough") {
  const Index rows = 150, cols = 180;
  const Matrix x = gaussian(rows, cols, 7), y = gaussian(cols, rows, 8);
  const auto product = [&](Index terms, double ratio) {  // term t weighs ratio^t
    return [&, terms, ratio](Index i, Index j) {
      double sum = 0;
      for (Index t = 0; t < terms; ++t)
        sum += std::pow(ratio, static_cast<double>(t)) * static_cast<double>(x(i, t)) *
               static_cast<double>(y(j, t));
      return sum;
    };
  };
  const std::vector<std::pair<std::string, std::function<double(Index, Index)>>> cases{
      {"full rank", [&](Index i, Index j) { return static_cast<double>(x(i, j)); }},
      {"rank 1", product(1, 1)},
      {"rank 20", product(20, 1)},
      {"rank 20, far from unit size",
       [&](Index i, Index j) { return 1e-200 * product(20, 1)(i, j); }},
      {"graded, cut off", product(100, 0.3)},
      {"graded, too slow to cut off", product(150, 0.8)},
      {"one large entry",
       [&](Index i, Index j) {
         return i == 3 && j == 5 ? 1e6 : 1e-3 * static_cast<double>(x(i, j));
       }},
      {"zero", [](Index, Index) { return 0.0; }}};
  for (const auto& matrix : cases) {
    const std::string& name = matrix.first;
    CAPTURE(name);
    std::vector<double> a;  // row-major
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < cols; ++j) a.push_back(matrix.second(i, j));
    const std::vector<double> expected = jacobi_values<double>(
        rows, cols, [&](Index i, Index j) { return a[static_cast<std::size_t>(i * cols + j)]; });
    const auto [found, resolved] = singular_values(a.data(), rows, cols);
    // Singular values that are only bounded are not counted as resolved.
    const bool cut_off = name.starts_with("rank") || name == "graded, cut off";
    CHECK((resolved < 150) == cut_off);
    for (auto s = static_cast<std::size_t>(resolved); s < found.size(); ++s)
      CHECK(found[s] == found.back());
    const double norm = root_of_squares(expected);
    double tail = 0, expected_tail = 0;
    REQUIRE(found.size() == 150);
    for (std::size_t s = found.size(); s-- > 0;) {
      CAPTURE(s);
      const double e = expected[s];
      // What is cut off, and the root of double's epsilon times a few: 1e-7 each.
      CHECK(std::abs(found[s] - e) <= 2e-7 * norm);
      // Values that a rank at 1e-6 counts: (1e-7)^2 / 2e-6 and the same of rounding.
      if (e > 1e-6 * norm) CHECK(std::abs(found[s] - e) <= 1e-8 * norm);
      // The tail is never under-estimated by more than rounding of the Gram matrix.
      tail += found[s];
      expected_tail += e;
      CHECK(tail >= expected_tail - 1e-7 * norm);
      if (s > 0) CHECK(found[s] <= found[s - 1]);
    }
  }
}

TEST_CASE("a rank map that is stopped as a block is read is not decomposed") {
  const Matrix noise = gaussian(300, 300, 5);
  std::stop_source stop;
  int read = 0;
  const auto entries = [&](IndexRange rows, IndexRange cols) {
    if (++read == 2) stop.request_stop();
    Matrix out(rows.size(), cols.size());
    for (Index i = 0; i < rows.size(); ++i)
      std::copy_n(noise.row(rows.begin + i) + cols.begin, cols.size(), out.row(i));
    return out;
  };
  for (const Index leaf : {100, 300}) {
    CAPTURE(leaf);
    read = leaf == 300 ? 1 : 0;  // one block, which is the last
    stop = {};
    Profile profile;
    Run run{profile, stop.get_token()};
    CHECK_THROWS_AS(map_ranks({300, 300}, entries, {.leaf = leaf, .partition = Partition::uniform},
                              *backends().front(), run),
                    Cancelled);
  }
}

TEST_CASE("a block that is too large is refused before work begins") {
  Profile profile;
  Run run{profile};
  CHECK_THROWS_AS(map_ranks({131072, 131072}, paper_block, {.leaf = 16}, *backends().front(), run),
                  UnavailableError);
}
