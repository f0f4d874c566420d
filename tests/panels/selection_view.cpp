// The view of picked, available and masked pairs: its caption, its strip, long heads, and what the
// pointer reads. Pair by pair it is held against P in tests/laws/selection_states.h.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "allocations.h"
#include "analysis/support.h"
#include "panels/readings.h"
#include "panels/scene.h"
#include "views/views.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Scene moba_scene(Index n = 40) {
  return {make_data(Data::gaussian, n, 4, 4, true), "moba", {{"block", "8"}, {"blocks", "2"}}};
}

/// The share of as many keys of the largest weights as a query attends that it attends.
double recall_by_hand(const Matrix& exact, const Matrix& approximate, Index i) {
  std::vector<Index> order;
  Index picked = 0;
  for (Index j = 0; j < exact.cols(); ++j) {
    if (exact(i, j) > 0) order.push_back(j);
    picked += approximate(i, j) > 0;
  }
  std::ranges::stable_sort(order, [&](Index a, Index b) { return exact(i, a) > exact(i, b); });
  const Index k = std::min(picked, std::ssize(order));
  Index found = 0;
  for (Index r = 0; r < k; ++r) found += approximate(i, order[static_cast<std::size_t>(r)]) > 0;
  return static_cast<double>(found) / static_cast<double>(k);
}

/// The view of all pairs of a computation.
Panel whole_selection(const Computation& computation, const Backend& backend, Index pixels,
                      Run& run) {
  const Lengths lengths = computation.op->plan().lengths;
  const Sequence sequence;
  const ViewSettings settings;
  return make_panel(find_view("selection"),
                    {.computation = computation,
                     .exact = computation,
                     .backend = backend,
                     .sequence = sequence,
                     .settings = settings,
                     .rows = {0, lengths.queries},
                     .cols = {0, lengths.keys},
                     .max_pixels = pixels},
                    run);
}

}  // namespace

TEST_CASE("a selection's strip has the recall of each query, or the mass that it caught") {
  Scene scene = moba_scene();
  const Matrix exact = scene.p(false), approximate = scene.p(true);
  for (const IndexRange rows : {IndexRange{0, 40}, IndexRange{11, 37}}) {
    set_value(scene.settings, "selection_strip", "recall");
    const auto recall =
        std::get<Raster>(scene.panel(find_view("selection"), rows, {0, 40}, 8).body);
    set_value(scene.settings, "selection_strip", "mass");
    const auto mass = std::get<Raster>(scene.panel(find_view("selection"), rows, {0, 40}, 8).body);
    CHECK(recall.row_quantity == "recall of the query's top keys");
    CHECK(mass.row_quantity == "mass caught of the query");
    CHECK(std::ssize(recall.row_values) == recall.rows.size());
    CHECK(std::ssize(mass.row_values) == mass.rows.size());
    for (Index i = rows.begin; i < rows.end; ++i) {
      const auto at = static_cast<std::size_t>(i - rows.begin);
      CHECK(static_cast<double>(recall.row_values[at]) ==
            doctest::Approx(recall_by_hand(exact, approximate, i)).epsilon(1e-6));
      double caught = 0;
      for (Index j = 0; j < 40; ++j)
        if (approximate(i, j) > 0) caught += static_cast<double>(exact(i, j));
      CHECK(static_cast<double>(mass.row_values[at]) == doctest::Approx(caught).epsilon(1e-5));
    }
    for (auto at = static_cast<std::size_t>(rows.size()); at < recall.row_values.size(); ++at)
      CHECK(std::isnan(recall.row_values[at]));
  }
}

TEST_CASE("a selection without a recall shows the mass caught, and exact attention no strip") {
  Scene window(make_data(Data::gaussian, 40, 4, 4, true), "window", {{"width", "5"}});
  CHECK(std::get<Raster>(window.panel(find_view("selection")).body).row_quantity ==
        "mass caught of the query");
  Scene exact(make_data(Data::gaussian, 40, 4, 4, true), "exact", {});
  const Panel panel = exact.panel(find_view("selection"));
  CHECK(std::get<Raster>(panel.body).row_values.empty());
  CHECK(panel.caption.starts_with("all available pairs picked · 49 % of all pairs masked"));
}

TEST_CASE("a selection's caption has the share that is picked, the recall and the mass caught") {
  Scene scene = moba_scene();
  const Matrix approximate = scene.p(true);
  double picked = 0;
  for (Index i = 0; i < 40; ++i)
    for (Index j = 0; j <= i; ++j) picked += approximate(i, j) > 0;
  const auto recall =
      std::ranges::find(scene.diagnostics, std::string("selected_recall"), &Diagnostic::id);
  REQUIRE(recall != scene.diagnostics.end());
  CHECK(scene.panel(find_view("selection")).caption ==
        format_percent(picked / 820, 2) +
            " of available pairs picked · 49 % of all pairs masked · recall of top keys " +
            format_percent(recall->value, 2) + " · mass caught " +
            format_percent(scene.metrics.mass_kept.value, 2));
  CHECK(scene.panel(find_view("selection"), {0, 8}, {8, 16})
            .caption.starts_with("shown part: all pairs masked · recall"));
}

