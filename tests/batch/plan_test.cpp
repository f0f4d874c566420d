// Plans: what is wrong is refused with its place, and lists of values are crossed.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "batch/batch_items.h"
#include "batch/batch_plan.h"
#include "io/safetensors_writer.h"
#include "messages.h"
#include "session/session.h"
#include "temporary_directory.h"

using namespace fovea;
using namespace fovea::test;

namespace {

const std::string good = R"({"sources": ["synthetic:gaussian?n=64&d=8"], "variants": ["exact"]})";

BatchPlan plan_of(const std::string& text) {
  return batch_plan_from("p.json", parse_json("p.json", text));
}

/// The good plan with another value of a key.
std::string with(const std::string& key, const std::string& value) {
  Json plan = Json::parse(good);
  plan[key] = Json::parse(value);
  return plan.dump();
}

void refuses(const std::string& key, const std::string& value,
             std::initializer_list<std::string> says) {
  CAPTURE(key);
  CAPTURE(value);
  check_says(message_of([&] { plan_of(with(key, value)); }), says);
}

std::string setting(const Variant& variant, const Values& values, const std::string& id) {
  const auto field = std::ranges::find(variant.schema, id, &Field::id);
  return to_text(values[static_cast<std::size_t>(field - variant.schema.begin())]);
}

}  // namespace

TEST_CASE("a plan names what it has, and all else is the default") {
  const BatchPlan plain = plan_of(good);
  CHECK(!plain.layers);
  CHECK(!plain.heads);
  CHECK(!plain.causal);
  CHECK(plain.seeds == std::vector<std::uint64_t>{0});
  CHECK(plain.backend.backend == "auto");
  CHECK(plain.metrics);
  const BatchPlan full = plan_of(R"({
    "sources": ["a.npz", "b.npz"], "layers": [2, "layer4"], "heads": [3, 0],
    "variants": ["exact", {"variant": "hyper", "set": {"block": [64, 128], "samples": 32}}],
    "seeds": [7, 18446744073709551615], "causal": true, "backend": "cpu", "precision": "fp32",
    "threads": 2, "rounds": 0, "metrics": false})");
  CHECK(full.sources == std::vector<std::string>{"a.npz", "b.npz"});
  CHECK(*full.layers == std::vector<std::string>{"2", "layer4"});
  CHECK(*full.heads == std::vector<Index>{3, 0});
  CHECK(full.variants.size() == 2);
  CHECK(full.variants[1].variant->id == "hyper");
  CHECK(full.seeds[1] == UINT64_MAX);
  CHECK(*full.causal);
  CHECK(full.backend.threads == 2);
  CHECK(full.rounds == 0);
  CHECK(!full.metrics);
  CHECK(!plan_of(with("causal", "null")).causal);
  CHECK(!plan_of(with("layers", "\"all\"")).layers);
}

