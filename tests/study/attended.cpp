// What a person looks at comes first: the selected column with its error, then panels in sight, and
// trees that are to be learned last.
#include <doctest/doctest.h>

#include <algorithm>
#include <future>
#include <string>
#include <vector>

#include "study/learning_run.h"
#include "study/opened.h"
#include "study/request_fixture.h"
#include "study/session_editor.h"
#include "variants/learned_tree.h"
#include "views/views.h"

namespace fovea::test {
namespace {

/// Requests that wait until all of them are there, and the order in which they then run.
struct Queue : Fixture {
  Queue() {
    requests.start_pieces(
        {RequestKind::open}, 0,
        [wait = released.get_future().share()](const Backend&, Run&) {
          wait.wait();
          return false;
        },
        [](const std::string&) {});
    REQUIRE(wait_until([&] { return requests.status().runs(RequestKind::open); }));
  }
  void add(const RequestId& id) {
    requests.start_pieces(
        id, 0,
        [this, id](const Backend&, Run&) {
          order.push_back(id);
          return false;
        },
        [this](const std::string&) { ++done; });
  }
  std::vector<RequestId> run(std::size_t count) {
    released.set_value();
    REQUIRE(wait_until([&] { return done == count; }));
    return order;
  }

  std::promise<void> released;
  std::vector<RequestId> order;  // of the engine's thread
  std::size_t done = 0;
};

}  // namespace

TEST_CASE("the selected column and its error come before others, also if it is selected late") {
  for (const bool late : {false, true}) {
    CAPTURE(late);
    Queue queue;
    if (!late) queue.requests.attend({.selected_column = 2});
    const auto id = [](RequestKind kind, int column) { return RequestId{kind, 0, column}; };
    using enum RequestKind;
    for (const int c : {1, 2, 3})
      for (const RequestKind kind : {column, metrics, slow_panel}) queue.add(id(kind, c));
    queue.add(id(panel, 1));
    queue.add({exact});
    queue.add({timing});
    if (late) queue.requests.attend({.selected_column = 2});
    const std::vector<RequestId> expected{id(metrics, 2),    id(panel, 1),      {exact},
                                          id(column, 2),     id(column, 3),     id(column, 1),
                                          id(metrics, 3),    id(metrics, 1),    id(slow_panel, 3),
                                          id(slow_panel, 2), id(slow_panel, 1), {timing}};
    CHECK((queue.run(expected.size()) == expected));
  }
}

TEST_CASE("panels in sight come before those that are not, which wait for what is looked at") {
  Queue queue;
  queue.requests.attend({.selected_column = 1, .rows = {0, 2}, .columns = {1, 3}});
  using enum RequestKind;
  for (const int row : {0, 2})
    for (const int column : {0, 1}) queue.add({panel, row, column});
  queue.add({RequestKind::column, 0, 5});
  const std::vector<RequestId> expected{
      {panel, 0, 1}, {RequestKind::column, 0, 5}, {panel, 2, 1}, {panel, 2, 0}, {panel, 0, 0}};
  CHECK((queue.run(expected.size()) == expected));
}

TEST_CASE(
    "the error of the selected column is known before any other, and before ranks and times") {
  Study study(std::make_unique<CpuLike>());
  open(study, "synthetic:clusters?n=512&d=16&seed=1", {"exact", "window", "fixed", "strided"},
       {find_view("heatmap"), find_view("error"), find_view("rank")});
  study.select_column(2);
  bool seen = false, others = false, times = false, ranks = false;
  const auto has_metrics = [](const ColumnState& c) { return c.metrics != nullptr; };
  QObject::connect(&study, &Study::columns_changed, &study, [&] {
    const auto& columns = study.columns();
    if (seen || columns.size() != 4 || std::ranges::none_of(columns, has_metrics)) return;
    seen = has_metrics(columns[2]);
    others = has_metrics(columns[1]) || has_metrics(columns[3]);
    times = std::ranges::any_of(columns, [](const ColumnState& c) { return c.time != nullptr; });
    for (const CanvasCell& cell : study.model()->cells[2]) ranks |= cell.panel != nullptr;
  });
  REQUIRE(wait_until([&] { return study.settled(); }));
  CHECK(seen);
  CHECK_FALSE(others);
  CHECK_FALSE(times);
  CHECK_FALSE(ranks);
}

namespace {

const std::string two_heads = "synthetic:clusters?n=128&d=16&heads=2&seed=1";

/// Gives column 1 a tree that is learned in a number of steps.
Column with_learned_tree(const Study& study, Index steps) {
  Column column = study.session().columns[1];
  set_learned(find_variant(column.variant), column.values, steps);
  return column;
}

bool has_requested_learning(const Study& study) {
  return std::ranges::any_of(study.columns(), [](const ColumnState& column) {
    return column.request.is_of(RequestKind::learned);
  });
}

/// A session that is opened with its trees shows the same column, and learns nothing.
void check_opens_with_its_trees(const Study& study, const std::string& learned_on) {
  const std::vector<ColumnTree> trees = study.trees();
  REQUIRE(trees.size() == 1);
  CHECK(trees[0].column == 1);
  CHECK(trees[0].learned_on == learned_on);
  Study other(std::make_unique<CpuLike>());
  other.open(two_heads, study.session(), {}, {}, trees);
  bool learns = false;
  REQUIRE(wait_until([&] {
    learns = learns || has_requested_learning(other);
    return other.settled() && other.columns().size() == 3 && other.columns()[1].computation;
  }));
  CHECK_FALSE(learns);
  const ColumnState &before = study.columns()[1], &after = other.columns()[1];
  CHECK(after.tree_learned_on == learned_on);
  CHECK(after.computation->op->plan().structure == before.computation->op->plan().structure);
  CHECK(other.trees() == trees);
  // On the next head it is said where the tree was learned.
  Session next = other.session();
  next.head = 1 - next.head;
  other.set_session(next);
  REQUIRE(wait_until([&] { return other.settled() && other.columns()[1].computation; }));
  if (other.session().head == 1) CHECK(other.columns()[1].tree_learned_on == "layer 0, head 0");
}

}  // namespace

TEST_CASE("a learned tree is kept on another head until it is asked to learn again") {
  Study study(std::make_unique<CpuLike>());
  SessionEditor editor(study);
  LearningRun run(study, editor);
  open(study, two_heads, {"exact", "tf", "window"}, {find_view("heatmap"), find_view("error")});
  REQUIRE(wait_until([&] { return study.settled(); }));
  editor.start();
  study.select_column(1);
  run.learn();
  REQUIRE(wait_until([&] { return run.steps() > 20 && study.settled(); }));
  run.pause();
  REQUIRE(wait_until([&] { return study.settled(); }));
  const Structure tree = learned_tensors(*study.columns()[1].computation->variant,
                                         study.columns()[1].computation->values,
                                         study.columns()[1].computation->op->plan());
  REQUIRE_FALSE(tree.empty());
  CHECK(study.columns()[1].tree_learned_on.empty());
  check_opens_with_its_trees(study, "");

  editor.change("head", [](Session& s) { s.head = 1; });
  REQUIRE(wait_until([&] { return study.settled() && study.columns()[1].computation; }));
  CHECK_FALSE(run.running());
  CHECK_FALSE(has_requested_learning(study));
  const ColumnState& kept = study.columns()[1];
  CHECK(kept.tree_learned_on == "layer 0, head 0");
  CHECK(kept.key.tree_of.has_value());
  const Plan& plan = kept.computation->op->plan();
  CHECK(learned_tensors(*kept.computation->variant, kept.computation->values, plan) == tree);
  CHECK(std::ranges::count(plan.notes, "the tree was learned on layer 0, head 0") == 1);
  CHECK(study.model()->column_figures[1]->parameters.starts_with("tree of layer 0, head 0"));
  CHECK(study.model()->column_figures[1]->tree_learned_on == "layer 0, head 0");
  CHECK(study.model()->cells[0][1].panel->caption.find("learned on layer 0") != std::string::npos);
  check_opens_with_its_trees(study, "layer 0, head 0");

  run.learn();
  REQUIRE(wait_until([&] { return run.steps() > 20 && run.best() && study.settled(); }));
  REQUIRE(wait_until([&] { return study.columns()[1].tree_learned_on.empty(); }));
  run.pause();
  // The first head has its own tree, without learning it again.
  editor.change("head", [](Session& s) { s.head = 0; });
  REQUIRE(wait_until([&] { return study.settled() && study.columns()[1].computation; }));
  CHECK_FALSE(has_requested_learning(study));
}

TEST_CASE("a tree that a session asks to learn is learned after all else, as planning learns it") {
  Study study(std::make_unique<CpuLike>());
  open(study, two_heads, {"exact", "tf", "window"}, {find_view("heatmap"), find_view("error")});
  Session session = study.session();
  session.columns[1] = with_learned_tree(study, 23);
  study.set_session(session);
  study.select_column(1);
  bool seen = false;
  QObject::connect(&study, &Study::columns_changed, &study, [&] {
    if (seen || !study.columns()[1].computation || study.columns()[1].stale) return;
    seen = true;
    CHECK(study.columns()[2].metrics);
    CHECK(study.model()->cells[0][2].panel);
    CHECK(study.model()->cells[1][2].panel);
  });
  REQUIRE(wait_until([&] { return study.settled() && seen; }));
  Profile profile;
  Run run{profile};
  const Computation planned =
      compute(*study.problem(), request_of(session.columns[1]), study.backend(), run);
  const Plan& plan = study.columns()[1].computation->op->plan();
  CHECK(plan.structure == planned.op->plan().structure);
  for (const std::string& note : planned.op->plan().notes)
    CHECK(std::ranges::count(plan.notes, note) == 1);
}

TEST_CASE("learning is cancelled alone") {
  Study study(std::make_unique<CpuLike>());
  open(study, two_heads, {"exact", "tf", "window"}, {find_view("heatmap")});
  Session session = study.session();
  session.columns[1] = with_learned_tree(study, most_learning_steps);
  study.set_session(session);
  REQUIRE(wait_until([&] { return study.learns(1) && study.columns()[2].metrics; }));
  study.cancel_learning(1);
  CHECK_FALSE(study.paused());
  REQUIRE(wait_until([&] { return study.settled(); }));
  CHECK_FALSE(study.learns(1));
  CHECK(study.model()->cells[0][1].status.find("not learned yet") != std::string::npos);
  CHECK(study.model()->cells[0][2].panel);
}

}  // namespace fovea::test
