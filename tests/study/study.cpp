// A Study without a display: results, timings, errors of long work, another back end.
#include "study/study.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <set>

#include "io/safetensors_writer.h"
#include "plan/leaves.h"
#include "study/background.h"
#include "study/opened.h"
#include "temporary_directory.h"
#include "views/views.h"

namespace fovea::test {
namespace {

bool shows_error(const Study& study, std::size_t row, std::size_t column) {
  return study.model() && study.model()->cells.size() > row &&
         study.model()->cells[row][column].status.starts_with("error: no memory for rows");
}

/// Its operators fail where whole rows of a long head are computed, as long as `fails`; `tried`
/// counts. With `in_bands_of` only while that study computes bands of a map.
class FailingRows : public CpuLike {
 public:
  struct State {
    std::atomic<bool> fails = true;
    std::atomic<int> tried = 0;
    std::atomic<const Study*> in_bands_of = nullptr;
  };
  explicit FailingRows(bool has_rows) : has_rows_(has_rows) {}
  std::unique_ptr<Operator> bind(std::shared_ptr<const Plan> plan, const Problem& problem,
                                 Run& run) const override {
    return std::make_unique<Failing>(CpuLike::bind(std::move(plan), problem, run), state,
                                     has_rows_);
  }
  std::shared_ptr<State> state = std::make_shared<State>();

 private:
  class Failing : public Operator {
   public:
    Failing(std::unique_ptr<Operator> working, std::shared_ptr<State> state, bool has_rows)
        : Operator(working->shared_plan(), working->problem()),
          working_(std::move(working)),
          state_(std::move(state)),
          has_rows_(has_rows) {}

   private:
    void try_rows() const {
      const Study* study = state_->in_bands_of;
      if (study && !study->status().runs(RequestKind::bands)) return;
      ++state_->tried;
      if (state_->fails) throw UnavailableError("no memory for rows");
    }
    Output do_apply(MatrixView v, Run& run) const override { return working_->apply(v, run); }
    bool do_has_rows() const override { return has_rows_; }
    RowsOutput do_apply_rows(MatrixView v, IndexRange rows, Index pixel, Run& run) const override {
      try_rows();
      return working_->apply_rows(v, rows, pixel, run);
    }
    Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const override {
      if (!has_rows_ && rows.size() > 1) try_rows();  // an estimate takes single rows
      return working_->tile(rows, cols, pool, run);
    }
    std::unique_ptr<Operator> working_;
    std::shared_ptr<State> state_;
    bool has_rows_;
  };

