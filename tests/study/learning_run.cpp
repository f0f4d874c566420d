// A tree that learns in the background, while its column shows the best tree so far.
#include "study/learning_run.h"

#include <doctest/doctest.h>

#include "study/lost_result.h"
#include "study/opened.h"
#include "study/session_editor.h"
#include "variants/learned_tree.h"
#include "views/views.h"

namespace fovea::test {
namespace {

struct Learning {
  Study study{make_low_priority_backend({.backend = "cpu"})};
  SessionEditor editor{study};
  LearningRun run{study, editor};

  explicit Learning(std::vector<std::string> variants) {
    open(study, small, std::move(variants), {find_view("heatmap")});
    REQUIRE(wait_until([&] { return study.settled(); }));
    editor.start();
    study.select_column(1);
  }
  const Column& column(std::size_t c) const { return study.session().columns[c]; }
  Index learned(std::size_t c) const {
    return learned_steps(find_variant(column(c).variant), column(c).values).value_or(0);
  }
  bool learns_past(Index steps) {
    return wait_until([&] { return run.steps() > steps && study.settled(); });
  }
};

/// Whether the column shows what planning makes of its parameters.
bool shows_what_is_planned(Learning& l, std::size_t c) {
  const ColumnState& state = l.study.columns()[c];
  Profile profile;
  Run run{profile};
  const Computation planned =
      compute(*l.study.problem(), request_of(l.column(c)), l.study.backend(), run);
  return !state.stale && planned.op->plan().structure == state.computation->op->plan().structure;
}

}  // namespace

TEST_CASE("a column that has learned shows what planning makes of its parameters") {
  for (const char* variant : {"tf", "tc"}) {
    CAPTURE(variant);
    Learning l({"exact", variant});
    REQUIRE(l.run.can_learn(l.study.columns()[1]));
    CHECK_FALSE(l.run.can_learn(l.study.columns()[0]));
    l.run.learn();
    CHECK(l.run.running());
    REQUIRE(l.learns_past(20));
    l.run.pause();
    REQUIRE(wait_until([&] { return l.study.settled() && l.learned(1) > 0; }));
    CHECK(shows_what_is_planned(l, 1));
    CHECK(l.run.record().leaves == l.study.columns()[1].computation->op->plan().groups.count);
    CHECK(l.run.record().curve.front().step == 0);
    CHECK(l.run.record().snapshots.front().step == 0);
    for (const LeafSnapshot& snapshot : l.run.record().snapshots) {
      Index keys = 0;
      for (const Index in_leaf : snapshot.keys) keys += in_leaf;
      CHECK(keys == l.study.length());
    }
  }
}

TEST_CASE("a column that holds a head holds it while it learns and afterwards") {
  Learning l({"exact", "tf"});
  l.editor.hold_head(true);
  const auto held = l.column(1).held;
  REQUIRE(held);
  REQUIRE(wait_until([&] { return l.study.settled(); }));
  l.run.learn();
  REQUIRE(l.learns_past(20));
  l.run.pause();
  REQUIRE(wait_until([&] { return l.study.settled() && l.learned(1) > 0; }));
  CHECK(l.column(1).held == held);
  l.run.revert();
  CHECK(l.column(1).held == held);
  CHECK(l.learned(1) == 0);
}

TEST_CASE("the column shows the best tree, also where results are lost") {
  Learning l({"exact", "tf"});
  l.run.learn();
  for (int lost = 0; lost < 2; ++lost) {
    REQUIRE(wait_until([&] { return l.study.requests().is_pending({RequestKind::learning}); }));
    REQUIRE(lose_result(l.study, RequestKind::learning));
  }
  REQUIRE(l.learns_past(0));
  l.run.pause();
  REQUIRE(wait_until([&] { return l.study.settled() && l.learned(1) > 0; }));
  const auto& snapshots = l.run.record().snapshots;
  REQUIRE(snapshots.size() >= 2);
  CHECK(snapshots[0].step == 0);
  CHECK(snapshots[1].step > 0);
  CHECK(shows_what_is_planned(l, 1));
}

TEST_CASE("learning is paused and resumed, and is one step of undo") {
  Learning l({"exact", "tf"});
  const Column before = l.column(1);
  l.run.learn();
  REQUIRE(l.learns_past(10));
  l.run.pause();
  CHECK_FALSE(l.run.running());
  CHECK(l.run.can_resume());
  const Index paused_at = l.run.steps();
  l.run.learn();
  REQUIRE(l.learns_past(paused_at));
  CHECK(l.run.record().curve.size() > 2);
  l.run.pause();
  l.editor.undo();
  CHECK(l.column(1) == before);
  CHECK_FALSE(l.run.can_resume());
  l.editor.redo();
  CHECK(l.learned(1) > 0);
}

TEST_CASE("a column is reverted to what it was before it learned") {
  Learning l({"exact", "tf"});
  const Column before = l.column(1);
  CHECK_FALSE(l.run.can_revert());
  l.run.learn();
  REQUIRE(l.learns_past(10));
  CHECK(l.learned(1) > 0);
  l.run.revert();
  CHECK_FALSE(l.run.running());
  CHECK(l.column(1) == before);
  CHECK_FALSE(l.run.can_revert());
}

TEST_CASE("of two equal columns the selected one learns, also when it is moved") {
  Learning l({"exact", "tf", "tf"});
  l.study.select_column(2);
  const Column before = l.column(1);
  l.run.learn();
  REQUIRE(l.learns_past(10));
  CHECK(l.column(1) == before);
  CHECK(l.learned(2) > 0);
  const Index reached = l.run.steps();
  REQUIRE(l.editor.move_column(2, 0));
  REQUIRE(l.learns_past(reached));
  CHECK(l.learned(0) > 0);
  CHECK(l.column(2) == before);
}

TEST_CASE("learning ends with its column, its parameters and its head") {
  Learning l({"exact", "tf"});
  const auto stops_at = [&](const std::function<void(Session&)>& edit) {
    l.run.learn();
    REQUIRE(l.learns_past(5));
    l.editor.change("", edit);
    return wait_until([&] { return !l.run.running(); }) && !l.run.can_resume();
  };
  CHECK(stops_at([](Session& s) {
    set_value(find_variant("tf").schema, s.columns[1].values, "height", "2");
  }));
  CHECK(stops_at([](Session& s) { s.conditions.causal = true; }));
  REQUIRE(wait_until([&] { return l.study.settled(); }));
  CHECK(stops_at([](Session& s) { s.columns.erase(s.columns.begin() + 1); }));
}

}  // namespace fovea::test
