// Any bytes are either loaded or refused with an Error that can be shown: there is never a crash or
// another exception.
#include <doctest/doctest.h>

#include <functional>

#include "data/random.h"
#include "data/utf8.h"
#include "io/npy.h"
#include "io/safetensors.h"
#include "io/structure_file.h"
#include "io/tensor_source.h"
#include "io/token_file.h"
#include "variants/tree_tensors.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr int rounds = 4000;

/// Flips bits, overwrites, inserts and removes bytes, and cuts the end off.
std::string mutate(std::string bytes, Random& random) {
  const auto place = [&] { return static_cast<std::size_t>(random.below(bytes.size())); };
  for (std::uint64_t change = 1 + random.below(4); change > 0 && !bytes.empty(); --change) {
    switch (random.below(6)) {
      case 0:
      case 1:
        bytes[place()] ^= static_cast<char>(1 << random.below(8));
        break;
      case 2:
        bytes[place()] = "0199,[]{}\"':\xff"[random.below(13)];
        break;
      case 3:
        bytes.insert(place(), 1, static_cast<char>(random.below(256)));
        break;
      case 4:
        bytes.erase(place(), 1 + random.below(4));
        break;
      case 5:
        if (random.below(4) == 0) bytes.resize(place());
        break;
    }
  }
  return bytes;
}

/// Reads a head of everything that was loaded, so that sanitizers find wrong offsets.
void use(const Source& source) {
  for (const Layer& layer : source.layers)
    for (const HeadTensor* tensor : {&layer.q, &layer.k, &layer.v, &layer.attention})
      if (tensor->present()) (void)tensor->read(tensor->heads - 1);
}

/// How many of the mutants were still loaded.
int fuzz(const std::string& seed_bytes, const std::string& name, std::uint64_t stream,
         const std::function<void(const std::string&)>& load) {
  const TemporaryDirectory directory;
  const std::string path = directory / name;
  Random random(2026, stream);
  int loaded = 0;
  for (int round = 0; round < rounds; ++round) {
    const std::string bytes = round == 0 ? seed_bytes : mutate(seed_bytes, random);
    write_bytes(path, bytes);
    try {
      load(path);
      ++loaded;
    } catch (const InputError& error) {
      CHECK(error.what()[0] != '\0');
      CHECK(printable(error.what()) == error.what());
    } catch (const UnavailableError&) {
    }
    if (round == 0) CHECK(loaded == 1);  // the seed is valid: otherwise nothing is tested
  }
  return loaded;
}

std::string seed_safetensors() {
  return safetensors_bytes(
      "{\"__metadata__\":{\"tokens\":\"[\\\"a\\\",\\\"b\\\"]\",\"scale\":\"0.5\","
      "\"image\":\"{\\\"grid\\\":[1,2]}\",\"layout\":\"[H,n,d]\"}," +
          entry("q", "F32", "[1,2,3]", "[0,24]") + "," + entry("k", "F16", "[1,2,3]", "[24,36]") +
          "," + entry("v", "BF16", "[1,2,3]", "[36,48]") + "}",
      std::string(48, '\1'));
}

std::vector<ZipMember> seed_members() {
  std::vector<ZipMember> members;
  for (const char* name : {"q.npy", "k.npy", "v.npy"})
    members.push_back({name, npy_bytes(npy_dict("<f4", "(2, 3)"), floats(6))});
  return members;
}

std::string archive_bytes(void (*write)(const std::string&, const std::vector<ZipMember>&)) {
  const TemporaryDirectory directory;
  write(directory / "x.npz", seed_members());
  return read_bytes(directory / "x.npz");
}

}  // namespace

TEST_CASE("fuzz: safetensors") {
  const int loaded = fuzz(seed_safetensors(), "x.safetensors", 1, [](const std::string& path) {
    use(source_from_tensors(read_safetensors(path)));
  });
  CHECK(loaded < rounds);
}

TEST_CASE("fuzz: a header of safetensors that is read without JSON is JSON of the same entries") {
  const std::string file = seed_safetensors(), header = file.substr(8, file.size() - 8 - 48);
  REQUIRE(agrees_with_json(header));
  Random random(2026, 8);
  for (int round = 0; round < 10 * rounds; ++round) {
    const std::string text = mutate(header, random);
    CAPTURE(text);
    REQUIRE(agrees_with_json(text));
  }
}

TEST_CASE("fuzz: npz, stored and deflated") {
  const auto load = [](const std::string& path) { use(source_from_tensors(read_npz(path))); };
  CHECK(fuzz(archive_bytes(write_zip), "x.npz", 2, load) < rounds);
  CHECK(fuzz(archive_bytes(write_deflated), "x.npz", 3, load) < rounds);
}

TEST_CASE("fuzz: npy") {
  const auto load = [](const std::string& path) {
    const std::string directory = std::filesystem::path(path).parent_path().string();
    use(source_from_tensors(read_npy_directory(directory, true)));
  };
  const std::string fortran = npy_bytes(npy_dict("<f8", "(2, 3, 3)", "True"), floats(36));
  CHECK(fuzz(fortran, "attention.npy", 4, load) < rounds);
}

TEST_CASE("fuzz: token files") {
  const std::string encoding =
      R"({"ids":[1,2],"tokens":["Ġa","é</w>"],"offsets":[[0,1],[1,2]],"attention_mask":[1,1]})";
  const auto load = [](const std::string& path) { (void)read_token_json(FileBytes(path)); };
  CHECK(fuzz(encoding, "t.json", 5, load) < rounds);
}

TEST_CASE("fuzz: structures") {
  const TemporaryDirectory directory;
  Structure structure;
  structure.set("key_order", std::vector{1, 0});
  structure.set("alpha", std::vector{0.5f, 0.5f});
  set_tree(structure,
           {{{2, false, Matrix(2, 1), {0, 0}}, {3, false, Matrix(6, 1), {0, 0, 0, 0, 0, 0}}}});
  write_safetensors(directory / "s.safetensors", structure_tensors({structure}), {});
  const auto load = [](const std::string& path) { (void)tree_of(read_structure(path, 0, 1)); };
  CHECK(fuzz(read_bytes(directory / "s.safetensors"), "s.safetensors", 6, load) < rounds);
}

TEST_CASE("fuzz: what vLLM-Hook says beside its tensors") {
  const TemporaryDirectory directory;
  write_safetensors(
      directory / "seed.safetensors",
      {{"a__q", {3, 4}, std::vector<float>(12)}, {"a__k", {5, 2}, std::vector<float>(10)}}, {});
  TensorFile file = read_safetensors(directory / "seed.safetensors");
  const std::string sidecar =
      R"({"config":{"num_attention_heads":2,"num_key_value_heads":1,"head_dim":2,)"
      R"("attention_multiplier":0.5},"layer_order":[{"key_q":"a__q","key_k":"a__k",)"
      R"("module_name":"a","layer_num":0,"hookq_mode":"all_tokens"}],"compact_all_tokens":true,)"
      R"("q_seq_lens":[1,1,1],"k_full_lens":[3,2],"k_prefix_ends":[[1,2],[2]]})";
  const auto load = [&](const std::string& path) {
    file.path = std::filesystem::path(path).replace_extension(".safetensors").string();
    use(source_from_tensors(file));
  };
  CHECK(fuzz(sidecar, "qk.json", 7, load) < rounds);
}
