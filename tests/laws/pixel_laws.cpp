// What holds for rectangles of P and their pixels, for every variant, on every back end.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "laws/operator_cases.h"
#include "same_values.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("law: a rectangle of P, and any pooling of it, is that of the whole") {
  for_all([](const Case&, const Instance& x) {
    const Index n = x.problem.n();
    const IndexRange rows{n / 3, n - n / 5}, cols{n / 4, n - n / 7};
    const Matrix part = x.tile(rows, cols);  // before anything is known of other rows
    const Matrix p = x.all();
    CHECK(distance(
              part, [&](Index i, Index j) { return p(rows.begin + i, cols.begin + j); },
              rows.size(), cols.size()) == 0);
    const Index grid_rows = (rows.size() + 4) / 5, grid_cols = (cols.size() + 2) / 3;
    const Matrix most = x.tile(rows, cols, {Pool::Kind::max, grid_rows, grid_cols});
    const Matrix mean = x.tile(rows, cols, {Pool::Kind::mean, grid_rows, grid_cols});
    Matrix largest;
    Pool both{Pool::Kind::mean, grid_rows, grid_cols, {}, &largest};
    CHECK(same_values(x.tile(rows, cols, both), mean));
    CHECK(same_values(largest, most));
    both.one_row = 5;
    x.tile(rows, cols, both);
    CHECK(same_values(largest, x.tile(rows, cols, {Pool::Kind::max, grid_rows, grid_cols, 5})));
    double worst_most = 0, worst_mean = 0;
    for (Index r = 0; r < grid_rows; ++r)
      for (Index c = 0; c < grid_cols; ++c) {
        double greatest = -1e30, sum = 0, mass = 0;
        Index count = 0;
        for (Index i = r * rows.size() / grid_rows; i < (r + 1) * rows.size() / grid_rows; ++i)
          for (Index j = c * cols.size() / grid_cols; j < (c + 1) * cols.size() / grid_cols;
               ++j, ++count) {
            greatest = std::max(greatest, static_cast<double>(part(i, j)));
            sum += static_cast<double>(part(i, j));
            mass += std::abs(static_cast<double>(part(i, j)));
          }
        // A float32 sum of up to 64 lanes: 64 roundings of its mass.
        const double unit = 64 * 0x1p-24 * std::max(mass / static_cast<double>(count), 0x1p-100);
        worst_most = larger_error(worst_most, std::abs(static_cast<double>(most(r, c)) - greatest));
        worst_mean = std::max(
            worst_mean,
            std::abs(static_cast<double>(mean(r, c)) - sum / static_cast<double>(count)) / unit);
      }
    CHECK(worst_most == 0);
    CHECK(worst_mean <= 1);
  });
}

TEST_CASE(
    "law: where one row of P represents a row of pixels, it is pooled alone, and drawn alike") {
  for_all([](const Case&, const Instance& x) {
    const Index n = x.problem.n();
    const IndexRange rows{n / 4, n}, cols{0, n - n / 5};
    const Index grid_rows = (rows.size() + 6) / 7, grid_cols = (cols.size() + 3) / 4;
    const Pool most_of{Pool::Kind::max, grid_rows, grid_cols, 5},
        mean_of{Pool::Kind::mean, grid_rows, grid_cols, 5};
    const Matrix early = x.tile(rows, cols, mean_of);  // before anything is known of any row
    const Matrix p = x.all();
    const Matrix most = x.tile(rows, cols, most_of), mean = x.tile(rows, cols, mean_of);
    // In one pass weights meet their sum by a factor, not in the exponent: see the next law.
    double worst_early = 0;
    for (Index r = 0; r < grid_rows; ++r)
      for (Index c = 0; c < grid_cols; ++c) {
        const auto late = static_cast<double>(mean(r, c));
        worst_early = larger_error(worst_early, std::abs(static_cast<double>(early(r, c)) - late) /
                                                    (std::abs(late) + 0x1p-100));
      }
    CHECK(worst_early <= floor_of(x.problem) + 64 * 0x1p-23);
    double worst_most = 0, worst_mean = 0;
    for (Index r = 0; r < grid_rows; ++r) {
      const Index i = drawn_row(rows, most_of, r);
      REQUIRE(i >= rows.begin + r * rows.size() / grid_rows);
      REQUIRE(i < rows.begin + (r + 1) * rows.size() / grid_rows);
      for (Index c = 0; c < grid_cols; ++c) {
        double largest = -1e30, sum = 0, mass = 0x1p-100;
        const Index begin = c * cols.size() / grid_cols, end = (c + 1) * cols.size() / grid_cols;
        for (Index j = begin; j < end; ++j) {
          largest = std::max(largest, static_cast<double>(p(i, j)));
          sum += static_cast<double>(p(i, j));
          mass += std::abs(static_cast<double>(p(i, j)));
        }
        const auto keys = static_cast<double>(end - begin);
        worst_most = larger_error(worst_most, std::abs(static_cast<double>(most(r, c)) - largest));
        worst_mean = larger_error(
            worst_mean, std::abs(static_cast<double>(mean(r, c)) - sum / keys) * keys / mass);
      }
    }
    CHECK(worst_most == 0);
    // A float32 sum of up to 64 entries: 64 roundings of its mass.
    CHECK(worst_mean <= 64 * 0x1p-24);
  });
}

