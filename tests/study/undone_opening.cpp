// Undo of an opened source opens the one before again, as it was left.
#include <doctest/doctest.h>

#include <QObject>
#include <filesystem>

#include "data/address.h"
#include "study/opened.h"
#include "study/session_editor.h"
#include "temporary_directory.h"
#include "views/views.h"

namespace fovea::test {
namespace {

const std::string clusters_source = "synthetic:clusters?n=96&d=8&seed=1",
                  third = "synthetic:clusters?n=80&d=8&seed=1";

/// A text of a few tokens, changed by hand, and then another source.
struct TwoSources {
  TemporaryDirectory folder;
  std::string text =
      "content:" + folder.write("words.txt", "one two three four five six seven eight nine ten");
  Study study{std::make_unique<CpuLike>()};
  SessionEditor editor{study};
  Session left;  // of the text

  TwoSources() {
    QObject::connect(&study, &Study::opened, &editor, [this](bool new_source) {
      if (new_source) editor.start();
    });
    open(text);
    editor.change({}, [](Session& s) { s.settings.colormap = "magma"; });
    editor.change({}, [](Session& s) { s.views = {find_view("mask")}; });
    editor.add_column("strided");
    editor.pin(3);
    study.select_column(2);
    left = study.session();
    open(clusters_source);
    editor.pin(5);
  }
  bool ends() {
    return wait_until([this] { return !study.opening(); });
  }
  void open(const std::string& what) {
    study.open(what);
    REQUIRE(ends());
    REQUIRE(study.session().source == what);
  }
};

}  // namespace

TEST_CASE("undo brings the source before back as it was left, and redo the other one") {
  TwoSources s;
  const Session there = s.study.session();
  s.editor.undo();  // the pin
  CHECK(s.editor.opening_to_undo() == clusters_source);
  s.editor.undo();
  REQUIRE(s.study.opening());
  CHECK(s.study.session().source == clusters_source);  // until the text is there
  REQUIRE(s.ends());
  CHECK(s.study.session() == s.left);
  CHECK_FALSE(s.editor.opening_to_undo());
  CHECK(s.editor.opening_to_redo() == clusters_source);
  SUBCASE("redo leads back, to its last change") {
    s.editor.redo();
    REQUIRE(s.ends());
    CHECK_FALSE(s.study.session().pinned_query);
    s.editor.redo();
    CHECK(s.study.session() == there);
  }
  SUBCASE("undo goes on there") {
    s.editor.undo();
    CHECK_FALSE(s.study.opening());
    CHECK_FALSE(s.study.session().pinned_query);
    CHECK(s.study.session().source == s.text);
  }
  SUBCASE("a change drops what could be redone") {
    s.editor.pin(7);
    CHECK_FALSE(s.editor.can_redo());
  }
}

TEST_CASE("undo twice at once goes to the step before in the source before") {
  TwoSources s;
  for (int step = 0; step < 3; ++step) s.editor.undo();
  REQUIRE(s.ends());
  CHECK(s.study.session().source == s.text);
  CHECK_FALSE(s.study.session().pinned_query);
  CHECK(s.study.session().columns == s.left.columns);
  s.editor.redo();
  CHECK(s.study.session() == s.left);
}

TEST_CASE("redo while the source before is being opened keeps the one that is shown") {
  TwoSources s;
  const Session there = s.study.session();
  s.editor.undo();
  s.editor.undo();
  REQUIRE(s.study.opening());
  s.editor.redo();
  CHECK_FALSE(s.study.opening());
  s.editor.redo();
  run_events(50);
  CHECK(s.study.session() == there);
}

TEST_CASE("a source that has gone is not undone to, and nothing changes") {
  TwoSources s;
  std::string said;
  QObject::connect(&s.study, &Study::reported, &s.study,
                   [&](const QString& message) { said += message.toStdString(); });
  std::filesystem::remove(content_path(s.text));
  s.editor.undo();
  const Session there = s.study.session();
  s.editor.undo();
  REQUIRE(s.ends());
  CHECK(said.find("words.txt") != std::string::npos);
  CHECK(s.study.session() == there);
  CHECK(s.study.source()->path == clusters_source);
  CHECK(s.editor.opening_to_undo() == clusters_source);
  s.editor.redo();
  CHECK(s.study.session().pinned_query == 5);
}

TEST_CASE("another source that is opened during an undo is a step after the one that is shown") {
  TwoSources s;
  s.editor.undo();
  s.editor.undo();
  REQUIRE(s.study.opening());
  s.open(third);
  CHECK_FALSE(s.editor.can_redo());
  s.editor.undo();
  REQUIRE(s.ends());
  CHECK(s.study.session().source == clusters_source);
}

TEST_CASE("undo leads to the step before although the first one of 200 is forgotten meanwhile") {
  TwoSources s;
  s.editor.undo();  // the pin
  s.editor.undo();
  REQUIRE(s.ends());
  constexpr int most_steps = 200;
  for (int step = 0; step < most_steps; ++step)
    s.editor.change({}, [&](Session& of) { of.settings.log_floor = 1e-4 * (step + 2); });
  const Session there = s.study.session();
  s.open(clusters_source);
  s.editor.undo();
  REQUIRE(s.study.opening());
  s.editor.pin(7);  // in the source that is shown: a step more than are kept
  REQUIRE(s.study.opening());
  REQUIRE(s.ends());
  CHECK(s.study.session() == there);
  CHECK(s.editor.opening_to_redo() == clusters_source);
  s.editor.undo();
  CHECK_FALSE(s.study.opening());
  CHECK(s.study.session().source == s.text);
  CHECK(s.study.session().settings.log_floor == doctest::Approx(1e-4 * most_steps));
}

TEST_CASE("the same source opened again is a step of its own") {
  TwoSources s;
  s.open(clusters_source);
  CHECK_FALSE(s.study.session().pinned_query);
  CHECK(s.editor.opening_to_undo() == clusters_source);
  s.editor.undo();
  REQUIRE(s.ends());
  CHECK(s.study.session().pinned_query == 5);
}

TEST_CASE("the columns and views of a first look are one step") {
  TwoSources s;
  const Session before = s.study.session();
  s.editor.show_first_look(first_views());
  CHECK(s.study.session().columns == standard_session(clusters_source, 96).columns);
  CHECK(s.study.session().views == standard_session(clusters_source, 96).views);
  CHECK(s.study.session().settings.colormap == "magma");
  s.editor.undo();
  CHECK(s.study.session() == before);
}

}  // namespace fovea::test
