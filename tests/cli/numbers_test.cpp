// Numbers that leave the program, against formulas in double precision.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "cli/program.h"
#include "data/source.h"
#include "data/synthetic.h"
#include "io/safetensors_writer.h"
#include "io/tensor_file.h"
#include "larger_error.h"
#include "variants/variant.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// Values of an F32 tensor of a file.
bool holds_any(const TensorFile& file, const std::vector<TensorField>& fields) {
  return std::ranges::any_of(fields, [&](const TensorField& field) {
    return std::ranges::find(file.tensors, field.name, &NamedTensor::name) != file.tensors.end();
  });
}

std::vector<float> read_floats(const TensorFile& file, const std::string& name) {
  for (const NamedTensor& tensor : file.tensors)
    if (tensor.name == name) {
      Index count = 1;
      for (const Index size : tensor.shape) count *= size;
      std::vector<float> values(static_cast<std::size_t>(count));
      tensor.bytes->read(tensor.begin, std::as_writable_bytes(std::span(values)));
      return values;
    }
  FAIL("no tensor " << name);
  return {};
}

/// sum_{i,c} Z_ic (2i + c + 1) of the 8 x 2 output.
double checksum(const std::vector<float>& z) {
  double sum = 0;
  for (std::size_t i = 0; i < 8; ++i)
    for (std::size_t c = 0; c < 2; ++c)
      sum += static_cast<double>(z[2 * i + c]) * static_cast<double>(2 * i + c + 1);
  return sum;
}

struct Golden {
  std::vector<std::string> arguments;
  double z5[2], checksum;
};

void check_golden(const Golden& golden, const std::vector<float>& z) {
  // Values up to 7 through a handful of float32 roundings: 8 of 7 * 2^-24 each, plus the table's
  // 5e-7.
  CHECK(std::abs(static_cast<double>(z[10]) - golden.z5[0]) < 4e-6);
  CHECK(std::abs(static_cast<double>(z[11]) - golden.z5[1]) < 4e-6);
  // 16 such values with weights that add up to 136.
  CHECK(std::abs(checksum(z) - golden.checksum) < 136 * 4e-6);
}

}  // namespace

TEST_CASE("the numbers of the reference come out of the program") {
  const std::vector<Golden> table{
      {{"exact"}, {3.218265, -.151889}, 229.333898},
      {{"exact", "--causal"}, {2.470888, -.068187}, 176.525849},
      {{"h1d", "--set", "structure=nested", "--set", "block=2"}, {3.341449, .047506}, 234.111150},
      {{"h1d", "--set", "structure=banded", "--set", "block=2"}, {3.379937, -.209755}, 232.447318},
      {{"fixed", "--causal", "--set", "heads=first", "--set", "summary=4", "--set", "stride=4"},
       {4.224882, .550235},
       282.646182},
      {{"strided", "--causal", "--set", "heads=merged", "--set", "stride=4"},
       {3.067001, -.325892},
       212.752077}};
  for (const Golden& golden : table) {
    const TemporaryDirectory scratch;
    const std::string file = scratch / "z.safetensors";
    std::vector<std::string> arguments{"compute", "synthetic:golden", "-o",
                                       file,      "--json",           "--variant"};
    arguments.insert(arguments.end(), golden.arguments.begin(), golden.arguments.end());
    const Ended ended = run_program(arguments);
    CAPTURE(golden.arguments);
    CAPTURE(ended.err);
    REQUIRE(ended.status == 0);
    const auto document = ended.json();
    const TensorFile out = read_safetensors(file);
    CHECK(nlohmann::json::parse(out.metadata.at("fovea")) == document);
    const auto z = read_floats(out, "z");
    check_golden(golden, z);
    CHECK(document["metrics"].size() == 1);
    CHECK(document["n"] == 8);
    for (const char* key : {"variant", "parameters", "seed", "backend", "device", "scale", "causal",
                            "d", "heads", "cost", "timings_ms"})
      CHECK(document.contains(key));
  }
}

TEST_CASE("compute says the recall of the top keys, in text and in JSON") {
  for (const std::string variant : {"exact", "fixed"}) {
    const std::vector<std::string> arguments{"compute", "synthetic:gaussian?n=97&d=5&seed=2",
                                             "--variant", variant};
    const Ended text = run_program(arguments);
    REQUIRE(text.status == 0);
    for (const char* label :
         {"recall of the top key ", "recall of the top 8 keys ", "recall of the top 64 keys "})
      CHECK(text.out.find(label) != std::string::npos);
    std::vector<std::string> in_json = arguments;
    in_json.push_back("--json");
    const auto metrics = run_program(in_json).json()["metrics"][0];
    for (const char* id : {"top1_recall", "top8_recall", "top64_recall"}) {
      CAPTURE(id);
      const auto recall = metrics[id].get<double>();
      CHECK((recall > 0 && recall <= 1));
      CHECK((recall == 1) == (variant == "exact"));
    }
  }
}

