// Columns that hold a head while another one is opened.
#include "session/held_head.h"

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <set>

#include "io/safetensors_writer.h"
#include "same_values.h"
#include "study/opened.h"
#include "study/session_editor.h"
#include "temporary_directory.h"
#include "views/views.h"

namespace fovea::test {
namespace {

const std::string heads = "synthetic:clusters?n=96&d=8&heads=3&seed=1",
                  other = "synthetic:clusters?n=96&d=16&heads=2&seed=9",
                  other_length = "synthetic:clusters?n=64&d=8&seed=1";

/// Until every column is compared with exact attention of its head.
bool settle(Study& study) {
  return wait_until([&] {
    const auto is_known = [](const ColumnState& column) {
      return column.metrics && !column.stale && column.key.column == without_head(column.column);
    };
    return study.settled() && std::ranges::all_of(study.columns(), is_known);
  });
}

/// What is known of a column once it is there; the numbers of a study that opens the head itself.
struct Known {
  Matrix output;
  double output_error = 0;
  Panel heatmap;
};
Known known_of(const Study& study, std::size_t column) {
  const ColumnState& state = study.columns()[column];
  CAPTURE(state.error);
  REQUIRE(state.computation);
  REQUIRE(state.metrics);
  REQUIRE(study.model()->cells[0][column].panel);
  return {state.computation->output.z, state.metrics->output_rel_fro,
          *study.model()->cells[0][column].panel};
}
Known opened_by_itself(const std::string& source, Index head, const std::string& variant) {
  Study study(std::make_unique<CpuLike>());
  open(study, source, {"exact", variant}, {find_view("heatmap"), find_view("error")});
  Session session = study.session();
  session.head = head;
  study.set_session(session);
  REQUIRE(settle(study));
  return known_of(study, 1);
}
bool operator==(const Known& a, const Known& b) {
  const auto values = [](const Panel& panel) { return std::get<Raster>(panel.body).values; };
  return same_values(a.output, b.output) && a.output_error == b.output_error &&
         same_values(values(a.heatmap), values(b.heatmap));
}

void hold(Study& study, std::size_t column, const HeldHead& held) {
  Session session = study.session();
  session.columns[column].held = held;
  study.set_session(session);
}

}  // namespace

TEST_CASE("a column that holds a head shows that head's numbers, whatever head is opened") {
  Study study(std::make_unique<CpuLike>());
  open(study, heads, {"exact", "h1d", "h1d"}, {find_view("heatmap"), find_view("error")});
  hold(study, 2, {.source = {}, .layer = 0, .head = 1});
  const Known held = opened_by_itself(heads, 1, "h1d");
  for (const Index head : {0, 1, 2}) {
    CAPTURE(head);
    Session session = study.session();
    session.head = head;
    study.set_session(session);
    REQUIRE(settle(study));
    CHECK(known_of(study, 2) == held);
    CHECK(known_of(study, 1) == opened_by_itself(heads, head, "h1d"));
    CHECK((known_of(study, 1) == known_of(study, 2)) == (head == 1));
  }
  CHECK(study.title_of(1) == "H-Transformer-1D");
  CHECK(study.title_of(2) == "H-Transformer-1D, layer 0, head 1");
}

TEST_CASE("an exact column that holds a head is the reference of the columns of that head") {
  Study study(std::make_unique<CpuLike>());
  open(study, heads, {"exact", "exact", "hyper", "hyper"},
       {find_view("heatmap"), find_view("row")});
  hold(study, 1, {.source = {}, .layer = 0, .head = 2});
  hold(study, 3, {.source = {}, .layer = 0, .head = 2});
  REQUIRE(settle(study));
  const auto& model = *study.model();
  CHECK(model.exact_of(0) == 0);
  CHECK(model.exact_of(1) == 1);
  CHECK(model.exact_of(2) == 0);
  CHECK(model.exact_of(3) == 1);
  const auto& columns = study.columns();
  CHECK(study.head_of(columns[3]).exact.computation == columns[1].computation);
  CHECK_FALSE(same_values(columns[0].computation->output.z, columns[1].computation->output.z));
  CHECK(columns[1].metrics->output_rel_fro == 0);
  CHECK(known_of(study, 3) == opened_by_itself(heads, 2, "hyper"));
  // The row view compares with exact attention of the column's own head.
  std::shared_ptr<const RowReading> exact_row;
  QObject::connect(&study, &Study::exact_row_read, [&](const auto& row) { exact_row = row; });
  std::vector<std::shared_ptr<const RowReading>> of;
  for (const int selected : {2, 3}) {
    exact_row = nullptr;
    study.select_column(selected);
    REQUIRE(wait_until([&] { return exact_row && study.settled(); }));
    run_events(50);
    of.push_back(exact_row);
  }
  CHECK_FALSE(of[0]->values == of[1]->values);
}

TEST_CASE("times of a column that holds a head are beside exact attention of that head") {
  // Exact attention of the opened head cannot be computed: its speed-ups would be missing.
  const TemporaryDirectory scratch;
  std::vector<float> values(2 * 96 * 8);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7) / 7;
  std::vector<float> broken = values;
  broken[0] = std::numeric_limits<float>::quiet_NaN();  // in the first head
  const std::string path = scratch / "heads.safetensors";
  write_safetensors(
      path, {{"q", {2, 96, 8}, broken}, {"k", {2, 96, 8}, values}, {"v", {2, 96, 8}, values}}, {});
  Study study(std::make_unique<CpuLike>());
  open(study, path, {"exact", "strided"}, {find_view("heatmap")});
  hold(study, 1, {.source = {}, .layer = 0, .head = 1});
  REQUIRE(wait_until([&] {
    return study.settled() && study.columns()[1].time && study.columns()[1].time->apply_speed_up;
  }));
  // And the held head is shown although the opened one cannot be.
  CHECK(study.model()->cells[0][0].failed);
  CHECK_FALSE(study.model()->cells[0][1].failed);
  CHECK(study.model()->cells[0][1].panel);
}

