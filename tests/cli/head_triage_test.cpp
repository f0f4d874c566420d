// Which pattern of sparse prefill each head takes, as `fovea heads --triage` reports it, and the
// configuration that it writes for MInference.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "cli/program.h"
#include "data/random.h"
#include "io/safetensors_writer.h"
#include "tiny_text_model.h"

using namespace fovea;
using namespace fovea::test;

namespace {

using nlohmann::json;

const std::string causal_heads = "synthetic:smooth?n=300&d=16&heads=3&seed=1";

json triage_of(std::vector<std::string> words) {
  words.insert(words.begin(), "heads");
  words.insert(words.end(), {"--triage", "--json", "--backend", "cpu"});
  return document_of(words);
}

Ended triage_text(std::vector<std::string> words) {
  words.insert(words.begin(), "heads");
  words.insert(words.end(), {"--triage", "--backend", "cpu"});
  return run_program(words);
}

json file_of(const std::string& path) {
  std::ifstream in(path);
  return json::parse(in);
}

/// How MInference reads a layer: keys are numbers of heads, and an entry is taken apart into four;
/// the pattern is looked up among three.
using Entry = std::array<json, 4>;
std::map<int, Entry> read_layer(const json& config, std::size_t layer) {
  REQUIRE(config.is_array());
  std::map<int, Entry> heads;
  if (layer >= config.size()) return heads;
  REQUIRE(config[layer].is_object());
  for (const auto& [head, entry] : config[layer].items()) {
    CHECK(head.find_first_not_of("0123456789") == std::string::npos);
    REQUIRE(entry.is_array());
    REQUIRE(entry.size() == 4);
    const std::set<std::string> known{"stream_llm", "vertical_and_slash", "block_sparse"};
    CHECK(known.contains(entry[0].get<std::string>()));
    CHECK(entry[1].is_number_integer());
    CHECK(entry[2].is_number_integer());
    CHECK(entry[1] >= 1);
    CHECK(entry[2] >= 1);
    CHECK(entry[3].is_number());
    heads[std::stoi(head)] = entry.get<Entry>();
  }
  return heads;
}

void check_entry(const Entry& entry, const json& head) {
  const std::string pattern = head["pattern"];
  CAPTURE(pattern);
  CHECK(entry[3] == head["recall"]);
  if (pattern == "full") {
    CHECK(entry[0] == "vertical_and_slash");
    CHECK(entry[2] >= 10'000'000);  // all diagonals of any prompt
    return;
  }
  const json& its = head["patterns"][pattern];
  if (pattern == "block") {
    CHECK(entry[0] == "block_sparse");
    CHECK(entry[1] == its["blocks"]);
    return;
  }
  CHECK(entry[0] == (pattern == "streaming" ? "stream_llm" : "vertical_and_slash"));
  CHECK(entry[1] == std::max(1, its["columns"].get<int>()));
  CHECK(entry[2] == std::max(1, its["diagonals"].get<int>()));
}

/// Layers of two heads, named as given, which are causal or not as `causal` states, if it does.
std::string layers_file(const TemporaryDirectory& folder, const std::vector<std::string>& names,
                        const std::string& causal = "true") {
  std::vector<OutTensor> tensors;
  Random random(3, 0);
  for (const std::string& name : names)
    for (const char* tensor : {"q", "k", "v"}) {
      std::vector<float> values(2 * 40 * 4);
      for (float& value : values) value = static_cast<float>(random.normal());
      tensors.push_back({name + "." + tensor, {2, 40, 4}, std::move(values)});
    }
  const std::string file = folder / "layers.safetensors";
  std::map<std::string, std::string> metadata;
  if (!causal.empty()) metadata["causal"] = causal;
  write_safetensors(file, tensors, metadata);
  return file;
}

}  // namespace

TEST_CASE("heads --triage: each head has a pattern, and none keeps more pairs than the budget") {
  const json found = triage_of({causal_heads, "--causal", "--budget", "0.2", "--keep", "0.5"});
  CHECK(found["budget"] == 0.2);
  CHECK(found["keep"] == 0.5);
  CHECK(found["notes"].dump().find("with 300 tokens the budget leaves few keys") !=
        std::string::npos);
  REQUIRE(found["heads"].size() == 3);
  std::map<std::string, int> counts;
  for (const json& head : found["heads"]) {
    CHECK(head["n"] == 300);
    CHECK(head["rows"] == 300);
    CHECK(head["causal"] == true);
    ++counts[head["pattern"]];
    double best = 0;
    for (const json& its : head["patterns"]) {
      CAPTURE(its);
      CHECK(its["pairs"] <= 0.2);
      CHECK(its["recall"] <= 1 + 1e-5);
      CHECK_FALSE(its.contains("recall_standard_error"));
      best = std::max(best, its["recall"].get<double>());
    }
    CHECK((head["pattern"] == "full") == (best < 0.5));
    CHECK(head["recall"] >= best - 1e-3);
  }
  for (const auto& [pattern, count] : counts) CHECK(found["counts"][pattern] == count);
  // One pattern can keep all mass of a head of clusters, if it may have all pairs.
  const json all = triage_of({causal_heads, "--budget", "1", "--head", "0"});
  CHECK(all["heads"][0]["pattern"] == "streaming");
  CHECK(all["heads"][0]["causal"] == false);
  CHECK(all["heads"][0]["as_good"] == json({"vertical_slash", "block"}));
}

