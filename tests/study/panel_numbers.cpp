// The numbers of a panel in a file are the panel's: in JSON, in CSV and in NPY, for every body.
#include "report/panel_numbers.h"

#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "data/number_text.h"
#include "evaluate/computation.h"
#include "report/json_output.h"
#include "report/timing_panel.h"
#include "session/session.h"

namespace fovea::test {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// Reads cells without commas.
Rows rows_of(const std::string& csv) {
  Rows rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    auto& row = rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
  }
  return rows;
}

Panel panel_of(auto body) {
  Panel panel{.title = "a column", .subtitle = "block 4", .caption = "what it says"};
  panel.body = std::move(body);
  return panel;
}

/// 2 x 3, no two numbers alike.
Raster raster() {
  Raster raster{.values = Matrix(2, 3), .rows = {4, 6}, .cols = {8, 14}};
  for (Index r = 0; r < 2; ++r)
    for (Index c = 0; c < 3; ++c) raster.values(r, c) = float(10 * r + c) + 0.5f;
  raster.quantity = "weight";
  raster.pooled = Pool::Kind::max;
  raster.row_quantity = "mass dropped";
  raster.row_values = {0.25f, 0.75f};
  return raster;
}

}  // namespace

TEST_CASE("numbers of a raster: every pixel is in JSON, in CSV and in NPY, with its tokens") {
  const Panel panel = panel_of(raster());
  const Document json = numbers_json(panel, {});
  CHECK(json["title"] == "a column");
  CHECK(json["subtitle"] == "block 4");
  CHECK(json["caption"] == "what it says");
  CHECK(json["quantity"] == "weight");
  CHECK(json["queries"] == Document{4, 6});
  CHECK(json["keys"] == Document{8, 14});
  CHECK(json["queries_of_rows"] == Document::parse("[[4,5],[5,6]]"));
  CHECK(json["keys_of_columns"] == Document::parse("[[8,10],[10,12],[12,14]]"));
  CHECK(json["values"] == Document::parse("[[0.5,1.5,2.5],[10.5,11.5,12.5]]"));
  CHECK(json["row_quantity"] == "mass dropped");
  CHECK(json["row_values"] == Document::parse("[0.25,0.75]"));
  const Rows csv = rows_of(numbers_csv(panel, {}));
  REQUIRE(csv.size() == 3);
  CHECK(std::vector(csv[0].begin() + 1, csv[0].end()) ==
        std::vector<std::string>{"8-9", "10-11", "12-13"});
  CHECK(csv[1] == std::vector<std::string>{"4", "0.5", "1.5", "2.5"});
  CHECK(csv[2] == std::vector<std::string>{"5", "10.5", "11.5", "12.5"});
  const std::string npy = numbers_npy(panel);
  CHECK(npy.find("'shape': (2, 3)") != std::string::npos);
  float values[6];
  std::memcpy(values, npy.data() + npy.size() - sizeof values, sizeof values);
  CHECK(std::vector(values, values + 6) == std::vector<float>{0.5, 1.5, 2.5, 10.5, 11.5, 12.5});
  // An array has no words of its own.
  CHECK(words_of_numbers(panel) == "weight of queries 4 to 5 and keys 8 to 13, max of 1 × 2");
}

TEST_CASE("numbers of a rank map: each block has its own tokens, level and rank, in both formats") {
  BlockMap map{.stored = 77, .compression = 1.25, .quantity = "rank"};
  map.map.blocks = {{.rows = {0, 4}, .cols = {5, 9}, .level = 2, .rank = 3},
                    {.rows = {10, 16}, .cols = {17, 24}, .level = 1, .rank = 6}};
  map.map.blocks[1].singular_values = {4, 2};
  const Panel panel = panel_of(map);
  const Document json = numbers_json(panel, {});
  CHECK(json["stored"] == 77);
  CHECK(json["compression"] == 1.25);
  REQUIRE(json["blocks"].size() == 2);
  const Rows csv = rows_of(numbers_csv(panel, {}));
  REQUIRE(csv.size() == 3);
  CHECK(csv[0] == std::vector<std::string>{"query_begin", "query_end", "key_begin", "key_end",
                                           "level", "rank"});
  for (std::size_t b = 0; b < 2; ++b) {
    const RankBlock& block = map.map.blocks[b];
    const Document& said = json["blocks"][b];
    CHECK(said["queries"] == Document{block.rows.begin, block.rows.end});
    CHECK(said["keys"] == Document{block.cols.begin, block.cols.end});
    CHECK(said["level"] == block.level);
    CHECK(said["rank"] == block.rank);
    CHECK(said["singular_values"].size() == block.singular_values.size());
    std::vector<std::string> row;
    for (const Index number : {block.rows.begin, block.rows.end, block.cols.begin, block.cols.end,
                               Index{block.level}, Index{block.rank}})
      row.push_back(std::to_string(number));
    CHECK(csv[b + 1] == row);
  }
}

