// The attention between groups of tokens: what is found, of which column, when, and spans that are
// named by hand.
#include <doctest/doctest.h>

#include "study/background.h"
#include "study/continued_session.h"
#include "study/opened.h"
#include "study/session_editor.h"
#include "views/views.h"

namespace fovea::test {
namespace {

const std::string text = "content:" + std::string(FOVEA_ASSETS) + "/text/fovea.txt";

/// The reading of what is chosen now.
std::shared_ptr<const SpanReading> reading_of(Study& study) {
  const auto there = [&] {
    const SpanReadings::State& state = study.spans();
    return study.settled() && state.reading && !state.stale && state.status.empty();
  };
  run_events(1);
  REQUIRE(wait_until(there));
  return study.spans().reading;
}

void choose(Study& study, SpanChoice choice, std::vector<Span> spans = {}) {
  Session session = study.session();
  session.span_choice = choice;
  session.spans = std::move(spans);
  study.set_session(session);
}

bool same_numbers(const SpanMass& a, const SpanMass& b) {
  return std::ranges::equal(a.cells, b.cells, [](const auto& x, const auto& y) {
    return x.exact.value == y.exact.value && x.approximate.value == y.approximate.value &&
           x.exact.standard_error == y.exact.standard_error;
  });
}

/// As it is found without a study.
SpanMass mass_of(const Study& study, int column, const Grouping& queries, const Grouping& keys) {
  Profile profile;
  Run run{profile, {}};
  return span_mass(*study.columns()[std::size_t(column)].computation->op,
                   *study.exact()->computation->op, queries, keys, run);
}

std::vector<std::string> names_of(const std::vector<TokenGroup>& groups) {
  std::vector<std::string> names;
  for (const TokenGroup& group : groups) names.push_back(group.name);
  return names;
}

}  // namespace

TEST_CASE("the mass between the parts of a text is that of span_mass, of the selected column") {
  Study study(make_low_priority_backend({.backend = "cpu"}));
  open(study, text, {"exact", "h1d", "strided"}, {find_view("heatmap")});
  study.select_column(1);
  study.want_spans(true);
  const auto reading = reading_of(study);
  const Index n = study.length();
  const Grouping parts = grouping_of_spans(n, marked_spans(study.source()->sequence));
  REQUIRE(parts.count() > 2);
  CHECK(names_of(reading->queries) == parts.names);
  CHECK(names_of(reading->keys) == parts.names);
  CHECK(same_numbers(reading->mass, mass_of(study, 1, parts, parts)));
  CHECK(study.spans().title == "H-Transformer-1D");
  REQUIRE(reading->keys[0].tokens);
  CHECK(reading->keys[0].count == reading->keys[0].tokens->size());

  study.select_column(2);
  CHECK(same_numbers(reading_of(study)->mass, mass_of(study, 2, parts, parts)));
  study.select_column(0);
  CHECK(same_numbers(reading_of(study)->mass, mass_of(study, 0, parts, parts)));
  CHECK(study.spans().reference);
}

TEST_CASE("sinks are keys, of queries in the parts, in the named spans, or all") {
  Study study(make_low_priority_backend({.backend = "cpu"}));
  open(study, text, {"exact", "h1d"}, {find_view("heatmap")});
  study.want_spans(true);
  choose(study, SpanChoice::sinks);
  const Sequence& sequence = study.source()->sequence;
  const Grouping sinks = standard_sinks(study.length(), sequence);
  auto reading = reading_of(study);
  CHECK(names_of(reading->keys) == sinks.names);
  CHECK(names_of(reading->queries) ==
        grouping_of_spans(study.length(), marked_spans(sequence)).names);
  CHECK(reading->keys[0].tokens == IndexRange{0, 1});
  CHECK_FALSE(reading->keys.back().tokens);  // the others lie apart
  choose(study, SpanChoice::sinks, {{"title", {0, 9}}});
  reading = reading_of(study);
  CHECK(names_of(reading->queries) == std::vector<std::string>{"title", "other tokens"});
  CHECK(names_of(reading->keys) == sinks.names);
  CHECK(same_numbers(reading->mass,
                     mass_of(study, study.selected_column(),
                             grouping_of_spans(study.length(), study.session().spans), sinks)));

  open(study, small, {"exact", "h1d"}, {find_view("heatmap")});
  choose(study, SpanChoice::sinks);
  reading = reading_of(study);
  CHECK(names_of(reading->queries) == std::vector<std::string>{"all tokens"});
  CHECK(names_of(reading->keys) == std::vector<std::string>{"first token", "other tokens"});
}

TEST_CASE("a new name is shown without computing anything, other tokens are computed") {
  Study study(make_low_priority_backend({.backend = "cpu"}));
  open(study, small, {"exact", "h1d"}, {find_view("heatmap")});
  study.want_spans(true);
  choose(study, SpanChoice::named, {{"a", {0, 10}}, {"b", {20, 30}}});
  const auto before = reading_of(study);
  choose(study, SpanChoice::named, {{"A", {0, 10}}, {"b", {20, 30}}});
  const auto renamed = reading_of(study);
  const std::vector<std::string> names{"A", "b", "other tokens"};
  CHECK(names_of(renamed->queries) == names);
  CHECK(names_of(renamed->keys) == names);
  CHECK(same_numbers(renamed->mass, before->mass));
  int times = 0;
  QObject::connect(&study, &Study::spans_read, &study, [&] { ++times; });
  study.hover(3, 4, 1);
  run_events(100);
  CHECK(times == 0);  // the same table is not sent again
  choose(study, SpanChoice::parts);
  REQUIRE(wait_until([&] { return !study.spans().reading; }));
  choose(study, SpanChoice::named, {{"A", {0, 11}}, {"c", {20, 30}}});
  const auto moved = reading_of(study);
  CHECK(moved->keys[0].tokens == IndexRange{0, 11});
  CHECK_FALSE(same_numbers(moved->mass, before->mass));
}

TEST_CASE("nothing is measured while nobody looks, and a sentence says why there is no table") {
  Study study(make_low_priority_backend({.backend = "cpu"}));
  study.want_spans(true);
  open(study, small, {"exact", "h1d"}, {find_view("heatmap")});
  const auto says = [&](const std::string& words) {
    const bool said =
        wait_until([&] { return study.spans().status.find(words) != std::string::npos; });
    CHECK_MESSAGE(said, study.spans().status);
    CHECK_FALSE(study.spans().reading);
  };
  says("Nothing marks the parts");
  choose(study, SpanChoice::named);
  says("No span is named yet");
  choose(study, SpanChoice::named,
         {{"far", {100, 129}}});  // of a session whose file is shorter now
  says("“far” ends at token 128, but the last one is 127.");
  std::vector<Span> many;
  open(study, "synthetic:clusters?n=512&d=8&seed=1", {"exact", "h1d"}, {find_view("heatmap")});
  for (Index i = 0; i < 129; ++i) many.push_back({std::to_string(i), {i, i + 1}});
  choose(study, SpanChoice::named, many);
  says("There are 129 spans");
  study.want_spans(false);
  choose(study, SpanChoice::sinks);
  REQUIRE(wait_until([&] { return study.settled(); }));
  run_events(200);
  CHECK_FALSE(study.spans().reading);
  study.want_spans(true);
  CHECK(reading_of(study)->keys[0].name == "first token");
}

TEST_CASE("a long head is sampled, and its table does not wait for exact attention") {
  Study study(make_low_priority_backend({.backend = "cpu"}));
  open(study, "synthetic:clusters?n=16384&d=8&seed=1", {"exact", "h1d"}, {find_view("cost")});
  study.want_spans(true);
  choose(study, SpanChoice::named, {{"begin", {0, 100}}});
  REQUIRE(wait_until([&] { return study.spans().reading != nullptr; }));
  const SpanMass& mass = study.spans().reading->mass;
  CHECK(mass.sampled);
  CHECK(mass.rows[0] == 100);
  CHECK(mass.rows[1] < 16284);
  CHECK(mass(1, 0).exact.standard_error > 0);
  CHECK(mass(1, 0).exact.value + mass(1, 1).exact.value == doctest::Approx(1).epsilon(1e-4));
}

TEST_CASE("spans are named, changed and removed, each a step of undo, or refused with a reason") {
  Study study(make_low_priority_backend({.backend = "cpu"}));
  open(study, small, {"exact", "h1d"}, {find_view("heatmap")});
  SessionEditor editor(study);
  editor.start();
  const auto spans = [&] { return study.session().spans; };
  CHECK(editor.name_span({"late", {64, 128}}).empty());
  CHECK(editor.name_span({"early", {0, 8}}).empty());
  CHECK(spans() == std::vector<Span>{{"early", {0, 8}}, {"late", {64, 128}}});
  CHECK(editor.name_span({"more", {100, 129}}) ==
        "“more” ends at token 128, but the last one is 127");
  CHECK(editor.name_span({"more", {7, 9}}) == "“early” and “more” overlap at token 7");
  CHECK(editor.change_span(0, {"early", {60, 65}}) == "“early” and “late” overlap at token 64");
  CHECK(spans().size() == 2);
  CHECK(editor.change_span(1, {"question", {64, 70}}).empty());
  CHECK(spans()[1] == Span{"question", {64, 70}});
  editor.remove_span(0);
  editor.remove_span(7);
  CHECK(spans() == std::vector<Span>{{"question", {64, 70}}});
  editor.choose_spans(SpanChoice::named);
  editor.undo();
  CHECK(study.session().span_choice == SpanChoice::parts);
  editor.undo();
  CHECK(spans().size() == 2);
  editor.undo();
  CHECK(spans()[1] == Span{"late", {64, 128}});
  editor.undo();
  editor.undo();
  CHECK(spans().empty());
  CHECK_FALSE(editor.can_undo());
  editor.redo();
  CHECK(spans().size() == 1);
}

TEST_CASE("named spans stay with the same tokens and end with others") {
  Study study(make_low_priority_backend({.backend = "cpu"}));
  SessionEditor editor(study);
  QObject::connect(&study, &Study::opened, &editor, &SessionEditor::start);
  const auto open_next = [&](const std::string& what, Index n) {
    study.open(what);
    REQUIRE(wait_until([&] { return study.length() == n && !study.opening(); }));
    return study.session().spans.size();
  };
  open(study, text, {"exact", "h1d"}, {find_view("heatmap")});
  const Index n = study.length();
  choose(study, SpanChoice::named, {{"title", {0, 9}}});
  CHECK(open_next(text, n) == 1);
  CHECK(study.session().span_choice == SpanChoice::named);
  if (editor.can_undo()) editor.undo();  // to the columns of a first look
  CHECK(study.session().spans.size() == 1);
  CHECK(open_next(small, 128) == 0);
  choose(study, SpanChoice::named, {{"begin", {0, 9}}});
  CHECK(open_next("synthetic:clusters?n=128&d=16&seed=2", 128) == 1);  // of no text: as many tokens
  CHECK(open_next("synthetic:clusters?n=64&d=16&seed=2", 64) == 0);
}

TEST_CASE("named spans belong to the texts of their tokens, or to so many in the same grid") {
  const auto of = [](Index n, std::vector<std::string> tokens, std::optional<ImageGrid> grid = {}) {
    Layer layer;
    layer.q = layer.k = layer.v = make_head_tensor({Matrix(n, 2)});
    Source source;
    source.layers = {layer};
    source.sequence = {std::move(tokens), grid};
    return source;
  };
  Session session;
  session.spans = {{"begin", {0, 2}}};
  const auto stay = [&](const Source& before, const Source& next) {
    return continued_spans(session, before, {}, next).size() == 1;
  };
  const Source text_of_three = of(3, {"a", "b", "c"});
  CHECK(stay(text_of_three, of(3, {"a", "b", "c"})));
  CHECK_FALSE(stay(text_of_three, of(3, {"a", "b", "d"})));
  CHECK_FALSE(stay(text_of_three, of(4, {"a", "b", "c"})));
  CHECK_FALSE(stay(text_of_three, of(3, {})));
  CHECK(stay(of(4, {}), of(4, {})));
  CHECK_FALSE(stay(of(4, {}), of(5, {})));
  CHECK_FALSE(stay(of(4, {}, ImageGrid{2, 2}), of(4, {}, ImageGrid{4, 1})));
}

}  // namespace fovea::test
