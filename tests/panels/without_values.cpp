// What the views say of a head of which only queries and keys are known.
#include <doctest/doctest.h>

#include <algorithm>

#include "data/synthetic.h"
#include "panels/head_card.h"
#include "panels/scene.h"
#include "panels/sweep_panels.h"
#include "session/session.h"
#include "sweep/sweeper.h"
#include "views/views.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Problem head_without_values(Index n = 64) {
  const Problem whole = make_data(Data::gaussian, n, 8, 4, false);
  return make_problem(Matrix::copy_of(whole.q), Matrix::copy_of(whole.k), Matrix(n, 0));
}

const std::string& message_of_panel(const Panel& panel) {
  const auto* message = std::get_if<Message>(&panel.body);
  REQUIRE(message);
  return message->text;
}

bool says(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("without values: every view shows what is known, and Output says what is not") {
  for (const char* id : {"exact", "h1d", "hyper", "tf", "tc", "linear", "window"}) {
    CAPTURE(id);
    Scene scene(head_without_values(), id, {});
    for (const View view : all_views()) {
      const Panel panel = scene.panel(view);
      const std::string text = panel.subtitle + panel.caption;
      CAPTURE(text);
      CHECK_FALSE(says(text, "output error"));
      CHECK_FALSE(says(text, "nan"));
      if (view == find_view("output"))
        CHECK(message_of_panel(panel) == "There are no outputs Z = P V: the file has no values v.");
      if (view != find_view("cost")) continue;
      for (const auto& row : std::get<FigureTable>(panel.body).rows) {
        const std::string &label = row.first, &value = row.second;
        CAPTURE(label);
        CHECK_FALSE(says(label, "output"));
        CHECK_FALSE(says(label, "token error"));
        CHECK_FALSE(says(value, "nan"));
        CHECK_FALSE(value.empty());
      }
    }
  }
}

TEST_CASE("without values: a column is headed by the error of its weights") {
  const Scene scene(head_without_values(), "h1d", {{"block", "8"}});
  CHECK(scene.metrics.attention_rel_fro.value > 0);
  const std::string subtitle =
      subtitle_of(find_variant("h1d"), scene.computation.values, false, &scene.metrics);
  CHECK(says(subtitle, "relative attention error"));
  CHECK(says(subtitle, format_number(scene.metrics.attention_rel_fro.value).c_str()));
}

TEST_CASE("without values: the spectral error is left out and says why, its neighbours are there") {
  const Scene scene(head_without_values(), "hyper",
                    {{"block", "8"}, {"samples", "8"}, {"min_length", "1"}});
  const auto found = [&](const char* id) {
    const auto it = std::ranges::find(scene.diagnostics, id, &Diagnostic::id);
    REQUIRE(it != scene.diagnostics.end());
    return *it;
  };
  CHECK(found("spectral_epsilon").left_out);
  CHECK(says(found("spectral_epsilon").meaning, "the file has no values v"));
  CHECK(found("operator_error").value > 0);
  CHECK_FALSE(found("operator_error").left_out);
}

TEST_CASE("without values: a learned tree is the median tree, and a note says why") {
  const Scene scene(head_without_values(), "tf", {{"tree", "learned"}});
  const auto& notes = scene.computation.op->plan().notes;
  CHECK(std::ranges::find(notes, "tree not learned, but median: the file has no values v") !=
        notes.end());
}

TEST_CASE("without values: a card has a picture but no error") {
  Source source = make_synthetic("synthetic:clusters?n=64&d=8");
  source.layers[0].v = {};
  Profile profile;
  Run run{profile};
  const Column column{.variant = "h1d", .values = values_for_length(find_variant("h1d"), 64)};
  const HeadCard card = make_head_card(source, {}, *backends().front(), run);
  CHECK(card.picture.rows() > 0);
  CHECK(card.entropy > 0);
  CHECK_FALSE(head_error(source, {}, column, *backends().front(), run));
}

TEST_CASE("without values: a sweep over n has times and memory, and says why there is no error") {
  const Column column{.variant = "h1d", .values = values_for_length(find_variant("h1d"), 64)};
  Sweeper sweeper(head_without_values(), {column}, {.seconds = 5, .slice_ms = 0, .samples = 1});
  Profile profile;
  Run run{profile};
  while (sweeper.step(*backends().front(), run)) {
  }
  const Sweep& sweep = sweeper.sweep();
  CHECK(sweep.series[1].refusals.empty());
  REQUIRE_FALSE(sweep.series[1].points.empty());
  for (const SweepPoint& point : sweep.series[1].points) {
    CHECK_FALSE(point.error);
    CHECK(point.total.samples > 0);
  }
  const std::vector<Panel> panels = make_panels({.sweep = sweep});
  REQUIRE(panels.size() == 3);
  CHECK(panels[0].title == "Time from Q and K to row sums");
  CHECK(panels[1].title == "Memory beside Q, K, counted");
  CHECK(std::get<SeriesPlot>(panels[2].body).empty ==
        "Output errors are not known: the file has no values v.");
}
