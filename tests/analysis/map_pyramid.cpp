// A MapPyramid against pooling of the whole matrix, in double.
#include "analysis/map_pyramid.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "data/random.h"
#include "harness.h"

using namespace fovea;

namespace {

// Not uniform, not symmetric, with both signs, and rows that differ within a pixel.
float entry(Index i, Index j) {
  Random random(11, static_cast<std::uint64_t>(i * 100003 + j));
  return static_cast<float>((random.uniform() - 0.4) * (1 + 0.5 * std::sin(0.01 * double(i - j))) +
                            0.3 * double(i % 7));
}

Matrix dense(Index n) {
  Matrix m(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) m(i, j) = entry(i, j);
  return m;
}

double pooled(const Matrix& m, IndexRange rows, IndexRange cols, Pool::Kind kind) {
  double sum = 0, most = 0;
  for (Index i = rows.begin; i < rows.end; ++i)
    for (Index j = cols.begin; j < cols.end; ++j) {
      const auto x = static_cast<double>(m(i, j));
      sum += x;
      if (std::abs(x) > std::abs(most)) most = x;
    }
  return kind == Pool::Kind::mean ? sum / static_cast<double>(rows.size() * cols.size()) : most;
}

struct Source {
  const Matrix& m;
  int* calls = nullptr;
  std::set<Index>* drawn = nullptr;  // the rows that stood for others

  Matrix operator()(IndexRange rows, IndexRange cols, Pool pool, Run&) const {
    if (calls) ++*calls;
    if (pool.kind == Pool::Kind::none) {
      REQUIRE(pool.rows == rows.size());
      REQUIRE(pool.cols == cols.size());
    }
    Matrix out(pool.rows, pool.cols);
    if (pool.largest) *pool.largest = Matrix(pool.rows, pool.cols);
    for (Index r = 0; r < pool.rows; ++r) {
      IndexRange its{rows.begin + r * rows.size() / pool.rows,
                     rows.begin + (r + 1) * rows.size() / pool.rows};
      if (pool.one_row) {
        its.begin = drawn_row(rows, pool, r);
        its.end = its.begin + 1;
        if (drawn) drawn->insert(its.begin);
      }
      for (Index c = 0; c < pool.cols; ++c) {
        const IndexRange keys{cols.begin + c * cols.size() / pool.cols,
                              cols.begin + (c + 1) * cols.size() / pool.cols};
        out(r, c) = static_cast<float>(pooled(m, its, keys, pool.kind));
        if (pool.largest)
          (*pool.largest)(r, c) = static_cast<float>(pooled(m, its, keys, Pool::Kind::max));
      }
    }
    return out;
  }
};

// Largest deviation of a picture from the pooled matrix; infinite if largest entries deviate.
double deviation(const MapPicture& picture, const MapView& view, const Matrix& m, Pool::Kind kind) {
  double worst = 0;
  const auto tokens = [&](Index p) {
    return IndexRange{p * view.pixel, std::min(m.rows(), (p + 1) * view.pixel)};
  };
  for (Index r = 0; r < view.rows.size(); ++r)
    for (Index c = 0; c < view.cols.size(); ++c) {
      const IndexRange rows = tokens(view.rows.begin + r), cols = tokens(view.cols.begin + c);
      const auto of = [&](const Matrix& pixels, Pool::Kind its) {
        return std::abs(static_cast<double>(pixels(r, c)) - pooled(m, rows, cols, its));
      };
      worst = test::larger_error(worst, of(picture.values, kind));
      if (kind == Pool::Kind::mean && of(picture.largest, Pool::Kind::max) > 0)
        return std::numeric_limits<double>::infinity();
    }
  return worst;
}

Profile profile;
Run run{profile};

// Means of means in float: a few roundings of numbers up to 3.
constexpr double rounding = 8 * 3 * 0x1p-24;

}  // namespace

TEST_CASE("map pyramid: pixels are powers of two, at most 1024 a side, and cover what was asked") {
  for (Index n : {1, 3, 1024, 1025, 2048, 9000, 131044, 131072}) {
    const MapPyramid map(n, Pool::Kind::max, nullptr);
    CHECK(map.overview_rows() <= 1024);
    CHECK((map.overview_rows() - 1) * map.overview_pixel() < n);
    CHECK(map.overview_rows() * map.overview_pixel() >= n);
  }
  const MapView view = map_view({100, 1300}, {5000, 5010}, 512);
  CHECK(view.pixel == 4);
  CHECK(view.rows == IndexRange{25, 325});
  CHECK(view.cols == IndexRange{1250, 1253});
}