TEST_CASE("exact attention of awkward sizes is the plain formula") {
  for (const char* what :
       {"synthetic:gaussian?n=1&d=3&seed=1", "synthetic:gaussian?n=97&d=5&seed=2",
        "synthetic:gaussian?n=130&d=80&seed=3"}) {
    const TemporaryDirectory scratch;
    const std::string file = scratch / "z.safetensors";
    const Ended ended = run_program({"compute", what, "--variant", "exact", "--dense", "-o", file});
    CAPTURE(what);
    CAPTURE(ended.err);
    REQUIRE(ended.status == 0);
    const TensorFile out = read_safetensors(file);
    const auto z = read_floats(out, "z"), p = read_floats(out, "p"), lse = read_floats(out, "lse");
    const Problem problem = problem_of(make_synthetic(what), {});
    const Index n = problem.n(), dv = problem.dv();
    for (const auto& tensor : out.tensors) {
      if (tensor.name == "z") CHECK(tensor.shape == std::vector<Index>{1, n, dv});
      if (tensor.name == "lse") CHECK(tensor.shape == std::vector<Index>{1, n});
      if (tensor.name == "p") CHECK(tensor.shape == std::vector<Index>{1, n, n});
    }
    double worst_z = 0, worst_p = 0, worst_lse = 0, largest = 0;
    for (Index i = 0; i < n; ++i) {
      std::vector<double> row(static_cast<std::size_t>(n));
      double sum = 0;
      for (Index j = 0; j < n; ++j) {
        double logit = 0;
        for (Index c = 0; c < problem.d(); ++c)
          logit += static_cast<double>(problem.q(i, c)) * static_cast<double>(problem.k(j, c));
        largest = std::max(largest, std::abs(logit * problem.scale));
        sum += row[static_cast<std::size_t>(j)] = std::exp(logit * problem.scale);
      }
      worst_lse = larger_error(
          worst_lse, static_cast<double>(lse[static_cast<std::size_t>(i)]) - std::log(sum));
      for (Index j = 0; j < n; ++j)
        worst_p =
            larger_error(worst_p, static_cast<double>(p[static_cast<std::size_t>(i * n + j)]) -
                                      row[static_cast<std::size_t>(j)] / sum);
      for (Index c = 0; c < dv; ++c) {
        double value = 0;
        for (Index j = 0; j < n; ++j)
          value += row[static_cast<std::size_t>(j)] / sum * static_cast<double>(problem.v(j, c));
        worst_z = larger_error(
            worst_z, value - static_cast<double>(z[static_cast<std::size_t>(i * dv + c)]));
      }
    }
    // A logit of size L carries up to about (d + 2) L 2^-24 of rounding, mostly sqrt(d) of it; P
    // carries it relatively, and V is at most 5.
    const double logit_error =
        (std::sqrt(static_cast<double>(problem.d())) + 8) * (largest + 1) * std::ldexp(1.0, -24);
    CHECK(worst_lse < logit_error);
    CHECK(worst_p < logit_error);
    CHECK(worst_z < 5 * logit_error);
  }
}

TEST_CASE("a structure that was written is used when it is given back") {
  const TemporaryDirectory scratch;
  const std::string first = scratch / "first.safetensors", second = scratch / "second.safetensors";
  const std::vector<std::string> common{"compute",   "synthetic:gaussian?n=300&d=8",
                                        "--variant", "hyper",
                                        "--set",     "block=32",
                                        "--set",     "samples=16",
                                        "--set",     "min_length=1"};
  auto make = common, use = common;
  make.insert(make.end(), {"--seed", "5", "-o", first});
  use.insert(use.end(), {"--seed", "6", "--structure", first, "-o", second});
  REQUIRE(run_program(make).status == 0);
  const Ended ended = run_program(use);
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  CHECK(read_floats(read_safetensors(first), "z") == read_floats(read_safetensors(second), "z"));
}

TEST_CASE("what every variant writes of its structure it takes back, and gives the same output") {
  const TemporaryDirectory scratch;
  const std::string first = scratch / "first.safetensors", second = scratch / "second.safetensors";
  for (const Variant& variant : variants()) {
    if (variant.structure.empty()) continue;
    CAPTURE(variant.id);
    const std::vector<std::string> common{"compute", "synthetic:gaussian?n=300&d=8", "--variant",
                                          variant.id, "--no-metrics"};
    auto make = common, use = common;
    if (!variant.has_bidirectional_form())
      for (auto* command : {&make, &use}) command->push_back("--causal");
    make.insert(make.end(), {"-o", first});
    use.insert(use.end(), {"--seed", "6", "--structure", first, "-o", second});
    REQUIRE(run_program(make).status == 0);
    if (!holds_any(read_safetensors(first), variant.structure)) continue;  // of short heads
    const Ended ended = run_program(use);
    CAPTURE(ended.err);
    REQUIRE(ended.status == 0);
    CHECK(read_floats(read_safetensors(first), "z") == read_floats(read_safetensors(second), "z"));
  }
}