TEST_CASE("a held head of another file is read beside the opened one, with that file's own scale") {
  Study study(std::make_unique<CpuLike>());
  open(study, heads, {"exact", "h1d"}, {find_view("heatmap"), find_view("error")});
  Session session = study.session();
  session.conditions.scale = 0.5;  // by hand, of the opened source
  session.columns[1].held = HeldHead{other, 0, 1};
  study.set_session(session);
  REQUIRE(settle(study));
  CHECK(known_of(study, 1) == opened_by_itself(other, 1, "h1d"));
  CHECK(study.head_of(study.columns()[1]).problem->scale == doctest::Approx(0.25));
  CHECK(study.head_of(study.columns()[0]).problem->scale == doctest::Approx(0.5));
  const std::string name = study.head_of(study.columns()[1]).source->name;
  CHECK(study.title_of(1) == "H-Transformer-1D, layer 0, head 1 of " + name);
}

TEST_CASE("a held head of another text has the tokens of that text") {
  const TemporaryDirectory directory;
  const auto text = [&](const char* name, const std::string& word) {
    std::string words;
    for (int i = 0; i < 40; ++i) words += word + " ";
    return "content:" + directory.write(name, words);
  };
  const std::string opened = text("opened.txt", "opened"), held = text("held.txt", "holden");
  Study study(std::make_unique<CpuLike>());
  open(study, opened, {"exact", "h1d"}, {find_view("heatmap")});
  Session session = study.session();
  session.columns[1].held = HeldHead{held, 0, 0};
  study.set_session(session);
  REQUIRE(settle(study));
  const CanvasModel& model = *study.model();
  REQUIRE(model.held_sequence.size() == 2);
  CHECK(model.held_sequence[0] == nullptr);
  REQUIRE(model.held_sequence[1]);
  CHECK(model.sequence->tokens[0] == "opened");
  CHECK(model.held_sequence[1]->tokens[0] == "holden");
  CHECK(model.held_key_sequence[1]->tokens[0] == "holden");
  for (const int column : {-1, 0, 7}) CHECK(model.queries_of(column).tokens[0] == "opened");
  CHECK(model.keys_of(1).tokens[0] == "holden");
}

