// The mask's tiles and caption, and the heatmap's causal mask, counted pair by pair.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>

#include "analysis/pairs.h"
#include "panels/scene.h"
#include "views/parts.h"
#include "views/views.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct Counted {
  Index full = 0, partial = 0, empty = 0;
  double used = 0, touched = 0, all = 0;  // pairs
  Index block = 0;
};

// Share of the pairs of a tile that are used.
double share_of(const Matrix& mask, IndexRange rows, IndexRange cols) {
  double used = 0;
  for (Index i = rows.begin; i < rows.end; ++i)
    for (Index j = cols.begin; j < cols.end; ++j) used += static_cast<double>(mask(i, j));
  return used / static_cast<double>(rows.size() * cols.size());
}

// The tiles of a view: those that it touches, cut off at the end of the matrix.
Counted count_tiles(const Matrix& mask, IndexRange rows, IndexRange cols, Index block) {
  const Index n = mask.rows();
  Counted out{.block = block};
  for (Index i = rows.begin / block * block; i < rows.end; i += block)
    for (Index j = cols.begin / block * block; j < cols.end; j += block) {
      const IndexRange down{i, std::min(n, i + block)}, across{j, std::min(n, j + block)};
      const double share = share_of(mask, down, across),
                   area = static_cast<double>(down.size() * across.size());
      ++(share == 0 ? out.empty : share == 1 ? out.full : out.partial);
      out.used += share * area;
      out.all += area;
      if (share > 0) out.touched += area;
    }
  return out;
}

std::string percent_text(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g %%", 100 * share);
  return text;
}

/// `part`: of a view that does not show the whole; `sorted`: nobody computes whole tiles.
std::string caption_of(const Counted& tiles, bool part, bool sorted) {
  const std::string apart = part ? ", " : " · ";
  char density[48];
  std::snprintf(density, sizeof density, "%sdensity %#.2g", part ? "shown part: " : "",
                tiles.used / tiles.all);
  std::string counts;
  for (const auto& [count, name] :
       {std::pair{tiles.full, " full"}, {tiles.partial, " mixed"}, {tiles.empty, " empty"}})
    if (count > 0) counts += (counts.empty() ? "" : ", ") + std::to_string(count) + name;
  std::string text = density + (apart + counts + " tiles");
  if (tiles.partial > 0)  // of the pairs of tiles that are evaluated at all
    text += apart + "a block-sparse kernel " + (sorted ? "in token order " : "") + "with " +
            std::to_string(tiles.block) + " × " + std::to_string(tiles.block) +
            " tiles would discard " + percent_text(1 - tiles.used / tiles.touched);
  return text;
}

}  // namespace

TEST_CASE(
    "the mask's caption counts full, mixed and empty tiles and the pairs that are discarded") {
  // Tiles that are more than half full and less, cut off at the end, and of the whole matrix.
  for (const bool causal : {false, true})
    for (const auto& variant :
         {std::pair<const char*, Settings>{"fixed", {{"stride", "8"}, {"summary", "2"}}},
          {"strided", {{"stride", "6"}}},
          {"hyper", {{"block", "8"}, {"samples", "8"}, {"min_length", "8"}}}}) {
      Scene scene(make_data(Data::gaussian, 40, 4, 4, causal), variant.first, variant.second);
      const Matrix mask = element_mask(scene.computation.op->plan(), {0, 40}, {0, 40});
      for (const Index block : {1, 3, 4, 7, 16, 64})
        for (const auto& [rows, cols] : {std::pair{IndexRange{0, 40}, IndexRange{0, 40}},
                                         {IndexRange{5, 23}, IndexRange{2, 31}}}) {
          CAPTURE(variant.first);
          CAPTURE(causal);
          CAPTURE(block);
          set_value(scene.settings, "mask_block", std::to_string(block));
          const std::string caption = scene.panel(find_view("mask"), rows, cols).caption;
          const bool part = rows.size() < 40, sorted = variant.first == std::string("hyper");
          const std::string expected =
              caption_of(count_tiles(mask, rows, cols, block), part, sorted);
          CHECK(caption.substr(0, expected.size()) == expected);
          CHECK((caption.find("discarded") == std::string::npos) ==
                (expected.find("discarded") == std::string::npos));
        }
    }
}

