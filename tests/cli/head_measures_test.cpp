// What each head does, as `fovea heads --measures` reports it.
#include "analysis/head_measures.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "cli/program.h"
#include "io/safetensors_writer.h"
#include "tiny_text_model.h"

using namespace fovea;
using namespace fovea::test;

namespace {

using nlohmann::json;

json measures_of(std::vector<std::string> words) {
  words.insert(words.begin(), "heads");
  words.insert(words.end(), {"--measures", "--json", "--backend", "cpu"});
  return document_of(words);
}

}  // namespace

TEST_CASE("heads --measures: each head of a file has each measure, within its bounds") {
  const json found = measures_of({bundled});
  REQUIRE(found["measures"].size() == head_measures().size());
  CHECK(found["heads"].size() == 48);
  for (const json& head : found["heads"]) {
    const double n = head["keys"];
    CHECK(head["rows"] == head["queries"]);
    CHECK(head["rows_without_keys"] == 0);
    CHECK_FALSE(head.contains("missing"));
    for (const HeadMeasure& measure : head_measures()) {
      CAPTURE(measure.id);
      const double value = head[measure.id];
      CHECK(value >= 0);
      CHECK(value <= (measure.is_share          ? 1 + 1e-5
                      : measure.id == "entropy" ? std::log(n) + 1e-5
                                                : n));
    }
    CHECK(head["within_16"] <= head["within_128"]);
    CHECK(head["effective_rank"] >= 1);
  }
}

TEST_CASE("heads --measures: attention to the previous token, given as a matrix, is found") {
  const TemporaryDirectory folder;
  constexpr Index n = 20;
  std::vector<float> p(std::size_t(n * n));
  for (Index i = 0; i < n; ++i) p[std::size_t(i * n + std::max<Index>(0, i - 1))] = 1;
  const std::string file = folder / "previous.safetensors";
  write_safetensors(file, {{"attention", {1, n, n}, p}}, {});
  const json head = measures_of({file})["heads"][0];
  CHECK(head["previous_token"] == 1);
  CHECK(head["entropy"] == 0);
  CHECK(head["induction"].is_null());
  CHECK(head["missing"]["induction"] == "The source does not name its tokens.");
  const Ended table = run_program({"heads", file, "--measures"});
  CHECK(table.status == 0);
  CHECK(table.out.find("induction is not known: The source does not name") != std::string::npos);
}

TEST_CASE("heads --measures: a folder of texts gives the mean and the deviation of each measure") {
  const TinyTextModel model;
  const TemporaryDirectory folder;
  const std::vector<std::string> files{folder.write("1.txt", "the cat sat a b c the cat"),
                                       folder.write("2.txt", "a a a b b b"),
                                       folder.write("3.txt", "t")};
  folder.write("4.safetensors", "other");
  const json all = measures_of({model.folder(), "--input", folder.path()});
  REQUIRE(all["inputs"].size() == 3);
  CHECK(all["notes"].dump().find("1 other file") != std::string::npos);
  std::vector<json> each;
  for (const std::string& file : files)
    each.push_back(measures_of({model.folder(), "--input", file})["heads"]);
  REQUIRE(all["heads"].size() == each[0].size());
  for (std::size_t h = 0; h < each[0].size(); ++h) {
    const json& head = all["heads"][h];
    for (const HeadMeasure& measure : head_measures()) {
      CAPTURE(measure.id);
      double sum = 0, squares = 0, count = 0;
      for (const json& one : each)
        if (const json& value = one[h][measure.id]; value.is_number())
          sum += double(value), squares += double(value) * double(value), ++count;
      CHECK(head[measure.id + "_inputs"] == count);
      CHECK(double(head[measure.id]) == doctest::Approx(sum / count));
      const double variance = (squares - sum * sum / count) / (count - 1);
      CHECK(std::pow(double(head[measure.id + "_deviation"]), 2) ==
            doctest::Approx(variance).epsilon(1e-6).scale(1));
    }
    CHECK(head["same_token_inputs"] == 2);  // the third has each token once
  }
}

TEST_CASE("law: a note of any input of heads --measures is said, with the number of its inputs") {
  const TinyTextModel model;
  std::string long_text = "a";
  for (int i = 0; i < 600; ++i) long_text += " cat";  // more tokens than the model has positions
  for (int which = 0; which < 8; ++which) {
    CAPTURE(which);
    const TemporaryDirectory folder;
    int with_note = 0;
    for (int i = 0; i < 3; ++i) {
      const bool is_long = (which >> i & 1) != 0;
      folder.write(std::to_string(i) + ".txt", is_long ? long_text : "the cat sat");
      with_note += is_long;
    }
    const json found =
        measures_of({model.folder(), "--input", folder.path(), "--layer", "0", "--head", "0"});
    const std::string end = with_note == 3 ? "" : with_note == 2 ? " (2 inputs)" : " (1 input)";
    CHECK(found["notes"].size() == (with_note > 0 ? 1 : 0));
    for (const std::string note : found["notes"]) {
      CHECK(note.starts_with("the model reads the first "));
      CHECK(note.substr(note.rfind(" positions") + 10) == end);
    }
  }
}

TEST_CASE("heads --measures goes on after a file of the folder that cannot be read") {
  const TinyTextModel model;
  const TemporaryDirectory folder;
  folder.write("1.txt", "the cat sat a b c the cat");
  folder.write("2.txt", "\xff\xfe");
  folder.write("3.txt", "a a a b b b");
  const json found = measures_of({model.folder(), "--input", folder.path()});
  CHECK(found["inputs"].size() == 2);
  REQUIRE(found["failed"].size() == 1);
  CHECK(found["failed"][0]["input"].get<std::string>().ends_with("2.txt"));
  CHECK(found["heads"][0]["entropy_inputs"] == 2);
  CHECK(found["notes"].dump().find("2.txt is left out") != std::string::npos);
  folder.write("1.txt", "\xff");
  folder.write("3.txt", "\xff");
  const Ended none = run_program({"heads", model.folder(), "--input", folder.path(), "--measures"});
  CHECK(none.status == 3);
  CHECK(none.err.find("1.txt") != std::string::npos);
}

TEST_CASE("heads --measures goes with no variant and no budget, and needs inputs in a folder") {
  for (const std::vector<std::string>& option : {std::vector<std::string>{"--variant", "h1d"},
                                                 {"--within", "0.1"},
                                                 {"--cost", "0.1"},
                                                 {"--settings", "3"},
                                                 {"--learn", "10"},
                                                 {"--no-learn"}}) {
    CAPTURE(option.front());
    std::vector<std::string> words{"heads", "synthetic:golden", "--measures"};
    words.insert(words.end(), option.begin(), option.end());
    CHECK(run_program(words).status == 2);
  }
  const TinyTextModel model;
  const TemporaryDirectory empty;
  const Ended none = run_program({"heads", model.folder(), "--input", empty.path(), "--measures"});
  CHECK(none.status == 3);
  CHECK(none.err.find("holds no text and no image") != std::string::npos);
}