TEST_CASE("map pyramid: filled band by band the overview is the pooled matrix, at any coarseness") {
  for (const Index n : {Index{1030}, Index{2100}, Index{2057}})  // the last is cut off at 1 of 4
    for (const Pool::Kind kind : {Pool::Kind::max, Pool::Kind::mean}) {
      const Matrix m = dense(n);
      MapPyramid map(n, kind, Source{m});
      Index rows = 0;
      for (;;) {
        const IndexRange band = map.next_band(n / 3, 40);
        if (band.size() == 0) break;
        CHECK(band.size() <= 40);
        rows += band.size();
        map.fill(band, run);
      }
      CHECK(rows == map.overview_rows());
      CHECK(map.exact_share() == 1);
      for (const Index most : {600, 300, 37}) {
        const MapView view = map_view({0, n}, {0, n}, most);
        const MapPicture picture = map.picture(view);
        CHECK(picture.complete);
        CHECK(picture.estimated == 0);
        CHECK(deviation(picture, view, m, kind) <= (kind == Pool::Kind::max ? 0 : rounding));
      }
    }
}

TEST_CASE("map pyramid: bands come nearest to the focus first") {
  const Matrix m = dense(1030);
  MapPyramid map(1030, Pool::Kind::mean, Source{m});
  const Index focus = 700;
  Index farthest = 0;
  for (int turn = 0; turn < 12; ++turn) {
    const IndexRange band = map.next_band(focus, 16);
    map.fill(band, run);
    for (Index p = band.begin; p < band.end; ++p)
      farthest = std::max(farthest, std::abs(p - focus / map.overview_pixel()));
  }
  CHECK(farthest <= 12 * 16 / 2 + 16);
}

TEST_CASE("map pyramid: tiles refine a view nearest first, coarser ones stand in until then") {
  const Index n = 2100;
  for (const Pool::Kind kind : {Pool::Kind::max, Pool::Kind::mean}) {
    const Matrix m = dense(n);
    int calls = 0;
    MapPyramid map(n, kind, Source{m, &calls});
    map.fill({0, map.overview_rows()}, run);
    MapView view = map_view({1500, 2100}, {40, 700}, 700);
    REQUIRE(view.pixel == 1);
    const MapPicture before = map.picture(view);
    CHECK_FALSE(before.complete);
    // What stands in is the overview's pixel over the entry.
    const Index p = map.overview_pixel();
    CHECK(before.values(3, 5) == doctest::Approx(pooled(m, {1503 / p * p, 1503 / p * p + p},
                                                        {45 / p * p, 45 / p * p + p}, kind))
                                     .epsilon(1e-5));
    view.focus_row = 2099;
    view.focus_col = 699;
    REQUIRE(map.refine(view, run));
    const MapPicture first = map.picture(view);
    CHECK(first.values(599, 659) == m(2099, 699));
    CHECK_FALSE(first.complete);
    while (map.refine(view, run)) {
    }
    const MapPicture picture = map.picture(view);
    CHECK(picture.complete);
    CHECK(deviation(picture, view, m, Pool::Kind::max) == 0);
    const int made = calls;
    CHECK_FALSE(map.refine(view, run));
    CHECK(calls == made);  // what is known is not made again
    const MapView coarse = map_view({1400, 2100}, {0, 700}, 512);
    REQUIRE(coarse.pixel == 2);
    while (map.refine(coarse, run)) {
    }
    CHECK(deviation(map.picture(coarse), coarse, m, kind) <=
          (kind == Pool::Kind::max ? 0 : rounding));
  }
}

