// What the views say of a head with rows that are not finite: never that an error is 0.
#include "evaluate/not_finite.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "messages.h"
#include "panels/error_kind.h"
#include "panels/readings.h"
#include "panels/scene.h"
#include "views/parts.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();

/// Query 5 holds NaN.
Problem with_a_nan() {
  const Problem clean = make_data(Data::gaussian, 40, 4, 4, false);
  Matrix q = Matrix::copy_of(clean.q);
  q(5, 1) = quiet_nan;
  return make_problem(std::move(q), Matrix::copy_of(clean.k), Matrix::copy_of(clean.v));
}

/// Every query holds NaN.
Problem all_nan() {
  const Problem clean = make_data(Data::gaussian, 40, 4, 4, false);
  Matrix q(40, 4);
  for (Index i = 0; i < q.rows(); ++i) std::fill_n(q.row(i), 4, quiet_nan);
  return make_problem(std::move(q), Matrix::copy_of(clean.k), Matrix::copy_of(clean.v));
}

std::string message_in(const Panel& panel) {
  const auto* message = std::get_if<Message>(&panel.body);
  return message ? message->text : "";
}

}  // namespace

TEST_CASE("the error of exact attention is zero only in the rows that are finite") {
  Scene some(with_a_nan(), "exact", {}), none(all_nan(), "exact", {});
  for (const View view : {find_view("error"), find_view("output")}) {
    const Panel panel = some.panel(view);
    CHECK(message_in(panel) == "zero by definition in the 39 rows that are finite");
    CHECK(contains(
        panel.caption,
        "NaN or Inf in 1 output row of Exact: the input holds them, or numbers beyond 1e14, in q"));
    CHECK(message_in(none.panel(view)) == "not defined: no row is finite");
    CHECK(contains(none.panel(view).caption,
                   "NaN or Inf in 40 output rows of Exact: the input holds them, or numbers beyond "
                   "1e14, in q"));
  }
}

TEST_CASE("where no pixel is a finite number the colours go from 0 to 1") {
  Scene scene(all_nan(), "window", {});
  for (const char* kind : {"absolute", "squared", "log10"}) {
    CAPTURE(kind);
    set_value(scene.settings, "error", kind);
    const Panel panel = scene.panel(find_view("error"));
    CHECK(std::get<Raster>(panel.body).low == 0);
    CHECK(std::get<Raster>(panel.body).high == 1);
  }
}

TEST_CASE("panels name the rows that are not finite, and print no NaN") {
  for (const char* id : {"exact", "h1d", "fixed", "hyper", "tf", "linear", "window"})
    for (const Problem& problem : {with_a_nan(), all_nan()}) {
      Scene scene(problem, id, {});
      CAPTURE(id);
      for (const View view : all_views()) {
        const Panel panel = scene.panel(view);
        std::string text = panel.subtitle + panel.caption + message_in(panel);
        if (const auto* table = std::get_if<FigureTable>(&panel.body))
          for (const auto& [label, value] : table->rows) text += label + value;
        CAPTURE(text);
        CHECK_FALSE(contains(text, "nan"));
        if (view == find_view("error") || view == find_view("output"))
          CHECK(contains(text, "NaN or Inf in "));
      }
    }
  Scene scene(with_a_nan(), "fixed", {{"stride", "8"}, {"summary", "2"}});
  const Panel output = scene.panel(find_view("output"));
  CHECK(contains(output.subtitle, "relative output error not defined"));
  CHECK(contains(output.caption, "largest "));
  CHECK(contains(output.caption, "not defined in 1 row"));
  CHECK(contains(scene.panel(find_view("error")).caption, ", not defined in 1 row"));
}

TEST_CASE("maps mark a query that is not a number, and no other") {
  const Problem clean = make_data(Data::gaussian, 40, 4, 4, false);
  const Index bad = 7;
  Matrix q = Matrix::copy_of(clean.q);
  std::fill_n(q.row(bad), 4, quiet_nan);
  const Problem problem =
      make_problem(std::move(q), Matrix::copy_of(clean.k), Matrix::copy_of(clean.v));
  for (const std::string id : {"exact", "fixed", "window", "hyper", "tc"})
    for (const Index pixels : {40, 16}) {
      CAPTURE(id);
      CAPTURE(pixels);
      Scene scene(problem, id,
                  id == "hyper" ? Settings{{"min_length", "1"}, {"block", "8"}} : Settings{});
      const bool of_logits = id != "tc";  // whose weights depend on the tree alone
      CHECK(scene.exact.not_finite.rows == 1);
      CHECK(scene.computation.not_finite.rows == (of_logits ? 1 : 0));
      for (const View view : {find_view("heatmap"), find_view("error")}) {
        if (view == find_view("error") && id == "exact") continue;  // a message
        const Panel panel = scene.panel(view, {0, 40}, {0, 40}, pixels);
        REQUIRE(std::holds_alternative<Raster>(panel.body));
        const Matrix& values = std::get<Raster>(panel.body).values;
        REQUIRE(values.rows() <= pixels);
        const bool whole_row =
            view == find_view("error") || id == "exact";  // else that of its keys
        for (Index r = 0; r < values.rows(); ++r) {
          const bool marked =
              (of_logits || view == find_view("error")) && r == bad * values.rows() / 40;
          Index found = 0;
          for (Index c = 0; c < values.cols(); ++c) found += std::isnan(values(r, c));
          CHECK((found > 0) == marked);
          CHECK((!marked || !whole_row || found == values.cols()));
        }
      }
    }
}

