// A number that is not one is never the best, and comes last.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "analysis/comparison_table.h"
#include "analysis/worst_queries.h"

using namespace fovea;

// The first column of each row is NaN, the second is better than the third.
TEST_CASE("NaN is never the best of a row, does not keep another from it, and is ordered last") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  Metrics none, near, far;
  for (Metrics* metrics : {&none, &near, &far}) {
    metrics->rows = metrics->queries = 4;
    metrics->token_error.resize(4);
  }
  none.output_rel_fro = nan;
  none.mass_kept = none.attention_rel_fro = none.attention_tv = {nan, nan};
  none.attention_kl = {{nan, nan}, 0};
  near.output_rel_fro = 0.1;
  near.mass_kept = {0.9, 0};
  near.attention_rel_fro = near.attention_tv = {0.1, 0};
  near.attention_kl = {{0.1, 0}, 0};
  far.output_rel_fro = 0.5;
  far.mass_kept = {0.4, 0};
  far.attention_rel_fro = far.attention_tv = {0.5, 0};
  far.attention_kl = {{0.5, 0}, 0};
  const ComparisonTable table = comparison_table(
      {"none", "near", "far"}, {{.metrics = &none}, {.metrics = &near}, {.metrics = &far}});
  int rows = 0;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const auto& row = table.rows[r];
    CAPTURE(row.measure->id);
    CHECK_FALSE((row.cells[0].best && std::isnan(row.cells[0].value)));
    if (!std::isnan(row.cells[0].value) || row.measure->better == Measure::Better::neither)
      continue;
    ++rows;
    CHECK(row.cells[1].best);
    CHECK_FALSE(row.cells[2].best);
    CHECK(order_by(table, r) == std::vector<std::size_t>{1, 2, 0});
  }
  CHECK(rows >= 5);
}

TEST_CASE("queries whose error is no finite number are the worst, then the largest errors come") {
  constexpr float infinity = std::numeric_limits<float>::infinity(),
                  nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(worst_queries(std::vector{0.1f, nan, 0.3f, infinity, 0.2f}) ==
        std::vector<Index>{1, 3, 2, 4, 0});
}
