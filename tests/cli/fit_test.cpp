// fovea fit: the file is what --structure takes, learning goes on from it, and it is always whole.
#include <doctest/doctest.h>
#include <signal.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>

#include "cli/program.h"
#include "io/fit_file.h"
#include "io/structure_file.h"
#include "io/tensor_file.h"
#include "messages.h"
#include "tiny_text_model.h"

using namespace fovea;
using namespace fovea::test;

namespace {

const std::string source = "synthetic:clusters?n=200&d=8";

std::vector<std::string> fitting(const std::string& out, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments{"fit",      source,    "--variant", "tf", "--set",
                                     "height=3", "--steps", "20",        "-o", out};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

Ended fitted(const std::string& out, std::vector<std::string> more = {}) {
  Ended ended = run_program(fitting(out, std::move(more)));
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  return ended;
}

bool same_state(const FitFile& a, const FitFile& b) {
  return a.states == b.states && a.about == b.about;
}

}  // namespace

TEST_CASE("a fitted tree is what --structure takes, and has the error that fit says") {
  const TemporaryDirectory directory;
  for (const std::string variant : {"tf", "tc"}) {
    const std::string out = directory / variant + ".safetensors";
    const nlohmann::json fit = document_of({"fit", source, "--variant", variant, "--set",
                                            "height=3", "--steps", "40", "-o", out, "--json"});
    const nlohmann::json& best = fit["heads"][0]["best"];
    CHECK(fit["heads"][0]["steps"] == 40);
    CHECK(fit["heads"][0]["curve"].size() == 9);
    CHECK(fit["heads"][0]["curve"][0]["gradient_norm"].is_null());  // before the first step
    CHECK(fit["heads"][0]["curve"][8]["gradient_norm"].get<double>() > 0);
    CHECK(best.contains("alpha") == (variant == "tc"));
    CHECK(best["error"].get<double>() < fit["heads"][0]["start"]["error"].get<double>());
    const nlohmann::json computed =
        document_of({"compute", source, "--variant", variant, "--structure", out, "--json"});
    const nlohmann::json& metrics = computed["metrics"][0];
    // All rows together lie between the rows learned from and those held out.
    const double all = metrics["output_rel_fro"], error = best["error"],
                 held_out = best["held_out_error"];
    CHECK(all >= std::min(error, held_out) - 1e-4);
    CHECK(all <= std::max(error, held_out) + 1e-4);
    CHECK(metrics["chi"].get<double>() == doctest::Approx(best["chi"].get<double>()));
  }
}

TEST_CASE(
    "trees are tried on other sources: the numbers are those of compute with the stored tree") {
  const TemporaryDirectory directory;
  const std::string layer = source + "&heads=2";
  const std::vector<std::string> others{layer + "&seed=5", layer + "&seed=6"};
  for (const std::string variant : {"tf", "tc"}) {
    CAPTURE(variant);
    const std::string out = directory / variant + ".safetensors";
    const std::vector<std::string> fit{"fit",        layer,     "--variant",  variant,   "--set",
                                       "height=3",   "-o",      out,          "--steps", "20",
                                       "--validate", others[0], "--validate", others[1], "--json"};
    const nlohmann::json validation = document_of(fit)["validation"];
    REQUIRE(validation.size() == 3);
    const auto computed = [&](const std::string& on, std::size_t head,
                              std::vector<std::string> more) {
      more.insert(more.begin(), {"compute", on, "--variant", variant, "--set", "height=3", "--head",
                                 std::to_string(head), "--json"});
      return document_of(more);
    };
    for (std::size_t s = 0; s < 3; ++s) {
      const nlohmann::json& tried = validation[s];
      const std::string on = s == 0 ? layer : others[s - 1];
      CHECK(tried["source"] == on);
      CHECK(tried["learned_from"] == (s == 0));
      REQUIRE(tried["heads"].size() == 2);
      for (std::size_t h = 0; h < 2; ++h) {
        CHECK(tried["heads"][h]["head"] == h);
        const auto same = [&](const nlohmann::json& found, const nlohmann::json& expected) {
          // Both are sums in float64, in another order.
          CHECK(found["error"].get<double>() ==
                doctest::Approx(expected["metrics"][0]["output_rel_fro"].get<double>())
                    .epsilon(1e-9));
          CHECK(found["ratio_to_exact"] == expected["cost"]["ratio_to_exact"]);
        };
        same(tried["heads"][h]["learned"], computed(on, h, {"--structure", out}));
        same(tried["heads"][h]["median"], computed(on, h, {}));
      }
    }
    // It is learned from the first source alone.
    CHECK(validation[0]["heads"][0]["learned"]["error"] <
          validation[0]["heads"][0]["median"]["error"]);
    CHECK(validation[1]["heads"][0]["learned"] != validation[2]["heads"][0]["learned"]);
  }
}

TEST_CASE("a text that trees are tried on is read by the model whose heads they are learned from") {
  const TemporaryDirectory directory;
  const TinyTextModel model;
  const std::string text = model.file("other.txt", "the cat sat . a b c d e f g h"),
                    out = directory / "trees.safetensors";
  const Ended fit = run_program({"fit", model.folder(), "--text", "a b c the cat d e f", "--head",
                                 "0", "--variant", "tf", "--set", "height=1", "--steps", "10", "-o",
                                 out, "--validate", text, "--json"});
  CAPTURE(fit.err);
  REQUIRE(fit.status == 0);
  const nlohmann::json tried = fit.json()["validation"][1];
  CHECK(contains(tried["source"], "other.txt"));
  const nlohmann::json computed =
      document_of({"compute", model.folder(), "--input", text, "--head", "0", "--variant", "tf",
                   "--set", "height=1", "--structure", out, "--json"});
  CHECK(tried["heads"][0]["learned"]["error"].get<double>() ==
        doctest::Approx(computed["metrics"][0]["output_rel_fro"].get<double>()).epsilon(1e-9));
  // Then for a person.
  std::filesystem::remove(out);
  const Ended table =
      run_program({"fit", model.folder(), "--text", "a b c the cat d e f", "--variant", "tf",
                   "--set", "height=1", "--steps", "10", "-o", out, "--validate", text});
  check_says(table.out, {"from which the trees were learned", "other.txt", "mean", "median tree",
                         "of exact's cost"});
}

TEST_CASE("a source that trees cannot be tried on is refused before they are learned") {
  const TemporaryDirectory directory;
  const std::string out = directory / "none.safetensors";
  const auto refused = [&](const std::string& other, std::initializer_list<std::string> says) {
    const Ended ended = run_program(fitting(out, {"--validate", other}));
    CAPTURE(ended.err);
    CHECK(ended.status == 3);
    check_says(ended.err, says);
    CHECK_FALSE(std::filesystem::exists(out));
  };
  refused("synthetic:clusters?n=50&d=4", {"4 features", "expected 8"});
  refused("synthetic:clusters?n=50&d=8&heads=3", {"3 heads", "expected 1"});
  refused(directory / "missing.safetensors", {"missing.safetensors"});
  CHECK(run_program(fitting(out, {"--validate", ""})).status == 2);
}

TEST_CASE("tree = learned and fit with the same seed and steps give the same tree") {
  const TemporaryDirectory directory;
  const std::string fit = directory / "fit.safetensors",
                    learned = directory / "learned.safetensors";
  fitted(fit, {"--seed", "5"});
  REQUIRE(run_program({"compute", source, "--variant", "tf", "--set", "height=3", "--set",
                       "tree=learned", "--set", "steps=20", "--seed", "5", "--no-metrics", "-o",
                       learned})
              .status == 0);
  const Structure a = read_structure(fit, 0, 1), b = read_structure(learned, 0, 1);
  REQUIRE(a.has("tree_weight"));
  CHECK(a.reals("tree_weight") == b.reals("tree_weight"));
  CHECK(a.reals("tree_bias") == b.reals("tree_bias"));
}

TEST_CASE("k-ary trees are fitted too, for the leaves that were asked for") {
  const TemporaryDirectory directory;
  const std::string out = directory / "k.safetensors";
  const nlohmann::json fit = document_of({"fit", source, "--variant", "tf", "--set",
                                          "branching=4,2", "--steps", "20", "-o", out, "--json"});
  CHECK(fit["leaves"] == 8);
  const nlohmann::json computed =
      document_of({"compute", source, "--variant", "tf", "--structure", out, "--json"});
  CHECK(computed["metrics"][0]["chi"].get<double>() ==
        doctest::Approx(fit["heads"][0]["best"]["chi"].get<double>()));
}

TEST_CASE("a fit that is resumed goes on in the heads that can, and says so where none can") {
  const TemporaryDirectory directory;
  const std::string half = directory / "half.safetensors", whole = directory / "whole.safetensors";
  fitted(half, {});
  FitFile file = read_fit(half);
  REQUIRE(file.states.size() == 1);
  file.states[0].diverged = true;
  file.states[0].step = 3;
  write_fit(half, file);
  const Ended ended = run_program({"fit", source, "--variant", "tf", "--set", "height=3", "--steps",
                                   "20", "--resume", half, "-o", whole});
  CHECK(ended.status == 0);
  CHECK(ended.err.find("diverged in every head") != std::string::npos);
}

TEST_CASE("a fit that is resumed ends as one that was not interrupted, for any number of threads") {
  const TemporaryDirectory directory;
  const std::string half = directory / "half.safetensors", whole = directory / "whole.safetensors",
                    straight = directory / "straight.safetensors";
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{}, {"--bootstrap", "10"}, {"--credit", "dense"}}) {
    const auto with = [&](std::vector<std::string> arguments) {
      arguments.insert(arguments.end(), more.begin(), more.end());
      return arguments;
    };
    for (const std::string& old : {half, whole, straight}) std::filesystem::remove(old);
    fitted(half, with({"--threads", "1"}));
    fitted(whole, with({"--resume", half, "--threads", "2"}));
    fitted(half, with({"--resume", half, "--threads", "3"}));  // onto itself
    auto arguments = fitting(straight, more);
    arguments[7] = "40";
    REQUIRE(run_program(arguments).status == 0);
    CHECK(same_state(read_fit(whole), read_fit(straight)));
    CHECK(same_state(read_fit(half), read_fit(straight)));
    CHECK(read_fit(straight).states[0].step == 40);
  }
}

