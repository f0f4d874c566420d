// What is read of a head beside its panels: pairs, rows, rectangles, cards, and what the canvas
// says of them.
#include <doctest/doctest.h>

#include "study/background.h"
#include "study/opened.h"
#include "views/views.h"

namespace fovea::test {
namespace {

/// What a Study has read last.
struct Read {
  std::shared_ptr<const PairReading> pair;
  std::shared_ptr<const RowReading> row, exact_row;
  std::shared_ptr<const SelectionReading> selection;

  explicit Read(Study& study) {
    QObject::connect(&study, &Study::pair_read, &study, [this](auto reading) { pair = reading; });
    QObject::connect(&study, &Study::row_read, &study, [this](auto reading) { row = reading; });
    QObject::connect(&study, &Study::exact_row_read, &study,
                     [this](auto reading) { exact_row = reading; });
    QObject::connect(&study, &Study::selection_read, &study,
                     [this](auto reading) { selection = reading; });
  }
};

bool says_error(const Study& study) {
  return study.model()->column_subtitles[1].find("output error") != std::string::npos;
}

}  // namespace

TEST_CASE("law: a panel of one query shows the weights of the query that it names") {
  Study study(make_low_priority_backend({.backend = "cpu"}));
  open(study, small, {"exact", "h1d", "hyper"}, {find_view("row")});
  Read read(study);
  const auto check = [&](Index query) {
    CAPTURE(query);
    const auto of_query = [&] {
      for (const CanvasCell& cell : study.model()->cells[0]) {
        const auto* row = cell.panel ? std::get_if<RowCurve>(&cell.panel->body) : nullptr;
        if (!row || row->query != query || !cell.status.empty()) return false;
      }
      return study.settled();
    };
    REQUIRE(wait_until(of_query));
    for (std::size_t c = 0; c < study.columns().size(); ++c) {
      CAPTURE(c);
      const auto& row = std::get<RowCurve>(study.model()->cells[0][c].panel->body);
      Profile profile;
      Run run{profile};
      const auto weights = [&](const ColumnState& of) {
        return of.computation->op->tile({query, query + 1}, {0, 128}, run);
      };
      const Matrix exact = weights(*study.exact()), p = weights(study.columns()[c]);
      for (Index j = 0; j < 128; ++j) {
        const auto at = static_cast<std::size_t>(j);
        // The row may be summed in another order: some roundings of a number below 1.
        CHECK(row.exact[at] == doctest::Approx(exact(0, j)).epsilon(1e-5));
        CHECK(row.approximate[at] == doctest::Approx(p(0, j)).epsilon(1e-5));
      }
    }
  };
  // Nothing is chosen: the panels show the middle, while the worst query's keys are listed.
  study.select_column(2);
  REQUIRE(wait_until([&] { return read.row && study.worst_query(); }));
  REQUIRE(*study.worst_query() != 64);
  check(64);
  study.hover(40, 90, 1);
  check(40);
}

TEST_CASE("what is pointed at and selected is read, of the selected column and of exact") {
  Study study(make_low_priority_backend({.backend = "cpu"}));
  open(study, small, {"exact", "h1d"}, {find_view("heatmap")});
  Read read(study);
  study.hover(40, 90, 1);
  study.select({0, 128}, {0, 128});
  REQUIRE(wait_until([&] {
    return read.pair && read.row && read.row->query == 40 && read.exact_row && read.selection;
  }));
  CHECK(read.pair->query == 40);
  CHECK(read.pair->key == 90);
  CHECK(read.row->values.size() == 128);
  CHECK(read.row->values != read.exact_row->values);
  // Every row of P sums to 1: 128 float additions err by less than 1e-4.
  CHECK(read.selection->exact_mass.value == doctest::Approx(1).epsilon(1e-4));
  study.hover(40, 91, 1);
  REQUIRE(wait_until([&] { return read.pair && read.pair->key == 91; }));
  // One entry and a row may be summed in another order: some roundings of a number below 1.
  CHECK(read.pair->exact == doctest::Approx(double(read.exact_row->values[91])).epsilon(1e-5));
  CHECK(read.pair->approximate == doctest::Approx(double(read.row->values[91])).epsilon(1e-5));
  study.select({0, 128}, {0, 64});
  REQUIRE(wait_until([&] { return read.selection && read.selection->cols == IndexRange{0, 64}; }));
  CHECK(read.selection->exact_mass.value < 0.9);
  study.select_column(0);
  REQUIRE(wait_until([&] { return read.row->values == read.exact_row->values; }));
}

TEST_CASE("the row view shows the query that is pointed at") {
  Study study(make_low_priority_backend({.backend = "cpu"}));
  open(study, small, {"exact", "h1d"}, {find_view("row")});
  REQUIRE(wait_until([&] { return study.settled(); }));
  study.hover(17, 3, 0);
  CHECK(wait_until([&] {
    const auto& panel = study.model()->cells[0][1].panel;
    return std::get<RowCurve>(panel->body).query == 17;
  }));
}

TEST_CASE("cards are of their own heads, with the error of the selected column") {
  Study study(make_low_priority_backend({.backend = "cpu"}));
  open(study, "synthetic:clusters?n=64&d=8&heads=2&seed=1", {"exact", "h1d", "strided"},
       {find_view("heatmap")});
  study.select_column(1);
  study.choose_cards({{0, 0}, {0, 1}});
  REQUIRE(wait_until([&] { return study.head_error(0, 0) && study.head_error(0, 1); }));
  const auto zero = study.card(0, 0), one = study.card(0, 1);
  CHECK(zero->head == 0);
  CHECK(one->head == 1);
  CHECK(zero->entropy != one->entropy);
  const auto error = study.head_error(0, 0);
  CHECK(error != study.head_error(0, 1));
  study.select_column(2);
  CHECK(study.card(0, 0) == zero);  // another variant has other errors, and the same picture
  REQUIRE(wait_until([&] { return study.head_error(0, 0).has_value(); }));
  CHECK(study.head_error(0, 0) != error);
  study.select_column(0);
  CHECK_FALSE(study.head_error(0, 0));
  CHECK(study.missing_head_errors() == 0);
}

TEST_CASE("cards are made in the order in which heads were chosen, and errors before late cards") {
  Study study(make_low_priority_backend({.backend = "cpu"}));
  open(study, "synthetic:clusters?n=64&d=8&heads=4&seed=1", {"exact", "h1d"},
       {find_view("heatmap")});
  study.select_column(1);
  REQUIRE(wait_until([&] { return study.settled(); }));
  std::vector<std::string> made;
  QObject::connect(&study, &Study::cards_changed, &study, [&] {
    for (const Index head : {0, 1, 2, 3})
      for (const auto& [there, what] : {std::pair{study.card(0, head) != nullptr, "card "},
                                        {study.head_error(0, head).has_value(), "error "}}) {
        const std::string name = what + std::to_string(head);
        if (there && std::ranges::find(made, name) == made.end()) made.push_back(name);
      }
  });
  study.choose_cards({{0, 2}, {0, 0}, {0, 3}}, 1);
  CHECK(study.missing_cards() == 3);
  CHECK(study.missing_head_errors() == 3);
  REQUIRE(wait_until([&] { return study.missing_cards() + study.missing_head_errors() == 0; }));
  REQUIRE(wait_until([&] { return made.size() == 6; }));
  // Those of one kind may come together.
  std::sort(made.begin() + 1, made.begin() + 4);
  std::sort(made.begin() + 4, made.end());
  CHECK(made ==
        std::vector<std::string>{"card 2", "error 0", "error 2", "error 3", "card 0", "card 3"});
  CHECK_FALSE(study.card(0, 1));  // nobody chose it
}

TEST_CASE("output errors are those of the parameters that are shown") {
  Study study(std::make_unique<SlowBinding>());
  open(study, small, {"exact", "hyper"}, {find_view("heatmap"), find_view("error")});
  REQUIRE(wait_until([&] { return study.settled() && says_error(study); }));
  const auto& cells = study.model()->cells;
  CHECK(cells[1][1].token_errors);
  CHECK_FALSE(cells[0][1].token_errors);  // the strip is beside error maps alone
  int stale = 0, wrong = 0;
  QObject::connect(&study, &Study::model_changed, &study, [&] {
    stale += study.columns()[1].stale;
    wrong += study.columns()[1].stale && says_error(study);
  });
  set_seed(study, 1, 7);
  REQUIRE(wait_until([&] { return stale > 0 && study.settled() && says_error(study); }));
  CHECK(wrong == 0);
}

TEST_CASE("a selection is shown at its queries and keys") {
  Study study(make_low_priority_backend({.backend = "cpu"}));
  open(study, small, {"exact"}, {find_view("heatmap")});
  study.select({2, 5}, {7, 9});
  REQUIRE(wait_until([&] { return study.model() && study.model()->selection; }));
  CHECK(study.model()->selection->first == IndexRange{2, 5});
  CHECK(study.model()->selection->second == IndexRange{7, 9});
}

}  // namespace fovea::test