TEST_CASE("opening another source leaves a held column with the head of the one before") {
  Study study(std::make_unique<CpuLike>());
  open(study, heads, {"exact", "h1d", "h1d"}, {find_view("heatmap"), find_view("error")});
  hold(study, 2, {.source = {}, .layer = 0, .head = 1});
  REQUIRE(settle(study));
  const Known held = known_of(study, 2);

  study.open(other);
  REQUIRE(wait_until([&] { return study.source()->path == other; }));
  REQUIRE(study.session().columns.size() == 3);
  CHECK(study.session().columns[2].held == HeldHead{heads, 0, 1});
  REQUIRE(settle(study));
  CHECK(known_of(study, 2) == held);
  CHECK(known_of(study, 1) == opened_by_itself(other, 0, "h1d"));

  // Back again it is a head of the opened source.
  study.open(heads);
  REQUIRE(wait_until([&] { return study.source()->path == heads; }));
  CHECK(study.session().columns[2].held == HeldHead{{}, 0, 1});
  // Other tokens cannot be compared.
  study.open(other_length);
  REQUIRE(wait_until([&] { return study.source()->path == other_length; }));
  CHECK(study.session().columns.size() == 2);
}

TEST_CASE("a held head that cannot be compared says why in its column, and the others go on") {
  const TemporaryDirectory scratch;
  Study study(std::make_unique<CpuLike>());
  open(study, heads, {"exact", "h1d", "h1d"}, {find_view("heatmap"), find_view("error")});
  const auto refused = [&](const HeldHead& held, const std::string& because) {
    CAPTURE(because);
    hold(study, 2, held);
    REQUIRE(wait_until([&] { return study.settled() && study.model()->cells[0][2].failed; }));
    for (const auto& row : study.model()->cells) {
      CHECK(row[2].status.find(because) != std::string::npos);
      CHECK_FALSE(row[1].failed);
      CHECK(row[1].panel);
    }
    CHECK_FALSE(study.columns()[2].time);
  };
  refused({other_length, 0, 0}, "layer 0 has n = 64; expected n = 96, as the opened head has");
  refused({{}, 0, 7}, "head 7; expected 0 to 2");
  refused({{}, 4, 0}, "layer 4; expected 0 to 0");
  refused({scratch / "not-there.npz", 0, 0}, "not-there.npz");
  refused({"synthetic:hmatrix", 0, 0}, "an attention matrix without q and k");
  // What was refused beside one head is opened by itself without an error.
  study.open(other_length);
  REQUIRE(wait_until([&] { return study.length() == 64 && study.settled(); }));
  for (const ColumnState& column : study.columns()) CHECK(column.error.empty());
}

TEST_CASE("a layer of other tokens is opened although it was refused beside another one") {
  const TemporaryDirectory scratch;
  std::vector<OutTensor> tensors;
  for (const auto& [layer, n] : {std::pair{"0.", 32}, {"1.", 48}})
    for (const char* name : {"q", "k", "v"}) {
      std::vector<float> values(std::size_t(n) * 4);
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>((i * 7 + std::size_t(name[0])) % 11) / 11;
      tensors.push_back({layer + std::string(name), {1, n, 4}, values});
    }
  const std::string path = scratch / "layers.safetensors";
  write_safetensors(path, tensors, {});
  Study study(std::make_unique<CpuLike>());
  open(study, path, {"exact", "exact"}, {find_view("heatmap")});
  hold(study, 1, {.source = {}, .layer = 1, .head = 0});
  REQUIRE(wait_until([&] { return study.settled() && study.model()->cells[0][1].failed; }));
  Session session = study.session();
  session.layer = 1;
  study.set_session(session);
  REQUIRE(wait_until([&] { return study.length() == 48 && settle(study); }));
  CHECK(study.columns()[0].error.empty());
  CHECK_FALSE(study.model()->cells[0][0].failed);
  CHECK_FALSE(study.model()->cells[0][1].failed);
}

TEST_CASE("of two long heads exact attention and its map become exact") {
  Study study(std::make_unique<CpuLike>());
  open(study, "synthetic:clusters?n=8208&d=4&heads=2&seed=1", {"exact", "exact"},
       {find_view("heatmap")});
  hold(study, 1, {.source = {}, .layer = 0, .head = 1});
  REQUIRE(wait_until(
      [&] {
        const auto& columns = study.columns();
        return columns[0].computation && columns[0].computation->applied() &&
               columns[1].computation && columns[1].computation->applied() && study.fully_refined();
      },
      120000));
  const auto& columns = study.columns();
  CHECK_FALSE(same_values(columns[0].computation->output.z, columns[1].computation->output.z));
  const auto values = [&](std::size_t column) {
    return std::get<Raster>(study.model()->cells[0][column].panel->body).values;
  };
  CHECK_FALSE(same_values(values(0), values(1)));
}