TEST_CASE("Ctrl-C keeps the best trees, and the fit goes on from there") {
  const TemporaryDirectory directory;
  const std::string out = directory / "stopped.safetensors";
  auto arguments = fitting(out);
  arguments[7] = "1000000";
  Running fit(arguments);
  REQUIRE(begins(fit));
  REQUIRE(has_computed(fit, 1));
  fit.signal(SIGINT);
  const Ended ended = fit.wait();
  CAPTURE(ended.err);
  CHECK(ended.status == 130);
  CHECK(ended.out.empty());
  // A fit that takes longer than .1 s to end is ended without the message of how it goes on.
  if (contains(ended.err, "stopped after"))
    check_says(ended.err, {"of 1000000 steps", out, "--resume"});
  const FitFile stopped = read_fit(out);
  REQUIRE(stopped.states.size() == 1);
  CHECK(read_structure(out, 0, 1).has("tree_weight"));
  fitted(out, {"--resume", out});
  CHECK(read_fit(out).states[0].step == stopped.states[0].step + 20);
}

TEST_CASE("a fit replaces no file but the one that it goes on with") {
  const TemporaryDirectory directory;
  const std::string out = directory / "fit.safetensors", other = directory / "other.safetensors";
  fitted(out);
  const std::string learned = read_bytes(out);
  const Ended again = run_program(fitting(out));
  CHECK(again.status == 2);
  check_says(again.err, {out, "exists", "--resume"});
  fitted(other);
  CHECK(run_program(fitting(out, {"--resume", other})).status == 2);
  CHECK(read_bytes(out) == learned);
}

