// Settings tried beside the work of a Study: of which heads, when that is out of date, when it
// ends.
#include "study/exploration_run.h"

#include <doctest/doctest.h>
#include <malloc.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "data/kept_blocks.h"
#include "io/safetensors_writer.h"
#include "study/background.h"
#include "study/opened.h"
#include "temporary_directory.h"
#include "views/views.h"

namespace fovea::test {
namespace {

/// A study of two heads, and a run over some of them.
struct Explored {
  Study study{make_low_priority_backend({.backend = "cpu", .threads = 1})};
  ExplorationRun run{study};

  Explored() {
    open(study, "synthetic:clusters?n=96&d=8&heads=2&seed=1", {"exact", "h1d"},
         {find_view("heatmap")});
    REQUIRE(wait_until([&] { return study.settled(); }));
  }
  bool finish() {
    return wait_until([&] { return !run.running(); });
  }
};

}  // namespace

TEST_CASE("settings are tried on the head, or on all heads, each compared with exact") {
  Explored e;
  e.run.start(HeadScope::head, {.most_settings = 2}, "here");
  REQUIRE(e.run.running());
  REQUIRE(e.finish());
  CHECK(e.run.complete());
  CHECK(e.run.provenance() == "here");
  const std::size_t of_one = e.run.trials()->size();
  CHECK(of_one > variants_of(Group::papers).size());
  CHECK(std::ranges::all_of(*e.run.trials(), [](const Trial& t) { return t.head == 0; }));
  e.run.start(HeadScope::source, {.most_settings = 2}, "");
  REQUIRE(e.finish());
  CHECK(e.run.heads().size() == 2);
  CHECK(e.run.trials()->size() == 2 * of_one);
  // The error of a column on the canvas is that of the same setting here.
  const ColumnState& shown = e.study.columns()[1];
  REQUIRE(wait_until([&] { return e.study.columns()[1].metrics != nullptr; }));
  const Quantity error("output_rel_fro", "");
  const auto same = std::ranges::find_if(*e.run.trials(), [&](const Trial& t) {
    return t.head == 0 && t.variant->id == "h1d" && t.values == shown.column.values;
  });
  REQUIRE(same != e.run.trials()->end());
  CHECK(error.of(*same) == doctest::Approx(shown.metrics->output_rel_fro).epsilon(1e-6));
}

TEST_CASE("what trials were compared with is freed when another source is opened") {
  Study study{make_low_priority_backend({.backend = "cpu", .threads = 1})};
  ExplorationRun run{study};
  const auto allocated_after = [&](bool try_settings) {
    open(study, "synthetic:clusters?n=4096&d=64&heads=1&seed=1", {"exact"}, {find_view("heatmap")});
    REQUIRE(wait_until([&] { return study.settled(); }));
    if (try_settings) {
      run.start(HeadScope::head, {.most_settings = 40}, "");
      REQUIRE(wait_until([&] { return run.trials()->size() > 1; }));
      REQUIRE_FALSE(run.complete());
    }
    open(study, "synthetic:golden", {"exact"}, {find_view("heatmap")});
    REQUIRE(wait_until([&] { return study.settled() && study.status().waiting == 0; }));
    CHECK_FALSE(run.running());
    CHECK_FALSE(run.can_resume());
    CHECK(run.trials()->empty());
    // Other threads free what is discarded.
    double least = std::numeric_limits<double>::infinity();
    wait_until(
        [&] {
          free_kept_blocks();
          const struct mallinfo2 heap = mallinfo2();
          least = std::min(least, double(heap.uordblks + heap.hblkhd + mapped_matrix_bytes()));
          return false;
        },
        1000);
    return least;
  };
  allocated_after(false);
  const double before = allocated_after(false);
  // Q, K and V, which the source keeps (trials name it), are 3 MiB; exact attention is 2 MiB more.
  CHECK(allocated_after(true) - before < 4.5 * 1024 * 1024);
}

TEST_CASE("trials have the mask and scale of the session, and are stale with another one") {
  Explored e;
  Session session = e.study.session();
  session.conditions.causal = true;
  session.conditions.scale = 0.125;
  e.study.set_session(session);
  e.run.start(HeadScope::head, {.most_settings = 1}, "");
  REQUIRE(e.finish());
  REQUIRE(e.run.complete());
  for (const Trial& trial : *e.run.trials()) {
    if (!trial.refused.empty()) continue;
    CHECK(trial.causal);
    CHECK(trial.scale == 0.125);
  }
  CHECK_FALSE(e.run.stale());
  session.columns.pop_back();  // which was tried does not depend on the columns
  e.study.set_session(session);
  CHECK_FALSE(e.run.stale());
  session.conditions.scale = 0.25;
  e.study.set_session(session);
  CHECK(e.run.stale());
  session.conditions.scale = 0.125;
  session.head = 1;
  e.study.set_session(session);
  CHECK(e.run.stale());
  e.run.start(HeadScope::source, {.most_settings = 1}, "");
  REQUIRE(e.finish());
  session.head = 0;
  e.study.set_session(session);
  CHECK_FALSE(e.run.stale());  // all heads were asked for
}

TEST_CASE("law: trials are stale where a head or layer is chosen that was not asked for") {
  const TemporaryDirectory folder;
  std::vector<OutTensor> tensors;
  for (const char* name : {"layer0.q", "layer0.k", "layer0.v", "layer1.q", "layer1.k", "layer1.v"})
    tensors.push_back({name, {2, 8, 2}, std::vector<float>(32, 0.5f)});
  const std::string path = folder / "heads.safetensors";
  write_safetensors(path, tensors, {});
  Study study(std::make_unique<CpuLike>());
  ExplorationRun run(study);
  open(study, path, {"exact", "h1d"}, {find_view("heatmap")});
  const Session opened = study.session();
  const std::tuple<HeadScope, bool, bool> rows[] = {{HeadScope::head, true, true},
                                                    {HeadScope::layer, false, true},
                                                    {HeadScope::source, false, false}};
  for (const auto& [of, by_head, by_layer] : rows) {
    const HeadScope scope = of;
    CAPTURE(static_cast<int>(scope));
    study.set_session(opened);
    run.start(scope, {.most_settings = 1}, "");
    CHECK_FALSE(run.stale());
    Session session = opened;
    session.head = 1;
    study.set_session(session);
    CHECK(run.stale() == by_head);
    session.head = 0;
    session.layer = 1;
    study.set_session(session);
    CHECK(run.stale() == by_layer);
  }
}

TEST_CASE("what was tried stays when it is stopped, and ends with its source") {
  Explored e;
  e.run.start(HeadScope::source, {}, "");
  REQUIRE(wait_until([&] { return !e.run.trials()->empty(); }));
  e.run.stop();
  CHECK_FALSE(e.run.running());
  CHECK_FALSE(e.run.complete());
  CHECK_FALSE(e.run.trials()->empty());
  e.run.start(HeadScope::source, {}, "");
  REQUIRE(e.run.running());
  e.study.open("synthetic:hmatrix?n=16");
  REQUIRE(wait_until([&] { return e.study.settled() && e.study.shows_matrix(); }));
  CHECK_FALSE(e.run.running());
  CHECK_FALSE(e.run.source());
  CHECK(e.run.trials()->empty());
  e.run.start(HeadScope::source, {}, "of a matrix");  // there is nothing to try
  CHECK_FALSE(e.run.running());
  CHECK(e.run.trials()->empty());
}

TEST_CASE("what was stopped goes on where it was") {
  Explored e;
  e.run.start(HeadScope::source, {.most_settings = 40}, "");
  REQUIRE(wait_until([&] { return !e.run.trials()->empty(); }));
  e.run.stop();
  REQUIRE(e.run.can_resume());
  const std::vector<Trial> before = *e.run.trials();
  e.run.resume();
  REQUIRE(e.finish());
  CHECK(e.run.complete());
  CHECK_FALSE(e.run.can_resume());
  REQUIRE(e.run.trials()->size() > before.size());
  for (std::size_t t = 0; t < before.size(); ++t)
    CHECK((*e.run.trials())[t].values == before[t].values);
}

TEST_CASE("another back end ends what is measured on the last one") {
  Explored e;
  e.run.start(HeadScope::source, {}, "");
  REQUIRE(wait_until([&] { return !e.run.trials()->empty(); }));
  e.study.use_backend(make_low_priority_backend({.backend = "cpu", .threads = 1}));
  CHECK(wait_until([&] { return !e.run.running(); }));
  CHECK(e.run.stale());
  CHECK_FALSE(e.run.can_resume());
  REQUIRE(wait_until([&] { return e.study.settled(); }));
  e.run.start(HeadScope::head, {.most_settings = 1}, "");
  REQUIRE(e.finish());
  CHECK(e.run.complete());
}

}  // namespace fovea::test