TEST_CASE("a tile of the mask is full only where every pair of it is used") {
  Scene scene(make_data(Data::gaussian, 64, 4, 4, true), "fixed",
              {{"stride", "8"}, {"summary", "2"}});
  const Matrix mask = element_mask(scene.computation.op->plan(), {0, 64}, {0, 64});
  set_value(scene.settings, "mask_block", "8");
  Index mostly = 0;
  const auto raster = std::get<Raster>(scene.panel(find_view("mask"), {0, 64}, {0, 64}, 32).body);
  REQUIRE(raster.categories == std::vector<std::string>{"empty", "mixed", "full", "cluster mean"});
  for (Index r = 0; r < 32; ++r)
    for (Index c = 0; c < 32; ++c) {
      const IndexRange rows{r / 4 * 8, r / 4 * 8 + 8}, cols{c / 4 * 8, c / 4 * 8 + 8};
      const double share = share_of(mask, rows, cols);
      mostly += share > 0.5 && share < 1;
      CHECK(raster.values(r, c) == (share == 0 ? 0.0f : share < 1 ? 1.0f : 2.0f));
    }
  CHECK(mostly > 0);
}

TEST_CASE("a pixel is masked where all its pairs are in the future, wherever the view begins") {
  Scene scene(make_data(Data::gaussian, 48, 4, 4, true), "exact", {});
  scene.settings.pool = Pool::Kind::max;
  const Matrix p = scene.p(true);
  for (const auto& view : {std::pair{IndexRange{0, 48}, IndexRange{0, 48}},
                           {IndexRange{5, 37}, IndexRange{3, 40}},
                           {IndexRange{8, 24}, IndexRange{1, 48}},
                           {IndexRange{1, 48}, IndexRange{9, 19}},
                           {IndexRange{20, 27}, IndexRange{0, 48}}})
    for (const Index pixels : {5, 8, 12, 48}) {
      const IndexRange rows = view.first, cols = view.second;
      const auto raster =
          std::get<Raster>(scene.panel(find_view("heatmap"), rows, cols, pixels).body);
      const Index down = raster.values.rows(), across = raster.values.cols();
      const auto part = [](IndexRange r, Index pixel, Index count) {
        return IndexRange{r.begin + pixel * r.size() / count,
                          r.begin + (pixel + 1) * r.size() / count};
      };
      Index wrong = 0;
      for (Index r = 0; r < down; ++r)
        for (Index c = 0; c < across; ++c) {
          float expected = -std::numeric_limits<float>::infinity();
          const IndexRange its_rows = part(rows, r, down), its_cols = part(cols, c, across);
          for (Index i = its_rows.begin; i < its_rows.end; ++i)
            for (Index j = its_cols.begin; j < std::min(i + 1, its_cols.end); ++j)
              expected = std::max(expected, p(i, j));
          wrong += raster.values(r, c) != expected;
        }
      CAPTURE(rows.begin);
      CAPTURE(cols.begin);
      CAPTURE(pixels);
      CHECK(wrong == 0);
    }
}

