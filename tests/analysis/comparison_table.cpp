// Measures of several settings beside each other, and how they are copied.
#include "analysis/comparison_table.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

using namespace fovea;

namespace {

const ComparisonTable::Row& row_of(const ComparisonTable& table, const std::string& id) {
  const auto it =
      std::ranges::find(table.rows, id, [](const auto& row) { return row.measure->id; });
  REQUIRE(it != table.rows.end());
  return *it;
}

struct Example {
  Cost exact{.multiply_adds = 1000, .bytes = 10, .exact_multiply_adds = 1000},
      cheap{.multiply_adds = 100, .bytes = 10, .exact_multiply_adds = 1000};
  Metrics near, far;
  MeasuredTime time;
  ComparisonTable table;

  Example() {
    near.rows = far.rows = near.queries = far.queries = 100;
    near.token_error.resize(100);
    far.token_error.resize(100);
    near.output_rel_fro = 0.1;
    near.mass_kept = {0.9, 0};
    near.attention_kl = {{std::numeric_limits<double>::infinity(), 0}, 12};
    far.output_rel_fro = 0.5;
    far.mass_kept = {0.4, 0.01};
    far.attention_kl = near.attention_kl;
    time.timing.total = {"total", 2, 1, 3, 9};
    time.total_speed_up = SpeedUp{.median = 2.5, .interval = {{2, 3}}, .samples = 9};
    table =
        comparison_table({"Exact", "A_1", "B"}, {{.cost = &exact},
                                                 {.cost = &cheap, .metrics = &near},
                                                 {.cost = &cheap, .metrics = &far, .time = &time}});
  }
};

}  // namespace

TEST_CASE("the best of a row is marked, whichever way is better") {
  const Example example;
  const auto best = [&](const std::string& id) {
    std::string out;
    for (const auto& cell : row_of(example.table, id).cells) out += cell.best ? '*' : '-';
    return out;
  };
  CHECK(best("output_rel_fro") == "-*-");
  CHECK(best("mass_kept") == "-*-");
  CHECK(best("multiply_adds") == "-**");
  CHECK(best("bytes") == "---");         // all are equal
  CHECK(best("attention_kl") == "---");  // all are infinite
  CHECK(best("density") == "---");       // neither way is better
  CHECK(row_of(example.table, "total_speed_up").cells[2].text == "2.5 × (2.0 – 3.0)");
  CHECK(row_of(example.table, "total_ms").cells[0].text.empty());
  CHECK(row_of(example.table, "output_rel_fro").cells[0].text.empty());  // the reference
  CHECK(std::ranges::none_of(example.table.rows, [](const auto& row) {
    return row.measure->id == "learning_ms";  // nothing learns
  }));
}

TEST_CASE("columns are ordered by a measure, the best first") {
  const Example example;
  const auto order = [&](const std::string& id) {
    return order_by(example.table,
                    std::size_t(&row_of(example.table, id) - example.table.rows.data()));
  };
  CHECK(order("output_rel_fro") == std::vector<std::size_t>{1, 2, 0});
  CHECK(order("mass_kept") == std::vector<std::size_t>{1, 2, 0});
  CHECK(order("multiply_adds") == std::vector<std::size_t>{1, 2, 0});
  CHECK(order("total_ms") == std::vector<std::size_t>{2, 0, 1});
}

TEST_CASE("a table is copied as text, Markdown and LaTeX") {
  const Example example;
  const std::string text = to_text(example.table, TableFormat::text),
                    markdown = to_text(example.table, TableFormat::markdown),
                    latex = to_text(example.table, TableFormat::latex);
  CHECK(text.starts_with("\tExact\tA_1\tB\n"));
  CHECK(text.find("relative output error\t\t0.1*\t0.5\n") != std::string::npos);
  CHECK(markdown.starts_with("|  | Exact | A\\_1 | B |\n|---|---:|---:|---:|\n"));
  CHECK(markdown.find("| relative output error |  | **0.1** | 0.5 |\n") != std::string::npos);
  CHECK(latex.starts_with(
      "\\begin{tabular}{lrrr}\n\\toprule\n & Exact & A\\_1 & B \\\\\n\\midrule\n"));
  CHECK(latex.find("relative output error &  & \\textbf{0.1} & 0.5 \\\\\n") != std::string::npos);
  CHECK(latex.find("KL($P$") == std::string::npos);
  CHECK(latex.find("KL(exact $\\|$ approximate), nats &  & $\\infty$ in 12 rows") !=
        std::string::npos);
  CHECK(latex.find("token error, 90 \\%") != std::string::npos);
  // A ratio need not be that of the medians beside it.
  const std::string foot = std::string(speed_ups_note) + "\n";
  CHECK(latex.ends_with("\\end{tabular}\n% " + foot));
  CHECK(markdown.ends_with("|\n\n" + foot));
  CHECK(text.ends_with("\n" + foot));
  // Whatever is in LaTeX's tables is one line a measure.
  CHECK(std::ranges::count(latex, '\n') == std::ssize(example.table.rows) + 7);
  // Without ratios nothing is said of them.
  ComparisonTable errors = example.table;
  std::erase_if(errors.rows,
                [](const auto& row) { return row.measure->unit == Measure::Unit::times; });
  CHECK(to_text(errors, TableFormat::latex).ends_with("\\end{tabular}\n"));
}

TEST_CASE("what is found from sampled rows says of how many") {
  Metrics metrics;
  metrics.token_error.resize(4096);
  metrics.queries = 4096;
  metrics.rows = 512;
  metrics.attention_tv_p90 = {0.25, 0.01};
  metrics.attention_tv_max = 0.5;
  metrics.attention_kl = {{std::numeric_limits<double>::infinity(), 0}, 511, {0.998, 0.002}};
  const auto said = [&](const std::string& id) {
    const auto measure = std::ranges::find(measures(), id, &Measure::id);
    return to_text(*measure, *measure->of({.metrics = &metrics}));
  };
  CHECK(said("attention_kl") == "∞ in ≈ 99.8 % ± 0.2 % of rows");
  CHECK(said("attention_tv_p90") == "0.25 ± 0.01 from 512 sampled");
  CHECK(said("attention_tv_max") == "0.5 of 512 sampled");
  CHECK(said("row_rel_error_max") == "0");  // outputs are compared in all rows
  metrics.rows = 4096;
  CHECK(said("attention_kl") == "∞ in 511 rows");
  CHECK(said("attention_tv_max") == "0.5");
}
