// A model that gives its layers one by one: the first are looked at while the others come.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "model_elsewhere.h"
#include "study/event_loop.h"
#include "study/study.h"
#include "window/backend.h"

namespace fovea::test {
namespace {

/// A Study of a model, with what it reported.
struct Growing {
  explicit Growing(const std::string& behaviour) : model(behaviour) {
    QObject::connect(&study, &Study::reported, &study,
                     [this](const QString& message) { reported += message.toStdString() + "\n"; });
    QObject::connect(&study, &Study::source_grew, &study, [this] { ++grown; });
    QObject::connect(&study, &Study::opened, &study, [this] { ++opened; });
  }
  std::size_t layers() const { return study.source() ? study.source()->layers.size() : 0; }
  bool has(std::size_t count) {
    return wait_until([&] { return layers() == count && !study.opening(); });
  }
  bool settles() {
    return wait_until([&] { return study.settled() && !study.status().busy(); });
  }
  void read(const std::string& text) {
    Session session = study.session();
    session.source = model.address(text);
    study.set_session(session);
  }
  void choose_layer(Index layer) {
    Session session = study.session();
    session.layer = layer;
    study.set_session(session);
  }

  ModelElsewhere model;
  Study study{std::make_unique<CpuLike>()};
  std::string reported;
  int grown = 0, opened = 0;
};

const std::string three_words = "one two three";

}  // namespace

TEST_CASE("the first layer of a model is shown while the others are computed, which then follow") {
  Growing t("waits");
  t.study.open(t.model.address(three_words));
  REQUIRE(t.has(1));
  CHECK(t.study.growing());
  CHECK(t.study.can_cancel());
  CHECK(t.study.layers_text() == "layer 1 of 3");
  REQUIRE(t.settles());
  const auto problem = t.study.problem();
  REQUIRE(problem);
  CHECK(problem->q(2, 3) == doctest::Approx(11.0 / 12));  // as fake_model.py has it
  t.study.choose_cards({{0, 0}, {0, 1}});
  REQUIRE(wait_until([&] { return t.study.card(0, 1) != nullptr; }));
  const auto card = t.study.card(0, 1);

  t.model.let(1);
  REQUIRE(t.has(2));
  CHECK(t.study.layers_text() == "layer 2 of 3");
  REQUIRE(t.settles());
  CHECK(t.study.problem() == problem);  // nothing is computed again
  CHECK(t.study.card(0, 1) == card);
  CHECK(t.study.source()->sequence.tokens == std::vector<std::string>{"one", "two", "three"});
  t.choose_layer(1);
  REQUIRE(t.settles());
  CHECK(t.study.problem()->q(2, 3) == doctest::Approx(1 + 11.0 / 12));
  const auto is_timed = [&] {
    return std::ranges::any_of(t.study.columns(),
                               [](const ColumnState& column) { return column.time != nullptr; });
  };
  run_events(500);  // in which times would be measured
  CHECK_FALSE(is_timed());

  t.model.let(2);
  REQUIRE(t.has(3));
  REQUIRE(wait_until([&] { return !t.study.growing(); }));
  CHECK(t.study.layers_text().empty());
  CHECK(wait_until(is_timed));
  CHECK(t.study.source()->notes == std::vector<std::string>{"a note"});
  CHECK(t.opened == 1);
  CHECK(t.reported.empty());
}

TEST_CASE("a session of a later layer is shown once that layer is there, and not before") {
  Growing t("waits");
  t.model.let(1);
  Session session = standard_session(t.model.address(three_words), 3);
  session.layer = 1;
  session.head = 1;
  t.study.open(session.source, session);
  REQUIRE(t.has(2));
  CHECK(t.study.session().layer == 1);
  CHECK(t.study.session().head == 1);
  REQUIRE(t.settles());
  CHECK(t.study.problem()->q(2, 3) == doctest::Approx(1 + 23.0 / 12));
  CHECK(t.study.growing());
}

TEST_CASE("a layer that the model does not have is refused once all are there") {
  Growing t("fake");
  Session session = standard_session(t.model.address(three_words), 3);
  session.layer = 7;
  t.study.open(session.source, session);
  REQUIRE(wait_until([&] { return !t.reported.empty(); }));
  CHECK(t.reported.find("3 layers are in the file") != std::string::npos);
  CHECK_FALSE(t.study.source());
}

TEST_CASE("another text ends what was to come of the one before") {
  Growing t("waits");
  t.study.open(t.model.address(three_words));
  REQUIRE(t.has(1));
  t.read("four five");
  REQUIRE(wait_until([&] { return t.study.session().source == t.model.address("four five"); }));
  CHECK(t.study.source()->sequence.tokens == std::vector<std::string>{"four", "five"});
  CHECK(t.study.growing());
  for (const int layer : {1, 2}) t.model.let(layer);
  REQUIRE(t.has(3));
  CHECK(t.study.source()->sequence.tokens.size() == 2);
  CHECK(t.reported.empty());
}

TEST_CASE("a text that cannot be read leaves the one before, with all of its layers") {
  Growing t("waits");
  t.study.open(t.model.address(three_words));
  REQUIRE(t.has(1));
  t.read(" ");
  REQUIRE(wait_until([&] { return t.reported.find("no token") != std::string::npos; }));
  for (const int layer : {1, 2}) t.model.let(layer);
  REQUIRE(t.has(3));
  CHECK(t.study.source()->sequence.tokens.size() == 3);
}

TEST_CASE("a model that cannot be read again leaves what is there, marked, and is tried no more") {
  Growing t("waits");
  int failures = 0;
  QObject::connect(&t.study, &Study::not_opened, &t.study, [&] { ++failures; });
  t.study.open(t.model.address(three_words));
  REQUIRE(t.has(1));
  std::filesystem::rename(t.model.folder(), t.model.folder() + " elsewhere");
  t.read("four five");
  CHECK(wait_until([&] { return t.reported.find("Only the first 1 layer") != t.reported.npos; }));
  CHECK(wait_until([&] { return t.study.settled() && !t.study.opening(); }));
  CHECK(failures == 2);  // the other text, and what is shown
  CHECK(t.layers() == 1);
  CHECK_FALSE(t.study.growing());
  CHECK(t.study.source()->path == t.model.address(three_words));
}

TEST_CASE(
    "another text of a model that is opened as a new source does not wait for the one before") {
  Growing t("waits");
  t.study.open(t.model.address(three_words));
  REQUIRE(t.has(1));
  t.study.open(t.model.address("four five"));
  CHECK(wait_until([&] { return t.study.source()->path == t.model.address("four five"); }));
  CHECK(t.has(1));
}

TEST_CASE("what is cancelled between two layers is marked, and can be read again") {
  Growing t("stops");
  t.study.open(t.model.address(three_words));
  REQUIRE(t.has(1));
  t.study.cancel();
  CHECK_FALSE(t.study.growing());
  CHECK(t.grown == 1);
  REQUIRE(t.study.source()->notes.size() == 1);
  CHECK(t.study.source()->notes[0].starts_with("Only the first 1 layer of the model is here"));
  CHECK(t.layers() == 1);
  t.read("four");
  REQUIRE(wait_until([&] { return t.study.session().source == t.model.address("four"); }));
  CHECK(t.study.source()->notes.empty());
}

TEST_CASE("a model that fails after its first layer leaves it, marked with why") {
  for (const std::string behaviour : {"fails later", "falls"}) {
    CAPTURE(behaviour);
    Growing t(behaviour);
    t.study.open(t.model.address(three_words));
    REQUIRE(wait_until([&] { return !t.reported.empty(); }));
    CHECK_FALSE(t.study.growing());
    CHECK(t.reported.find("Only the first 1 layer of the model is here: ") == 0);
    const std::string why = behaviour == "falls" ? "the last words" : "no memory for layer1";
    CHECK(t.reported.find(why) != std::string::npos);
    CHECK(t.study.source()->notes[0].find(why) != std::string::npos);
    REQUIRE(t.settles());
    CHECK(t.study.problem());
  }
}

TEST_CASE("a source that is opened meanwhile ends what was to come") {
  Growing t("waits");
  t.study.open(t.model.address(three_words));
  REQUIRE(t.has(1));
  t.study.open("synthetic:golden");
  REQUIRE(wait_until([&] { return t.study.session().source == "synthetic:golden"; }));
  CHECK_FALSE(t.study.growing());
  const std::size_t layers = t.layers();
  for (const int layer : {1, 2}) t.model.let(layer);
  run_events(300);  // in which all layers would come
  CHECK(t.layers() == layers);
  CHECK(t.grown == 0);
}

TEST_CASE("a source that does not open leaves what was to come") {
  Growing t("waits");
  t.study.open(t.model.address(three_words));
  REQUIRE(t.has(1));
  t.study.open("/nowhere.npz");
  REQUIRE(wait_until([&] { return !t.reported.empty(); }));
  for (const int layer : {1, 2}) t.model.let(layer);
  REQUIRE(t.has(3));
  CHECK(t.opened == 1);
}

TEST_CASE("a window that ends while a model gives its layers waits for none") {
  Growing t("waits");
  t.study.open(t.model.address(three_words));
  REQUIRE(t.has(1));
}

TEST_CASE("layers that come out of the order of their names are shown in it at the end") {
  Growing t("turns");  // layer1, layer0, layer2
  t.study.open(t.model.address(three_words));
  REQUIRE(t.has(1));
  run_events(300);  // in which layer0 would be shown
  CHECK(t.layers() == 1);
  Session session = t.study.session();
  session.columns[1].held = HeldHead{.source = {}, .layer = session.layer, .head = 1};
  t.study.set_session(std::move(session));
  t.model.let(2);
  REQUIRE(t.has(3));
  CHECK(t.study.source()->layers[0].name == "layer0");
  CHECK(t.study.source()->layers[std::size_t(t.study.session().layer)].name == "layer1");
  REQUIRE(t.study.session().columns[1].held);
  CHECK(t.study.session().columns[1].held->layer == t.study.session().layer);
  REQUIRE(t.settles());
  CHECK(t.study.problem()->q(2, 3) == doctest::Approx(1 + 11.0 / 12));
  CHECK(t.reported.empty());
}

}  // namespace fovea::test
