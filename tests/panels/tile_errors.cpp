// Tile errors against sums by hand, and as a person reads them who looks for the wrong tile of a
// kernel.
#include "analysis/tile_errors.h"

#include <doctest/doctest.h>

#include <cmath>

#include "allocations.h"
#include "analysis/imported_columns.h"
#include "messages.h"
#include "panels/scene.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Raster tiles_of(Scene& scene, const std::string& question, Lengths tile) {
  set_value(scene.settings, "tile_error", question);
  set_value(scene.settings, "tile_queries", std::to_string(tile.queries));
  set_value(scene.settings, "tile_keys", std::to_string(tile.keys));
  return std::get<Raster>(scene.panel(find_view("tiles")).body);
}

std::string caption_of(Scene& scene) {
  return scene.panel(find_view("tiles")).caption;
}

bool in_tile(Index i, Index j, Lengths tile, Lengths at) {
  return i / tile.queries == at.queries && j / tile.keys == at.keys;
}

/// z of a kernel that multiplies the weights of some pairs before each row is divided by its sum.
template <class Factor>
Matrix z_with_factors(const Problem& head, const Matrix& p, Factor factor) {
  Matrix z(head.queries(), head.dv());
  for (Index i = 0; i < z.rows(); ++i) {
    double sum = 0;
    std::vector<double> row(static_cast<std::size_t>(head.dv()));
    for (Index j = 0; j < head.keys(); ++j) {
      const double weight = double{p(i, j)} * factor(i, j);
      sum += weight;
      for (Index c = 0; c < head.dv(); ++c)
        row[static_cast<std::size_t>(c)] += weight * double{head.v(j, c)};
    }
    for (Index c = 0; c < head.dv(); ++c)
      z(i, c) = static_cast<float>(row[static_cast<std::size_t>(c)] / sum);
  }
  return z;
}

Matrix exact_p(const Problem& head) {
  return Scene(head, "exact", {}).p(false);
}

/// The norm of z in the queries of a row of tiles.
double norm_of_band(const Matrix& z, Index band, Index side) {
  double sum = 0;
  for (Index i = band * side; i < std::min(z.rows(), (band + 1) * side); ++i)
    for (Index c = 0; c < z.cols(); ++c) sum += double{z(i, c)} * double{z(i, c)};
  return std::sqrt(sum);
}

constexpr Lengths tile{8, 4}, wrong{3, 2};

}  // namespace

TEST_CASE("the share of a tile is what its keys add to the error of z, over the norm of z") {
  for (const bool causal : {false, true}) {
    Scene scene(make_data(Data::gaussian, 37, 3, 4, causal), "moba",
                {{"block", "5"}, {"blocks", "2"}});
    const Raster raster = tiles_of(scene, "share", tile);
    const Matrix p = scene.p(false), q = scene.p(true), &z = scene.exact.output.z;
    for (Index b = 0; b < 5; ++b)
      for (Index t = 0; t < 10; ++t) {
        double error = 0;
        for (Index i = b * 8; i < std::min<Index>(37, b * 8 + 8); ++i)
          for (Index c = 0; c < 4; ++c) {
            double sum = 0;
            for (Index j = t * 4; j < std::min<Index>(37, t * 4 + 4); ++j)
              sum += (double{q(i, j)} - double{p(i, j)}) * double{scene.problem.v(j, c)};
            error += sum * sum;
          }
        CAPTURE(b);
        CAPTURE(t);
        const float value = raster.values(std::min<Index>(36, b * 8 + 7), t * 4);
        if (causal && t * 4 > b * 8 + 7) {
          CHECK(value == -HUGE_VALF);
          continue;
        }
        // Weights and sums are in fp32: 1e-6 of a sum of weights of 1 over a norm of 1 and more.
        CHECK(double{value} ==
              doctest::Approx(std::sqrt(error) / norm_of_band(z, b, 8)).epsilon(1e-5).scale(1));
      }
  }
}

TEST_CASE("law: tiles of all keys have the error of the column") {
  const std::vector<std::pair<std::string, Settings>> columns{
      {"h1d", {{"block", "8"}}},
      {"moba", {{"block", "8"}, {"blocks", "2"}}},
      {"linear", {}},
      {"int8", {}}};
  for (const auto& column : columns) {
    CAPTURE(column.first);
    Scene scene(make_data(Data::gaussian, 40, 4, 4, false), column.first, column.second);
    REQUIRE(scene.metrics.output_rel_fro > 0);
    const Raster raster = tiles_of(scene, "share", {8, 40});
    double sum = 0, all = 0;
    for (Index b = 0; b < 5; ++b) {
      const double norm = norm_of_band(scene.exact.output.z, b, 8),
                   error = double{raster.values(b * 8, 0)} * norm;
      sum += error * error;
      all += norm * norm;
    }
    // Weights are found again, in fp32: their errors are of the order of its roundoff, 6e-8.
    CHECK(std::sqrt(sum / all) ==
          doctest::Approx(scene.metrics.output_rel_fro).epsilon(1e-4).scale(0));
  }
}

