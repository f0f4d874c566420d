// Metrics, ranks and maps do not depend on how many threads found them.
#include <doctest/doctest.h>

#include "analysis/map_pyramid.h"
#include "analysis/metrics.h"
#include "analysis/rank_map.h"
#include "backend/backends.h"
#include "cases.h"
#include "same_values.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct Found {
  std::string metrics;  // each bit of each figure
  std::vector<RankBlock> ranks;
  Matrix map, standard_error, exact_map;
};

std::string bits(const Estimate& e) {
  char text[80];
  std::snprintf(text, sizeof text, "%a %a, ", e.value, e.standard_error);
  return text;
}

Found found(const std::string& id, int threads) {
  constexpr Index n = 390;
  const auto backend = make_cpu_backend({.threads = threads});
  const bool causal = id != "linformer";  // which has no causal form
  const Problem problem = make_data(Data::gaussian, n, 16, 12, causal);
  const Instance some = make_instance(*backend, problem, id, {}),
                 exact = make_instance(*backend, problem, "exact", {});
  Profile profile;
  Run run{profile};
  // A third of the rows.
  const Metrics m = compare(*some.bound, some.apply(problem.v), *exact.bound,
                            exact.apply(problem.v), run, double(n) * n / 3, 7);
  REQUIRE(m.sampled());
  Found all;
  all.metrics = bits({m.output_rel_fro, m.output_max_abs}) +
                bits({m.row_rel_error_p50, m.row_rel_error_p90}) + bits(m.attention_rel_fro) +
                bits(m.attention_tv) + bits(m.attention_kl) + bits(m.mass_kept) +
                bits({m.attention_tv_p90.value, m.attention_tv_max});
  for (const Estimate& recall : m.top_recall) all.metrics += bits(recall);
  const Entries entries = [&](IndexRange rows, IndexRange cols) { return some.tile(rows, cols); };
  all.ranks = map_ranks({n, n}, entries, {.leaf = 16, .causal = causal}, *backend, run).blocks;
  MapPyramid map(
      n, Pool::Kind::mean,
      [&](IndexRange rows, IndexRange cols, Pool pool, Run& part) {
        return some.bound->tile(rows, cols, pool, part);
      },
      128);
  const Index side = map.overview_rows();
  const MapView view{.pixel = map.overview_pixel(), .rows = {0, side}, .cols = {0, side}};
  map.estimate(2, 5, run);
  MapPicture picture = map.picture(view);
  all.map = std::move(picture.values);
  all.standard_error = std::move(picture.standard_error);
  map.fill({0, side}, run);
  all.exact_map = map.picture(view).values;
  return all;
}

}  // namespace

TEST_CASE("the number of threads changes no metric, no rank and no pixel, bit for bit") {
  for (const char* id : {"exact", "h1d", "hyper", "tf", "performer", "linformer"}) {
    CAPTURE(id);
    const Found one = found(id, 1);
    for (const int threads : {2, 3, 7, 33}) {
      CAPTURE(threads);
      const Found many = found(id, threads);
      CHECK(many.metrics == one.metrics);
      REQUIRE(many.ranks.size() == one.ranks.size());
      for (std::size_t b = 0; b < one.ranks.size(); ++b) {
        CHECK(many.ranks[b].rank == one.ranks[b].rank);
        CHECK(many.ranks[b].singular_values == one.ranks[b].singular_values);
      }
      CHECK(same_values(many.map, one.map));
      CHECK(same_values(many.standard_error, one.standard_error));
      CHECK(same_values(many.exact_map, one.exact_map));
    }
  }
}