TEST_CASE("the last pixels of a map extend beyond the end, where the mask knows no tokens") {
  // Two documents, and single pairs besides. 13 queries and 21 keys in pixels of 8 tokens.
  constexpr Index nq = 13, nk = 21, pixel = 8;
  const auto documents = [](Index count, Index first) {
    std::vector<std::int32_t> out(static_cast<std::size_t>(count), 1);
    std::fill_n(out.begin(), first, 0);
    return out;
  };
  BitMatrix pairs(nq, nk);
  for (Index i = 0; i < nq; ++i)
    for (Index j = 0; j < nk; ++j)
      if ((i * 7 + j * 3) % 11 == 0) pairs.set(i, j);
  BitMatrix last(nq, nk);
  last.set(nq - 1, nk - 1);
  const ViewSettings settings;
  for (const bool causal : {false, true})
    for (const auto& mask : {PairMask(documents(nq, 8), documents(nk, 16), {}),
                             PairMask(documents(nq, 8), documents(nk, 16), pairs),
                             PairMask({}, {}, pairs), PairMask({}, {}, last)}) {
      Plan plan;
      plan.lengths = {nq, nk};
      plan.causal = causal;
      plan.mask = std::make_shared<const PairMask>(mask);
      const views::Grid grid(MapView{.pixel = pixel, .rows = {0, 2}, .cols = {0, 3}});
      const Raster raster =
          views::weight_raster({Matrix(2, 3, 1.0f), {}}, {}, {grid, settings, &plan});
      for (Index r = 0; r < 2; ++r)
        for (Index c = 0; c < 3; ++c) {
          bool some = false;
          for (Index i = r * pixel; i < std::min(nq, (r + 1) * pixel); ++i)
            for (Index j = c * pixel; j < std::min(nk, (c + 1) * pixel); ++j)
              some |= mask.admits(i, j) && (!causal || j <= i + nk - nq);
          CAPTURE(r);
          CAPTURE(c);
          CHECK(std::isfinite(raster.values(r, c)) == some);
        }
    }
}

TEST_CASE("each row's largest pixel is 1 where rows are divided by it, for any number of queries") {
  for (const auto& lengths : {std::pair<Index, Index>{40, 12}, {12, 40}, {37, 36}}) {
    const Index nq = lengths.first, nk = lengths.second;
    Problem problem = make_data(Data::gaussian, std::max(nq, nk), 4, 4, false);
    problem.q.rows = nq;
    problem.k.rows = problem.v.rows = nk;
    Scene scene(problem, "exact", {});
    scene.settings.norm = Norm::row_max;
    scene.settings.pool = Pool::Kind::max;
    for (const Index pixels : {512, 6}) {
      CAPTURE(nq);
      CAPTURE(nk);
      CAPTURE(pixels);
      const auto raster =
          std::get<Raster>(scene.panel(find_view("heatmap"), {0, nq}, {0, nk}, pixels).body);
      for (Index r = 0; r < raster.values.rows(); ++r) {
        const float* row = raster.values.row(r);
        CHECK(*std::max_element(row, row + raster.values.cols()) == doctest::Approx(1));
      }
    }
  }
}

TEST_CASE("the mask shows tiles from afar and elements from near") {
  Scene scene(make_data(Data::gaussian, 64, 3, 2, true), "fixed",
              {{"stride", "8"}, {"summary", "2"}});
  set_value(scene.settings, "mask_block", "4");
  const Panel far = scene.panel(find_view("mask"));
  const auto& tiles = std::get<Raster>(far.body);
  CHECK(tiles.categories ==
        std::vector<std::string>{"empty", "not attended", "full", "cluster mean", "attended"});
  CHECK(far.caption.find("full") != std::string::npos);
  CHECK(tiles.values(0, 0) == 4);  // the diagonal tile is cut by the mask: this pair is used
  CHECK(tiles.values(0, 1) == 1);  // and this one not
  CHECK(tiles.values(0, 63) == 0);
  CHECK(tiles.values(7, 0) == 2);
  const auto near = std::get<Raster>(scene.panel(find_view("mask"), {8, 24}, {0, 16}).body);
  const Matrix mask = element_mask(scene.computation.op->plan(), {8, 24}, {0, 16});
  for (Index i = 0; i < 16; ++i)
    for (Index j = 0; j < 16; ++j) CHECK((near.values(i, j) >= 2) == (mask(i, j) > 0));
  const auto pooled = std::get<Raster>(scene.panel(find_view("mask"), {0, 64}, {0, 64}, 32).body);
  CHECK(pooled.categories == std::vector<std::string>{"empty", "mixed", "full", "cluster mean"});
  CHECK(pooled.values(0, 0) == 1);
  CHECK(pooled.values(3, 0) == 2);
}

