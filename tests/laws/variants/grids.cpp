#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "laws/formulas.h"

namespace fovea::test {
namespace {

/// Where a token lies; tokens of a text are nowhere.
struct Spot {
  bool text = false;
  Index cell = 0, frame = 0, row = 0, column = 0, height = 0, width = 0, frames = 0;
};

Spot spot_of(const Instance& x, Index i) {
  const Parameters p{x};
  const Index n = x.problem.n(), text = std::min(p.integer("text"), n), cells = n - text;
  Spot spot;
  spot.text = p.text("text_place") == "first" ? i < text : i >= cells;
  spot.cell = p.text("text_place") == "first" ? i - text : i;
  spot.width = std::max<Index>(1, std::min(p.integer("width"), cells));
  spot.height = 1;
  while (spot.height < p.integer("height") && spot.height * spot.width < cells) ++spot.height;
  const Index area = spot.height * spot.width;
  while ((spot.frame + 1) * area <= spot.cell) ++spot.frame;
  while (spot.frames * area < cells) ++spot.frames;
  spot.row = (spot.cell - spot.frame * area) / spot.width;
  spot.column = (spot.cell - spot.frame * area) % spot.width;
  return spot;
}

/// Whether tile b is within a box of `box` tiles around tile a that is moved until it lies within
/// `count` tiles.
bool near(Index a, Index b, Index count, Index box) {
  Index begin = a - box / 2;
  while (begin + box > count) --begin;
  while (begin < 0) ++begin;
  return begin <= b && b < begin + box;
}

template <class Real>
Dense<Real> sta(const Instance& x) {
  const Parameters p{x};
  const auto along = [&](Index a, Index b, Index size, const char* tile, const char* box) {
    const Index t = p.integer(tile);
    return near(a / t, b / t, (size + t - 1) / t, p.integer(box));
  };
  return weighted<Real>(x.problem, [&](Index i, Index j) {
    const Spot a = spot_of(x, i), b = spot_of(x, j);
    return a.text || b.text ||
           (along(a.frame, b.frame, a.frames, "tile_frames", "box_frames") &&
            along(a.row, b.row, a.height, "tile_rows", "box_rows") &&
            along(a.column, b.column, a.width, "tile_columns", "box_columns"));
  });
}

template <class Real>
Dense<Real> svg(const Instance& x) {
  const Parameters p{x};
  return weighted<Real>(x.problem, [&](Index i, Index j) {
    const Spot a = spot_of(x, i), b = spot_of(x, j);
    if (a.text || b.text || i == j) return true;
    const auto area = static_cast<double>(a.height * a.width);
    if (p.text("pattern") == "temporal")
      return static_cast<double>(std::abs((a.row - b.row) * a.width + a.column - b.column)) <
             std::max(1.0, std::floor(p.real("reach") * area / static_cast<double>(a.frames)));
    if (p.text("first_frame") == "attended" && b.frame == 0) return true;
    return static_cast<double>(std::abs(a.cell - b.cell)) < std::floor(p.real("reach") * area);
  });
}

template <class Real>
Dense<Real> radial(const Instance& x) {
  const Parameters p{x};
  return weighted<Real>(x.problem, [&](Index i, Index j) {
    const Spot a = spot_of(x, i), b = spot_of(x, j);
    if (a.text || b.text || i == j) return true;
    if (p.text("first_frame") == "attended" && b.frame == 0 && b.frames > 1) return true;
    const Index apart = std::abs(a.frame - b.frame);
    double width = p.real("reach") * static_cast<double>(a.height * a.width);
    Index every = 1;
    for (Index d = apart; d > 1; d /= 2) width /= 2;
    const Index places = std::abs((a.row - b.row) * a.width + a.column - b.column);
    if (width >= 1) return static_cast<double>(places) < std::floor(width);
    while (static_cast<double>(every) * width < 1) ++every;
    return places == 0 && apart % every == 0;
  });
}

/// The means of the tokens of each cluster, and how many those are.
struct Means {
  std::vector<std::vector<double>> of;
  std::vector<double> size;