TEST_CASE("a tile that weights leave out is the only one that is wrong") {
  const Problem head = make_data(Data::gaussian, 40, 4, 4, false);
  Matrix p = exact_p(head);
  for (Index i = 0; i < 40; ++i) {
    double kept = 0;
    for (Index j = 0; j < 40; ++j) {
      if (in_tile(i, j, tile, wrong)) p(i, j) = 0;
      kept += double{p(i, j)};
    }
    for (Index j = 0; j < 40; ++j) p(i, j) = static_cast<float>(double{p(i, j)} / kept);
  }
  Scene scene{with(head, {.p = tensor(std::move(p))}), "imported", {}};
  const Raster alone = tiles_of(scene, "cause", tile), shares = tiles_of(scene, "share", tile);
  for (Index i = 0; i < 40; ++i)
    for (Index j = 0; j < 40; ++j)
      if (in_tile(i, j, tile, wrong))
        CHECK(alone.values(i, j) > 0.01f);
      else
        CHECK(alone.values(i, j) < 1e-6f);  // fp32
  CHECK(shares.values(24, 0) > 1e-3f);      // the other weights of its queries are larger
  CHECK(shares.values(0, 0) < 1e-6f);
  set_value(scene.settings, "tile_error", "cause");
  CHECK(contains(caption_of(scene), "in queries 24 to 31, keys 8 to 11"));
}

TEST_CASE("a given z names the tile that its kernel left out, or counted twice") {
  const Problem head = make_data(Data::gaussian, 40, 4, 8, true);
  const Matrix p = exact_p(head);
  for (const double factor : {0.0, 2.0}) {
    CAPTURE(factor);
    Matrix z = z_with_factors(
        head, p, [factor](Index i, Index j) { return in_tile(i, j, tile, wrong) ? factor : 1.0; });
    Scene scene{with(head, {.z = tensor(std::move(z))}), "imported", {}};
    const Raster raster = tiles_of(scene, "cause", tile);
    const float its = raster.values(24, 8);
    CHECK(its > 0.01f);
    for (Index i = 0; i < 40; ++i)
      for (Index j = 0; j <= i; ++j)
        if (!in_tile(i, j, tile, wrong)) CHECK(raster.values(i, j) < 1e-6f);  // fp32
    CHECK(raster.row_values[0] < 1e-6f);
    CHECK(raster.row_values[25] > 0.01f);
    const std::string caption = caption_of(scene);
    CAPTURE(caption);
    CHECK(contains(caption, "in queries 24 to 31, keys 8 to 11"));
    CHECK(contains(caption, factor == 0 ? "leaving it out explains 100 % of the error"
                                        : "its weights times 2 explain 100 % of the error"));
    CHECK(contains(caption, "z is not exact attention of this head, in rows 24 to 31"));
  }
}

TEST_CASE("two tiles that a kernel left out are found together") {
  const Problem head = make_data(Data::gaussian, 40, 4, 8, false);
  const auto left_out = [](Index i, Index j) {
    return in_tile(i, j, tile, wrong) || in_tile(i, j, tile, {3, 7});
  };
  Matrix z = z_with_factors(head, exact_p(head),
                            [&](Index i, Index j) { return left_out(i, j) ? 0.0 : 1.0; });
  Scene scene{with(head, {.z = tensor(std::move(z))}), "imported", {}};
  const Raster raster = tiles_of(scene, "cause", tile);
  for (Index i = 0; i < 40; ++i)
    for (Index j = 0; j < 40; ++j)
      if (left_out(i, j))
        CHECK(raster.values(i, j) > 0.01f);
      else
        CHECK(raster.values(i, j) < 1e-6f);  // fp32
  CHECK(contains(caption_of(scene), "leaving it out with 1 other tile explains 100 %"));
}

TEST_CASE("where no tile explains a given z, all tiles of its queries have the error") {
  const Problem head = make_data(Data::gaussian, 40, 4, 8, false);
  Matrix z = z_with_factors(head, exact_p(head), [](Index, Index) { return 1.0; });
  for (Index i = 16; i < 24; ++i)
    for (Index c = 0; c < 8; ++c) z(i, c) = 0.1f * static_cast<float>((i * 5 + c * 3) % 7);
  Scene scene{with(head, {.z = tensor(std::move(z))}), "imported", {}};
  const Raster raster = tiles_of(scene, "cause", tile);
  for (Index j = 1; j < 40; ++j) CHECK(raster.values(16, j) == raster.values(16, 0));
  CHECK(raster.values(16, 0) > 0.1f);
  CHECK(raster.values(8, 0) < 1e-6f);
  CHECK(contains(caption_of(scene), "no few tiles explain it"));
  // Without weights, that is all that the shares of tiles can be.
  const Raster rows = tiles_of(scene, "share", tile);
  for (Index j = 0; j < 40; ++j) CHECK(rows.values(16, j) == rows.values(16, 0));
  CHECK(contains(caption_of(scene), "which keys an error came from is not known"));
}

