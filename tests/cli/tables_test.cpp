// Tables have the numbers of the documents that the same commands write as JSON.
#include <doctest/doctest.h>

#include <sstream>

#include "analysis/head_measures.h"
#include "cli/program.h"
#include "cli/reports/interaction_report.h"
#include "messages.h"
#include "report/text_table.h"
#include "tiny_text_model.h"

using namespace fovea;
using namespace fovea::test;

namespace {

using Strings = std::vector<std::string>;
using nlohmann::json;

/// What `fovea heads` prints.
struct Printed {
  json document;
  Strings names;  // of the columns
  std::vector<Strings> rows;

  Printed(const Strings& source, const Strings& more) {
    Strings words{"heads"};
    for (const Strings& part : {source, more, {"--backend", "cpu"}})
      words.insert(words.end(), part.begin(), part.end());
    Strings as_json = words, as_csv = words;
    as_json.push_back("--json");
    as_csv.push_back("--csv");
    document = document_of(as_json);
    const Ended csv = run_program(as_csv);
    REQUIRE(csv.status == 0);
    std::istringstream lines(csv.out);
    for (std::string line; std::getline(lines, line);) rows.push_back(cells_of(line));
    names = rows.front();
    rows.erase(rows.begin());
    REQUIRE(rows.size() == document["heads"].size());
    for (const Strings& row : rows) REQUIRE(row.size() == names.size());
  }

  /// Commas between quotes belong to a cell.
  static Strings cells_of(const std::string& line) {
    Strings cells(1);
    bool quoted = false;
    for (const char c : line)
      if (c == '"')
        quoted = !quoted;
      else if (c == ',' && !quoted)
        cells.emplace_back();
      else
        cells.back() += c;
    return cells;
  }
};

void check_cell(const std::string& cell, const json& expected) {
  if (expected.is_string())
    CHECK(cell == expected);
  else if (expected.is_null())
    CHECK(cell.empty());
  else if (expected.is_boolean())
    CHECK(cell == std::string(expected ? "true" : "false"));
  else
    CHECK(std::stod(cell) == doctest::Approx(double(expected)).epsilon(1e-12));
}

}  // namespace

TEST_CASE("law: every cell of heads --csv is the value of that name in the document") {
  const std::string drawn = "synthetic:clusters?n=40&d=8&heads=3&seed=1";
  const Strings sources[] = {
      {drawn}, {drawn, "--causal"}, {drawn, "--causal", "--scale", "0.3", "--seed", "4"}};
  const Strings budgets[] = {{"--within", "0.05"}, {"--within", "0.5"}, {"--cost", "0.3"}};
  const Strings variants{"--variant", "h1d", "--variant", "window", "--variant", "moba"};
  for (const Strings& source : sources)
    for (const Strings& budget : budgets) {
      Strings more = variants;
      more.insert(more.end(), budget.begin(), budget.end());
      CAPTURE(source);
      CAPTURE(budget);
      const Printed printed(source, more);
      CHECK(printed.names.size() == 12);
      for (std::size_t h = 0; h < printed.rows.size(); ++h) {
        const json& head = printed.document["heads"][h];
        for (std::size_t c = 0; c < printed.names.size(); ++c) {
          const std::string& name = printed.names[c];
          CAPTURE(name);
          REQUIRE(head.contains(name));
          if (name != "parameters")
            check_cell(printed.rows[h][c], head[name]);
          else
            for (const auto& [id, value] : head[name].items())
              CHECK(contains(printed.rows[h][c], id + "="));
        }
      }
    }
}

TEST_CASE("law: every cell of heads --measures --csv is the number of that name in the document") {
  const TinyTextModel model;
  const TemporaryDirectory folder;
  folder.write("1.txt", "the cat sat a b c the cat");
  folder.write("2.txt", "a a a b b b");
  folder.write("3.txt", "t");
  const Strings sources[] = {{"synthetic:clusters?n=40&d=8&heads=3&seed=1", "--causal"},
                             {"synthetic:gaussian?n=1540&d=2"},  // whose rank has a standard error
                             {model.folder(), "--text", "the cat sat a b c the cat"},
                             {model.folder(), "--input", folder.path()}};
  for (const Strings& source : sources) {
    CAPTURE(source);
    const Printed printed(source, {"--measures"});
    CHECK(printed.names.size() == 4 + 2 * head_measures().size());
    for (std::size_t h = 0; h < printed.rows.size(); ++h) {
      const json& head = printed.document["heads"][h];
      for (std::size_t c = 0; c < printed.names.size(); ++c) {
        const std::string& name = printed.names[c];
        CAPTURE(name);
        json expected = head.value(name, json());
        if (name == "inputs") expected = printed.document["inputs"].size();
        // A number of all rows has no standard error in the document, and 0 in the table.
        const std::size_t error = name.find("_standard_error");
        if (error != name.npos && !head.contains(name) && !head[name.substr(0, error)].is_null())
          expected = 0;
        check_cell(printed.rows[h][c], expected);
      }
    }
  }
}

TEST_CASE("law: a table of a terminal has rows that end before its last column") {
  std::ostringstream out;
  print(out, TextTable{{"<name", "one", "two"}, {{"a"}, {"b", "10"}, {"c", "1", "200"}}});
  CHECK(out.str() ==
        "  name  one  two\n"
        "  a\n"
        "  b      10\n"
        "  c       1  200\n");
}

TEST_CASE("the report of waiting times has the median, the 99th of a hundred and the longest") {
  InteractionFigures figures;
  for (int i = 1; i <= 101; ++i) figures.hover_ms.push_back(i);
  std::ostringstream out;
  print(out, figures);
  CHECK(contains(out.str(), format_time(51) + ", p99 " + format_time(100) + ", longest " +
                                format_time(101) + " (101)"));
  CHECK(contains(out.str(), "not measured"));
}