  Means(MatrixView rows, const std::vector<std::int32_t>& cluster)
      : of(cluster.size(), std::vector<double>(static_cast<std::size_t>(rows.cols))),
        size(cluster.size()) {
    for (std::size_t i = 0; i < cluster.size(); ++i) {
      const auto c = static_cast<std::size_t>(cluster[i]);
      ++size[c];
      for (std::size_t f = 0; f < of[c].size(); ++f)
        of[c][f] += double{rows(static_cast<Index>(i), static_cast<Index>(f))};
    }
    for (std::size_t c = 0; c < of.size(); ++c)
      for (double& x : of[c]) x = size[c] > 0 ? x / size[c] : 0;
  }
};

/// Pairs of clusters that are kept; clusters without tokens have no meaning.
template <class Real>
Dense<Real> svg2(const Instance& x) {
  const Parameters p{x};
  const auto &of_query = x.plan->structure.integers("query_cluster"),
             &of_key = x.plan->structure.integers("key_cluster");
  const Means queries(x.problem.q, of_query), keys(x.problem.k, of_key);
  const Index n = x.problem.n(), all = (n + p.integer("key_size") - 1) / p.integer("key_size"),
              least = static_cast<Index>(std::floor(p.real("least") * static_cast<double>(all)));
  std::vector<std::vector<bool>> kept;
  for (const std::vector<double>& mean : queries.of) {
    std::vector<double> mass;
    double sum = 0;
    for (std::size_t c = 0; c < keys.of.size(); ++c) {
      double dot = 0;
      for (std::size_t f = 0; f < mean.size(); ++f) dot += mean[f] * keys.of[c][f];
      sum += mass.emplace_back(keys.size[c] * std::exp(x.problem.scale * dot));
    }
    std::vector<bool>& its = kept.emplace_back(mass.size());
    double taken = 0;
    for (Index turn = 0; turn < n; ++turn) {
      const std::size_t best =
          static_cast<std::size_t>(std::ranges::max_element(mass) - mass.begin());
      if (mass[best] <= 0) break;  // the rest have no tokens
      if (turn >= least && taken > p.real("tau") && p.real("tau") < 1) break;
      its[best] = true;
      taken += std::exchange(mass[best], 0.0) / sum;
    }
  }
  return weighted<Real>(x.problem, [&](Index i, Index j) {
    return kept[static_cast<std::size_t>(of_query[static_cast<std::size_t>(i)])]
               [static_cast<std::size_t>(of_key[static_cast<std::size_t>(j)])];
  });
}

}  // namespace

VariantLaws sta_laws() {
  VariantLaws laws =
      laws_from("sta", [](auto real, const Instance& x) { return sta<decltype(real)>(x); },
                {{.settings = {{"height", "4"},
                               {"width", "5"},
                               {"tile_frames", "1"},
                               {"tile_rows", "2"},
                               {"tile_columns", "2"},
                               {"box_frames", "1"},
                               {"box_rows", "1"},
                               {"box_columns", "3"}}},
                 {.settings = {{"height", "3"},
                               {"width", "4"},
                               {"text", "5"},
                               {"tile_frames", "2"},
                               {"tile_rows", "1"},
                               {"tile_columns", "3"},
                               {"box_frames", "2"},
                               {"box_rows", "2"},
                               {"box_columns", "1"}}},
                 {.settings = {{"height", "8"},
                               {"width", "9"},
                               {"text", "3"},
                               {"text_place", "last"},
                               {"tile_rows", "2"},
                               {"tile_columns", "4"},
                               {"box_rows", "2"},
                               {"box_columns", "2"}}}});
  laws.exact_settings = {{{{"height", "3"},
                           {"width", "7"},
                           {"tile_frames", "1"},
                           {"tile_rows", "1"},
                           {"tile_columns", "7"},
                           {"box_frames", "3"},
                           {"box_rows", "3"},
                           {"box_columns", "1"}}},
                         {{{"text", "63"}}}};
  return laws;
}

VariantLaws svg_laws() {
  VariantLaws laws =
      laws_from("svg", [](auto real, const Instance& x) { return svg<decltype(real)>(x); },
                {{.settings = {{"height", "3"}, {"width", "5"}, {"text", "2"}, {"reach", "1.3"}}},
                 {.settings = {{"height", "3"},
                               {"width", "5"},
                               {"text", "2"},
                               {"reach", "0.5"},
                               {"first_frame", "attended"},
                               {"text_place", "last"}}},
                 {.settings = {{"height", "2"},
                               {"width", "7"},
                               {"text", "3"},
                               {"pattern", "temporal"},
                               {"reach", "1.6"}}},
                 {.settings = {{"height", "70"}, {"width", "70"}, {"reach", "0.2"}}}});
  laws.exact_settings = {
      {{{"height", "3"}, {"width", "7"}, {"reach", "3"}}},
      {{{"height", "3"}, {"width", "7"}, {"reach", "3"}, {"pattern", "temporal"}}}};
  return laws;
}

VariantLaws svg2_laws() {
  VariantLaws laws = laws_from(
      "svg2", [](auto real, const Instance& x) { return svg2<decltype(real)>(x); },
      {{.settings = {}, .random = true},
       {.settings = {{"query_size", "5"}, {"key_size", "3"}, {"tau", "0.5"}}, .random = true},
       {.settings = {{"query_size", "7"}, {"key_size", "4"}, {"tau", "0"}, {"least", "0.4"}},
        .random = true},
       {.settings = {{"query_size", "1"}, {"key_size", "1"}, {"tau", "0.3"}, {"rounds", "1"}}}});
  laws.exact_settings = {{{{"key_size", "63"}}},
                         {{{"query_size", "4"}, {"key_size", "4"}, {"tau", "1"}}},
                         {{{"query_size", "4"}, {"key_size", "4"}, {"tau", "0"}, {"least", "1"}}}};
  return laws;
}

VariantLaws radial_laws() {
  VariantLaws laws = laws_from(
      "radial", [](auto real, const Instance& x) { return radial<decltype(real)>(x); },
      {{.settings = {{"height", "2"}, {"width", "3"}, {"text", "2"}, {"reach", "1"}}},
       {.settings = {{"height", "1"}, {"width", "5"}, {"reach", "0.3"}, {"first_frame", "masked"}}},
       {.settings = {{"height", "2"},
                     {"width", "2"},
                     {"text", "3"},
                     {"text_place", "last"},
                     {"first_frame", "masked"},
                     {"reach", "0.6"}}},
       {.settings = {{"height", "1"}, {"width", "2"}, {"first_frame", "masked"}, {"reach", "0.5"}}},
       {.settings = {{"height", "70"}, {"width", "70"}, {"reach", "0.2"}}}});
  laws.exact_settings = {{{{"height", "3"}, {"width", "7"}, {"reach", "2"}}},
                         {{{"text", "63"}}},
                         {{{"height", "4"}, {"width", "4"}, {"reach", "4096"}}}};
  return laws;
}

}  // namespace fovea::test