  bool has_rows_;
};

/// Exact attention, which alone has rows, cannot be looked at.
class BlindExact : public CpuLike {
 public:
  std::unique_ptr<Operator> bind(std::shared_ptr<const Plan> plan, const Problem& problem,
                                 Run& run) const override {
    auto op = CpuLike::bind(std::move(plan), problem, run);
    if (!op->has_rows()) return op;
    return std::make_unique<Wrapped>(
        std::move(op), [] {}, [] { throw UnavailableError("no memory for tiles"); });
  }
};

/// Its operators take 10 ms.
class SlowApply : public CpuLike {
 public:
  std::unique_ptr<Operator> bind(std::shared_ptr<const Plan> plan, const Problem& problem,
                                 Run& run) const override {
    return std::make_unique<Wrapped>(
        CpuLike::bind(std::move(plan), problem, run),
        [] { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }, [] {});
  }
};

/// Records the niceness of the thread that computes.
class NiceBackend : public CpuLike {
 public:
  std::unique_ptr<Operator> bind(std::shared_ptr<const Plan> plan, const Problem& problem,
                                 Run& run) const override {
    *nice = getpriority(PRIO_PROCESS, 0);
    return CpuLike::bind(std::move(plan), problem, run);
  }
  std::shared_ptr<std::atomic<int>> nice = std::make_shared<std::atomic<int>>(-100);
};

}  // namespace

TEST_CASE("while a parameter changes, results that arrive late are shown") {
  Study study(std::make_unique<SlowBinding>());
  open(study, small, {"exact", "hyper"}, {find_view("heatmap")});
  REQUIRE(wait_until([&] { return study.settled(); }));
  std::set<std::uint64_t> shown;
  std::uint64_t seed = 0;
  CHECK(wait_until([&] {  // faster than results can follow
    set_seed(study, 1, ++seed);
    run_events(25);
    shown.insert(study.columns()[1].key.column.seed);
    return shown.size() >= 4;
  }));
  CHECK(wait_until([&] { return study.settled(); }));
  CHECK(study.columns()[1].key.column.seed == seed);
}

TEST_CASE("a source is opened, computed, compared and timed without a display") {
  Study study(make_low_priority_backend({.backend = "cpu"}));
  open(study, small, {"exact", "h1d"},
       {find_view("heatmap"), find_view("error"), find_view("row")});
  REQUIRE(wait_until([&] { return study.settled(); }));
  for (const auto& row : study.model()->cells)
    for (const CanvasCell& cell : row) {
      CHECK(cell.panel);
      CHECK(cell.status == "");
    }
  CHECK(wait_until([&] { return study.columns()[1].metrics && study.columns()[1].time; }));
  CHECK(study.columns()[1].metrics->output_rel_fro > 0);
}

TEST_CASE("columns are timed in turn, a few runs each") {
  Study study(std::make_unique<SlowApply>());
  open(study, small, {"exact", "h1d"}, {find_view("heatmap")});
  REQUIRE(wait_until([&] { return study.columns().size() == 2 && study.columns()[1].time; }));
  REQUIRE(study.columns()[0].time);
  // A turn has about 40 ms of runs of 10 ms; each column gets 64 runs in all.
  CHECK(study.columns()[0].time->timing.total.samples < 32);
}

TEST_CASE("all columns are timed in the same rounds, which start again for a new column") {
  Study study(std::make_unique<SlowApply>());
  open(study, small, {"exact", "h1d", "fixed"}, {find_view("heatmap")});
  const auto timed = [&](std::size_t count) {
    return study.columns().size() == count &&
           std::ranges::all_of(study.columns(), [](const auto& c) {
             return c.time && !c.stale && c.time->timing.total.samples >= enough_samples;
           });
  };
  const auto check_rounds = [&] {
    const MeasuredTime& exact = *study.columns()[0].time;
    for (std::size_t c = 1; c < study.columns().size(); ++c) {
      const MeasuredTime& time = *study.columns()[c].time;
      CHECK(time.timing.total.samples == exact.timing.total.samples);
      REQUIRE(time.total_speed_up);
      CHECK(time.total_speed_up->samples == exact.timing.total.samples);
      CHECK(time.exact_total->median_ms == exact.timing.total.median_ms);
    }
  };
  REQUIRE(wait_until([&] { return timed(3); }));
  check_rounds();
  Session session = study.session();
  session.columns.push_back(
      {.variant = "hyper", .values = values_for_length(find_variant("hyper"), study.length())});
  study.set_session(session);
  REQUIRE(wait_until([&] { return timed(4); }));
  check_rounds();
  // Rounds go on if columns are only removed.
  const int before = study.columns()[0].time->timing.total.samples;
  CHECK(before < 40);  // else there are none to come
  session = study.session();
  session.columns.pop_back();
  study.set_session(session);
  REQUIRE(wait_until(
      [&] { return timed(3) && study.columns()[0].time->timing.total.samples > before; }));
  check_rounds();
}

TEST_CASE("exact attention is timed beside the other columns of its own head, not of another") {
  Study study(std::make_unique<SlowApply>());
  open(study, "synthetic:clusters?n=128&d=16&heads=2&seed=1", {"exact", "h1d", "exact", "fixed"},
       {find_view("heatmap")});
  Session session = study.session();
  for (const std::size_t column : {2, 3})
    session.columns[column].held = HeldHead{.source = {}, .layer = 0, .head = 1};
  study.set_session(session);
  REQUIRE(wait_until([&] {
    return study.columns().size() == 4 && std::ranges::all_of(study.columns(), [](const auto& c) {
             return c.time && c.time->timing.total.samples >= enough_samples && !c.time->slow;
           });
  }));
  for (const std::size_t exact : {0, 2}) {
    CAPTURE(exact);
    REQUIRE(study.columns()[exact + 1].time->total_speed_up);
    CHECK(study.columns()[exact].time->timing.total.samples ==
          study.columns()[exact + 1].time->total_speed_up->samples);
  }
}

TEST_CASE("while another head is computed nothing of the last one is shown as its own") {
  Study study(std::make_unique<SlowBinding>());
  open(study, "synthetic:clusters?n=64&d=8&heads=2&seed=1", {"exact", "h1d"},
       {find_view("heatmap")});
  REQUIRE(wait_until([&] { return study.settled(); }));
  int updates = 0, wrong = 0;
  QObject::connect(&study, &Study::columns_changed, &study, [&] {
    if (!study.problem()) return;  // the head is being read
    ++updates;
    for (const ColumnState& state : study.columns())
      wrong += state.computation && state.computation->op->problem().head != 1;
  });
  Session session = study.session();
  session.head = 1;
  study.set_session(session);
  REQUIRE(wait_until([&] { return updates > 0 && study.settled(); }));
  CHECK(wrong == 0);
}

TEST_CASE("after a cancellation the next change is computed, and so is the next source") {
  Study study(make_low_priority_backend({.backend = "cpu", .threads = 1}));
  open(study, small, {"exact", "hyper"}, {find_view("heatmap")});
  REQUIRE(wait_until([&] { return study.settled(); }));
  study.cancel();
  REQUIRE(study.paused());
  set_seed(study, 1, 3);
  CHECK_FALSE(study.paused());
  CHECK(wait_until([&] { return study.settled() && study.columns()[1].key.column.seed == 3; }));
  study.cancel();
  study.open("synthetic:clusters?n=64&d=8&seed=1");
  CHECK(wait_until([&] { return study.length() == 64 && study.settled(); }));
}

TEST_CASE("of two sources that are opened the later one is shown") {
  Study study(make_low_priority_backend({.backend = "cpu", .threads = 1}));
  study.open("synthetic:clusters?n=64&d=8&seed=1");
  while (study.status().busy() || study.status().waiting > 0)  // read, but not delivered yet
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  study.open("synthetic:clusters?n=96&d=8&seed=1");
  REQUIRE(wait_until([&] { return !study.opening(); }));
  CHECK(study.length() == 96);
}

TEST_CASE("marked leaves follow their column and end with it") {
  Study study(make_low_priority_backend({.backend = "cpu"}));
  open(study, small, {"exact", "hyper"}, {find_view("heatmap")});
  REQUIRE(wait_until([&] { return study.settled(); }));
  REQUIRE(study.marks().leaf_count(1) > 1);
  study.choose_leaves(1, {0, study.marks().leaf_count(1) / 2});
  CHECK_FALSE(study.marks().queries().empty());
  const auto marked = study.marks().queries();
  set_seed(study, 1, 5);  // other hyperplanes, other buckets
  REQUIRE(wait_until([&] { return study.settled(); }));
  CHECK(study.marks().queries() != marked);
  Session session = study.session();
  std::swap(session.columns[0], session.columns[1]);
  study.set_session(session);
  REQUIRE(study.marks().chosen());
  CHECK(study.marks().chosen()->column == 0);
  session.columns.erase(session.columns.begin());
  study.set_session(session);
  CHECK_FALSE(study.marks().chosen());
}

TEST_CASE("the chosen rank block is read in the model that has its column there") {
  Study study(make_low_priority_backend({.backend = "cpu", .threads = 1}));
  open(study, small, {"exact", "h1d"}, {find_view("heatmap")});
  REQUIRE(wait_until([&] { return study.settled(); }));
  study.choose_block(PointedPair{17, 5, 1});
  const std::string title = study.model()->column_titles[1];
  const auto check = [&] {
    if (const auto& block = study.chosen_block())
      CHECK(study.model()->column_titles[std::size_t(block->column)] == title);
  };
  QObject::connect(&study, &Study::block_chosen, &study, check);
  QObject::connect(&study, &Study::model_changed, &study, check);
  Session session = study.session();
  std::swap(session.columns[0], session.columns[1]);
  study.set_session(session);
  REQUIRE(wait_until([&] { return study.settled(); }));
  REQUIRE(study.chosen_block());
  CHECK(study.chosen_block()->column == 0);
  session.columns.erase(session.columns.begin());
  study.set_session(session);
  CHECK_FALSE(study.chosen_block());
}

TEST_CASE("a layer of other tokens has no chosen rank block") {
  const TemporaryDirectory folder;
  const std::string path = folder / "layers.safetensors";
  const auto matrix = [](std::size_t n) { return std::vector<float>(n * n, 1 / float(n)); };
  write_safetensors(path,
                    {{"layer0.attention", {1, 64, 64}, matrix(64)},
                     {"layer1.attention", {1, 32, 32}, matrix(32)}},
                    {});
  Study study(make_low_priority_backend({.backend = "cpu", .threads = 1}));
  study.open(path);
  REQUIRE(wait_until([&] { return study.settled() && study.length() == 64; }));
  study.choose_block(PointedPair{60, 60, 0});
  Session session = study.session();
  session.layer = 1;
  study.set_session(session);
  REQUIRE(study.length() == 32);
  CHECK_FALSE(study.chosen_block());
}

TEST_CASE(
    "a failure of long work ends in its cell, is not retried, and is tried again on request") {
  enum Failing { exact_rows, pictures, bands };
  for (const Failing failing : {exact_rows, pictures, bands}) {
    CAPTURE(failing);
    auto backend = std::make_unique<FailingRows>(failing == exact_rows);
    const auto state = backend->state;
    Study study(std::move(backend));
    if (failing == bands) state->in_bands_of = &study;
    open(study, "synthetic:clusters?n=9000&d=8&seed=1", {"exact"}, {find_view("heatmap")});
    REQUIRE(wait_until([&] { return shows_error(study, 0, 0); }));
    run_events(300);
    const int tried = state->tried;
    run_events(700);  // more than two rounds of the timers that look for work
    CHECK(state->tried == tried);
    CHECK(shows_error(study, 0, 0));
    CHECK_FALSE(study.refining());
    CHECK(study.panels_ready());
    state->fails = false;
    study.resume();
    CHECK(wait_until([&] { return study.fully_refined() && !study.refining(); }));
    CHECK(study.model()->cells[0][0].status == "");
  }
}

TEST_CASE("where the map of exact attention fails, other columns do not wait for it") {
  Study study(std::make_unique<BlindExact>());
  open(study, "synthetic:clusters?n=9000&d=8&seed=1", {"exact", "h1d"}, {find_view("heatmap")});
  CHECK(wait_until([&] { return study.settled() && study.model()->cells[0][1].panel; }));
  CHECK(study.model()->cells[0][0].status == "error: no memory for tiles");
}

TEST_CASE("the caption of a map tells the error of its column, whenever that is found") {
  Study study(make_low_priority_backend({.backend = "cpu"}));
  open(study, "synthetic:clusters?n=9000&d=8&seed=1", {"h1d"}, {find_view("error")});
  // A small part is drawn long before exact attention is there to compare with.
  Session session = study.session();
  session.viewport = {0, 256, 0, 256};
  study.set_session(session);
  REQUIRE(wait_until([&] { return study.columns()[0].metrics != nullptr; }));
  CHECK(wait_until(
      [&] {
        return study.model()->cells[0][0].panel->caption.find("relative") != std::string::npos;
      },
      10000));
}

TEST_CASE("an attention matrix is read once, wherever one looks") {
  const TemporaryDirectory folder;
  const std::string path = folder / "matrix.safetensors";
  write_safetensors(path, {{"attention", {1, 64, 64}, std::vector<float>(64 * 64, 0.25f)}}, {});
  Study study(make_low_priority_backend({.backend = "cpu", .threads = 1}));
  study.open(path);
  REQUIRE(wait_until([&] { return study.settled() && study.shows_matrix(); }));
  std::filesystem::resize_file(path, 0);
  Session session = study.session();
  session.viewport = {0, 16, 0, 16};
  study.set_session(session);
  REQUIRE(wait_until([&] { return study.settled(); }));
  CHECK(study.model()->cells[0][0].status == "");
}

TEST_CASE("empty leaves count as leaves") {
  Study study(make_low_priority_backend({.backend = "cpu", .threads = 1}));
  open(study, "synthetic:clusters?n=24&d=16&seed=1", {"hyper"}, {find_view("heatmap")});
  REQUIRE(wait_until([&] { return study.settled(); }));
  const auto leaves = leaves_of(study.columns()[0].computation->op->plan());
  REQUIRE(leaves);
  const auto last = std::max(std::ranges::max(leaves->queries), std::ranges::max(leaves->keys));
  REQUIRE(last + 1 < leaves->count);  // else this shows nothing
  CHECK(study.marks().leaf_count(0) == leaves->count);
}

TEST_CASE("the engine computes at the reported niceness, on the first back end and on the next") {
  auto backend = std::make_unique<NiceBackend>();
  const auto nice = backend->nice;
  Study study(std::move(backend));
  open(study, small, {"exact"}, {find_view("heatmap")});
  REQUIRE(wait_until([&] { return study.settled(); }));
  CHECK(*nice == niceness);
  auto next = std::make_unique<NiceBackend>();
  const auto next_nice = next->nice;
  study.use_backend(std::move(next));
  REQUIRE(wait_until([&] { return study.settled(); }));
  CHECK(*next_nice == niceness);
}

TEST_CASE("a back end is made in the background, one that is not there is reported") {
  Study study(make_low_priority_backend({.backend = "cpu", .threads = 1}));
  open(study, small, {"exact"}, {find_view("heatmap")});
  REQUIRE(wait_until([&] { return study.settled(); }));
  QString message;
  QObject::connect(&study, &Study::reported, &study, [&](const QString& text) { message = text; });
  study.use_backend(BackendChoice{.backend = "cpu", .precision = "fp8"});
  const Backend* before = &study.backend();
  CHECK(wait_until([&] { return !message.isEmpty(); }));
  CHECK(&study.backend() == before);
  CHECK(wait_until([&] { return study.settled(); }));
  study.use_backend(BackendChoice{.backend = "cpu"});
  CHECK(wait_until([&] { return &study.backend() != before; }));
  CHECK(wait_until([&] { return study.settled(); }));
}

TEST_CASE("law: up to 1024 tokens in sight are drawn one by one, however small panels are") {
  Study study(std::make_unique<CpuLike>());
  open(study, "synthetic:gaussian?n=1100&d=4", {"exact"}, {find_view("heatmap")});
  study.set_panel_pixels(128);
  for (const Index seen : {200, 1024, 1025}) {
    CAPTURE(seen);
    Session session = study.session();
    session.viewport = {0, double(seen), 0, double(seen)};
    study.set_session(session);
    REQUIRE(wait_until([&] { return study.settled(); }));
    const auto& raster = std::get<Raster>(study.model()->cells[0][0].panel->body);
    CHECK(raster.rows == IndexRange{0, seen});
    CHECK(raster.values.rows() == (seen <= 1024 ? seen : 128));
  }
}

}  // namespace fovea::test