TEST_CASE("heads --triage: table and CSV have the numbers of the document") {
  const json found = triage_of({causal_heads, "--causal", "--keep", "0.3"});
  const Ended table = triage_text({causal_heads, "--causal", "--keep", "0.3"}),
              csv = triage_text({causal_heads, "--causal", "--keep", "0.3", "--csv"});
  REQUIRE(table.status == 0);
  REQUIRE(csv.status == 0);
  CHECK(table.out.find("at most 10 % of the pairs") != std::string::npos);
  CHECK(table.out.find("full if no pattern keeps 0.3") != std::string::npos);
  std::istringstream lines(csv.out);
  std::string line;
  std::getline(lines, line);
  CHECK(line.starts_with("layer,layer_label,head,n,rows,pattern,recall,pairs,streaming,"));
  for (const json& head : found["heads"]) {
    REQUIRE(std::getline(lines, line));
    CHECK(line.starts_with("0,layer 0," + head["head"].dump() + ",300,300," +
                           head["pattern"].get<std::string>() + ','));
    const json& blocks = head["patterns"]["block"];
    CHECK(line.ends_with("," + blocks["block"].dump() + "," + blocks["blocks"].dump()));
  }
}

TEST_CASE("heads --triage -o writes what MInference reads: a list of layers, four entries a head") {
  const TemporaryDirectory folder;
  const std::string file = layers_file(folder, {"layer0", "layer1"}), config = folder / "c.json";
  for (const std::string keep : {"0", "0.6", "1"}) {
    CAPTURE(keep);
    // An older configuration is replaced.
    const json found = triage_of({file, "--keep", keep, "--budget", "0.4", "-o", config});
    CHECK(found["output"] == config);
    CHECK(found["notes"].dump().find("does not name") == std::string::npos);
    const json read = file_of(config);
    REQUIRE(read.size() == 2);
    for (const json& head : found["heads"]) {
      const auto layer = read_layer(read, head["layer"]);
      CHECK(layer.size() == 2);
      check_entry(layer.at(head["head"]), head);
    }
  }
}

TEST_CASE("law: heads --triage -o takes heads that are causal as chosen, else as the file says") {
  const TemporaryDirectory folder;
  for (const std::string stated : {"", "true", "false"})
    for (const std::string chosen : {"", "--causal", "--no-causal"}) {
      CAPTURE(stated);
      CAPTURE(chosen);
      const std::string file = layers_file(folder, {"layer0"}, stated), config = folder / "c.json";
      std::vector<std::string> words{file, "-o", config};
      if (!chosen.empty()) words.push_back(chosen);
      const bool causal = chosen.empty() ? stated == "true" : chosen == "--causal";
      const Ended ended = triage_text(words);
      CHECK(ended.status == (causal ? 0 : 2));
      if (!causal) CHECK(ended.err.find("MInference runs causal heads") != std::string::npos);
      words.resize(words.size() - (chosen.empty() ? 2 : 3));  // without a file, any head is taken
      if (!chosen.empty()) words.push_back(chosen);
      for (const json& head : triage_of(words)["heads"]) CHECK(head["causal"] == causal);
    }
}

TEST_CASE("heads --triage -o puts a layer at its number in the model, and names what is missing") {
  const TemporaryDirectory folder;
  const std::string config = folder / "config.json",
                    named = layers_file(folder, {"layer1", "layer4"});
  const json both = triage_of({named, "-o", config});
  CHECK(both["notes"].dump().find("does not name, which are in layers 0, 2, 3") !=
        std::string::npos);
  json read = file_of(config);
  REQUIRE(read.size() == 5);
  for (std::size_t layer = 0; layer < 5; ++layer)
    CHECK(read_layer(read, layer).size() == (layer == 1 || layer == 4 ? 2 : 0));
  const Ended one = triage_text({named, "--layer", "layer1", "--head", "1", "-o", config});
  CHECK(one.status == 0);
  CHECK(one.out.find("which are in layers 0, 1, 2, 3, 4\n") != std::string::npos);
  read = file_of(config);
  REQUIRE(read.size() == 5);  // later layers are not named, and not left out
  CHECK(read_layer(read, 1).contains(1));
  CHECK(read_layer(read, 1).size() == 1);
  const std::string unnumbered = layers_file(folder, {"early", "late"});
  CHECK(triage_of({unnumbered, "-o", config})["notes"].dump().find("does not name") ==
        std::string::npos);
  CHECK(file_of(config).size() == 2);
}

