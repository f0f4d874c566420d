// Results of a sweep that something else has written or changed become trials, or are left out.
#include "batch/results_trials.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace fovea;

namespace {

std::vector<Trial> trials_of_row(const std::string& more) {
  ResultsTable table("p", 1);
  table.add("r.jsonl", R"({"item":0,"plan":"p","error":null,)" + more + "}");
  return trials_of(table);
}

}  // namespace

TEST_CASE("a row of results is left out where its variant is not known, or is no text") {
  CHECK(trials_of_row(R"("variant":"exact","head":3)").size() == 1);
  for (const char* variant : {"\"other\"", "0", "null", "true"})
    CHECK(trials_of_row("\"variant\":" + std::string(variant)).empty());
}

TEST_CASE("what a row has of another type is as if it were not there") {
  const auto plain = trials_of_row(R"("variant":"exact")");
  REQUIRE(plain.size() == 1);
  for (const char* key : {"layer", "head", "n", "causal", "source", "runs", "slow_machine"}) {
    CAPTURE(key);
    const auto odd = trials_of_row(R"("variant":"exact",")" + std::string(key) + R"(":null)");
    REQUIRE(odd.size() == 1);
    CHECK(odd[0].layer == plain[0].layer);
    CHECK(odd[0].head == plain[0].head);
    CHECK(odd[0].n == plain[0].n);
    CHECK(odd[0].causal == plain[0].causal);
    CHECK(!odd[0].time);
  }
}

TEST_CASE("a row with more runs than an int can count has a million") {
  const auto trials = trials_of_row(R"("variant":"exact","runs":9007199254740993)");
  REQUIRE(trials.size() == 1);
  REQUIRE(trials[0].time);
  CHECK(trials[0].time->timing.total.samples == 1000000);
  CHECK(!trials_of_row(R"("variant":"exact","runs":-1)")[0].time);
}

TEST_CASE("runs over seeds have the median of each measure, and the fewest runs") {
  const auto row = [](int item, int seed, int runs, const std::string& error, bool slow) {
    return R"({"item":)" + std::to_string(item) +
           R"(,"plan":"p","error":null,"variant":"exact","seed":)" + std::to_string(seed) +
           R"(,"runs":)" + std::to_string(runs) + R"(,"output_rel_fro":)" + error +
           R"(,"slow_machine":)" + (slow ? "true" : "false") + "}";
  };
  const auto output_error = [](const Trial& trial) {
    const auto at = std::ranges::find(measures(), "output_rel_fro", &Measure::id);
    return trial.measured[std::size_t(at - measures().begin())];
  };
  for (const bool descending : {false, true}) {
    CAPTURE(descending);
    ResultsTable table("p", 3);
    const int runs[] = {9, 3, 7};
    const char* const errors[] = {"0.5", "0.125", "0.25"};
    for (int seed = 0; seed < 3; ++seed) {
      const int at = descending ? 2 - seed : seed;
      table.add("r.jsonl", row(seed, seed, runs[at], errors[at], at == 0));
    }
    const auto trials = trials_of(table);
    REQUIRE(trials.size() == 1);
    REQUIRE(trials[0].time);
    CHECK(trials[0].time->timing.total.samples == 3);
    CHECK(trials[0].time->slow);
    REQUIRE(output_error(trials[0]));
    CHECK(output_error(trials[0])->value == 0.25);
  }
}

TEST_CASE("law: rows that differ in anything but the seed are trials of their own") {
  const std::string same = R"("source":"a","layer":1,"head":1,"variant":"window","set.width":2)";
  const std::pair<const char*, const char*> others[] = {
      {R"("source":"a")", R"("source":"b")"},
      {R"("layer":1)", R"("layer":2)"},
      {R"("head":1)", R"("head":2)"},
      {R"("variant":"window","set.width":2)", R"("variant":"exact")"},
      {R"("set.width":2)", R"("set.width":3)"},
      {"", R"("seed":1,)"}};
  for (const auto& [part, instead] : others) {
    const std::string by = instead;
    CAPTURE(by);
    std::string other = same;
    other.replace(same.find(part), std::string(part).size(), by);
    ResultsTable table("p", 2);
    table.add("r.jsonl", R"({"item":0,"plan":"p","error":null,)" + same + "}");
    table.add("r.jsonl", R"({"item":1,"plan":"p","error":null,)" + other + "}");
    CHECK(trials_of(table).size() == (*part ? 2 : 1));
  }
}