TEST_CASE("every head is given its own part of a structure, whichever heads are computed") {
  const TemporaryDirectory scratch;
  const std::string first = scratch / "first.safetensors", second = scratch / "second.safetensors";
  for (const auto& tried : {std::pair{"hyper", "min_length=1"}, {"tf", "height=3"}}) {
    const char *const variant = tried.first, *const setting = tried.second;
    const auto compute = [&](std::vector<std::string> more) {
      std::vector<std::string> all{
          "compute", "synthetic:gaussian?n=64&d=8&heads=3", "--variant", variant, "--set", setting};
      all.insert(all.end(), more.begin(), more.end());
      const Ended ended = run_program(all);
      CAPTURE(ended.err);
      REQUIRE(ended.status == 0);
    };
    CAPTURE(variant);
    compute({"--seed", "5", "-o", first});
    const auto z = read_floats(read_safetensors(first), "z");
    REQUIRE(z.size() == 3 * 64 * 8);
    compute({"--seed", "6", "--structure", first, "-o", second});
    CHECK(read_floats(read_safetensors(second), "z") == z);
    for (const int head : {0, 1, 2}) {
      compute({"--seed", "6", "--head", std::to_string(head), "--structure", first, "-o", second});
      const auto its = z.begin() + head * 64 * 8;
      CHECK(read_floats(read_safetensors(second), "z") == std::vector(its, its + 64 * 8));
    }
  }
}

TEST_CASE("every head is compared with its own output in the file") {
  const TemporaryDirectory scratch;
  const Index heads = 3, n = 5, d = 2;
  std::vector<OutTensor> tensors;
  for (const char* name : {"q", "k", "v"}) {
    std::vector<float> values;
    for (Index at = 0; at < heads * n * d; ++at)
      values.push_back(static_cast<float>((at * 37 + 11 * (name[0] - 'a')) % 29) / 13 - 1);
    tensors.push_back({name, {heads, n, d}, std::move(values)});
  }
  const std::string source = scratch / "heads.safetensors", out = scratch / "out.safetensors";
  write_safetensors(source, tensors, {});
  document_of({"compute", source, "--variant", "exact", "--json", "-o", out});
  tensors.push_back({"z", {heads, n, d}, read_floats(read_safetensors(out), "z")});
  write_safetensors(source, tensors, {});
  for (const char* head : {"all", "0", "1", "2"}) {
    CAPTURE(head);
    const auto document =
        document_of({"compute", source, "--variant", "exact", "--json", "--head", head});
    REQUIRE(document["metrics"].size() == (head == std::string("all") ? 3 : 1));
    for (const auto& metrics : document["metrics"])
      CHECK(metrics["from_own_output"] == 0.0);  // the same bits
  }
}

TEST_CASE("the rank map of the paper's example is the paper's") {
  const auto map =
      run_program({"rankmap", "synthetic:hmatrix", "--leaf", "4", "--tolerance", "1e-3", "--json"})
          .json();
  CHECK(map["n"] == 16);
  CHECK(map["stored_entries"] == 192.0);
  CHECK(map["compression"].get<double>() == doctest::Approx(4.0 / 3));
  for (const auto& block : map["blocks"])
    CHECK(block["rank"] == (block["row"] == block["col"] ? 4 : 2));
}

TEST_CASE("trees, orders and samples from a file give the numbers of the reference") {
  const TemporaryDirectory scratch;
  const std::string tree = scratch / "tree.safetensors", sorted = scratch / "sorted.safetensors";
  write_safetensors(tree,
                    {{"tree_weight", {1, 1, 2}, std::vector<float>{1, 0}},
                     {"tree_bias", {1, 1}, std::vector<float>{-.25f}}},
                    {});
  const std::vector<std::int32_t> identity{0, 1, 2, 3, 4, 5, 6, 7}, samples{0, 3, 6, 6};
  write_safetensors(sorted,
                    {{"query_order", {1, 8}, identity},
                     {"key_order", {1, 8}, identity},
                     {"sampled_keys", {1, 4}, samples}},
                    {});
  const std::vector<Golden> table{
      {{"tf", "--structure", tree}, {3.025926, -.192579}, 244.525375},
      {{"tc", "--set", "alpha=.25,.75", "--structure", tree}, {3.125, -.15}, 222.6},
      {{"hyper", "--set", "block=2", "--set", "samples=4", "--set", "min_length=1", "--structure",
        sorted},
       {2.848720, .053168},
       246.440765}};
  for (const Golden& golden : table) {
    const std::string file = scratch / "z.safetensors";
    std::vector<std::string> arguments{"compute", "synthetic:golden", "-o", file, "--variant"};
    arguments.insert(arguments.end(), golden.arguments.begin(), golden.arguments.end());
    const Ended ended = run_program(arguments);
    CAPTURE(ended.err);
    REQUIRE(ended.status == 0);
    check_golden(golden, read_floats(read_safetensors(file), "z"));
  }
}