TEST_CASE("a note says how much the weights of large logits are rounded, and that is a bound") {
  for (const double logit : {1e4, 1e5, 1e6, 1e7}) {
    CAPTURE(logit);
    const Problem clean = make_data(Data::gaussian, 40, 4, 4, false);
    Matrix q(40, 4), k(40, 4);
    for (Index i = 0; i < 40; ++i) {
      std::fill_n(q.row(i), 4, static_cast<float>(std::sqrt(logit / 4)));
      std::fill_n(k.row(i), 4, static_cast<float>(std::sqrt(logit / 4)));
    }
    const Problem problem = make_problem(std::move(q), std::move(k), Matrix::copy_of(clean.v), 1);
    Scene scene(problem, "exact", {});
    const std::string note = note_of_numbers(scene.exact);
    CAPTURE(note);
    CHECK(note.empty() == (logit < 4e4));
    if (logit == 1e5)
      CHECK(note == "logits near 10⁵: weights of Exact in fp32 are rounded by up to 1.2 %");
    Run run{scene.profile};
    const Matrix row = scene.exact.op->tile({3, 4}, {0, 40}, run);
    const double sum = std::accumulate(row.row(0), row.row(0) + 40, 0.0),
                 error = std::expm1(2 * logit * 0x1p-24);
    // And the roundings of exp2.
    CHECK(std::abs(sum - 1) <= error + 1e-5);
    if (logit == 1e7) CHECK(std::abs(sum - 1) > 0.005);
  }
}

TEST_CASE("a row of which one weight is NaN has no largest, and no weight over its largest") {
  Matrix pixels(2, 3);
  pixels(0, 0) = pixels(1, 0) = 0.5f;
  pixels(1, 2) = quiet_nan;
  const ViewSettings settings{.norm = Norm::row_max};
  const views::MatrixFrame frame{views::Grid({0, 2}, {0, 3}, 16), settings, nullptr};
  const Raster raster = views::weight_raster({std::move(pixels), {}}, {0.5f, quiet_nan}, frame);
  CHECK(raster.values(0, 0) == 1);
  CHECK(std::isnan(raster.values(1, 0)));
}

TEST_CASE("one row that is not finite does not hide the mass that the others drop") {
  Scene scene(with_a_nan(), "fixed", {{"stride", "8"}, {"summary", "2"}});
  const Panel panel = scene.panel(find_view("mask"));
  CHECK(contains(panel.caption, "mass dropped: not defined · strip: of finite rows, most "));
  CHECK(std::get<Raster>(panel.body).row_values.size() == 40);
}

TEST_CASE("NaN stays NaN under a logarithm and in the largest weight of a selection") {
  CHECK(std::isnan(logged(double{quiet_nan})));
  CHECK(logged(0) == -12);
  CHECK(std::isnan(error_of(double{quiet_nan}, 0, ErrorKind::log10_absolute)));
  Scene scene(with_a_nan(), "fixed", {});
  Run run{scene.profile};
  const SelectionReading reading =
      read_selection(scene.computation, scene.exact, {4, 7}, {0, 40}, run);
  CHECK(std::isnan(reading.exact_max));
  CHECK(std::isnan(reading.approximate_max));
}

TEST_CASE("a row without keys is finite, and without values P is what is looked at") {
  const Scene scene(make_data(Data::gaussian, 3, 4, 2, false), "exact", {});
  Output output{.z = Matrix(3, 2), .lse = {0, -std::numeric_limits<float>::infinity(), 1}};
  const auto count = [&] { return find_not_finite(scene.exact, output).rows; };
  CHECK(count() == 0);
  output.z(2, 1) = quiet_nan;
  CHECK(count() == 1);
  output.z = Matrix(3, 0);
  CHECK(count() == 0);
  output.lse[0] = quiet_nan;
  CHECK(count() == 1);
}
