// The view that spreads compressed entries over their tokens.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "analysis/imported_columns.h"
#include "laws/compressed_heads.h"
#include "panels/scene.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr double unseen = -std::numeric_limits<double>::infinity();

/// Q_ij straight from the definition, [queries, tokens].
std::vector<std::vector<double>> spread_of(const CompressedHead& head, const Problem& problem) {
  const std::vector<double> p = weights_of(head, problem);
  const auto weight = [&](Index i, Index j) {
    return p[static_cast<std::size_t>(i * problem.keys() + j)];
  };
  std::vector<std::vector<double>> out;
  for (Index i = 0; i < head.queries; ++i) {
    auto& row = out.emplace_back();
    for (Index j = 0; j < head.tokens; ++j) {
      const Index entry = j / head.size, key = head.tokens + entry;
      const bool of_entry = entry < head.entries() && head.sees(i, key);
      double sum = head.sees(i, j) ? weight(i, j) : 0;
      if (of_entry) sum += weight(i, key) / static_cast<double>(head.size);
      row.push_back(of_entry || head.sees(i, j) ? sum : unseen);
    }
  }
  return out;
}

const CompressedHead some_head{.tokens = 30, .queries = 30, .size = 4, .window = 5, .sink = 0.5};

Scene spread_scene(const CompressedHead& head) {
  return {head.of(make_data(Data::gaussian, head.tokens, 6, 3, false)), "exact", {}};
}

}  // namespace

TEST_CASE("entries are spread over their tokens, and what no query sees is masked") {
  CompressedHead chosen = some_head;
  for (Index i = 0; i < 30; ++i)
    for (const Index e : {i % 7, (3 * i + 1) % 7}) chosen.chosen.push_back(static_cast<float>(e));
  for (const CompressedHead& head : {some_head, chosen}) {
    Scene scene = spread_scene(head);
    const Panel panel = scene.panel(find_view("spread"), {0, 30}, {0, 37});
    const auto& raster = std::get<Raster>(panel.body);
    CHECK(raster.rows == IndexRange{0, 30});
    CHECK(raster.cols == IndexRange{0, 30});
    const auto truth = spread_of(head, scene.problem);
    for (Index i = 0; i < 30; ++i)
      for (Index j = 0; j < 30; ++j) {
        const double expected = truth[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
        if (expected == unseen)
          CHECK(double{raster.values(i, j)} == unseen);
        else  // weights in float32
          CHECK(std::abs(double{raster.values(i, j)} - expected) <= 1e-6);
      }
  }
}

TEST_CASE("pixels of spread entries are the largest or the mean of their pairs") {
  Scene scene = spread_scene(some_head);
  const auto truth = spread_of(some_head, scene.problem);
  for (const Pool::Kind kind : {Pool::Kind::max, Pool::Kind::mean}) {
    scene.settings.pool = kind;
    const Panel panel = scene.panel(find_view("spread"), {0, 30}, {0, 37}, 10);
    const auto& raster = std::get<Raster>(panel.body);
    REQUIRE(raster.values.rows() == 10);
    REQUIRE(raster.values.cols() == 10);
    for (Index r = 0; r < 10; ++r)
      for (Index c = 0; c < 10; ++c) {
        double sum = 0, largest = unseen;
        for (Index i = 3 * r; i < 3 * r + 3; ++i)
          for (Index j = 3 * c; j < 3 * c + 3; ++j) {
            const double x = truth[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
            if (x != unseen) sum += x;
            largest = std::max(largest, x);
          }
        const double expected = largest == unseen         ? unseen
                                : kind == Pool::Kind::max ? largest
                                                          : sum / 9;
        if (expected == unseen)
          CHECK(double{raster.values(r, c)} == unseen);
        else
          CHECK(std::abs(double{raster.values(r, c)} - expected) <= 1e-6);
      }
  }
  scene.settings.norm = Norm::row_max;
  const Panel by_row = scene.panel(find_view("spread"), {0, 30}, {0, 37});
  const Matrix& values = std::get<Raster>(by_row.body).values;
  for (Index i = 0; i < 30; ++i) {
    float top = 0;
    for (Index j = 0; j < 30; ++j) top = std::max(top, values(i, j));
    CHECK(top == 1);
  }
}

TEST_CASE("what a variant leaves out is no weight in a spread, and not masked") {
  Scene scene{some_head.of(make_data(Data::gaussian, 30, 6, 3, false)), "dsa", {{"tokens", "2"}}};
  const Matrix values =
      std::get<Raster>(scene.panel(find_view("spread"), {0, 30}, {0, 37}).body).values;
  const auto truth = spread_of(some_head, scene.problem);
  Index left_out = 0;
  for (Index i = 0; i < 30; ++i)
    for (Index j = 0; j < 30; ++j) {
      const double exact = truth[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      CHECK((double{values(i, j)} == unseen) == (exact == unseen));
      left_out += values(i, j) == 0;
    }
  CHECK(left_out > 100);
}

TEST_CASE("weights of either sign are spread over the tokens of entries that overlap") {
  constexpr Index n = 12, m = 5;
  const Problem data = make_data(Data::gaussian, n + m, 4, 3, false);
  Problem head = make_problem(Matrix::copy_of(data.q.slice({0, n})), Matrix::copy_of(data.k),
                              Matrix::copy_of(data.v), 0.5, true);
  CompressedEntries entries{.tokens = n, .stands_for = {}};
  for (Index e = 0; e < m; ++e) entries.stands_for.push_back({2 * e, 2 * e + 4});
  LayerConditions conditions;
  conditions.compressed = std::make_shared<const CompressedEntries>(entries);
  add_conditions(head, conditions, 0, "a test");
  // Gaussian numbers, as no softmax makes them.
  const Matrix p = Matrix::copy_of(make_data(Data::gaussian, n, n + m, 3, false).q);
  Scene scene{with(head, {.p = tensor(Matrix::copy_of(p))}), "imported", {}};
  const Matrix values =
      std::get<Raster>(scene.panel(find_view("spread"), {0, n}, {0, n + m}).body).values;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      double expected = j <= i ? double{p(i, j)} : 0;
      bool seen = j <= i;
      for (Index e = 0; e < m; ++e)
        if (2 * e <= j && j < 2 * e + 4 && 2 * e + 4 <= i + 1)
          expected += double{p(i, n + e)} / 4, seen = true;
      CAPTURE(i);
      CAPTURE(j);
      if (seen)
        CHECK(std::abs(double{values(i, j)} - expected) <= 1e-6);  // sums in double, then float32
      else
        CHECK(double{values(i, j)} == unseen);
    }
}

TEST_CASE("without compressed entries, or tokens in view, there is nothing to spread") {
  const auto said = [](Scene scene, IndexRange cols) {
    const Panel panel = scene.panel(find_view("spread"), {0, scene.problem.queries()}, cols);
    return std::get<Message>(panel.body).text;
  };
  CHECK(said({make_data(Data::gaussian, 12, 4, 3, true), "exact", {}}, {0, 12}) ==
        "all keys of this head are tokens");
  CHECK(said(spread_scene(some_head), {31, 37}) == "no tokens are in view");
}
