// fovea effect: policies, curves over layers, and structures that the replaced heads are given.
#include <doctest/doctest.h>

#include <cmath>

#include "cli/program.h"
#include "messages.h"
#include "tiny_text_model.h"

using namespace fovea;
using namespace fovea::test;

namespace {

using Words = std::vector<std::string>;

struct Tiny {
  TinyTextModel model;
  TemporaryDirectory scratch;

  Words with(Words words, const Words& more) const {
    words.insert(words.begin() + 1, {model.folder(), "--text", "the cat sat . a b c d e f g"});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  nlohmann::json effect(const Words& more, const std::string& variant = "tf") const {
    return document_of(with({"effect", "--variant", variant, "--set", "height=1", "--json"}, more));
  }
  /// A file of the layer's trees, random ones of seed 5, and of the leaves of the text's tokens.
  std::string structures(const std::string& layer) const {
    const std::string out = scratch / "structures" + layer + ".safetensors";
    const Ended ended = run_program(
        with({"compute", "--variant", "tf", "--set", "height=1", "--set", "tree=random"},
             {"--seed", "5", "--layer", layer, "--no-metrics", "-o", out}));
    CAPTURE(ended.err);
    REQUIRE(ended.status == 0);
    return out;
  }
};

}  // namespace

TEST_CASE("effect takes structures in the heads that they were made from") {
  const Tiny tiny;
  const std::string first = tiny.structures("0"), second = tiny.structures("1");
  const auto drift = [&](const std::string& heads, Words more) {
    more.insert(more.end(), {"--heads", heads, "--set", "tree=random"});
    return tiny.effect(more)["drift"];
  };
  const nlohmann::json of_seed = drift("0", {"--seed", "5"}), of_other = drift("0", {});
  REQUIRE(of_seed != of_other);
  CHECK(drift("0", {"--structure", first}) == of_seed);
  CHECK(drift("0", {"--structure", second}) == of_other);  // it is of the other layer
  // The first layer is left exact, so that the second reads what its file was made from.
  CHECK(drift("1", {"--structure", first, "--structure", second}) == drift("1", {"--seed", "5"}));
  const nlohmann::json all = tiny.effect({"--structure", first});
  CHECK(all["parts"][0]["structures"] == Words{first});
  CHECK(contains(all["notes"].dump(), "2 of the 4 replaced heads"));
}

TEST_CASE("effect takes the trees that fit has learned") {
  const Tiny tiny;
  const std::string trees = tiny.scratch / "trees.safetensors";
  REQUIRE(run_program(tiny.with({"fit", "--variant", "tc", "--set", "height=1"},
                                {"--layer", "1", "--steps", "20", "-o", trees}))
              .status == 0);
  const nlohmann::json learned = tiny.effect({"--heads", "1", "--structure", trees}, "tc"),
                       median = tiny.effect({"--heads", "1"}, "tc");
  CHECK(learned["drift"][0] == median["drift"][0]);
  CHECK(learned["drift"][1] != median["drift"][1]);
  CHECK(learned["notes"].dump() == median["notes"].dump());  // each replaced head has its tree
}

TEST_CASE("structures that effect cannot place are refused") {
  const Tiny tiny;
  const auto refused = [&](const std::string& file, std::initializer_list<std::string> says) {
    const Ended ended = run_program(
        tiny.with({"effect", "--variant", "tf", "--set", "height=1"}, {"--structure", file}));
    CAPTURE(ended.err);
    CHECK(ended.status == 3);
    check_says(ended.err, says);
  };
  refused(bundled, {"does not say of which layer and heads", "fovea fit"});
  refused(tiny.scratch / "none.safetensors", {"none.safetensors"});
  const std::string other = tiny.scratch / "other.safetensors";
  REQUIRE(run_program({"compute", bundled, "--variant", "tf", "--set", "height=1", "--layer", "0",
                       "--head", "5", "--no-metrics", "-o", other})
              .status == 0);
  refused(other, {"layer 0, head 5", "2 layers of 2 heads"});
}

TEST_CASE("effect finds a policy, writes it, and measures it again") {
  const Tiny tiny;
  const std::string policy = tiny.scratch / "policy.json", figure = tiny.scratch / "effect.svg";
  const auto run = [&](const Words& more) {
    return document_of(tiny.with({"effect", "--json"}, more));
  };
  const nlohmann::json found =
      run({"--variant", "window?width=0", "--variant", "window?width=2", "--loss", "0.5", "--units",
           "head", "-o", policy, "-o", figure});
  CHECK(found["change"] <= 0.5);
  CHECK(found["change_of"] == "last hidden states");
  CHECK(found["attention_cost"] < 1);
  CHECK_FALSE(found["policies"].empty());
  CHECK(contains(read_bytes(figure), "<svg"));
  const nlohmann::json again = run({"--policy", policy});
  CHECK(again["change"] == found["change"]);
  CHECK(again["parts"] == found["parts"]);
  const nlohmann::json cheap = run({"--variant", "window?width=0", "--cost", "0.6"});
  CHECK(cheap["attention_cost"] <= 0.6);
  const nlohmann::json curve = run({"--variant", "window", "--set", "width=0", "--layer-curve"});
  REQUIRE(curve["layer_curve"].size() == 2);
  CHECK(curve["layer_curve"][1]["replaced_layers"] == 2);
  CHECK(curve["layer_curve"][1]["change"] == curve["change"]);
  const nlohmann::json alone =
      run({"--variant", "window", "--set", "width=0", "--sensitivity", "--units", "head"});
  CHECK(alone["sensitivity"].size() == 4);
}

TEST_CASE("effect over a folder names each input, and what failed") {
  const Tiny tiny;
  const TemporaryDirectory inputs;
  inputs.write("a.txt", "the cat sat a b c");
  inputs.write("b.txt", "\xff\xfe");
  inputs.write("c.txt", "a a b b the cat sat the cat");
  const Words words{
      "effect",  tiny.model.folder(), "--input", inputs.path(), "--variant", "window", "--set",
      "width=1", "--rounds",          "3"};
  const auto with = [&](const Words& more) {
    Words all = words;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const nlohmann::json found = document_of(with({"--json", "--sensitivity", "--layer-curve"}));
  REQUIRE(found["inputs"].size() == 3);
  CHECK(contains(found["inputs"][1]["failed"], "b.txt"));
  CHECK(found["change_inputs"] == 2);
  const double a = found["inputs"][0]["change"], c = found["inputs"][2]["change"];
  CHECK(double(found["change"]) == doctest::Approx((a + c) / 2));
  // t of one degree of freedom, times |a - c| / √2 / √2
  CHECK(double(found["change_interval"][1]) ==
        doctest::Approx((a + c) / 2 + 12.7062047 * std::abs(a - c) / 2));
  CHECK(found["time"]["rounds"] == 3);
  CHECK(found["time"]["attention_speed_up"] > 0);
  CHECK(found["sensitivity"][0]["change_interval"].size() == 2);
  CHECK(found["layer_curve"][0]["change_inputs"] == 2);
  const Ended text = run_program(with({}));
  CHECK(text.status == 0);
  check_says(text.out,
             {"in 2 of 3 inputs: means ± half of their 95 % interval", "By input", "a.txt",
              "failed", "b.txt is left out", "median of the ratios of 3 rounds", " ± "});
  const std::string policy = tiny.scratch / "policy.json";
  const nlohmann::json searched = document_of(with({"--json", "--loss", "0.4", "-o", policy}));
  CHECK(searched["change"] <= 0.4);
  CHECK(searched["policies"][0].contains("change_interval"));
  Words again{"effect", tiny.model.folder(), "--input", inputs.path(), "--policy", policy,
              "--json"};
  CHECK(document_of(again)["change"] == searched["change"]);
  const Ended refused = run_program(with({"-o", inputs / "a.txt.json", "-o", inputs / "a.txt"}));
  CHECK(refused.status == 2);
}

TEST_CASE("effect times nothing if no rounds are asked for, and names no empty settings") {
  const Tiny tiny;
  const Ended ended = run_program(tiny.with({"effect", "--variant", "linear"}, {"--rounds", "0"}));
  REQUIRE(ended.status == 0);
  CHECK_FALSE(contains(ended.out, "time of"));
  CHECK_FALSE(contains(ended.out, ", ,"));
  const nlohmann::json found =
      document_of(tiny.with({"effect", "--variant", "linear", "--json"}, {"--rounds", "0"}));
  CHECK(found["time"]["rounds"] == 0);
  CHECK(found["time"]["model_ms"].is_null());
  CHECK(found["inputs"].is_null());
}

TEST_CASE("what effect cannot do is refused before a model runs") {
  const Tiny tiny;
  const std::string policy = tiny.scratch.write("p.json", "{}");
  const auto refused = [&](const Words& more, int status, std::initializer_list<std::string> says) {
    const Ended ended = run_program(tiny.with({"effect"}, more));
    CAPTURE(ended.err);
    CHECK(ended.status == status);
    check_says(ended.err, says);
  };
  refused({}, 2, {"--variant", "--policy"});
  refused({"--variant", "window", "--policy", policy}, 2, {"either"});
  refused({"--policy", policy, "--loss", "1"}, 2, {"--policy is measured as it is"});
  refused({"--variant", "window", "--variant", "fixed"}, 2, {"expected one --variant"});
  refused({"--variant", "window?width"}, 2, {"window?width", "KEY=VALUE"});
  refused({"--variant", "window?height=2"}, 2, {"height", "width"});
  refused({"--variant", "window", "-o", tiny.scratch / "a.txt"}, 2, {"a.txt", ".png"});
  refused({"--policy", policy}, 3, {"p.json", "is no policy"});
  refused({"--variant", "window?width=0", "--cost", "0"}, 2, {"no policy", "--cost 0"});
}
