// What the window shows of a column is what the command line computes, bit for bit.
#include <doctest/doctest.h>

#include "cli/program.h"
#include "report/json_output.h"
#include "study/background.h"
#include "study/opened.h"
#include "views/views.h"

namespace fovea::test {

namespace {

/// Holds each column of the study, once it is complete, against `fovea compute` with `head`.
void check_columns(Study& study, const std::vector<std::string>& head, Index number) {
  REQUIRE(wait_until(
      [&] {
        return std::ranges::all_of(study.columns(), [&](const ColumnState& column) {
          return !column.error.empty() || (column.metrics && column.diagnostics && !column.stale);
        });
      },
      120000));
  for (const ColumnState& column : study.columns()) {
    CAPTURE(column.column.variant);
    REQUIRE(column.error == "");
    std::vector<std::string> words{"compute"};
    words.insert(words.end(), head.begin(), head.end());
    words.insert(words.end(), {"--variant", column.column.variant, "--backend", "cpu", "--json"});
    const nlohmann::json said = document_of(words)["metrics"][0];
    nlohmann::json shown =
        nlohmann::json::parse(text_of(metrics_json(*column.metrics, *column.diagnostics)));
    shown["head"] = number;
    CHECK(shown == said);
  }
}

}  // namespace

TEST_CASE("the figures of a column in the window are those of fovea compute") {
  Study study(make_low_priority_backend({.backend = "cpu"}));
  std::vector<std::string> ids;
  for (const Variant& variant : variants())
    if (variant.has_bidirectional_form()) ids.push_back(variant.id);
  open(study, bundled, ids, {find_view("heatmap")});
  Session session = study.session();
  session.layer = 2;
  session.head = 3;
  study.set_session(session);
  check_columns(study, {bundled, "--layer", "2", "--head", "3"}, 3);
}

TEST_CASE("the figures of a head of which rows are sampled are those of fovea compute, too") {
  const std::string long_head = "synthetic:clusters?n=8400&d=4&seed=1";
  Study study(make_low_priority_backend({.backend = "cpu"}));
  open(study, long_head, {"h1d", "strided", "hyper"}, {find_view("heatmap")});
  check_columns(study, {long_head}, 0);
  for (const ColumnState& column : study.columns()) CHECK(column.metrics->sampled());
}

}  // namespace fovea::test