TEST_CASE("law: rows computed apart are those of the whole, and so is P pooled in passing") {
  int computed = 0;
  for_all([&](const Case&, const Instance& x) {
    // Back ends take keys in steps of 64 or 96: of 3 tokens no pixel lies across two, of 7 some do.
    const Index n = x.problem.n(), pixel = n > 96 ? 7 : 3;
    const Index begin = n / 3 / pixel * pixel;
    std::optional<Output> all_rows;
    std::optional<Matrix> all_of_p;
    for (const IndexRange rows : {IndexRange{begin, n}, {0, (n / 2 + pixel) / pixel * pixel}}) {
      if (rows.end > n || rows.end == rows.begin) continue;
      if (!x.bound->has_rows()) return;
      ++computed;
      const RowsOutput part = x.apply_rows(rows, pixel);
      if (!all_rows) {  // not before some rows were computed apart
        all_rows = x.apply(x.problem.v);
        all_of_p = x.all();
      }
      const Output& whole = *all_rows;
      const Matrix& p = *all_of_p;
      CHECK(distance(
                part.output.z, [&](Index i, Index c) { return whole.z(rows.begin + i, c); },
                rows.size(), x.problem.dv()) == 0);
      const auto whole_lse = rows_of(whole.lse, 1);
      CHECK(distance(
                rows_of(part.output.lse, 1),
                [&](Index i, Index c) { return whole_lse(rows.begin + i, c); }, rows.size(),
                1) == 0);
      double worst_most = 0, worst_mean = 0;
      for (Index r = 0; r < part.most.rows(); ++r)
        for (Index c = 0; c < part.most.cols(); ++c) {
          double largest = 0, sum = 0;
          Index count = 0;
          for (Index i = rows.begin + r * pixel; i < std::min(rows.begin + (r + 1) * pixel, n); ++i)
            for (Index j = c * pixel; j < std::min((c + 1) * pixel, n); ++j, ++count) {
              largest = std::max(largest, static_cast<double>(p(i, j)));
              sum += static_cast<double>(p(i, j));
            }
          worst_most =
              larger_error(worst_most, std::abs(static_cast<double>(part.most(r, c)) - largest) /
                                           (largest + 0x1p-100));
          worst_mean = std::max(
              worst_mean,
              std::abs(static_cast<double>(part.mean(r, c)) * static_cast<double>(count) - sum) /
                  (sum + 0x1p-100));
        }
      // exp2 is monotone but for an ulp.
      CHECK(worst_most <= 0x1p-23);
      // A weight and its reference each through exp2 (2 ulps), their product, 9 or 49 sums; and the
      // sum of the row, which the entries divide by as a difference of logarithms.
      CHECK(worst_mean <= floor_of(x.problem) + double(7 + pixel * pixel) * 0x1p-23);
    }
  });
  CHECK((computed > 0 || backends().empty()));
}

TEST_CASE("law: a pixel with an entry that is not a number is not a number either, at any size") {
  const Index n = 70, bad = 33;
  const std::map<std::string, Settings> variants{
      {"exact", {}},
      {"strided", {}},
      {"fixed", {}},
      {"window", {}},
      {"hyper", {{"min_length", "1"}, {"block", "16"}, {"samples", "8"}}},
      {"reformer", {}},
      {"tf", {}},
      {"tc", {}},
      {"h1d", {}},
      {"linear", {}},
      {"performer", {}},
      {"linformer", {}},
      {"sinkhorn", {}}};
  for (const auto& backend : backends())
    for (const auto& variant : variants)
      for (const int what : {0, 1, 2, 3}) {
        const std::string& id = variant.first;  // clang 14 cannot capture a structured binding
        const bool causal = what % 2 == 1, of_key = what / 2 == 1;
        const Problem clean = make_data(Data::gaussian, n, 3, 5, causal);
        if (!find_variant(id).refusal(clean).empty()) continue;
        Matrix q = Matrix::copy_of(clean.q), k = Matrix::copy_of(clean.k);
        if (of_key)  // and logits so far apart that most weights are 0
          for (Index i = 0; i < n; ++i)
            for (Index c = 0; c < 3; ++c) q(i, c) *= 30;
        (of_key ? k : q)(bad, 1) = std::numeric_limits<float>::quiet_NaN();
        const Instance x = make_instance(
            *backend,
            make_problem(std::move(q), std::move(k), Matrix::copy_of(clean.v), clean.scale, causal),
            id, variant.second);
        const Matrix p = x.all();
        CAPTURE(id);
        CAPTURE(causal);
        CAPTURE(of_key);
        CAPTURE(backend->device());
        const bool any_nan =
            std::any_of(p.data(), p.data() + n * n, [](float w) { return std::isnan(w); });
        CHECK(any_nan == (id != "tc"));  // whose weights depend on the tree alone
        for (const Index pixels : {1, 2, 7, 35}) {
          CAPTURE(pixels);
          const Index side = n / pixels;
          const auto wrong = [&](const Matrix& pooled) {
            Index count = 0;
            for (Index r = 0; r < pixels; ++r)
              for (Index c = 0; c < pixels; ++c) {
                bool broken = false;
                for (Index i = r * side; i < (r + 1) * side; ++i)
                  for (Index j = c * side; j < (c + 1) * side; ++j)
                    broken = broken || std::isnan(p(i, j));
                count += std::isnan(pooled(r, c)) != broken;
              }
            return count;
          };
          for (const Pool::Kind kind : {Pool::Kind::max, Pool::Kind::mean})
            CHECK(wrong(x.tile({0, n}, {0, n}, {kind, pixels, pixels})) == 0);
          if (!x.bound->has_rows()) continue;
          const RowsOutput found = x.apply_rows({0, n}, side);
          CHECK(wrong(found.most) == 0);
          CHECK(wrong(found.mean) == 0);
        }
      }
}