TEST_CASE("numbers of groups, of a row, of tokens and of a table are the same in both formats") {
  const Panel leaves = panel_of(LeafSizes{.kind = "leaf",
                                          .queries = {3, 5, 7},
                                          .keys = {2, 4, 6},
                                          .branching = {3},
                                          .figures = {{.id = "chi", .value = 1.5}}});
  const Document of_leaves = numbers_json(leaves, {});
  CHECK(of_leaves["group"] == "leaf");
  CHECK(of_leaves["together"] == 1);
  CHECK(of_leaves["queries"] == Document{3, 5, 7});
  CHECK(of_leaves["keys"] == Document{2, 4, 6});
  CHECK(of_leaves["chi"] == 1.5);
  CHECK(rows_of(numbers_csv(leaves, {})) ==
        Rows{{"leaf", "queries", "keys"}, {"0", "3", "2"}, {"1", "5", "4"}, {"2", "7", "6"}});
  const Panel together =
      panel_of(LeafSizes{.kind = "bucket", .queries = {3, 5}, .keys = {2, 4}, .together = 16});
  CHECK(numbers_json(together, {})["together"] == 16);
  CHECK(rows_of(numbers_csv(together, {})) ==
        Rows{{"bucket", "queries", "keys"}, {"0-15", "3", "2"}, {"16-31", "5", "4"}});

  const Panel row = panel_of(RowCurve{.query = 9,
                                      .keys = {20, 22},
                                      .exact = {0.25f, 0.75f},
                                      .approximate = {0.125f, 0.875f},
                                      .top_exact = {{21, 0.75f}},
                                      .top_approximate = {{20, 0.5f}}});
  const Document of_row = numbers_json(row, {});
  CHECK(of_row["query"] == 9);
  CHECK(of_row["keys"] == Document{20, 22});
  CHECK(of_row["exact"] == Document{0.25, 0.75});
  CHECK(of_row["approximate"] == Document{0.125, 0.875});
  CHECK(of_row["top_exact"] == Document::parse("[[21,0.75]]"));
  CHECK(of_row["top_approximate"] == Document::parse("[[20,0.5]]"));
  CHECK(rows_of(numbers_csv(row, {})) ==
        Rows{{"key", "exact", "approximate"}, {"20", "0.25", "0.125"}, {"21", "0.75", "0.875"}});

  const Panel strip = panel_of(Strip{.values = {0.5f, 1.5f},
                                     .quantity = "token error",
                                     .bounds = {2.5f, 3.5f},
                                     .bounds_name = "rounding"});
  const Document of_strip = numbers_json(strip, {});
  CHECK(of_strip["quantity"] == "token error");
  CHECK(of_strip["values"] == Document{0.5, 1.5});
  CHECK(of_strip["bounds"]["name"] == "rounding");
  CHECK(of_strip["bounds"]["values"] == Document{2.5, 3.5});
  CHECK(rows_of(numbers_csv(strip, {})) ==
        Rows{{"token", "token error", "rounding"}, {"0", "0.5", "2.5"}, {"1", "1.5", "3.5"}});

  const Panel table = panel_of(FigureTable{.rows = {{"density", "0.25"}, {"pairs", "17"}}});
  CHECK(numbers_json(table, {})["rows"] ==
        Document::parse(R"([["density","0.25"],["pairs","17"]])"));
  CHECK(rows_of(numbers_csv(table, {})) ==
        Rows{{"what", "value"}, {"density", "0.25"}, {"pairs", "17"}});
}