TEST_CASE("no variant that sorts tokens is said to compute pairs and mask them out") {
  int sorts = 0;
  for (const Variant& variant : variants()) {
    Scene scene(make_data(Data::gaussian, 64, 4, 4, !variant.has_bidirectional_form()), variant.id,
                variant.id == "hyper"
                    ? Settings{{"block", "8"}, {"samples", "8"}, {"min_length", "8"}}
                    : Settings{});
    const Panel panel = scene.panel(find_view("mask"));
    const auto* raster = std::get_if<Raster>(&panel.body);
    if (!raster) continue;
    CAPTURE(variant.id);
    const bool sorted =
        std::set<std::string>{"tf", "tc", "hyper", "reformer", "kde"}.contains(variant.id) &&
        !scene.computation.op->plan().groups.kind.empty();  // a short head is computed exactly
    sorts += sorted;
    CHECK(raster->categories[1] == "not attended");
    if (sorted && panel.caption.find("would discard") != std::string::npos)
      CHECK(panel.caption.find("a block-sparse kernel in token order") != std::string::npos);
  }
  CHECK(sorts >= 3);  // a tree, and hashes
}

TEST_CASE("the mask tells pairs evaluated through clusters from those evaluated by themselves") {
  Scene scene(make_data(Data::gaussian, 64, 3, 2, false), "h1d", {{"block", "4"}});
  const auto mask = std::get<Raster>(scene.panel(find_view("mask")).body);
  const Matrix owner = level_owner(scene.computation.op->plan(), {0, 64}, {0, 64});
  for (Index i = 0; i < 64; ++i)
    for (Index j = 0; j < 64; ++j) CHECK((mask.values(i, j) == 3) == (owner(i, j) > 0));
  // Only the diagonal of 16 x 16 tiles of 4, and its neighbours, are computed key by key.
  set_value(scene.settings, "mask_block", "4");
  CHECK(scene.panel(find_view("mask")).caption.find("46 full, 210 cluster-mean tiles") !=
        std::string::npos);
}

TEST_CASE("beside the mask is the exact mass that each row drops") {
  Scene scene = hyper_scene();
  const auto mask = std::get<Raster>(scene.panel(find_view("mask"), {8, 24}, {0, 16}).body);
  const Matrix p = scene.p(false),
               used = element_mask(scene.computation.op->plan(), {0, 40}, {0, 40});
  REQUIRE(mask.row_values.size() == 16);
  float most = 0;
  for (Index i = 0; i < 40; ++i) {
    double dropped = 0;
    for (Index j = 0; j < 40; ++j)
      if (used(i, j) == 0) dropped += static_cast<double>(p(i, j));
    // 40 entries rounded to float32, twice.
    CHECK(scene.metrics.dropped_mass[std::size_t(i)] == doctest::Approx(dropped).epsilon(1e-5));
    if (8 <= i && i < 24)
      CHECK(mask.row_values[std::size_t(i - 8)] == scene.metrics.dropped_mass[std::size_t(i)]);
    most = std::max(most, scene.metrics.dropped_mass[std::size_t(i)]);
  }
  CHECK(most > 0.01f);
  const std::string caption = scene.panel(find_view("mask")).caption;
  CHECK(caption.find("by row, median ") != std::string::npos);
  CHECK(caption.find("most ") != std::string::npos);
  scene.metrics.dropped_mass.assign(40, 0.9999f);  // "10² %" to two digits
  CHECK(scene.panel(find_view("mask")).caption.find("most 100 %") != std::string::npos);
  // Where every pair is used there is nothing to show.
  Scene whole(make_data(Data::gaussian, 40, 4, 4, true), "h1d", {{"block", "4"}});
  CHECK(whole.metrics.dropped_mass.empty());
  CHECK(std::get<Raster>(whole.panel(find_view("mask")).body).row_values.empty());
}