TEST_CASE(
    "a long head that is opened and held too is computed once, and stays when it is released") {
  Study study(std::make_unique<CpuLike>());
  open(study, "synthetic:clusters?n=8208&d=4&heads=2&seed=1", {"exact", "exact", "h1d"},
       {find_view("heatmap"), find_view("error")});
  for (const std::size_t column : {std::size_t(1), std::size_t(2)})
    hold(study, column, {.source = {}, .layer = 0, .head = 0});
  const auto is_whole = [&](std::size_t column) {
    const auto& its = study.columns()[column].computation;
    return its && its->applied() && its->output.z.row(0) && study.fully_refined();
  };
  REQUIRE(
      wait_until([&] { return is_whole(0) && is_whole(1) && study.columns()[2].metrics; }, 120000));
  CHECK(study.columns()[0].computation == study.columns()[1].computation);
  CHECK(&study.head_of(study.columns()[0]) == &study.head_of(study.columns()[1]));
  // The opened head goes on, in the middle of its computation.
  study.measure_again();
  Session session = study.session();
  session.head = 1;
  study.set_session(session);
  run_events(100);
  hold(study, 1, {.source = {}, .layer = 0, .head = 1});
  REQUIRE(wait_until([&] { return is_whole(0) && is_whole(1); }, 120000));
  CHECK(study.columns()[0].computation == study.columns()[1].computation);
  CHECK(study.columns()[2].key.head.choice.head == 0);
}

TEST_CASE("a held head of another file keeps all that was set for it by hand") {
  // Each setting by itself, off its default, and then all.
  const std::vector<std::function<void(Session&)>> settings{
      [](Session& s) { s.conditions.causal = true; }, [](Session& s) { s.conditions.scale = 0.5; },
      [](Session& s) { s.conditions.window = 9; }, [](Session& s) { s.conditions.soft_cap = 1.5; },
      [](Session& s) {
        s.conditions.causal = true;
        s.conditions.scale = 0.5;
        s.conditions.window = 9;
        s.conditions.soft_cap = 1.5;
      }};
  for (std::size_t set = 0; set < settings.size(); ++set) {
    CAPTURE(set);
    Study study(std::make_unique<CpuLike>());
    open(study, heads, {"exact", "strided", "window"}, {find_view("heatmap"), find_view("error")});
    Session session = study.session();
    settings[set](session);
    study.set_session(session);
    hold(study, 2, {.source = {}, .layer = 0, .head = 1});
    REQUIRE(settle(study));
    const Known before = known_of(study, 2);
    const auto source = study.source();
    study.open(other);
    REQUIRE(wait_until([&] { return study.source()->path == other; }));
    REQUIRE(settle(study));
    CHECK(known_of(study, 2) == before);
    const Problem &held = *study.head_of(study.columns()[2]).problem,
                  &opened = *study.head_of(study.columns()[1]).problem;
    CHECK(held.causal == session.conditions.causal.value_or(false));
    CHECK(held.window == session.conditions.window.value_or(0));
    CHECK_FALSE(opened.causal);
    CHECK(opened.window == 0);
    CHECK(study.head_of(study.columns()[2]).source == source);  // not read again
  }
}

TEST_CASE("two held heads of another file are of one source, read once") {
  Study study(std::make_unique<CpuLike>());
  open(study, heads, {"exact", "h1d", "h1d"}, {find_view("heatmap")});
  hold(study, 1, {.source = other, .layer = 0, .head = 0});
  hold(study, 2, {.source = other, .layer = 0, .head = 1});
  std::set<const Source*> sources;
  REQUIRE(wait_until([&] {
    for (const ColumnState& column : study.columns())
      if (const auto& source = study.head_of(column).source; source && source != study.source())
        sources.insert(source.get());
    return study.settled() && study.columns()[1].metrics && study.columns()[2].metrics;
  }));
  run_events(200);
  for (const std::size_t column : {std::size_t(1), std::size_t(2)})
    sources.insert(study.head_of(study.columns()[column]).source.get());
  CHECK(sources.size() == 1);
}

