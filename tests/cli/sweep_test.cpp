// fovea sweep from end to end: results that survive, shards, several processes at once.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "cli/program.h"
#include "full_disk.h"
#include "io/safetensors_writer.h"
#include "messages.h"

using namespace fovea::test;

namespace {

using nlohmann::json;

std::vector<std::string> lines_of(const std::string& path) {
  std::istringstream in(read_bytes(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The rows by item, without what differs from run to run.
std::map<int, json> rows_of(const std::string& path) {
  std::map<int, json> rows;
  for (const std::string& line : lines_of(path)) {
    json row = json::parse(line);
    for (const char* key :
         {"total_ms", "apply_ms", "learning_ms", "total_speed_up", "apply_speed_up", "total_ms_p10",
          "total_ms_p90", "exact_total_ms", "runs", "slow_machine", "cold", "process"})
      row.erase(key);
    const int item = row["item"];
    CHECK(!rows.contains(item));
    rows[item] = row;
  }
  return rows;
}

/// Two heads, five settings, two seeds: 20 items.
std::string small_plan(const TemporaryDirectory& scratch) {
  const json plan{{"sources", {bundled, "synthetic:clusters?n=256&d=16"}},
                  {"layers", {0}},
                  {"heads", {0}},
                  {"variants",
                   {"exact",
                    {{"variant", "hyper"}, {"set", {{"block", {16, 32}}, {"min_length", 1}}}},
                    {{"variant", "h1d"}, {"set", {{"block", {8, 16}}}}}}},
                  {"seeds", {0, 1}},
                  {"threads", 1},
                  {"rounds", 1}};
  return scratch.write("plan.json", plan.dump());
}

/// Some seconds of work: one head, 40 items of some 50 ms each.
std::string long_plan(const TemporaryDirectory& scratch) {
  json blocks = json::array();
  for (int block = 16; block < 16 + 40; ++block) blocks.push_back(2 * block);
  const json plan{{"sources", {"synthetic:clusters?n=512&d=64"}},
                  {"variants", {{{"variant", "hyper"}, {"set", {{"block", blocks}}}}}},
                  {"threads", 1},
                  {"rounds", 0}};
  return scratch.write("long.json", plan.dump());
}

std::size_t wait_for_lines(const std::string& path, std::size_t count) {
  for (int tries = 0; tries < 3000; ++tries) {
    const std::string text = read_bytes(path);
    const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
    if (lines >= count) return lines;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  FAIL("no results in ", path);
  return 0;
}

}  // namespace

TEST_CASE("sweep: every item is a row with what compute reports") {
  const TemporaryDirectory scratch;
  const std::string plan = small_plan(scratch), results = scratch / "r";
  const Ended dry = run_program({"sweep", plan, "--dry-run"});
  check_says(dry.out, {"20 items on 2 heads", "0: " + bundled + " layer0, head 0: exact, seed 0"});
  const Ended ended = run_program({"sweep", plan, "-o", results, "--plot",
                                   "multiply_adds:output_rel_fro", "--figure", scratch / "f.svg"});
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  check_says(ended.out, {"20 results in " + results + "/results.csv"});
  check_says(ended.err, {"20 of 20 items"});
  check_says(read_bytes(scratch / "f.svg"), {"HyperAttention", "multiply-adds", "20 items"});
  const auto rows = rows_of(results + "/results.jsonl");
  REQUIRE(rows.size() == 20);
  const json computed =
      document_of({"compute", bundled, "--variant", "hyper", "--set", "block=32", "--set",
                   "min_length=1", "--seed", "1", "--head", "0", "--threads", "1", "--json"});
  bool found = false;
  for (const auto& [item, row] : rows) {
    CHECK(row["error"].is_null());
    CHECK(row["version"].is_string());
    if (row["source"] != bundled || row["variant"] != "hyper" || row["set.block"] != 32 ||
        row["seed"] != 1)
      continue;
    found = true;
    const json& metrics = computed["metrics"][0];
    CHECK(row["output_rel_fro"] == metrics["output_rel_fro"]);
    CHECK(row["row_rel_error_p90"] == metrics["row_rel_error"]["p90"]);
    CHECK(row["attention_tv"] == metrics["attention_tv"]["mean"]);
    CHECK(row["attention_kl_infinite_rows"] == metrics["attention_kl"]["infinite_rows"]);
    CHECK(row["top8_recall"] == metrics["top8_recall"]);
    CHECK(row["alpha"] == metrics["alpha"]);  // of its paper
    CHECK(row["n"] == computed["n"]);
  }
  CHECK(found);
  const auto table = lines_of(results + "/results.csv");
  REQUIRE(table.size() == 21);
  CHECK(table[0].starts_with("item,source,layer,layer_name,head,n,d,dv,causal,variant,set."));
  CHECK(table[0].ends_with(",version,plan,error"));
}

TEST_CASE("sweep: a line cut short is computed again, and only that") {
  const TemporaryDirectory scratch;
  const std::string plan = small_plan(scratch), results = scratch / "r",
                    journal = results + "/results.jsonl";
  REQUIRE(run_program({"sweep", plan, "-o", results}).status == 0);
  const std::string whole = read_bytes(journal);
  const auto before = rows_of(journal);
  write_bytes(journal, whole.substr(0, whole.size() - 40));
  const Ended ended = run_program({"sweep", plan, "-o", results});
  CAPTURE(ended.err);
  CHECK(ended.status == 0);
  check_says(ended.err,
             {"results.jsonl ends with a row that was written only in part", "19 of 20 items"});
  CHECK(rows_of(journal) == before);
  // All rows but the one that was lost are the old ones, with their times.
  CHECK(read_bytes(journal).starts_with(whole.substr(0, whole.rfind("{\"item\""))));
  // Nothing is left to do.
  const std::string now = read_bytes(journal);
  CHECK(run_program({"sweep", plan, "-o", results}).status == 0);
  CHECK(read_bytes(journal) == now);
}

TEST_CASE("sweep: shards make the same rows as the whole run, and a merge says what is missing") {
  const TemporaryDirectory scratch;
  const std::string plan = small_plan(scratch), whole = scratch / "w", parts = scratch / "p";
  REQUIRE(run_program({"sweep", plan, "-o", whole}).status == 0);
  REQUIRE(run_program({"sweep", plan, "-o", parts, "--shard", "2/2"}).status == 0);
  CHECK(lines_of(parts + "/results.shard-2-of-2.jsonl").size() == 10);
  const Ended half = run_program({"sweep", "--merge", parts});
  CHECK(half.status == 0);
  check_says(half.out, {"10 results in", "10 items missing"});
  REQUIRE(run_program({"sweep", plan, "-o", parts, "--shard", "1/2"}).status == 0);
  // A shard that was computed twice, on another machine for example.
  write_bytes(parts + "/results.shard-1-of-7.jsonl",
              read_bytes(parts + "/results.shard-1-of-2.jsonl"));
  const Ended merged = run_program({"sweep", "--merge", parts, "--plot", "samples:output_rel_fro",
                                    "--figure", scratch / "f.png"});
  CHECK(merged.status == 2);
  check_says(merged.err, {"H-Transformer-1D (h1d) has no such parameter"});
  REQUIRE(run_program({"sweep", "--merge", parts, "--plot", "block:output_rel_fro", "--figure",
                       scratch / "f.png"})
              .status == 0);
  CHECK(read_bytes(scratch / "f.png").starts_with("\x89PNG"));
  CHECK(rows_of(parts + "/results.jsonl") == rows_of(whole + "/results.jsonl"));
  CHECK(lines_of(parts + "/results.csv").size() == 21);
}

TEST_CASE("sweep: results of another plan are refused, in the folder and in a merge") {
  const TemporaryDirectory scratch;
  const std::string plan = small_plan(scratch), results = scratch / "r";
  REQUIRE(run_program({"sweep", plan, "-o", results, "--shard", "1/2"}).status == 0);
  json other = json::parse(read_bytes(plan));
  other["seeds"] = {7};
  const std::string another = scratch.write("other.json", other.dump());
  const Ended ended = run_program({"sweep", another, "-o", results});
  CHECK(ended.status == 3);
  check_says(ended.err, {results, "another plan", "choose another folder with -o"});
  REQUIRE(run_program({"sweep", another, "-o", scratch / "s", "--shard", "2/2"}).status == 0);
  write_bytes(results + "/results.shard-2-of-2.jsonl",
              read_bytes(scratch / "s/results.shard-2-of-2.jsonl"));
  const Ended merged = run_program({"sweep", "--merge", results});
  CHECK(merged.status == 3);
  check_says(merged.err, {"results.shard-2-of-2.jsonl line 1", "expected results of one plan"});
}

TEST_CASE("sweep: an item that fails is recorded and passed over, and can be tried again") {
  const TemporaryDirectory scratch;
  const json plan{{"sources", {"synthetic:gaussian?n=64&d=8"}},
                  {"variants", {"exact", "kde", "h1d"}},
                  {"causal", true},
                  {"rounds", 0}};
  const std::string path = scratch.write("p.json", plan.dump()), results = scratch / "r";
  const Ended ended = run_program({"sweep", path, "-o", results});
  CHECK(ended.status == 5);
  check_says(ended.err, {"1 of 3 items failed", "--retry-failed"});
  check_says(ended.out, {"3 results", "1 of them failed"});
  auto rows = rows_of(results + "/results.jsonl");
  REQUIRE(rows.size() == 3);
  CHECK(rows[0]["error"].is_null());
  CHECK(contains(rows[1]["error"], "causal"));
  CHECK(!rows[1].contains("output_rel_fro"));
  CHECK(rows[2]["output_rel_fro"] > 0);
  CHECK(!rows[2].contains("total_ms"));
  // Again: nothing is computed, or only what failed.
  const Ended again = run_program({"sweep", path, "-o", results});
  CHECK(again.status == 5);
  check_says(again.err, {"3 of 3 items"});
  const Ended retried = run_program({"sweep", path, "-o", results, "--retry-failed"});
  CHECK(retried.status == 5);
  check_says(retried.err, {"2 of 3 items"});
  CHECK(rows_of(results + "/results.jsonl") == rows);
}

TEST_CASE("sweep: a head that cannot be computed fails alone") {
  const TemporaryDirectory scratch;
  std::vector<float> numbers(2 * 8 * 4, 0.5f);
  numbers.back() = std::nanf("");
  std::vector<fovea::OutTensor> tensors;
  for (const char* name : {"q", "k", "v"}) tensors.push_back({name, {2, 8, 4}, numbers});
  write_safetensors(scratch / "nan.safetensors", tensors, {});
  const json plan{{"sources", {scratch / "nan.safetensors"}}, {"variants", {"exact", "h1d"}}};
  const std::string path = scratch.write("p.json", plan.dump()), results = scratch / "r";
  CHECK(run_program({"sweep", path, "-o", results}).status == 5);
  const auto rows = rows_of(results + "/results.jsonl");
  REQUIRE(rows.size() == 4);
  for (const int item : {0, 1}) CHECK(rows.at(item)["error"].is_null());
  for (const int item : {2, 3}) CHECK(contains(rows.at(item)["error"], "NaN"));
}

TEST_CASE("sweep: two processes share one head, and what a killed one had begun is done again") {
  const TemporaryDirectory scratch;
  const std::string plan = long_plan(scratch), results = scratch / "r",
                    journal = results + "/results.jsonl";
  const std::vector<std::string> arguments{"sweep", plan, "-o", results};
  Running first(arguments), second(arguments);
  wait_for_lines(journal, 5);
  first.signal(SIGKILL);
  CHECK(first.wait().killed_by == SIGKILL);
  const Ended ended = second.wait();
  CAPTURE(ended.err);
  CHECK(ended.status == 0);
  check_says(ended.out, {"40 results"});
  CHECK(rows_of(journal).size() == 40);  // each once
  std::set<int> processes;
  for (const std::string& line : lines_of(journal))
    processes.insert(json::parse(line)["process"].get<int>());
  CHECK(processes.size() == 2);
  const TemporaryDirectory other;
  REQUIRE(run_program({"sweep", plan, "-o", other / "r"}).status == 0);
  CHECK(rows_of(journal) == rows_of(other / "r/results.jsonl"));
}

TEST_CASE("sweep: Ctrl-C keeps what is done, and the same command goes on") {
  const TemporaryDirectory scratch;
  const std::string plan = long_plan(scratch), results = scratch / "r",
                    journal = results + "/results.jsonl";
  const std::vector<std::string> arguments{"sweep", plan, "-o", results};
  Running program(arguments);
  wait_for_lines(journal, 3);
  program.signal(SIGINT);
  const Ended ended = program.wait();
  CHECK(ended.status == 130);
  check_says(ended.err, {"of 40 items are kept in " + results});
  const std::string kept = lines_of(journal).front();
  const auto count = rows_of(journal).size();
  CHECK(count >= 3);
  CHECK(count < 40);
  const Ended again = run_program(arguments);
  CHECK(again.status == 0);
  check_says(again.err, {std::to_string(count) + " of 40 items"});
  CHECK(rows_of(journal).size() == 40);
  CHECK(lines_of(journal).front() == kept);
}

TEST_CASE("sweep: with a full disk the old rows stay, it says so, and goes on later") {
  const TemporaryDirectory scratch;
  const std::string plan = small_plan(scratch), results = scratch / "r",
                    journal = results + "/results.jsonl";
  const std::vector<std::string> arguments{"sweep", plan, "-o", results};
  const Ended ended = [&] {
    const FullDisk full(8000);
    return run_program(arguments);
  }();
  CHECK(ended.status == 4);
  check_says(ended.err, {"results.jsonl cannot be written: File too large",
                         "are kept in " + results, "the same command goes on"});
  const std::string kept = read_bytes(journal);
  CHECK(kept.size() > 1000);
  CHECK(kept.ends_with("}\n"));
  CHECK(run_program(arguments).status == 0);
  CHECK(read_bytes(journal).starts_with(kept));
  CHECK(rows_of(journal).size() == 20);
}

TEST_CASE(
    "sweep: what is wrong on the command line or in the plan is said before anything is made") {
  const TemporaryDirectory scratch;
  const std::string plan = small_plan(scratch), results = scratch / "r";
  const auto refuse = [&](std::vector<std::string> arguments, int status, const std::string& says) {
    arguments.insert(arguments.begin(), "sweep");
    const Ended ended = run_program(arguments);
    CAPTURE(ended.err);
    CHECK(ended.status == status);
    CHECK(ended.out.empty());
    check_says(ended.err, {says});
    CHECK(!std::filesystem::exists(results));
  };
  refuse({}, 2, "PLAN.json is missing");
  refuse({plan}, 2, "-o FOLDER is missing");
  refuse({plan, "-o", results, "--shard", "3/2"}, 2, "--shard 3/2; expected I/N");
  refuse({plan, "--merge", results}, 2, "--merge");
  refuse({"--merge", results}, 3, "no plan.json");
  refuse({plan, "-o", results, "--plot", "a:b"}, 2, "belong together");
  refuse({plan, "-o", results, "--plot", "a", "--figure", scratch / "f.svg"}, 2, "expected X:Y");
  refuse({plan, "-o", results, "--plot", "bytes:speed", "--figure", scratch / "f.svg"}, 2,
         "--plot speed; expected one of");
  refuse({plan, "-o", results, "--plot", "bytes:output_rel_fro", "--figure", "f.jpg"}, 2, ".png");
  refuse({scratch / "none.json", "-o", results}, 3, "none.json");
  const std::string bad = scratch.write("b.json", R"({"sources": ["x"], "variants": ["h2d"]})");
  refuse({bad, "-o", results}, 3, "b.json: variants[0]: unknown variant");
  const std::string file = scratch.write("file", "");
  refuse({plan, "-o", file}, 4, file + " cannot be made");
}

TEST_CASE("sweep: what this machine does not have is refused before anything is written") {
  const TemporaryDirectory scratch;
  const json plan{{"sources", {"synthetic:golden"}},
                  {"variants", {"exact"}},
                  {"backend", "cpu"},
                  {"precision", "bf16"}};
  const std::string path = scratch.write("p.json", plan.dump()), results = scratch / "r";
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--dry-run"}, {"-o", results}}) {
    std::vector<std::string> arguments{"sweep", path};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended ended = run_program(arguments);
    CHECK(ended.status == 4);
    check_says(ended.err, {path, "precision bf16: the CPU computes in fp32"});
    CHECK_FALSE(contains(ended.err, "kept"));
  }
  CHECK_FALSE(std::filesystem::exists(results));
}

TEST_CASE("sweep: a plan for the GPU of another machine can be checked here") {
  if (run_program({"compute", "synthetic:golden", "--backend", "cuda"}).status == 0) return;
  const TemporaryDirectory scratch;
  const json plan{{"sources", {"synthetic:golden"}}, {"variants", {"exact"}}, {"backend", "cuda"}};
  const std::string path = scratch.write("p.json", plan.dump()), results = scratch / "r";
  const Ended dry = run_program({"sweep", path, "--dry-run"});
  CHECK(dry.status == 0);
  check_says(dry.err, {"note: " + path + ": back end cuda: CUDA"});
  check_says(dry.out, {"1 item"});
  CHECK(run_program({"sweep", path, "-o", results}).status == 4);
  CHECK_FALSE(std::filesystem::exists(results));
}

TEST_CASE("sweep: a figure goes into the folder that is made, and wrong axes are reported first") {
  const TemporaryDirectory scratch;
  const json plan{{"sources", {"synthetic:golden"}}, {"variants", {"exact", "h1d"}}, {"rounds", 0}};
  const std::string path = scratch.write("p.json", plan.dump()), results = scratch / "new/r";
  const auto drawn = [&](const std::string& axes) {
    return run_program(
        {"sweep", path, "-o", results + "/", "--plot", axes, "--figure", results + "/f.png"});
  };
  const Ended wrong = drawn("foo:bar");
  CHECK(wrong.status == 2);
  check_says(wrong.err, {"--plot", "foo"});
  CHECK_FALSE(std::filesystem::exists(results));
  const Ended ended = drawn("multiply_adds:output_rel_fro");
  CAPTURE(ended.err);
  CHECK(ended.status == 0);
  CHECK(std::filesystem::exists(results + "/f.png"));
}

TEST_CASE("sweep: the plan's own folder is refused where the plan is called plan.json") {
  const TemporaryDirectory scratch;
  const std::string path = small_plan(scratch), before = read_bytes(path);
  const Ended ended = run_program({"sweep", path, "-o", scratch / "."});
  CHECK(ended.status == 2);
  check_says(ended.err, {path, "choose another folder"});
  CHECK(read_bytes(path) == before);
}
