// What the window shows of a column is what the command line computes, bit for bit.
#include <doctest/doctest.h>

#include "cli/program.h"
#include "report/json_output.h"
#include "study/background.h"
#include "study/opened.h"

namespace fovea::test {

TEST_CASE("the figures of a column in the window are those of fovea compute") {
  Study study(make_low_priority_backend({.backend = "cpu"}));
  std::vector<std::string> ids;
  for (const Variant& variant : variants()) ids.push_back(variant.id);
  open(study, bundled, ids, {View::heatmap});
  Session session = study.session();
  session.layer = 2;
  session.head = 3;
  study.set_session(session);
  REQUIRE(wait_until([&] {
    return std::ranges::all_of(study.columns(), [&](const ColumnState& column) {
      return !column.error.empty() || (column.metrics && column.diagnostics && !column.stale);
    });
  }));
  for (const ColumnState& column : study.columns()) {
    CAPTURE(column.column.variant);
    REQUIRE(column.error == "");
    const nlohmann::json said =
        document_of({"compute", bundled, "--layer", "2", "--head", "3", "--variant",
                     column.column.variant, "--backend", "cpu", "--json"})["metrics"][0];
    nlohmann::json shown =
        nlohmann::json::parse(text_of(metrics_json(*column.metrics, *column.diagnostics)));
    shown["head"] = 3;
    CHECK(shown == said);
  }
}

}  // namespace fovea::test