TEST_CASE("a column that holds a head of another picture has the patches that are chosen") {
  const TemporaryDirectory folder;
  const auto picture = [&](const char* name, int side) {
    std::string bytes = "P5 " + std::to_string(side) + " " + std::to_string(side) + " 255\n";
    for (int i = 0; i < side * side; ++i) bytes.push_back(static_cast<char>(i * 7 % 251));
    return "content:" + folder.write(name, bytes);
  };
  const std::string opened = picture("one.pgm", 32), held = picture("two.pgm", 32),
                    larger = picture("three.pgm", 64);
  Study study(std::make_unique<CpuLike>());
  SessionEditor editor(study);
  open(study, opened, {"exact", "strided"}, {find_view("heatmap")});
  editor.start();
  hold(study, 1, {.source = held, .layer = 0, .head = 0});
  const auto settles = [&] { return wait_until([&] { return study.settled(); }); };
  const auto choose = [&](int patch) {
    editor.choose_patch(patch);
    REQUIRE(wait_until([&] { return study.session().patch == patch && !study.opening(); }));
    REQUIRE(settles());
  };
  for (const int patch : {8, 4, 16, 8}) {  // to sizes that were not read yet, and back
    CAPTURE(patch);
    choose(patch);
    const ColumnState& column = study.columns()[1];
    CHECK(column.error == "");
    REQUIRE(study.head_of(column).problem);
    CHECK(study.head_of(column).problem->keys() == (32 / patch) * (32 / patch));
  }
  // The source that was opened before is kept, but in its own patches.
  open(study, larger, {"exact", "strided"}, {find_view("heatmap")});
  choose(16);
  hold(study, 1, {.source = {}, .layer = 0, .head = 0});
  study.open(opened);
  REQUIRE(wait_until([&] { return study.session().source == opened && !study.opening(); }));
  REQUIRE(study.session().patch == 8);
  REQUIRE(settles());
  CHECK(study.columns()[1].error.find("n = 64; expected n = 16") != std::string::npos);
}

TEST_CASE("law: a head is held beside one of the same lengths alone") {
  const TemporaryDirectory folder;
  const Lengths all[] = {{8, 8}, {8, 12}, {6, 8}};
  std::vector<std::string> paths;
  for (const Lengths lengths : all) {
    std::vector<OutTensor> tensors;
    for (const auto& [name, n] :
         {std::pair{"q", lengths.queries}, {"k", lengths.keys}, {"v", lengths.keys}})
      tensors.push_back(
          {name, {1, n, 2}, std::vector<float>(static_cast<std::size_t>(2 * n), 0.5f)});
    paths.push_back(folder / std::to_string(paths.size()) + ".safetensors");
    write_safetensors(paths.back(), tensors, {});
  }
  for (std::size_t opened = 0; opened < paths.size(); ++opened)
    for (std::size_t held = 0; held < paths.size(); ++held) {
      if (held == opened) continue;
      CAPTURE(all[opened].text());
      CAPTURE(all[held].text());
      Study study(std::make_unique<CpuLike>());
      open(study, paths[opened], {"exact", "exact"}, {find_view("heatmap")});
      hold(study, 1, {.source = paths[held], .layer = 0, .head = 0});
      REQUIRE(wait_until([&] { return study.settled(); }));
      CHECK(study.columns()[0].error == "");
      CHECK(study.columns()[1].error.find(all[held].text() + "; expected " + all[opened].text()) !=
            std::string::npos);
    }
}

TEST_CASE("holding a head and showing one beside it are steps of undo") {
  Study study(std::make_unique<CpuLike>());
  open(study, heads, {"exact", "h1d", "hyper"}, {find_view("heatmap")});
  REQUIRE(settle(study));
  SessionEditor editor(study);
  editor.start();
  study.select_column(1);
  const Session before = study.session();
  editor.add_column_of(0, 2);
  REQUIRE(study.session().columns.size() == 4);
  CHECK(study.session().columns[2].variant == "h1d");
  CHECK(study.session().columns[2].held == HeldHead{{}, 0, 2});
  CHECK(study.selected_column() == 2);
  editor.hold_head(false);
  CHECK_FALSE(study.session().columns[2].held);
  editor.choose_head(0, 1);
  editor.hold_head(true);
  CHECK(study.session().columns[2].held == HeldHead{{}, 0, 1});
  for (int step = 0; step < 4; ++step) editor.undo();
  CHECK(study.session() == before);
}

}  // namespace fovea::test
