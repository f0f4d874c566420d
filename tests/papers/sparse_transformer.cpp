// Sparse Transformer's numbers: pairs counted one by one.
#include "papers/results.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("two layers of the factorized patterns connect every pair, and their pairs are counted") {
  const PaperResult result = result_of("sparse-patterns", "synthetic:golden");
  for (const char* id : {"reach_strided", "reach_fixed"}) {
    CHECK(number(result, id).found == 1);
    CHECK(number(result, id).published == 1);
  }
  int strided = 0, fixed = 0, second_group = 0;
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j <= i; ++j) {
      strided += i - j < 8 || (i - j) % 8 == 0;
      fixed += i / 8 == j / 8 || j % 8 >= 6;
      second_group += i / 8 == j / 8 || j % 8 == 4 || j % 8 == 5;
    }
  CHECK(number(result, "pairs_strided").found == strided);
  CHECK(number(result, "pairs_fixed").found == fixed);
  CHECK(number(result, "pairs_exact").found == 64 * 65 / 2);
  CHECK(number(result, "pairs_sub_block_0").found == fixed);
  CHECK(number(result, "pairs_sub_block_1").found == second_group);
  REQUIRE(result.rows.size() == 2);
  REQUIRE(result.rows[1].size() == 2);
  const auto same = [&](std::size_t panel, auto admits) {
    const Matrix& values = std::get<Raster>(result.rows[1][panel].body).values;
    for (int i = 0; i < 64; ++i)
      for (int j = 0; j < i; ++j)
        if (admits(i, j) != (values(i, j) == values(63, 63))) return false;
    return true;
  };
  CHECK(same(0, [](int i, int j) { return i / 8 == j / 8 || j % 8 >= 6; }));
  CHECK(same(1, [](int i, int j) { return i / 8 == j / 8 || j % 8 == 4 || j % 8 == 5; }));
}

TEST_CASE("the pairs that two layers with sub-blocks connect are those found one by one") {
  const PaperResult result = result_of("sparse-patterns", "synthetic:golden");
  for (const int head : {0, 1}) {
    const auto attends = [&](int i, int j) {
      return j <= i && (i / 8 == j / 8 || (j % 8) / 2 == 3 - head);
    };
    int connected = 0;
    for (int i = 0; i < 64; ++i)
      for (int j = 0; j <= i; ++j) {
        bool found = false;
        for (int k = 0; k < 64 && !found; ++k) found = attends(i, k) && attends(k, j);
        connected += found;
      }
    CHECK(number(result, "reach_sub_block_" + std::to_string(head)).found ==
          doctest::Approx(connected / (64 * 65 / 2.0)).epsilon(1e-12));
  }
}

TEST_CASE("c summary columns cost c times the strided set where n is far above l") {
  const PaperResult result = result_of("summary-columns", "synthetic:golden");
  const int l = 128;
  for (const int c : {8, 16, 32}) {
    // Pair by pair.
    double fixed[2] = {}, strided[2] = {};  // of the second set, of both
    for (int i = 0; i < 1024; ++i)
      for (int j = 0; j <= i; ++j) {
        const bool summary = j % l >= l - c, multiple = (i - j) % l == 0;
        fixed[0] += summary;
        fixed[1] += summary || i / l == j / l;
        strided[0] += multiple;
        strided[1] += multiple || i - j < l;
      }
    const std::string at = "_" + std::to_string(c) + "_1024";
    const PaperNumber second = number(result, "second" + at);
    CHECK(second.found == doctest::Approx(fixed[0] / strided[0]).epsilon(1e-12));
    CHECK(second.published == c);
    CHECK(second.apart != "");
    const PaperNumber both = number(result, "merged" + at);
    CHECK(both.found == doctest::Approx(fixed[1] / strided[1]).epsilon(1e-12));
    CHECK_FALSE(both.published);
    // By the formula of the notes.
    const double n = 16384, blocks = n / l;
    CHECK(number(result, "second_" + std::to_string(c) + "_16384").found ==
          doctest::Approx((c * l * blocks * (blocks - 1) + blocks * c * (c + 1)) /
                          (l * blocks * (blocks + 1)))
              .epsilon(1e-12));
  }
  // 28960 / 4608 and 94720 / 126528, of variants that are tested by themselves.
  CHECK(number(result, "second_8_1024").found == doctest::Approx(28960.0 / 4608).epsilon(1e-12));
  CHECK(number(result, "merged_8_1024").found == doctest::Approx(94720.0 / 126528).epsilon(1e-12));
}