TEST_CASE("a selection names its states, and of pixels also a share between them") {
  Scene scene = moba_scene();
  const auto pairs = std::get<Raster>(scene.panel(find_view("selection")).body);
  CHECK(pairs.categories == std::vector<std::string>{"available, not picked", "picked"});
  const auto pixels =
      std::get<Raster>(scene.panel(find_view("selection"), {0, 40}, {0, 40}, 20).body);
  CHECK(pixels.categories ==
        std::vector<std::string>{"available, not picked", "a quarter picked", "picked"});
}

TEST_CASE("a selection of 131072 tokens takes the memory of its pixels, and counts every pair") {
  const Index n = 131072, pixels = 512, each = n / pixels;
  const Problem problem = make_data(Data::gaussian, n, 2, 1, true);
  const Backend& backend = *backends().front();
  const Variant& variant = find_variant("moba");
  Profile profile;
  Run run{profile};
  const Computation computation = prepare(
      problem,
      {.variant = &variant, .values = values_of(variant, {{"block", "512"}, {"blocks", "3"}})},
      backend, run);
  begin_peak();
  const Panel panel = whole_selection(computation, backend, pixels, run);
  CHECK(peak_bytes() < std::size_t{64} << 20);  // a bit for each pair would be 2 GiB
  const auto& raster = std::get<Raster>(panel.body);
  REQUIRE(raster.values.rows() == pixels);
  const Support support(computation.op->plan());
  for (const Index r : {Index{0}, Index{1}, Index{200}, pixels - 1}) {
    double counted = 0, shown = 0;
    for (Index i = r * each; i < (r + 1) * each; ++i)
      counted += static_cast<double>(support.count(i));
    for (Index c = 0; c <= r; ++c)
      shown += static_cast<double>(raster.values(r, c)) *
               static_cast<double>(c < r ? each * each : each * (each + 1) / 2);
    CHECK(shown == doctest::Approx(counted).epsilon(1e-6));
    for (Index c = r + 1; c < pixels; ++c) CHECK(std::isinf(raster.values(r, c)));
  }
}

TEST_CASE("the pointer reads the state of a pair, the score of its block and the block's mass") {
  const Scene scene = moba_scene();
  Profile profile;
  Run run{profile};
  const Plan& plan = scene.computation.op->plan();
  const auto& blocks = plan.structure.integers("selected_blocks");
  const auto& scores = plan.structure.reals("selected_scores");
  const Matrix exact = Scene(scene).p(false);
  for (const Index i : {Index{3}, Index{20}, Index{39}})
    for (Index j = 0; j < 40; ++j) {
      const PairReading read = read_pair(scene.computation, scene.exact, i, j, run);
      CHECK(read.info.admissible == (j <= i));
      const bool first = blocks[static_cast<std::size_t>(2 * i)] == j / 8,
                 second = blocks[static_cast<std::size_t>(2 * i + 1)] == j / 8;
      CHECK(read.info.covered == ((first || second) && j <= i));
      CHECK(read.info.block.has_value() == read.info.covered);
      if (!read.info.block) continue;
      CHECK(read.info.block->keys == IndexRange{j / 8 * 8, j / 8 * 8 + 8});
      CHECK(read.info.block->score == scores[static_cast<std::size_t>(2 * i + (first ? 0 : 1))]);
      double mass = 0;
      for (Index key = j / 8 * 8; key < j / 8 * 8 + 8; ++key)
        mass += static_cast<double>(exact(i, key));
      CHECK(read.block_mass == doctest::Approx(mass).epsilon(1e-5));
    }
}

TEST_CASE("a selection of lists of few keys takes the memory of its pixels and of the lists") {
  constexpr Index n = 32768, pixels = 128, each = n / pixels;
  std::vector<Matrix> lists;
  lists.emplace_back(n, 2);
  for (Index i = 0; i < n; ++i) {
    lists.front()(i, 0) = static_cast<float>(i);
    lists.front()(i, 1) = static_cast<float>(i / 2);
  }
  Problem problem = make_data(Data::gaussian, n, 2, 1, true);
  std::vector<ImportedTensors> results{
      {.kept = {.lists = {.where = "", .entries = make_head_tensor(std::move(lists))}}}};
  problem.imported =
      std::make_shared<const ImportedResults>(ImportedResults{std::move(results), 0});
  const Backend& backend = *backends().front();
  const Variant& variant = find_variant("imported");
  Profile profile;
  Run run{profile};
  begin_peak();
  const Computation computation =
      prepare(problem, {.variant = &variant, .values = values_of(variant, {})}, backend, run);
  const Panel panel = whole_selection(computation, backend, pixels, run);
  CHECK(peak_bytes() < std::size_t{32} << 20);  // a bit for each pair would be 128 MiB
  const auto& raster = std::get<Raster>(panel.body);
  REQUIRE(raster.values.rows() == pixels);
  double shown = 0;
  for (Index r = 0; r < pixels; ++r)
    for (Index c = 0; c <= r; ++c)
      shown += static_cast<double>(raster.values(r, c)) *
               static_cast<double>(c < r ? each * each : each * (each + 1) / 2);
  CHECK(shown == doctest::Approx(2 * n - 1).epsilon(1e-6));  // query 0 lists key 0 twice
}