TEST_CASE("a file that another program writes while a fit learns is kept") {
  const TemporaryDirectory directory;
  const std::string out = directory / "fit.safetensors", aside = directory / "fit-2.safetensors";
  const auto written = [&] {
    std::error_code none;
    return std::filesystem::last_write_time(out, none);
  };
  for (const bool resumed : {false, true}) {
    CAPTURE(resumed);
    if (resumed) fitted(out);
    auto arguments = fitting(out);
    arguments[7] = "1000000";
    if (resumed) arguments.insert(arguments.end(), {"--resume", out});
    const auto before = written();
    Running fit(arguments);
    REQUIRE(begins(fit));
    for (int wait = 0; wait < 6000 && written() == before; ++wait)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::this_thread::sleep_for(
        std::chrono::milliseconds(20));  // a tick of the file system's clock
    const std::string other = directory / "other";
    std::ofstream(other) << "what another program wrote";
    std::filesystem::rename(other, out);
    // Written beside it at the next time, before Ctrl-C: what takes longer than .1 s to end then
    // writes no more.
    for (int wait = 0; wait < 6000 && !std::filesystem::exists(aside); ++wait)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    fit.signal(SIGINT);
    const Ended ended = fit.wait();
    CAPTURE(ended.err);
    CHECK(ended.status == 130);
    CHECK(read_bytes(out) == "what another program wrote");
    CHECK(read_fit(aside).states.size() == 1);
    check_says(ended.err, {"another program has written " + out, "goes on in " + aside,
                           "-o " + aside + " --resume " + aside + " goes on"});
    for (const std::string& old : {out, aside}) std::filesystem::remove(old);
  }
}

