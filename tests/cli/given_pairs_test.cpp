// Kept pairs through the whole program: from SOURCE, and from a file of their own.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "cli/program.h"
#include "io/npy.h"
#include "io/safetensors_writer.h"
#include "io/tensor_file.h"
#include "messages.h"

using namespace fovea::test;

namespace {

std::vector<float> waves(std::size_t count, float from) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(std::sin(from + 3.1f * float(i)));
  return values;
}

std::vector<fovea::OutTensor> two_heads(const std::string& prefix = {}) {
  std::vector<fovea::OutTensor> tensors;
  for (const char* name : {"q", "k", "v"})
    tensors.push_back({prefix + name, {2, 64, 4}, waves(2 * 64 * 4, float(name[0]))});
  return tensors;
}

}  // namespace

TEST_CASE("a mask without z and p is a column: errors, mass, cost and time") {
  const TemporaryDirectory folder;
  auto tensors = two_heads();
  std::vector<float> kept(2 * 4 * 8, 0.0f);  // of head 0 the first blocks, of head 1 all blocks
  for (std::size_t row = 0; row < 4; ++row) kept[8 * row] = 1;
  std::fill(kept.begin() + 32, kept.end(), 1.0f);
  tensors.push_back({"kept", {2, 4, 8}, kept});
  const std::string path = folder / "run.safetensors";
  fovea::write_safetensors(path, tensors, {{"causal", "false"}});
  const Ended info = run_program({"info", path, "--json"});
  CHECK(info.json()["layers"][0]["tensors"]["kept"]["block"] == nlohmann::json({16, 8}));
  CHECK(contains(run_program({"info", path}).out, "results kept (a mask of 16 x 8 blocks)"));
  const Ended ended = run_program({"compute", path, "--variant", "imported", "--json"});
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  const nlohmann::json document = ended.json();
  CHECK(document["metrics"][0]["density"] == 0.125);
  CHECK(document["metrics"][1]["mass_kept"] == 1);
  CHECK(document["metrics"][1]["output_rel_fro"].get<double>() < 1e-6);
  CHECK(document["metrics"][0]["mass_kept"].get<double>() < 0.5);
  CHECK(document["cost"]["multiply_adds"] == (64 * 8 + 64 * 64) * 8);
  CHECK(document["timings_ms"]["total"]["median"].get<double>() > 0);
}

TEST_CASE("--mask: kept pairs of another file, for any source") {
  const TemporaryDirectory folder;
  std::vector<float> causal(64 * 64, 0.0f);
  for (std::size_t i = 0; i < 64; ++i) std::fill_n(causal.begin() + long(64 * i), i + 1, 1.0f);
  fovea::write_safetensors(folder / "mine.safetensors", {{"kept", {64, 64}, causal}}, {});
  const auto compute = [&](const std::string& source, const std::string& mask) {
    return run_program({"compute", source, "--mask", folder / mask, "--variant", "imported",
                        "--no-causal", "--json"});
  };
  const Ended ended = compute("synthetic:gaussian?n=64&d=8", "mine.safetensors");
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  CHECK(ended.json()["metrics"][0]["density"] == 65.0 / 128);
  const Ended exact =
      run_program({"compute", "synthetic:gaussian?n=64&d=8", "--mask", folder / "mine.safetensors",
                   "--variant", "imported", "--set", "result=mine", "--causal", "--json"});
  REQUIRE(exact.status == 0);
  CHECK(exact.json()["metrics"][0]["output_rel_fro"].get<double>() < 1e-6);

  // A single array is a mask, whatever its name, if it has a column for each key.
  std::string bytes(64 * 64, '\0');
  for (std::size_t i = 0; i < 64; ++i) std::fill_n(bytes.begin() + long(64 * i), i + 1, '\1');
  write_bytes(folder / "causal.npy", npy_bytes(npy_dict("|b1", "(64, 64)"), bytes));
  const Ended array = compute("synthetic:gaussian?n=64&d=8", "causal.npy");
  CAPTURE(array.err);
  REQUIRE(array.status == 0);
  CHECK(array.json()["metrics"][0]["density"] == 65.0 / 128);

  // One of other integers than 0 and 1 with a row for each query lists its keys.
  const auto write_integers = [&](const char* name, const char* shape,
                                  const std::vector<std::int32_t>& numbers) {
    const auto raw = std::as_bytes(std::span(numbers));
    write_bytes(folder / name,
                npy_bytes(npy_dict("<i4", shape),
                          std::string(reinterpret_cast<const char*>(raw.data()), raw.size())));
  };
  std::vector<std::int32_t> own;
  for (std::int32_t i = 0; i < 64; ++i) own.insert(own.end(), {i, -1, i / 2, -1});
  write_integers("topk.npy", "(64, 4)", own);
  const Ended lists = compute("synthetic:gaussian?n=64&d=8", "topk.npy");
  CAPTURE(lists.err);
  REQUIRE(lists.status == 0);
  CHECK(lists.json()["metrics"][0]["density"] == 127.0 / 4096);

  // Integers that are all 0 or 1 are a mask: here of one query by 8 keys, each second block.
  std::vector<std::int32_t> blocks;
  for (int i = 0; i < 64 * 8; ++i) blocks.push_back(i % 2);
  write_integers("blocks.npy", "(64, 8)", blocks);
  const Ended mask = compute("synthetic:gaussian?n=64&d=8", "blocks.npy");
  CAPTURE(mask.err);
  REQUIRE(mask.status == 0);
  CHECK(mask.json()["metrics"][0]["density"] == 0.5);
  // Lists may be as long as there are keys.
  std::vector<std::int32_t> long_lists(64 * 64, -1);
  for (std::size_t i = 0; i < 64; ++i) long_lists[64 * i] = static_cast<std::int32_t>(i);
  write_integers("long.npy", "(64, 64)", long_lists);
  const Ended padded = compute("synthetic:gaussian?n=64&d=8", "long.npy");
  CAPTURE(padded.err);
  REQUIRE(padded.status == 0);
  CHECK(padded.json()["metrics"][0]["density"] == 1.0 / 64);

  const Ended other = compute("synthetic:gaussian?n=32&d=8", "mine.safetensors");
  CHECK(other.status == 3);
  check_says(other.err, {"mine.safetensors", "'kept'", "[64,64]", "expected [32,32]"});
  fovea::write_safetensors(folder / "none.safetensors",
                           {fovea::OutTensor{"other", {2}, std::vector<float>{1, 2}}}, {});
  const Ended none = compute("synthetic:gaussian?n=32&d=8", "none.safetensors");
  CHECK(none.status == 3);
  check_says(none.err, {"none.safetensors", "no mask, list of pairs", "'other' [2]", "kv_indices"});
  CHECK(compute("synthetic:gaussian?n=32&d=8", "missing.safetensors").status == 3);
}