TEST_CASE("what is wrong in a plan is said with its place, what was found and what was expected") {
  CHECK_SAYS(plan_of("[]"), "p.json: is a list", "expected an object with the keys sources");
  CHECK_SAYS(plan_of("{\"sources\": [\"a\"]"), "p.json", "not JSON", "line 1");
  CHECK_SAYS(plan_of(R"({"sources": ["a"]})"), "p.json: has no key \"variants\"");
  CHECK_SAYS(plan_of(R"({"variants": ["exact"]})"), "has no key \"sources\"");
  refuses("layer", "[1]", {"p.json: unknown key 'layer'", "expected one of sources, layers"});
  refuses("sources", "\"a.npz\"", {"sources is \"a.npz\"", "expected a list of paths"});
  refuses("sources", "[]", {"sources is []"});
  refuses("sources", "[\"a\", 3]", {"sources[1] is 3", "expected a path"});
  refuses("sources", "[\"a\", \"a\"]", {"sources[1] is \"a\"", "in the list already"});
  refuses("layers", "\"some\"", {"layers is \"some\"", "expected \"all\" or a list"});
  refuses("layers", "[-1]", {"layers[0] is -1", "counted from 0"});
  refuses("heads", "[1.5]", {"heads[0] is 1.5"});
  refuses("heads", "[0, 0]", {"heads[1] is 0", "already"});
  refuses("variants", "[\"hypr\"]", {"variants[0]: unknown variant", "hypr", "hyper"});
  refuses(
      "variants", "[7]",
      {"variants[0] is 7", "papers, baselines, selectors, grids, recurrences, precisions, all"});
  refuses("variants", R"([{"set": {}}])", {"variants[0] has no key \"variant\""});
  refuses("variants", R"([{"variant": "h1d", "sets": {}}])",
          {"variants[0]: unknown key 'sets'", "variant, set"});
  refuses("variants", R"(["exact", {"variant": "hyper", "set": {"blok": 8}}])",
          {"variants[1].set: unknown key 'blok'", "block, samples"});
  refuses("variants", R"([{"variant": "hyper", "set": {"block": [64, "x"]}}])",
          {"variants[0].set.block[1]: block is 'x'", "expected"});
  refuses("variants", R"([{"variant": "hyper", "set": {"block": 0}}])",
          {"variants[0].set.block: block is '0'", "expected"});
  refuses("variants", R"([{"variant": "hyper", "set": {"block": 64.5}}])", {"block is '64.5'"});
  refuses("variants", R"([{"variant": "hyper", "set": {"block": true}}])",
          {"variants[0].set.block is true", "expected a number or a text"});
  refuses("variants", R"([{"variant": "hyper", "set": {"block": []}}])", {"set.block is []"});
  refuses("variants", R"([{"variant": "hyper", "set": {"block": [8, 8]}}])",
          {"set.block[1] is 8", "already"});
  refuses("variants", R"([{"variant": "exact", "set": {"block": 8}}])",
          {"variants[0].set: exact has no parameters"});
  refuses("seeds", "[-1]", {"seeds[0] is -1", "whole number from 0"});
  refuses("seeds", "3", {"seeds is 3", "list of whole numbers"});
  refuses("causal", "1", {"causal is 1", "true, false, or null"});
  refuses("backend", "\"gpu\"", {"backend is \"gpu\"", "auto, cpu, cuda"});
  refuses("precision", "\"fp8\"", {"precision is \"fp8\"", "fp32"});
  refuses("threads", "-1", {"threads is -1"});
  refuses("rounds", "1001", {"rounds is 1001", "1000"});
  refuses("metrics", "\"yes\"", {"metrics is \"yes\"", "true or false"});
}

TEST_CASE("every list of values is crossed, and what is not set is as for the length") {
  const BatchPlan plan = plan_of(with(
      "variants",
      R"([{"variant": "hyper", "set": {"block": [16, 32, 64], "samples": [8, 16], "mode": "practical"}}])"));
  const Variant& hyper = *plan.variants[0].variant;
  const auto settings = crossed_settings(plan.variants[0], 512);
  REQUIRE(settings.size() == 6);
  std::vector<std::string> found;
  for (const Values& values : settings)
    found.push_back(setting(hyper, values, "block") + "/" + setting(hyper, values, "samples"));
  CHECK(found == std::vector<std::string>{"16/8", "16/16", "32/8", "32/16", "64/8", "64/16"});
  CHECK(setting(hyper, settings[0], "projections") ==
        setting(hyper, values_for_length(hyper, 512), "projections"));
}

TEST_CASE("a list of numbers is one value of a parameter that is a list") {
  const auto with_alpha = [](const std::string& alpha) {
    return with("variants", R"([{"variant": "tc", "set": {"alpha": )" + alpha + "}}]");
  };
  const BatchPlan plan = plan_of(with_alpha("[[1, 0.5], [2]]"));
  CHECK(plan.variants[0].set[0].second == std::vector<std::string>{"1,0.5", "2"});
  CHECK(plan_of(with_alpha("\"1,0.5\"")).variants[0].set[0].second[0] == "1,0.5");
}