TEST_CASE("numbers of curves and of a picture are in JSON") {
  SeriesPlot series{.x_label = "n", .y_label = "time"};
  series.series.push_back(
      {.name = "exact", .points = {{.n = 64, .value = 3, .low = 2, .high = 5}}});
  const Document of_series = numbers_json(panel_of(series), {});
  CHECK(of_series["x"] == "n");
  CHECK(of_series["y"] == "time");
  CHECK(of_series["series"][0]["name"] == "exact");
  CHECK(of_series["series"][0]["points"][0] ==
        Document::parse(R"({"x":64,"y":3,"low":2,"high":5})"));
  CurvePlot curves{.x_label = "step", .y_label = "error"};
  curves.curves.push_back({.name = "held out", .points = {{1, 0.5}, {2, 0.25}}});
  curves.curves.push_back({.name = "bars", .points = {{1, 0.5}}, .errors = {0.125}});
  const Document of_curves = numbers_json(panel_of(curves), {});
  CHECK(of_curves["x"] == "step");
  CHECK(of_curves["y"] == "error");
  CHECK(of_curves["curves"][0]["name"] == "held out");
  CHECK(of_curves["curves"][0]["points"] == Document::parse("[[1,0.5],[2,0.25]]"));
  CHECK_FALSE(of_curves["curves"][0].contains("standard_errors"));
  CHECK(of_curves["curves"][1]["standard_errors"] == Document::parse("[0.125]"));
  const Document of_picture =
      numbers_json(panel_of(OutputPicture{.rows = 1, .cols = 2, .rgb = {1, 2, 3, 4, 5, 6}}), {});
  CHECK(of_picture["rows"] == 1);
  CHECK(of_picture["cols"] == 2);
  CHECK(of_picture["rgb"] == Document{1, 2, 3, 4, 5, 6});
}

TEST_CASE("law: each time has its own name, in JSON and in the panel of times") {
  TimedRun run;
  for (const auto& [stage, ms] : {std::pair{"tiles", 3.0}, {"sort", 5.0}}) run.plan.add(stage, ms);
  run.upload.add("pack", 7);
  for (const auto& [stage, ms] : {std::pair{"attend", 11.0}, {"join", 13.0}})
    run.apply.add(stage, ms);
  MeasuredTime time{.timing = summarise(std::vector{run}),
                    .apply_speed_up = speed_up_of({2.0}),
                    .total_speed_up = speed_up_of({4.0}),
                    .exact_total = summary_of("total", {101})};
  time.timing.learning = summary_of("learning", {17});
  const std::map<std::string, double> medians{
      {"plan", 8},   {"plan/tiles", 3},    {"plan/sort", 5},   {"upload", 7}, {"upload/pack", 7},
      {"apply", 24}, {"apply/attend", 11}, {"apply/join", 13}, {"total", 39}, {"learning", 17}};
  const Document json = timing_json(time.timing);
  CHECK(json.size() == medians.size());
  for (const auto& stage : medians) {
    const std::string& name = stage.first;
    CAPTURE(name);
    REQUIRE(json.contains(name));
    CHECK(json[name]["median"] == stage.second);
    CHECK(json[name]["samples"] == 1);
  }
  Computation computation{.variant = &reference_variant(), .backend = "cuda"};
  computation.first_run.apply.add("attend", 203);
  const Panel panel = timing_panel(computation, time);
  std::map<std::string, std::string> rows;
  for (const auto& [label, value] : std::get<FigureTable>(panel.body).rows) rows[label] = value;
  const std::map<std::string, double> shown{{"plan", 8},
                                            {"  tiles", 3},
                                            {"  sort", 5},
                                            {upload_label("cuda"), 7},
                                            {"apply", 24},
                                            {"  attend", 11},
                                            {"  join", 13},
                                            {"total", 39},
                                            {"exact's total, same rounds", 101},
                                            {"first run, cold", 203},
                                            {"learning, in no total", 17}};
  for (const auto& line : shown) {
    CAPTURE(line.first);
    CHECK(rows[line.first] == format_time(line.second));
  }
  CHECK(rows["total, exact / this"] == to_text(*time.total_speed_up));
  CHECK(rows["apply, exact / this"] == to_text(*time.apply_speed_up));
  CHECK(rows.size() == shown.size() + 3);  // and p10 to p90
}

}  // namespace fovea::test
