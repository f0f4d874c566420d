// A learned tree that is tried on a head of another source, in the background.
#include "study/validation_run.h"

#include <doctest/doctest.h>

#include "analysis/metrics.h"
#include "input/open_source.h"
#include "study/learning_run.h"
#include "study/opened.h"
#include "study/session_editor.h"
#include "variants/learned_tree.h"
#include "views/views.h"

namespace fovea::test {
namespace {

const std::string another_head = "synthetic:gaussian?n=70&d=16&heads=1&seed=9";

struct Validating {
  Study study{make_low_priority_backend({.backend = "cpu"})};
  SessionEditor editor{study};
  LearningRun learning{study, editor};
  ValidationRun run{study, editor, learning};

  Validating() {
    open(study, "synthetic:clusters?n=96&d=16&seed=1", {"exact", "tf"}, {find_view("heatmap")});
    REQUIRE(settles());
    editor.start();
    study.select_column(1);
  }
  bool settles() {
    return wait_until([&] { return study.settled(); });
  }
  void learn(Index steps) {
    learning.learn();
    REQUIRE(wait_until([&] { return learning.steps() >= steps; }));
    learning.pause();
    REQUIRE(settles());
  }
  bool ends() {
    return wait_until([&] { return run.found() && !run.running(); });
  }
};

/// |Z~ - Z| / |Z| of the column's tree on another head.
double error_on(const Validating& v, const std::string& source, bool learned) {
  const Source opened = open_source(source);
  const Problem problem = problem_of(opened, {});
  const ColumnState& state = v.study.columns()[1];
  ComputeRequest request = request_of(state.column);
  const Structure tree =
      learned_tensors(*request.variant, request.values, state.computation->op->plan());
  set_value(request.variant->schema, request.values, "tree", "median");
  if (learned) request.given = tree;
  Profile profile;
  Run run{profile};
  const Backend& backend = v.study.backend();
  return *output_rel_fro(
      compute(problem, request, backend, run).output.z,
      compute(problem, {.variant = &reference_variant()}, backend, run).output.z);
}

}  // namespace

TEST_CASE("a learned tree is tried on another source, with the numbers of a computation there") {
  Validating v;
  CHECK_FALSE(v.run.can_start());  // the tree is median
  v.learn(20);
  REQUIRE(v.run.can_start());
  v.run.start(another_head);
  CHECK(v.run.active());
  REQUIRE(v.ends());
  const ValidationRun::Found& found = *v.run.found();
  CHECK(found.step == learned_steps(find_variant("tf"), v.study.session().columns[1].values));
  CHECK(found.own.error == error_on(v, v.study.source()->path, true));
  CHECK(found.own_median.error == error_on(v, v.study.source()->path, false));
  CHECK(found.other.error == error_on(v, another_head, true));
  CHECK(found.other_median.error == error_on(v, another_head, false));
  CHECK(found.other.error != found.own.error);
  CHECK(v.run.error().empty());
}

TEST_CASE("each new tree is tried until that is stopped, and learning goes on") {
  Validating v;
  v.learn(10);
  v.run.start(another_head);
  REQUIRE(v.ends());
  const auto set_height = [&](const char* height) {
    v.editor.change("", [&](Session& s) {
      set_value(find_variant("tf").schema, s.columns[1].values, "height", height);
    });
    REQUIRE(v.settles());
  };
  const double first = v.run.found()->other.cost;
  set_height("1");
  REQUIRE(wait_until([&] { return v.run.found()->other.cost != first && !v.run.running(); }));
  CHECK(v.run.found()->other.error == error_on(v, another_head, true));
  const double second = v.run.found()->other.cost;
  v.learning.learn();
  v.run.stop();
  CHECK_FALSE(v.run.running());
  CHECK_FALSE(v.run.active());
  CHECK(v.learning.running());
  v.learning.pause();
  set_height("3");
  CHECK(v.run.found()->other.cost == second);
}

TEST_CASE("the session names the source on which trees are tried, and takes it back by undo") {
  Validating v;
  v.learn(20);
  v.run.start(another_head);
  REQUIRE(v.ends());
  CHECK(v.study.session().validated_on == another_head);
  const double error = v.run.found()->other.error;
  v.editor.undo();
  CHECK_FALSE(v.run.active());
  v.editor.redo();
  REQUIRE(v.ends());
  CHECK(v.run.found()->other.error == error);

  Validating restored;
  restored.study.open(v.study.session().source, v.study.session());
  REQUIRE(wait_until([&] { return restored.study.settled() && restored.run.found(); }));
  CHECK(restored.run.found()->other.error == error);
  restored.run.stop();
  CHECK(restored.study.session().validated_on.empty());
  open(restored.study, "synthetic:clusters?n=96&d=16&seed=2", {"exact", "tf"},
       {find_view("heatmap")});
  CHECK_FALSE(restored.run.active());
}

TEST_CASE("what trees cannot be tried on is said once, and ends the run") {
  Validating v;
  v.learn(10);
  const auto refused = [&](const std::string& file, const std::string& says) {
    v.run.start(file);
    REQUIRE(wait_until([&] { return !v.run.error().empty(); }));
    CAPTURE(v.run.error());
    CHECK(v.run.error().find(says) != std::string::npos);
    CHECK_FALSE(v.run.active());
    CHECK_FALSE(v.run.running());
    CHECK_FALSE(v.run.found());
  };
  refused("synthetic:gaussian?n=70&d=8", "8 features");
  refused("/nowhere/at-all.safetensors", "at-all.safetensors");
}

TEST_CASE("what was found is forgotten with the source that was learned from") {
  Validating v;
  v.learn(10);
  v.run.start(another_head);
  REQUIRE(v.ends());
  open(v.study, small, {"exact", "tf"}, {find_view("heatmap")});
  REQUIRE(v.settles());
  CHECK_FALSE(v.run.found());
  CHECK_FALSE(v.run.active());
}

}  // namespace fovea::test