TEST_CASE("a result that contradicts its own mask says what it equals") {
  const TemporaryDirectory folder;
  auto tensors = two_heads();
  const std::string plain = folder / "plain.safetensors", out = folder / "z.safetensors";
  fovea::write_safetensors(plain, tensors, {});
  REQUIRE(run_program({"compute", plain, "--variant", "exact", "--no-causal", "-o", out}).status ==
          0);
  // The same output, beside a mask that keeps the first keys alone.
  std::vector<float> first(64 * 64, 0.0f);
  for (std::size_t i = 0; i < 64; ++i) std::fill_n(first.begin() + long(64 * i), 16, 1.0f);
  const auto read = fovea::read_safetensors(out);
  std::vector<float> z(2 * 64 * 4);
  for (const auto& tensor : read.tensors)
    if (tensor.name == "z") tensor.bytes->read(tensor.begin, std::as_writable_bytes(std::span(z)));
  tensors.push_back({"z", {2, 64, 4}, z});
  tensors.push_back({"kept", {64, 64}, first});
  const std::string path = folder / "run.safetensors";
  fovea::write_safetensors(path, tensors, {{"causal", "false"}});
  const Ended found = run_program({"compute", path, "--variant", "imported"});
  REQUIRE(found.status == 0);
  check_says(found.out,
             {"head 1: z is not what the kept pairs give, in all 64 rows; it equals exact "
              "attention over all pairs, up to rounding to F32"});
  const auto notes =
      run_program({"compute", path, "--variant", "imported", "--json"}).json()["notes"];
  CHECK(std::ranges::any_of(notes, [](const nlohmann::json& note) {
    return contains(note.get<std::string>(), "head 0: z is not what the kept pairs give");
  }));
}

TEST_CASE("--kept writes the pairs of a variant, and --mask reads them back") {
  const TemporaryDirectory folder;
  const std::string source = "synthetic:gaussian?n=96&d=8", out = folder / "kept.safetensors";
  const auto drawn = [&](const std::vector<std::string>& more) {
    std::vector<std::string> command{"compute",  source,  "--variant",
                                     "drawn",    "--set", "pairs=0-95/0-15 !32-47/3 50/60-70",
                                     "--causal", "--json"};
    command.insert(command.end(), more.begin(), more.end());
    return run_program(command);
  };
  const nlohmann::json plain = drawn({}).json();
  const double density = plain["metrics"][0]["density"],
               error = plain["metrics"][0]["output_rel_fro"];
  for (const char* form : {"pairs", "indices", "csr"}) {
    CAPTURE(form);
    REQUIRE(drawn({"-o", out, "--kept", form}).status == 0);
    const Ended read = run_program(
        {"compute", source, "--variant", "imported", "--mask", out, "--causal", "--json"});
    REQUIRE(read.status == 0);
    CHECK(read.json()["metrics"][0]["density"] == density);
    CHECK(read.json()["metrics"][0]["output_rel_fro"].get<double>() ==
          doctest::Approx(error).epsilon(1e-5));  // both are float32
  }
  const Ended blocks = drawn({"-o", out, "--kept", "blocks", "--kept-block", "32,8"});
  REQUIRE(blocks.status == 0);
  CHECK(contains(blocks.out, "pairs that Drawn leaves out lie in blocks that it keeps in part"));
  CHECK(fovea::read_safetensors(out).metadata.at("block_size") == "32, 8");

  const Ended no_file = drawn({"--kept", "csr"});
  CHECK(no_file.status == 2);
  CHECK(contains(no_file.err, "--kept writes the pairs to a file; expected -o OUT.safetensors"));
  CHECK(drawn({"-o", out, "--kept", "csr", "--kept-block", "16"}).status == 2);
  const Ended no_pairs =
      run_program({"compute", source, "--variant", "drawn", "--set", "pairs=0-95", "--json"});
  CHECK(no_pairs.status == 2);
  CHECK(contains(no_pairs.err, "'0-95' is no rectangle; expected queries/keys"));
}