TEST_CASE(
    "map pyramid: estimated means are unbiased, and their standard error is what they vary by") {
  const Index n = 8200;  // pixels of 16, the last cut off at 8
  // Cheap entries: what varies is the row.
  const auto value = [](Index i, Index j) {
    return static_cast<float>(Random(3, static_cast<std::uint64_t>(i)).uniform() +
                              0.001 * double(j % 16));
  };
  const MapPixels pixels = [&](IndexRange rows, IndexRange cols, Pool pool, Run&) {
    Matrix out(pool.rows, pool.cols);
    for (Index r = 0; r < pool.rows; ++r)
      std::fill_n(out.row(r), pool.cols,
                  value(drawn_row(rows, pool, r), 0) + 0.0f * float(cols.begin));
    *pool.largest = Matrix::copy_of(out);
    return out;
  };
  const int draws = 300;
  Matrix sum(513, 1), squares(513, 1), variance(513, 1);
  for (int seed = 0; seed < draws; ++seed) {
    MapPyramid map(n, Pool::Kind::mean, pixels);
    map.estimate(4, static_cast<std::uint64_t>(seed), run);
    CHECK(map.exact_share() == 0);
    const MapView view{16, {0, 513}, {0, 1}};
    const MapPicture picture = map.picture(view);
    REQUIRE(picture.estimated == 1);
    REQUIRE_FALSE(picture.complete);
    for (Index p = 0; p < 513; ++p) {
      sum(p, 0) += picture.values(p, 0);
      squares(p, 0) += picture.values(p, 0) * picture.values(p, 0);
      variance(p, 0) += picture.standard_error(p, 0) * picture.standard_error(p, 0);
    }
  }
  double bias = 0, found = 0, said = 0;
  for (Index p = 0; p < 512; ++p) {
    double truth = 0;
    for (Index i = p * 16; i < (p + 1) * 16; ++i) truth += double(value(i, 0)) / 16;
    const double mean = double(sum(p, 0)) / draws;
    bias += (mean - truth) / 512;
    found += (double(squares(p, 0)) / draws - mean * mean) / 512;
    said += double(variance(p, 0)) / draws / 512;
  }
  // 512 pixels x 300 draws of uniforms / 4: the mean of all has a standard error of
  // sqrt(1/12 / 4 / 512 / 300) = 3.7e-4; five of them.
  CHECK(std::abs(bias) <= 5 * 3.7e-4);
  // One row of every quarter is drawn, which varies less than four rows of the whole would, as the
  // standard error supposes: it may say too much, by the share of the variance between quarters
  // (about 3/15 of it for uniform rows), not too little.
  CHECK(said >= 0.95 * found);
  CHECK(said <= 1.5 * found);
}

TEST_CASE(
    "map pyramid: a pixel cut off at the end whose rows are all drawn has no standard error") {
  const Index n = 2050;  // pixels of 4, the last one of 2 rows
  const Matrix m = dense(n);
  MapPyramid map(n, Pool::Kind::mean, Source{m});
  map.estimate(2, 5, run);
  const MapView view{map.overview_pixel(), {0, map.overview_rows()}, {0, map.overview_rows()}};
  const MapPicture picture = map.picture(view);
  const Index last = map.overview_rows() - 1;
  REQUIRE(last * map.overview_pixel() == n - 2);
  CHECK(picture.standard_error(0, 0) > 0);
  CHECK(picture.standard_error(last, 0) == 0);
  const IndexRange rows{n - 2, n}, cols{0, map.overview_pixel()};
  CHECK(std::abs(static_cast<double>(picture.values(last, 0)) -
                 pooled(m, rows, cols, Pool::Kind::mean)) <= rounding);
}

TEST_CASE("map pyramid: an estimated max is never above the truth, and exact rows stay exact") {
  const Index n = 2100;
  const Matrix m = dense(n);
  MapPyramid map(n, Pool::Kind::max, Source{m});
  map.fill({10, 20}, run);
  map.estimate(2, 9, run);
  const MapView view = map_view({0, n}, {0, n}, 600);
  const MapPicture picture = map.picture(view);
  CHECK(picture.estimated == doctest::Approx(1 - 10.0 / double(map.overview_rows())));
  int below = 0;
  for (Index r = 0; r < view.rows.size(); ++r)
    for (Index c = 0; c < view.cols.size(); ++c) {
      const double truth = pooled(m, {r * 4, std::min(n, r * 4 + 4)},
                                  {c * 4, std::min(n, c * 4 + 4)}, Pool::Kind::max);
      const auto got = static_cast<double>(picture.values(r, c));
      REQUIRE(std::abs(got) <= std::abs(truth));
      below += got != truth;
      if (10 <= r && r < 20) REQUIRE(got == truth);
    }
  CHECK(below > 0);
}

