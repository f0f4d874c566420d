// Another source is opened with the columns, views and look of the one before.
#include "study/continued_session.h"

#include <doctest/doctest.h>

#include "input/assets.h"
#include "input/open_source.h"
#include "session_fields.h"
#include "study/opened.h"
#include "study/session_editor.h"
#include "temporary_directory.h"
#include "view_values.h"
#include "views/views.h"
#include "window/backend.h"

namespace fovea::test {
namespace {

const std::string shorter = "synthetic:clusters?n=96&d=8&seed=1",
                  longer = "synthetic:clusters?n=512&d=8&seed=1",
                  long_one = "synthetic:clusters?n=16384&d=4&seed=1";

void open_and_wait(Study& study, const std::string& what, Index n) {
  study.open(what);
  REQUIRE(wait_until([&] { return study.length() == n && !study.opening(); }));
}

}  // namespace

TEST_CASE("columns, views and look stay when another source is opened") {
  Study study(std::make_unique<CpuLike>());
  open(study, longer, {"exact", "hyper", "h1d"}, {find_view("mask"), find_view("heatmap")});
  Session session = study.session();
  const Schema& schema = find_variant("hyper").schema;
  set_value(schema, session.columns[1].values, "samples", "24");
  set_value(schema, session.columns[1].values, "block", "128");
  session.columns[1].seed = 7;
  session.settings.colormap = "magma";
  session.settings.choose_range({find_view("heatmap"), -1, 0.1, 0.2});
  session.pinned_query = 400;
  study.set_session(session);
  study.select_column(2);

  open_and_wait(study, shorter, 96);
  const Session& now = study.session();
  REQUIRE(now.columns.size() == 3);
  CHECK(now.views == std::vector{find_view("mask"), find_view("heatmap")});
  CHECK(now.settings.colormap == "magma");
  CHECK(study.selected_column() == 2);
  CHECK(now.columns[1].seed == 7);
  const auto value = [&](const char* id) {
    return to_text(
        now.columns[1]
            .values[std::size_t(std::ranges::find(schema, id, &Field::id) - schema.begin())]);
  };
  CHECK(value("samples") == "24");
  CHECK(value("block") != "128");  // more than all tokens
  // Standard parameters are those of the new length.
  CHECK(now.columns[2].values == values_for_length(find_variant("h1d"), 96));
  // What is of the other tokens has gone.
  CHECK(now.settings.ranges.empty());
  CHECK_FALSE(now.pinned_query);
  CHECK(now.viewport == Viewport{0, 96, 0, 96});
  REQUIRE(wait_until([&] { return study.settled(); }));
  for (const ColumnState& column : study.columns()) CHECK(column.error.empty());
}

TEST_CASE("columns and views that nobody changed become those of a first look at the next source") {
  Study study(std::make_unique<CpuLike>());
  open_and_wait(study, long_one, 16384);
  Session session = study.session();
  session.settings.colormap = "magma";
  study.set_session(session);
  open_and_wait(study, shorter, 96);
  CHECK(study.session().columns == standard_session(shorter, 96).columns);
  CHECK(study.session().views == standard_session(shorter, 96).views);
  CHECK(study.session().settings.colormap == "magma");
}

TEST_CASE(
    "law: each setting that was changed stays, and each other one is that of the next source") {
  ViewSettings unlike = unlike_any_default().session.settings;
  for (const Index before : {96, 512})
    for (const char* next : {"synthetic:clusters?n=40&d=8", "synthetic:clusters?n=512&d=8"}) {
      CAPTURE(before);
      CAPTURE(next);
      const Source source = open_source(next, {});
      Session left = standard_session(shorter, before);
      ViewSettings first = first_session(source).settings;
      std::vector<WaitingColumn> waiting;
      CHECK(continued_session(left, before, source, waiting).settings == first);
      for_fields<ViewSettings>([&](auto place) {
        left.settings = standard_session(shorter, before).settings;
        auto& changed = std::get<place.value>(fields_of(left.settings));
        changed = std::get<place.value>(fields_of(unlike));
        ViewSettings expected = first;
        std::get<place.value>(fields_of(expected)) = changed;
        expected.ranges.clear();  // they are of the numbers before
        CAPTURE(place.value);
        CHECK(continued_session(left, before, source, waiting).settings == expected);
      });
    }
}

TEST_CASE("other patches get the settings of their length, and keep what was set by hand") {
  const TemporaryDirectory folder;
  std::string pixels = "P6\n64 64\n255\n";
  for (int i = 0; i < 3 * 64 * 64; ++i) pixels += static_cast<char>(i % 251);
  Study study(std::make_unique<CpuLike>());
  SessionEditor editor(study);
  open(study, "content:" + folder.write("p.ppm", pixels), {"exact", "h1d", "h1d"},
       {find_view("heatmap")});
  REQUIRE(study.length() == 64);
  const Variant& h1d = find_variant("h1d");
  Session session = study.session();
  session.columns[1].values = values_for_length(h1d, 64);
  set_value(h1d.schema, session.columns[2].values, "block", "4");
  set_value(session.settings, "mask_block",
            view_value(standard_session({}, 64).settings, "mask_block"));
  study.set_session(session);
  const Column by_hand = study.session().columns[2];
  REQUIRE(values_for_length(h1d, 64) != values_for_length(h1d, 1024));
  editor.start();
  editor.choose_patch(2);
  REQUIRE(wait_until([&] { return study.length() == 1024; }));
  const Session& now = study.session();
  CHECK(now.columns[1].values == values_for_length(h1d, 1024));
  CHECK(now.columns[2] == by_hand);
  CHECK(view_value(now.settings, "mask_block") ==
        view_value(standard_session({}, 1024).settings, "mask_block"));
  editor.undo();
  REQUIRE(wait_until([&] { return study.length() == 64; }));
  CHECK(now.columns == session.columns);
  CHECK(now.settings == session.settings);
}

TEST_CASE("of a long head only columns that take moments are kept") {
  Study study(std::make_unique<CpuLike>());
  open(study, shorter, {"exact", "tf", "fixed"}, {find_view("heatmap"), find_view("rank")});
  const auto quick = [](const Column& column) {
    const Variant& variant = find_variant(column.variant);
    return variant.quick || variant.reference;
  };
  open_and_wait(study, long_one, 16384);
  CHECK(study.session().columns.size() > 1);
  CHECK(std::ranges::all_of(study.session().columns, quick));
  CHECK(study.session().views == std::vector{find_view("heatmap"), find_view("rank")});  // stay
}

TEST_CASE("columns that a source cannot show are named, and come back with one that they fit") {
  Study study(std::make_unique<CpuLike>());
  SessionEditor editor(study);
  std::vector<std::string> said;
  QObject::connect(&study, &Study::reported,
                   [&](const QString& message) { said.push_back(message.toStdString()); });
  QObject::connect(&study, &Study::opened, [&](bool new_source) {
    if (new_source) editor.start();
  });
  open(study, shorter, {"exact", "tf", "h1d", "fixed"}, {find_view("heatmap")});
  editor.change({}, [](Session& s) {
    set_value(find_variant("h1d").schema, s.columns[2].values, "block", "4");
  });
  const std::vector<Column> columns = study.session().columns;
  const auto variants = [&] {
    std::vector<std::string> ids;
    for (const Column& column : study.session().columns) ids.push_back(column.variant);
    return ids;
  };
  const std::vector<std::string> all{"exact", "tf", "h1d", "fixed"}, quick{"exact", "h1d"};

  open_and_wait(study, long_one, 16384);
  CHECK(variants() == quick);
  REQUIRE(said.size() == 1);
  CHECK(said[0].find("Treeformer TF") != std::string::npos);
  CHECK(said[0].find("H-Transformer") == std::string::npos);
  CHECK(said[0].find("take long with 16384 tokens") != std::string::npos);
  CHECK(said[0].find("Undo") != std::string::npos);
  // Another one that it does not fit: nothing is said again.
  open_and_wait(study, "synthetic:clusters?n=12288&d=4&seed=1", 12288);
  CHECK(variants() == quick);
  CHECK(said.size() == 1);
  open_and_wait(study, longer, 512);
  CHECK(variants() == all);
  CHECK(study.waiting_columns().empty());
  CHECK(said.size() == 1);

  // Undo opens the sources as they were, and what waits with them.
  editor.undo();
  REQUIRE(wait_until([&] { return study.length() == 12288; }));
  CHECK(variants() == quick);
  CHECK(study.waiting_columns().size() == 2);
  editor.undo();
  REQUIRE(wait_until([&] { return study.length() == 16384; }));
  editor.undo();
  REQUIRE(wait_until([&] { return study.length() == 96; }));
  CHECK(study.session().columns == columns);
  CHECK(study.waiting_columns().empty());
}

TEST_CASE("a held head waits while heads of other lengths are shown, and knows its source") {
  const Source first = open_source(shorter, {}), second = open_source(longer, {});
  Session before = first_session(first);
  before.columns.push_back(before.columns[1]);
  before.columns.back().held = HeldHead{};
  std::vector<WaitingColumn> waiting;
  const Session next = continued_session(before, 96, second, waiting);
  CHECK(next.columns.size() == before.columns.size() - 1);
  REQUIRE(waiting.size() == 1);
  CHECK(waiting[0].column.held->source == before.source);
  CHECK(continued_session(next, 512, first, waiting).columns == before.columns);
  CHECK(waiting.empty());
}

TEST_CASE("columns of a first look that a long head does not have come back, changed or not") {
  Study study(std::make_unique<CpuLike>());
  open_and_wait(study, shorter, 96);
  const auto first = study.session().columns;
  open_and_wait(study, long_one, 16384);
  REQUIRE(study.session().columns.size() < first.size());
  CHECK(study.waiting_columns().size() == first.size() - study.session().columns.size());
  Session changed = study.session();
  changed.columns[1].seed = 5;
  study.set_session(changed);
  open_and_wait(study, shorter, 96);
  REQUIRE(study.session().columns.size() == first.size());
  for (std::size_t c = 0; c < first.size(); ++c)
    CHECK(study.session().columns[c].variant == first[c].variant);
}

TEST_CASE("a mode that has no causal form stays with a causal head, and says what to choose") {
  Study study(std::make_unique<CpuLike>());
  open(study, longer, {"exact", "hyper"}, {find_view("heatmap")});
  Session session = study.session();
  const Schema& schema = find_variant("hyper").schema;
  set_value(schema, session.columns[1].values, "block", "32");
  set_value(schema, session.columns[1].values, "min_length", "0");
  set_value(schema, session.columns[1].values, "mode", "theory");
  const auto shows = [&](const std::optional<bool>& causal) {
    session.conditions.causal = causal;
    study.set_session(session);
    REQUIRE(wait_until([&] { return study.settled(); }));
    return study.columns()[1].error;
  };
  CHECK(shows({}).empty());
  const std::string error = shows(true);
  CHECK(error.find("mode is 'theory', which has no causal form") != std::string::npos);
  CHECK(error.find("expected mode = practical, or a head without") != std::string::npos);
  CHECK(study.session().columns == session.columns);
  CHECK(shows(false).empty());
  set_value(schema, session.columns[1].values, "mode", "practical");
  CHECK(shows(true).empty());
}

}  // namespace fovea::test
