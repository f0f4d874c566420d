// Changes of a Session and their undo.
#include "study/session_editor.h"

#include <doctest/doctest.h>

#include "io/safetensors_writer.h"
#include "study/background.h"
#include "study/opened.h"
#include "temporary_directory.h"
#include "views/views.h"

namespace fovea::test {
namespace {

/// An editor of a short head in three columns.
struct Edited {
  Study study{make_low_priority_backend({.backend = "cpu", .threads = 1})};
  SessionEditor editor{study};

  Edited() {
    open(study, "synthetic:clusters?n=32&d=8&seed=1", {"exact", "h1d", "strided"},
         {find_view("heatmap")});
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

TEST_CASE(
    "law: what is of the tokens of a layer goes with a layer of other lengths, and only then") {
  const TemporaryDirectory folder;
  const Lengths lengths[] = {{8, 8}, {8, 8}, {6, 8}, {8, 12}};
  std::vector<OutTensor> tensors;
  for (int layer = 0; layer < 4; ++layer)
    for (const auto& [name, n] : {std::pair{"q", lengths[layer].queries},
                                  {"k", lengths[layer].keys},
                                  {"v", lengths[layer].keys}})
      tensors.push_back({"layer" + std::to_string(layer) + "." + name,
                         {1, n, 2},
                         std::vector<float>(static_cast<std::size_t>(2 * n), 0.5f)});
  const std::string path = folder / "layers.safetensors";
  write_safetensors(path, tensors, {});
  for (const Index from : {0, 1, 2, 3})
    for (const Index to : {0, 1, 2, 3}) {
      CAPTURE(from);
      CAPTURE(to);
      Study study(std::make_unique<CpuLike>());
      SessionEditor editor(study);
      open(study, path, {"exact"}, {find_view("heatmap")});
      editor.start();
      editor.choose_head(from, 0);
      editor.change({}, [](Session& s) {
        s.viewport = {1, 3, 1, 3};
        s.pinned_query = 2;
        s.spans = {{"some", {1, 4}}};
      });
      const Session before = study.session();
      editor.choose_head(to, 0);
      const Session& now = study.session();
      const bool stays = lengths[from] == lengths[to];
      CHECK(now.layer == to);
      CHECK(now.viewport == (stays ? before.viewport : whole(lengths[to])));
      CHECK(now.pinned_query == (stays ? before.pinned_query : std::nullopt));
      CHECK(now.spans == (stays ? before.spans : std::vector<Span>{}));
    }
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
    s.ranges = {{find_view("heatmap"), 2, 0, 0.5}, {find_view("heatmap"), -1, 0, 0.25}};
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