TEST_CASE("items are numbered head by head, and a group leaves out what has no form") {
  const std::string text =
      R"({"sources": ["synthetic:gaussian?n=64&d=8", "synthetic:gaussian?n=32&d=8"],
          "variants": ["exact", {"variant": "h1d", "set": {"block": [4, 8]}}],
          "seeds": [5, 6]})";
  const BatchItems items(plan_of(text));
  REQUIRE(items.heads().size() == 2);
  REQUIRE(items.size() == 12);
  for (std::size_t i = 0; i < 12; ++i) {
    const BatchItem item = items.item(i);
    CHECK(item.number == i);
    CHECK(item.head == i / 6);
    CHECK(item.seed == 5 + i % 2);
    CHECK(item.setting.variant->id == (i % 6 < 2 ? "exact" : "h1d"));
  }
  check_says(items.text_of(9), {"n=32", "head 0", "h1d block=4", "seed 6"});
  CHECK(items.left_out().empty());

  const BatchItems causal(plan_of(
      R"({"sources": ["synthetic:gaussian?n=64&d=8"], "variants": ["all"], "causal": true})"));
  CHECK(!causal.left_out().empty());
  for (std::size_t i = 0; i < causal.size(); ++i)
    CHECK(causal.item(i).setting.variant->has_causal_form());
  const BatchItems named(plan_of(
      R"({"sources": ["synthetic:gaussian?n=64&d=8"], "variants": ["kde"], "causal": true})"));
  CHECK(named.size() == 1);  // it fails, and its row says why
  // A setting that a group names again is one item.
  const BatchItems twice(plan_of(with("variants", R"(["exact", "papers"])")));
  CHECK(twice.size() == BatchItems(plan_of(with("variants", R"(["papers"])"))).size());
}

TEST_CASE("law: the items of several sources are those of each source alone, in any order") {
  const TemporaryDirectory scratch;
  std::vector<std::string> sources;
  for (const Index n : {16, 24})
    for (const std::string causal : {"", "true", "false"}) {
      sources.push_back(scratch / (std::to_string(n) + causal + ".safetensors"));
      std::vector<OutTensor> tensors;
      for (const char* name : {"a.q", "a.k", "a.v", "b.q", "b.k", "b.v"})
        tensors.push_back(
            {name, {2, n, 4}, std::vector<float>(static_cast<std::size_t>(8 * n), 0.5f)});
      std::map<std::string, std::string> metadata;
      if (!causal.empty()) metadata["causal"] = causal;
      write_safetensors(sources.back(), tensors, metadata);
    }
  const auto items_of = [&](const std::vector<std::string>& of, const std::string& causal) {
    Json plan{{"sources", of},
              {"variants", {"all", {{"variant", "h1d"}, {"set", {{"block", {2, 4}}}}}}},
              {"seeds", {3, 4}},
              {"causal", Json::parse(causal)}};
    const BatchItems items(plan_of(plan.dump()));
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < items.size(); ++i) texts.push_back(items.text_of(i));
    return texts;
  };
  for (const std::string causal : {"null", "true", "false"}) {
    CAPTURE(causal);
    for (const bool reversed : {false, true}) {
      if (reversed) std::ranges::reverse(sources);
      std::vector<std::string> each;
      for (const std::string& source : sources)
        std::ranges::move(items_of({source}, causal), std::back_inserter(each));
      CHECK(items_of(sources, causal) == each);
    }
  }
}

TEST_CASE("layers and heads that a source does not have are refused with their place") {
  CHECK_SAYS(BatchItems(plan_of(with("layers", "[0, 3]"))), "p.json: layers[1] is 3",
             "has the layers 0 to 0");
  CHECK_SAYS(BatchItems(plan_of(with("heads", "[0, 9]"))), "p.json: heads[1] is 9",
             "has the heads 0 to 0");
  CHECK_SAYS(BatchItems(plan_of(with("sources", "[\"no/such.npz\"]"))), "p.json: sources[0]",
             "no/such.npz");
  CHECK_SAYS(BatchItems(plan_of(with("sources", "[\"synthetic:hmatrix?n=16\"]"))),
             "only attention matrices");
}