TEST_CASE("heads --triage: what it cannot do is refused, and the output is left alone") {
  const TemporaryDirectory folder;
  const std::string config = folder / "config.json";
  const auto refused = [&](std::vector<std::string> words, int status, const std::string& says) {
    words.insert(words.begin(), "heads");
    const Ended ended = run_program(words);
    CAPTURE(words);
    CAPTURE(ended.err);
    CHECK(ended.status == status);
    CHECK(ended.out.empty());
    CHECK(ended.err.find(says) != std::string::npos);
    CHECK(folder.files().size() == 2);
  };
  folder.write("config.json", "[]");
  const std::string matrix = folder / "matrix.safetensors";
  write_safetensors(matrix, {{"attention", {1, 2, 2}, std::vector<float>{1, 0, 0, 1}}}, {});
  refused({matrix, "--triage"}, 3, "without q and k");
  for (const char* budget : {"-0.1", "1.5", "nan", "x"}) {
    refused({causal_heads, "--triage", "--budget", budget}, 2, "from 0 to 1");
    refused({causal_heads, "--triage", "--keep", budget}, 2, "from 0 to 1");
  }
  refused({causal_heads, "--triage", "-o", ""}, 2, "-o");
  refused({causal_heads, "--triage", "-o", config}, 2, "MInference runs causal heads");
  for (const char* option : {"--budget", "--keep", "-o"})
    refused({causal_heads, option, "0.5"}, 2, "--triage");
  for (const std::vector<std::string>& option : {std::vector<std::string>{"--measures"},
                                                 {"--variant", "h1d"},
                                                 {"--within", "0.1"},
                                                 {"--cost", "0.1"},
                                                 {"--y", "loss"},
                                                 {"--settings", "3"},
                                                 {"--no-learn"}}) {
    std::vector<std::string> words{causal_heads, "--triage"};
    words.insert(words.end(), option.begin(), option.end());
    refused(words, 2, option.front());
  }
  CHECK(file_of(config) == json::array());
  const TemporaryDirectory other;
  const std::string file = layers_file(other, {"layer0"});
  const Ended own = triage_text({file, "-o", file});
  CHECK(own.status == 2);
  CHECK(own.err.find("this command reads the file") != std::string::npos);
}

TEST_CASE("heads --triage leaves out heads of cross attention") {
  const TemporaryDirectory folder;
  const auto tensor = [](const std::string& name, Index tokens) {
    return OutTensor{name, {1, tokens, 2}, std::vector<float>(std::size_t(2 * tokens), 0.5f)};
  };
  const std::string file = folder / "both.safetensors", cross = folder / "cross.safetensors";
  write_safetensors(file,
                    {tensor("layer0.q", 6), tensor("layer0.k", 6), tensor("layer0.v", 6),
                     tensor("layer1.q", 6), tensor("layer1.k", 9), tensor("layer1.v", 9)},
                    {});
  const json found = triage_of({file});
  CHECK(found["heads"].size() == 1);
  CHECK(found["notes"].dump().find("1 head with other keys than the tokens") != std::string::npos);
  write_safetensors(cross, {tensor("q", 6), tensor("k", 9), tensor("v", 9)}, {});
  const Ended none = triage_text({cross});
  CHECK(none.status == 3);
  CHECK(none.err.find("other keys than the tokens of the queries") != std::string::npos);
}

TEST_CASE("heads --triage leaves out heads that are recurrences") {
  const TemporaryDirectory folder;
  const auto tensor = [](const std::string& name, std::vector<Index> shape) {
    const Index size = shape.size() == 3 ? 12 : 6;
    return OutTensor{name, std::move(shape), std::vector<float>(std::size_t(size), 0.5f)};
  };
  const std::string file = folder / "both.safetensors", one = folder / "one.safetensors";
  std::vector<OutTensor> tensors;
  for (const std::string name : {"q", "k", "v"})
    tensors.push_back(tensor("layer0." + name, {1, 6, 2}));
  tensors.push_back(tensor("layer0.beta", {1, 6}));
  write_safetensors(one, tensors, {});
  for (const std::string name : {"q", "k", "v"})
    tensors.push_back(tensor("layer1." + name, {1, 6, 2}));
  write_safetensors(file, tensors, {});
  const json found = triage_of({file});
  CHECK(found["heads"].size() == 1);
  CHECK(found["notes"].dump().find("1 head without softmax attention: left out") !=
        std::string::npos);
  const Ended none = triage_text({one});
  CHECK(none.status == 3);
  CHECK(none.err.find("expected softmax attention") != std::string::npos);
}

TEST_CASE("heads --triage reads a text by its model") {
  const TinyTextModel model;
  const json found = triage_of({model.folder(), "--text", "the cat sat on a mat"});
  CHECK(found["heads"].size() > 0);
}