TEST_CASE("map pyramid: an estimate is made of the rows that were drawn, and of no others") {
  const Index n = 4110;  // pixels of 8, the last cut off at 6
  const Matrix m = dense(n);
  for (const Pool::Kind kind : {Pool::Kind::max, Pool::Kind::mean}) {
    std::set<Index> drawn;
    MapPyramid map(n, kind, Source{m, nullptr, &drawn});
    REQUIRE(map.overview_pixel() == 8);
    map.estimate(4, 3, run);
    const Index side = map.overview_rows();
    const MapPicture picture = map.picture({8, {0, side}, {0, side}});
    double worst = 0, worst_error = 0;
    for (Index r = 0; r < side; ++r) {
      const IndexRange rows{r * 8, std::min(n, r * 8 + 8)};
      std::vector<Index> its(drawn.lower_bound(rows.begin), drawn.lower_bound(rows.end));
      REQUIRE(its.size() == 4);
      for (Index c = 0; c < side; ++c) {
        const IndexRange cols{c * 8, std::min(n, c * 8 + 8)};
        double sum = 0, squares = 0, most = 0;
        for (const Index i : its) {
          const double x = pooled(m, {i, i + 1}, cols, kind);
          sum += x / 4;
          if (std::abs(x) > std::abs(most)) most = x;
        }
        for (const Index i : its) {
          const double x = pooled(m, {i, i + 1}, cols, kind) - sum;
          squares += x * x;
        }
        const double expected = kind == Pool::Kind::mean ? sum : most;
        worst = test::larger_error(worst, std::abs(double(picture.values(r, c)) - expected));
        if (kind == Pool::Kind::max) continue;
        // Cochran, Sampling Techniques, Eq. 2.20: s^2 / n (1 - n / N).
        const double error = std::sqrt(squares / 3 / 4 * (1 - 4 / double(rows.size())));
        worst_error =
            test::larger_error(worst_error, std::abs(double(picture.standard_error(r, c)) - error));
      }
    }
    CHECK(worst <= (kind == Pool::Kind::max ? 0 : rounding));
    // Squares of numbers up to 3 in float, whose difference is a small variance.
    CHECK(worst_error <= 1e-5);
    CHECK(picture.standard_error.empty() == (kind == Pool::Kind::max));
  }
}

namespace {

// A pyramid of 16384 x 16384 entries, 64 x 64 tiles of one entry a pixel.
struct Large {
  static constexpr Index n = 16384, side = MapPyramid::tile_side, kept = 128;
  MapPyramid map{n, Pool::Kind::max, [](IndexRange, IndexRange, Pool pool, Run&) {
                   return Matrix(pool.rows, pool.cols, 1.0f);
                 }};

  MapView tiles(IndexRange down, IndexRange across) const {
    return {
        1, {down.begin * side, down.end * side}, {across.begin * side, across.end * side}, 0, 0};
  }
  int look_at(const MapView& view) {
    int made = 0;
    while (made <= 64 * 64 && map.refine(view, run)) ++made;
    return made;
  }
};

}  // namespace

TEST_CASE("map pyramid: of many tiles the last used are kept, the others make room") {
  Large large;
  const MapView first = large.tiles({0, 1}, {0, 1}), second = large.tiles({0, 1}, {1, 2});
  CHECK(large.look_at(first) == 1);
  CHECK(large.look_at(second) == 1);
  CHECK(large.look_at(large.tiles({8, 15}, {0, 18})) == Large::kept - 2);
  CHECK(large.map.picture(first).complete);  // used again
  CHECK(large.look_at(large.tiles({20, 21}, {0, 1})) == 1);
  CHECK(large.map.picture(first).complete);
  CHECK_FALSE(large.map.picture(second).complete);  // the one that was not used for longest
  CHECK(large.look_at(large.tiles({30, 38}, {0, 16})) == Large::kept);
  CHECK_FALSE(large.map.picture(first).complete);
  CHECK(large.look_at(first) == 1);
}

TEST_CASE("map pyramid: after a view of many tiles no more are kept than after any other") {
  Large large;
  const MapView wide = large.tiles({0, 16}, {0, 16});
  CHECK(large.look_at(wide) == 256);
  CHECK(large.look_at(large.tiles({40, 41}, {0, 1})) == 1);
  CHECK(large.look_at(wide) == 256 - (Large::kept - 1));
}

TEST_CASE("map pyramid: a part of the map is known without an overview") {
  const Index n = 2100;
  const Matrix m = dense(n);
  MapPyramid map(n, Pool::Kind::max, Source{m});
  const MapView view = map_view({300, 700}, {1900, 2100}, 512);
  CHECK(std::isnan(map.picture(view).values(0, 0)));
  while (map.refine(view, run)) {
  }
  CHECK(map.picture(view).complete);
  CHECK(deviation(map.picture(view), view, m, Pool::Kind::max) == 0);
}

TEST_CASE("a view of more tiles than are kept otherwise is still finished") {
  // 16 x 16 tiles at one entry a pixel.
  constexpr Index n = 4096;
  MapPyramid map(n, Pool::Kind::max, [](IndexRange, IndexRange, Pool pool, Run&) {
    return Matrix(pool.rows, pool.cols, 1.0f);
  });
  const MapView view = map_view({0, n}, {0, n}, n);
  REQUIRE(view.pixel == 1);
  int made = 0;
  while (made <= 256 && map.refine(view, run)) ++made;
  CHECK(made == 256);
  CHECK(map.picture(view).complete);
  // Another view makes the tiles of the first go.
  const MapView coarse = map_view({0, n}, {0, n}, n / 2);
  while (map.refine(coarse, run)) {
  }
  CHECK(map.picture(coarse).complete);
}