TEST_CASE("a fit that cannot be gone on with is refused, with what was found and expected") {
  const TemporaryDirectory directory;
  const std::string out = directory / "fit.safetensors", other = directory / "other.safetensors";
  fitted(out);
  const auto refusal = [&](std::vector<std::string> arguments, int status) {
    for (const char* more : {"-o"}) arguments.push_back(more);
    arguments.push_back(other);
    const Ended ended = run_program(arguments);
    CHECK(ended.status == status);
    CHECK(ended.out.empty());
    return ended.err;
  };
  const auto resuming = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"fit"});
    arguments.insert(arguments.end(), {"--resume", out, "--steps", "5"});
    return refusal(arguments, 3);
  };
  check_says(resuming({source, "--variant", "tc", "--set", "height=3"}),
             {out, "was fitted with variant tf", "expected tc"});
  check_says(resuming({source, "--variant", "tf", "--set", "height=4"}),
             {out, "with height '3'", "expected '4'"});
  check_says(resuming({source, "--variant", "tf", "--set", "height=3", "--set", "branching=2,2"}),
             {out, "with branching ''", "expected '2,2'"});
  check_says(resuming({source, "--variant", "tf", "--set", "height=3", "--seed", "9"}),
             {out, "with seed 0", "expected 9"});
  check_says(resuming({source, "--variant", "tf", "--set", "height=3", "--causal"}),
             {out, "with causal false", "expected true"});
  check_says(
      resuming({"synthetic:clusters?n=200&d=8&seed=4", "--variant", "tf", "--set", "height=3"}),
      {out, "with a hash of Q, K and V of", "expected"});
  check_says(
      resuming({"synthetic:gaussian?n=200&d=8&heads=2", "--variant", "tf", "--set", "height=3"}),
      {out});
  check_says(refusal({"fit", source, "--variant", "hyper"}, 2),
             {"hyper has no tree to learn", "expected tf or tc"});
  check_says(refusal({"fit", source, "--variant", "tf", "--set", "height=12"}, 2),
             {"the tree has 4096 leaves", "expected at most 1024"});
  check_says(
      refusal({"fit", source, "--variant", "tc", "--set", "height=2", "--set", "alpha=1,2"}, 2),
      {"alpha has 2 values", "expected h + 1 = 3"});
  check_says(refusal({"fit", source, "--variant", "tf", "--resume", "/nowhere"}, 3), {"/nowhere"});
  CHECK(directory.files().size() == 1);  // nothing was written
}

TEST_CASE("a tree of another dimension or a wrong alpha is refused where it is given") {
  const TemporaryDirectory directory;
  const std::string out = directory / "fit.safetensors";
  fitted(out);
  const Ended ended = run_program(
      {"compute", "synthetic:clusters?n=200&d=6", "--variant", "tf", "--structure", out});
  CHECK(ended.status == 3);
  check_says(ended.err, {out, "tree_weight", "[7,8]", "expected", "[nodes,6]"});
}

TEST_CASE("a structure of another head is applied with a note that names both") {
  const TemporaryDirectory directory;
  const std::string heads = "synthetic:gaussian?n=64&d=8&heads=3",
                    fit = directory / "fit.safetensors", made = directory / "made.safetensors";
  const auto notes = [&](const std::string& structure, const std::string& head) {
    const nlohmann::json computed = document_of(
        {"compute", heads, "--variant", "tf", "--head", head, "--structure", structure, "--json"});
    std::string text;
    for (const auto& note : computed["notes"]) text += note.get<std::string>() + '\n';
    return text;
  };
  REQUIRE(run_program({"fit", heads, "--variant", "tf", "--set", "height=3", "--head", "2",
                       "--steps", "2", "-o", fit})
              .status == 0);
  check_says(notes(fit, "0"), {fit + " was fitted for layer 0, head 2; it is applied to layer 0, "
                                     "head 0\n"});
  check_says(notes(fit, "all"), {"; it is applied to layer 0, heads 0 to 2\n"});
  CHECK_FALSE(contains(notes(fit, "2"), "applied"));
  REQUIRE(run_program({"compute", heads, "--variant", "tf", "--head", "1", "-o", made}).status ==
          0);
  check_says(notes(made, "0"), {made + " was computed for layer 0, head 1; it is applied to"});
  REQUIRE(run_program({"compute", heads, "--variant", "tf", "-o", made}).status == 0);
  CHECK_FALSE(contains(notes(made, "all") + notes(made, "2"), "applied"));
}

TEST_CASE("a given tree of another size than the parameters say is named with both sizes") {
  const TemporaryDirectory directory;
  const std::string out = directory / "fit.safetensors";
  fitted(out);
  const auto text = [&](const std::string& height) {
    return run_program({"compute", source, "--variant", "tf", "--set", "height=" + height,
                        "--structure", out})
        .out;
  };
  check_says(text("2"), {"tree as given: height 3, 8 leaves; the parameters would have height 2, "
                         "4 leaves"});
  check_says(text("3"), {"tree as given: height 3, 8 leaves\n"});
}