TEST_CASE("a given z is held against the pairs that its file keeps") {
  const Problem head = make_data(Data::gaussian, 40, 4, 8, false);
  Matrix blocks(5, 10);
  for (Index b = 0; b < 5; ++b)
    for (Index t = 0; t < 10; ++t) blocks(b, t) = (b + t) % 3 == 0 ? 0.0f : 1.0f;
  const auto kept = [&](Index i, Index j) { return double{blocks(i / 8, j / 4)}; };
  const auto scene_of = [&](Matrix z) {
    return Scene{with(head, {.z = tensor(std::move(z)),
                             .kept = {.block = tile, .mask = tensor(Matrix::copy_of(blocks))}}),
                 "imported",
                 {}};
  };
  const Matrix p = exact_p(head);
  Scene right = scene_of(z_with_factors(head, p, kept));
  Raster raster = std::get<Raster>(right.panel(find_view("tiles")).body);
  for (Index i = 0; i < 40; i += 8)
    for (Index j = 0; j < 40; j += 4) CHECK(raster.values(i, j) < 1e-6f);
  CHECK(right.metrics.output_rel_fro > 0.01);  // though it is not exact
  CHECK(contains(caption_of(right), "tiles of 8 queries and 4 keys"));

  REQUIRE(blocks(3, 2) == 1.0f);
  Scene skips = scene_of(z_with_factors(
      head, p, [&](Index i, Index j) { return in_tile(i, j, tile, wrong) ? 0.0 : kept(i, j); }));
  CHECK(contains(caption_of(skips), "in queries 24 to 31, keys 8 to 11"));
  CHECK(contains(caption_of(skips), "leaving it out explains 100 %"));
  // Its weights are not those of the kept pairs: only rows have an error that is known.
  const Raster share = tiles_of(skips, "share", tile);
  CHECK(share.values(24, 0) > 0.01f);
  CHECK(share.values(24, 0) == share.values(24, 36));
  CHECK(contains(caption_of(skips), "holds z without weights"));
}

TEST_CASE("wrong tiles say how they lie") {
  const Problem head = make_data(Data::gaussian, 64, 4, 8, false);
  Matrix z = z_with_factors(head, exact_p(head), [](Index i, Index j) {
    return i / 8 % 2 == 1 && j / 8 == 4 ? 0.0 : 1.0;
  });
  Scene scene{with(head, {.z = tensor(std::move(z))}), "imported", {}};
  tiles_of(scene, "cause", {8, 8});
  CHECK(contains(caption_of(scene), "wrong in every 2nd row of tiles from 1 on"));
}

TEST_CASE("tiles follow the column's blocks") {
  Scene moba(make_data(Data::gaussian, 40, 4, 4, false), "moba", {{"block", "8"}, {"blocks", "2"}});
  CHECK(contains(caption_of(moba), "tiles of 8 queries and 8 keys"));
  Scene sparge(make_data(Data::gaussian, 40, 4, 4, false), "sparge",
               {{"query_block", "10"}, {"key_block", "5"}});
  CHECK(contains(caption_of(sparge), "tiles of 10 queries and 5 keys"));
  Scene linear(make_data(Data::gaussian, 300, 4, 4, false), "linear", {});
  CHECK(contains(caption_of(linear), "tiles of 64 queries and 64 keys"));
}

TEST_CASE("far out, the worst row of each group of tiles is read, in little memory") {
  constexpr Index n = 2048;
  const Problem head = make_data(Data::gaussian, n, 4, 32, false);
  Scene scene(with(head, {.z = tensor(Matrix(n, 32))}), "imported", {});
  Output given{Matrix::copy_of(scene.exact.output.z), {}};
  // One query of one tile misses a tile of keys.
  constexpr Index query = 1237;
  Profile profile;
  Run run{profile};
  const Matrix row = scene.exact.op->tile({query, query + 1}, {0, n}, run);
  double missed = 0;
  for (Index c = 0; c < 32; ++c) {
    double sum = 0;
    missed = 0;
    for (Index j = 512; j < 528; ++j) {
      sum += double{row(0, j)} * double{head.v(j, c)};
      missed += double{row(0, j)};
    }
    given.z(query, c) = static_cast<float>((double{given.z(query, c)} - sum) / (1 - missed));
  }
  largest_allocation();
  const TileErrors found = tile_errors(
      {*scene.computation.op, given, *scene.exact.op, scene.exact.output, *backends().front()},
      TileQuestion::cause, {{16, 16}, {0, n}, {0, n}, 128, 128}, run, 16.0 * n);
  CHECK(largest_allocation() < n * n / 4);
  CHECK(found.rows_read == 16);
  CHECK(found.rows == n);
  CHECK(found.worst.queries == IndexRange{1232, 1248});
  CHECK(found.worst.keys == IndexRange{512, 528});
  // Its group of eight rows of tiles has the colour.
  CHECK(found.errors(72, 32) == found.errors(79, 32));
  CHECK(found.errors(72, 32) > 100 * found.errors(71, 32));
}
