// The attention between parts of a text, as the program reports it.
#include <doctest/doctest.h>

#include "analysis/span_mass.h"
#include "backend/backends.h"
#include "cli/program.h"
#include "evaluate/computation.h"
#include "input/open_source.h"
#include "messages.h"
#include "session/session.h"

using namespace fovea;
using namespace fovea::test;

namespace {

using nlohmann::json;

double mass(const json& variant, std::size_t queries, std::size_t keys) {
  return variant["mass"][queries][keys]["mass"].get<double>();
}

}  // namespace

TEST_CASE("spans: every query's mass is shared out among the parts, in every variant") {
  const json found = document_of(
      {"spans", bundled, "--span", "title = long=0:20", "--span", "body=20:300", "--json"});
  CHECK(found["queries"] == json{"title = long", "body", "other tokens"});
  CHECK(found["variants"].size() == 7);
  for (const json& variant : found["variants"]) {
    CAPTURE(variant["variant"]);
    CHECK(variant["queries_used"] == json{20, 280, 41});
    if (variant["variant"] == "tf" || variant["variant"] == "tc") continue;  // a row may be empty
    for (std::size_t q = 0; q < 3; ++q)  // a mean over at most 280 sums of 341 floats
      CHECK(mass(variant, q, 0) + mass(variant, q, 1) + mass(variant, q, 2) ==
            doctest::Approx(1).epsilon(1e-4));
  }
  // Two halves of a part, weighted by their queries, are the part.
  const json halves = document_of({"spans", bundled, "--variant", "exact", "--span", "a=0:10",
                                   "--span", "b=10:20", "--span", "body=20:300", "--json"});
  const json& exact = halves["variants"][0];
  CHECK((mass(exact, 0, 2) + mass(exact, 1, 2)) / 2 ==
        doctest::Approx(mass(found["variants"][0], 0, 1)).epsilon(1e-5));
}

TEST_CASE("spans: frames have equally many tokens beside the named spans") {
  const json found = document_of(
      {"spans", bundled, "--variant", "exact", "--span", "text=0:41", "--frames", "100", "--json"});
  CHECK(found["queries"] == json{"text", "frame 1", "frame 2", "frame 3"});
  CHECK(found["variants"][0]["queries_used"] == json{41, 100, 100, 100});
  // The same parts by hand.
  const json by_hand =
      document_of({"spans", bundled, "--variant", "exact", "--span", "text=0:41", "--span",
                   "a=41:141", "--span", "b=141:241", "--span", "c=241:341", "--json"});
  CHECK(found["variants"][0]["mass"] == by_hand["variants"][0]["mass"]);
  const Ended many = run_program({"spans", bundled, "--frames", "1"});
  CHECK(many.status == 2);
  check_says(many.err, {"341 tokens", "more than 256"});
  const Ended same = run_program({"spans", bundled, "--frames", "200", "--span", "all=0:341"});
  CHECK(same.status == 2);
  check_says(same.err, {"Every token is in a named span"});
}

TEST_CASE("spans: the numbers of every variant are those of span_mass, whole and sampled") {
  const struct {
    std::string source;
    bool sampled;
  } heads[] = {{"synthetic:clusters?n=120&d=8&seed=3", false},
               {"synthetic:clusters?n=9000&d=2&seed=3", true}};
  for (const auto& head : heads) {
    CAPTURE(head.source);
    const Problem problem = problem_of(open_source(head.source), {});
    const Index n = problem.n();
    const Grouping groups =
        grouping_of_spans(n, {{.name = "a", .tokens = {0, 30}}, {.name = "b", .tokens = {30, 90}}});
    std::vector<std::string> words{"spans",  head.source, "--span",    "a=0:30",
                                   "--span", "b=30:90",   "--backend", "cpu",
                                   "--seed", "5",         "--json"};
    const std::vector<std::string> few{"--variant", "exact",     "--variant",
                                       "window",    "--variant", "h1d"},
        all{"--variant", "all"};
    const auto& variants = head.sampled ? few : all;
    words.insert(words.end(), variants.begin(), variants.end());
    const json found = document_of(words);
    const auto backend = make_cpu_backend();
    Profile profile;
    Run run{profile};
    const Computation exact = prepare(problem, {.variant = &reference_variant()}, *backend, run);
    for (const json& said : found["variants"]) {
      CAPTURE(said["variant"]);
      const Variant& variant = find_variant(said["variant"].get<std::string>());
      const Computation made = prepare(
          problem, {.variant = &variant, .values = values_for_length(variant, n), .seed = 5},
          *backend, run);
      const SpanMass mass = span_mass(*made.op, *exact.op, groups, groups, run);
      CHECK(said["seed"] == 5);
      CHECK(said["sampled"] == head.sampled);
      CHECK(said["queries_used"] == json(mass.rows));
      REQUIRE(said["mass"].size() == 3);
      for (Index q = 0; q < 3; ++q) {
        REQUIRE(said["mass"][std::size_t(q)].size() == 3);
        for (Index k = 0; k < 3; ++k) {
          const json& cell = said["mass"][std::size_t(q)][std::size_t(k)];
          CHECK(cell["mass"] == mass(q, k).approximate.value);
          CHECK(cell.contains("standard_error") == head.sampled);
          if (head.sampled) CHECK(cell["standard_error"] == mass(q, k).approximate.standard_error);
        }
      }
    }
  }
}

TEST_CASE("spans: sinks are keys, and the parts of a text are found") {
  const json found = document_of({"spans", bundled, "--variant", "exact", "--sinks", "--json"});
  CHECK(found["keys"][0] == "first token");
  CHECK(found["queries"].size() > 1);
  const Ended table = run_program({"spans", bundled, "--variant", "exact", "--sinks"});
  check_says(table.out, {"first token", "special tokens", "Exact"});
}

TEST_CASE("spans: what cannot be a span is refused with what was expected") {
  const auto refused = [](const std::string& span) {
    const Ended ended = run_program({"spans", bundled, "--span", span});
    CHECK(ended.status != 0);
    return ended.err;
  };
  for (const char* wrong : {"prompt", "=0:4", "prompt=4", "prompt=a:b"})
    check_says(refused(wrong), {"expected NAME=FIRST:END"});
  check_says(refused("prompt=0:342"), {"prompt", "341", "the last one is 340"});
  check_says(refused("prompt=5:5"), {"prompt"});
}

TEST_CASE("spans: two spans of one name, of the same tokens or in one option are refused") {
  const auto refused = [](const std::vector<std::string>& spans) {
    std::vector<std::string> arguments{"spans", bundled};
    for (const std::string& span : spans) arguments.insert(arguments.end(), {"--span", span});
    const Ended ended = run_program(arguments);
    CHECK(ended.status == 2);
    CHECK(ended.out.empty());
    return ended.err;
  };
  check_says(refused({"a=0:5,b=5:9"}), {"names two spans", "--span once for each"});
  check_says(refused({"a=0:5", "a=5:9"}), {"Two spans have the name", "a"});
  check_says(refused({"a=0:5", "b=4:9"}), {"overlap at token 4"});
  check_says(refused({"a=0:999"}), {"ends at token 998"});
}