TEST_CASE("the fingerprint is of all that results depend on") {
  const TemporaryDirectory scratch;
  const std::string text = scratch.write("a.txt", "the cat sat on the mat and the dog sat too"),
                    layers = scratch / "layers.safetensors";
  std::vector<OutTensor> tensors;
  for (const char* name : {"a.q", "a.k", "a.v", "b.q", "b.k", "b.v"})
    tensors.push_back({name, {2, 16, 4}, std::vector<float>(128, 0.5f)});
  write_safetensors(layers, tensors, {});
  const auto of = [&](const std::string& key, const std::string& value) {
    Json plan = Json::parse(good);
    plan["sources"] = {layers};
    plan[key] = Json::parse(value);
    return BatchItems(plan_of(plan.dump())).fingerprint();
  };
  const std::string plain = of("rounds", "7");
  CHECK(plain.size() == 16);
  CHECK(plain == of("rounds", "7"));
  CHECK(of("heads", "[0, 1]") == plain);  // the same items
  CHECK(of("layers", "[0, 1]") == plain);
  CHECK(of("causal", "false") == plain);
  // Values of every key with which results are others.
  const std::map<std::string, std::vector<std::string>> others{
      {"sources", {"[\"" + text + "\"]", "[\"" + layers + "\", \"" + text + "\"]"}},
      {"layers", {"[0]", "[1]"}},
      {"heads", {"[0]", "[1]"}},
      {"variants", {R"(["h1d"])", R"([{"variant": "h1d", "set": {"block": 4}}])"}},
      {"seeds", {"[1]", "[0, 1]"}},
      {"causal", {"true"}},
      {"backend", {R"("cpu")", R"("cuda")"}},
      {"precision", {R"("fp32-split")", R"("bf16")", R"("fp16")"}},
      {"threads", {"1", "2"}},
      {"rounds", {"0", "4"}},
      {"metrics", {"false"}}};
  // Every key that a plan may have is above: the message of an unknown key names them.
  const std::string unknown = message_of([&] { plan_of(with("no_key", "1")); });
  const std::string keys = unknown.substr(unknown.find("expected one of"));
  CHECK(std::ranges::count(keys, ',') + 1 == std::ssize(others));
  for (const auto& other : others) CHECK_MESSAGE(contains(keys, other.first), other.first);
  std::map<std::string, std::string> seen{{plain, "the plain plan"}};
  for (const auto& [key, values] : others)
    for (const std::string& value : values) {
      const std::string with_value = key + " = " + value;
      const auto put = seen.try_emplace(of(key, value), with_value);
      CHECK_MESSAGE(put.second, put.first->second, " and ", with_value);
    }
  const std::string before = of("sources", "[\"" + text + "\"]");
  write_bytes(text, "the cat sat on the mat and the dog sat off");
  CHECK(of("sources", "[\"" + text + "\"]") != before);
}

TEST_CASE("shards share the heads without rest, and a wrong one is refused") {
  for (const std::size_t of : {1, 2, 3, 7})
    for (std::size_t head = 0; head < 20; ++head) {
      int owners = 0;
      for (std::size_t number = 1; number <= of; ++number) owners += Shard{number, of}.has(head);
      CHECK(owners == 1);
    }
  CHECK(shard_from("2/8").number == 2);
  CHECK(shard_from("2/8").of == 8);
  for (const char* text : {"0/2", "3/2", "1", "1/", "/2", "a/b", "1/2/3", "-1/2", ""})
    CHECK(contains(message_of<UsageError>([&] { shard_from(text); }), "I from 1 to N"));
}
