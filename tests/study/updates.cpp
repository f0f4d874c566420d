// What an update of a Study requests, ends and reports when the head or the source changes.
#include <doctest/doctest.h>

#include <QTemporaryDir>
#include <atomic>
#include <chrono>
#include <thread>

#include "io/safetensors_writer.h"
#include "study/event_loop.h"
#include "study/session_editor.h"
#include "views/views.h"
#include "window/backend.h"

namespace fovea::test {
namespace {

OutTensor tensor(const std::string& name, std::vector<Index> shape) {
  Index size = 1;
  for (const Index extent : shape) size *= extent;
  std::vector<float> values(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7) / 7;
  return {name, std::move(shape), std::move(values)};
}

std::string file_of(const QTemporaryDir& folder, const std::vector<OutTensor>& tensors) {
  const std::string path = folder.filePath("heads.safetensors").toStdString();
  write_safetensors(path, tensors, {});
  return path;
}

/// Opens `what` and shows exact attention alone.
void open_exact(Study& study, const std::string& what) {
  study.open(what);
  REQUIRE(wait_until([&] { return !study.opening(); }));
  Session session = study.session();
  session.columns = {{.variant = reference_variant().id, .values = {}, .seed = 0}};
  session.views = {find_view("heatmap")};
  study.set_session(session);
}

/// Counts what is bound, and while `blocks` does not end unless it is stopped.
class Blocking : public CpuLike {
 public:
  struct State {
    std::atomic<bool> blocks = false, stopped = false;
    std::atomic<int> bound = 0;
  };
  std::unique_ptr<Operator> bind(std::shared_ptr<const Plan> plan, const Problem& problem,
                                 Run& run) const override {
    ++state->bound;
    while (state->blocks) {
      if (run.stop.stop_requested()) {
        state->blocks = false;
        state->stopped = true;
        throw Cancelled();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return CpuLike::bind(std::move(plan), problem, run);
  }
  std::shared_ptr<State> state = std::make_shared<State>();
};

}  // namespace

TEST_CASE("what another head needs is asked for before the window can paint") {
  const QTemporaryDir folder;
  Study study(std::make_unique<CpuLike>());
  open_exact(study, file_of(folder, {tensor("q", {2, 64, 8}), tensor("k", {2, 64, 8}),
                                     tensor("v", {2, 64, 8})}));
  REQUIRE(wait_until([&] { return study.settled() && !study.status().busy(); }));
  std::vector<bool> asked;  // when the head had been read: for its exact attention
  QObject::connect(&study.requests(), &Requests::arrived, &study, [&] {
    if (asked.empty()) asked.push_back(study.requests().any_pending({RequestKind::exact}));
  });
  Session session = study.session();
  session.head = 1;
  const auto before = study.model();
  const auto start = std::chrono::steady_clock::now();
  study.set_session(session);
  CHECK(study.requests().any_pending({RequestKind::problem}));
  // The pictures before stay for .1 s, rather than be dimmed and drawn again.
  const bool stays = study.model() == before;
  CHECK((stays || std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(100)));
  REQUIRE(wait_until([&] { return !asked.empty(); }));
  CHECK(asked.front());
  CHECK(wait_until([&] { return study.exact() && study.exact()->key.head.choice.head == 1; }));
}

TEST_CASE("another head ends what is computed for the last one") {
  const QTemporaryDir folder;
  auto backend = std::make_unique<Blocking>();
  const auto state = backend->state;
  state->blocks = true;
  Study study(std::move(backend));
  open_exact(study, file_of(folder, {tensor("q", {2, 64, 8}), tensor("k", {2, 64, 8}),
                                     tensor("v", {2, 64, 8})}));
  REQUIRE(wait_until([&] { return state->bound > 0; }));
  Session session = study.session();
  session.head = 1;
  study.set_session(session);
  CHECK(wait_until([&] { return state->stopped.load(); }));
  state->blocks = false;
  CHECK(wait_until([&] { return study.settled(); }));
}

TEST_CASE("a long head that is left for an attention matrix is no longer computed") {
  const QTemporaryDir folder;
  Study study(make_low_priority_backend({.backend = "cpu", .threads = 1}));
  open_exact(study, file_of(folder,
                            {tensor("layer0.q", {1, 40000, 16}), tensor("layer0.k", {1, 40000, 16}),
                             tensor("layer0.v", {1, 40000, 16}),
                             tensor("layer1.attention", {1, 64, 64})}));
  REQUIRE(wait_until([&] { return study.status().runs(RequestKind::exact_rows); }));
  CHECK(study.refining());
  Session session = study.session();
  session.layer = 1;
  session.viewport = {0, 64, 0, 64};
  study.set_session(session);
  REQUIRE(wait_until([&] { return study.settled(); }));
  CHECK(study.shows_matrix());
  CHECK_FALSE(study.problem());
  CHECK_FALSE(study.refining());
  CHECK_FALSE(study.can_cancel());
}

TEST_CASE("the seed of exact attention changes nothing") {
  auto backend = std::make_unique<Blocking>();
  const auto state = backend->state;
  Study study(std::move(backend));
  open_exact(study, "synthetic:clusters?n=128&d=16&seed=1");
  REQUIRE(wait_until([&] { return study.settled() && study.columns()[0].computation; }));
  const auto before = study.columns()[0].computation;
  Session session = study.session();
  session.columns[0].seed = 7;
  study.set_session(session);
  run_events(50);
  REQUIRE(wait_until([&] { return study.settled(); }));
  CHECK(study.columns()[0].computation == before);
  CHECK(study.columns()[0].column.seed == 7);
}

TEST_CASE("undo and the mask are reported again when a source is open and its head is read") {
  Study study(make_low_priority_backend({.backend = "cpu", .threads = 1}));
  SessionEditor editor(study);
  bool can_undo = true, reads_head = false;
  // As the window does, which starts its undo where it learns of the source.
  QObject::connect(&study, &Study::session_changed, &study, [&] {
    can_undo = editor.can_undo();
    reads_head = study.problem() == nullptr;
  });
  QObject::connect(&study, &Study::opened, &study, [&] { editor.start(); });
  open_exact(study, "synthetic:clusters?n=64&d=8&seed=1");
  REQUIRE(wait_until([&] { return study.settled(); }));
  CHECK_FALSE(reads_head);
  CHECK_FALSE(can_undo);
  study.open("synthetic:clusters?n=96&d=8&seed=1");
  REQUIRE(wait_until([&] { return study.length() == 96; }));
  CHECK(can_undo);
  REQUIRE(wait_until([&] { return study.settled(); }));
  CHECK_FALSE(reads_head);
}

}  // namespace fovea::test
