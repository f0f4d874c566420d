// H-Transformer-1D's numbers: blocks and costs counted pair by pair, and a window in float64.
#include <algorithm>
#include <array>
#include <cmath>

#include "jacobi_values.h"
#include "papers/results.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("blocks, pairs and multiply-adds of the hierarchy are those counted pair by pair") {
  const PaperResult result = result_of("hierarchy-cost", "synthetic:golden");
  const int n = 4096, side = 16, blocks = n / side;
  const double d = 64, area = double(n) * side;
  // Entries of level l hold 4^l pairs each; the level is the finest at which blocks are neighbours,
  // or siblings.
  double banded = 0, nested = 0;
  for (int bi = 0; bi < blocks; ++bi)
    for (int bj = 0; bj < blocks; ++bj) {
      int near = 0, sibling = 0;
      while (std::abs((bi >> near) - (bj >> near)) > 1) ++near;
      while ((bi >> (sibling + 1)) != (bj >> (sibling + 1))) ++sibling;
      banded += side * side * std::pow(0.25, near);
      nested += side * side * std::pow(0.25, sibling);
    }
  CHECK(number(result, "levels").found == 8);
  CHECK(number(result, "levels").published == 8);
  double sum = 0, rows_below_the_top = 0;
  for (int l = 0; l < 8; ++l) {
    const PaperNumber found = number(result, "blocks_" + std::to_string(l));
    CHECK(found.found == (blocks >> l));
    CHECK(found.published == (blocks >> l));
    sum += blocks >> l;
    if (l < 7) rows_below_the_top += n >> l;
  }
  CHECK(number(result, "blocks_sum").found == sum);
  CHECK(number(result, "blocks_sum").published == 2 * blocks);
  CHECK(number(result, "blocks_sum").apart != "");
  const PaperNumber entries = number(result, "entries");
  CHECK(entries.found == banded);
  CHECK(entries.published == 5 * area);
  CHECK(entries.apart != "");
  CHECK(number(result, "products_with_keys").found == d * banded);
  CHECK(number(result, "products_with_keys").published == 5 * d * area);
  CHECK(number(result, "products_with_values").found == (d + 1) * banded);
  CHECK(number(result, "products_with_values").published == 5 * (d + 1) * area);
  // Each mean adds the rows of the level below, of Q, K and V; sums go back the same way.
  CHECK(number(result, "multiply_adds_of_a_pair").found ==
        doctest::Approx((banded * 2 * d + rows_below_the_top * 4 * d) / (2 * d * area))
            .epsilon(1e-12));
  CHECK(number(result, "entries_nested").found == doctest::Approx(nested / area).epsilon(1e-12));
  CHECK(number(result, "entries_nested").expected ==
        doctest::Approx((3.0 * blocks - 2) / blocks).epsilon(1e-12));
  CHECK_FALSE(number(result, "memory").published);
}

TEST_CASE("no entry of Eq. 12 is small, and a window of it errs far more than its rank map") {
  const PaperResult result = result_of("rank-map", "synthetic:golden");
  const auto a = [](Index i, Index j) {
    return std::exp(2 * std::exp(-double((i - j) * (i - j))) - 1);
  };
  double all = 0, outside = 0, stored = 0;
  for (Index i = 0; i < 16; ++i)
    for (Index j = 0; j < 16; ++j) {
      all += std::pow(a(i, j), 2);
      if (std::abs(i - j) > 7)
        outside += std::pow(a(i, j), 2);
      else
        ++stored;
    }
  // Far from the diagonal S = -1, on it 1. Entries are float32: a rounding each.
  CHECK(number(result, "least_entry").found == doctest::Approx(std::exp(-2)).epsilon(1e-6));
  CHECK(number(result, "window_entries").found == stored);
  CHECK(stored <= 192);
  CHECK(number(result, "window_error").found ==
        doctest::Approx(std::sqrt(outside / all)).epsilon(1e-6));
  // Rank 2 is kept of six blocks off the diagonal, those on it are whole.
  double left_out = 0;
  for (const auto& [row, col, side] : {std::array{0, 4, 4}, {8, 12, 4}, {0, 8, 8}}) {
    const std::vector<double> values =
        jacobi_values<double>(side, side, [&](Index i, Index j) { return a(row + i, col + j); });
    for (std::size_t k = 2; k < values.size(); ++k) left_out += 2 * values[k] * values[k];
  }
  // Singular values of float32 entries: each within 2e-7 of the norm of its block, which is at most
  // a half of the whole.
  CHECK(number(result, "rank_map_error").found ==
        doctest::Approx(std::sqrt(left_out / all)).epsilon(0.01));
  CHECK(number(result, "rank_map_error").found < 1e-3 * number(result, "window_error").found);
}
