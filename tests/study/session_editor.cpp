// Changes of a Session and their undo.
#include "study/session_editor.h"

#include <doctest/doctest.h>

#include "study/background.h"
#include "study/opened.h"

namespace fovea::test {
namespace {

/// An editor of a short head in three columns.
struct Edited {
  Study study{make_low_priority_backend({.backend = "cpu", .threads = 1})};
  SessionEditor editor{study};

  Edited() {
    open(study, "synthetic:clusters?n=32&d=8&seed=1", {"exact", "h1d", "strided"}, {View::heatmap});
    editor.start();
  }
  void set_floor(double floor) {
    editor.change_settings([&](ViewSettings& s) { s.log_floor = floor; });
  }
  double floor() const { return study.session().settings.log_floor; }
  const std::vector<ColourRange>& ranges() const { return study.session().settings.ranges; }
};

}  // namespace

TEST_CASE("changes of one kind soon after each other are one step of undo, later ones are not") {
  Edited e;
  const double before = e.floor();
  for (const double floor : {0.02, 0.03, 0.04}) e.set_floor(floor);
  e.editor.pin(3);
  e.set_floor(0.05);
  e.editor.undo();
  CHECK(e.floor() == 0.04);
  CHECK(e.study.session().pinned_query == 3);
  e.editor.undo();
  CHECK_FALSE(e.study.session().pinned_query);
  e.editor.undo();
  CHECK(e.floor() == before);
  CHECK_FALSE(e.editor.can_undo());
  e.set_floor(0.06);
  run_events(1100);  // more than the second within which changes are one
  e.set_floor(0.07);
  e.editor.undo();
  CHECK(e.floor() == 0.06);
}

TEST_CASE("a change that is taken back at once is no step") {
  Edited e;
  const double before = e.floor();
  e.set_floor(0.02);
  e.set_floor(before);
  CHECK_FALSE(e.editor.can_undo());
}

TEST_CASE("a change after an undo drops what could be redone") {
  Edited e;
  e.set_floor(0.02);
  e.editor.pin(3);
  e.editor.undo();
  REQUIRE(e.editor.can_redo());
  e.editor.pin(5);
  CHECK_FALSE(e.editor.can_redo());
  e.editor.undo();
  CHECK_FALSE(e.study.session().pinned_query);
  CHECK(e.floor() == 0.02);
}

TEST_CASE("the range of one panel goes with its column") {
  Edited e;
  e.editor.change_settings([](ViewSettings& s) {
    s.shared_range = false;
    s.ranges = {{View::heatmap, 2, 0, 0.5}, {View::heatmap, -1, 0, 0.25}};
  });
  e.editor.move_column(2, 0);
  CHECK(e.ranges()[0].column == 0);
  CHECK(e.ranges()[1].column == -1);
  e.study.select_column(1);
  e.editor.remove_column();
  CHECK(e.ranges()[0].column == 0);
  e.study.select_column(0);
  e.editor.remove_column();
  REQUIRE(e.ranges().size() == 1);
  CHECK(e.ranges()[0].column == -1);
}

}  // namespace fovea::test
