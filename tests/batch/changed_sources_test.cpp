// Sources that change while a sweep computes: no row has numbers of other content than the plan's.
#include <doctest/doctest.h>

#include <filesystem>

#include "batch/item_runner.h"
#include "io/npy.h"
#include "io/safetensors_writer.h"
#include "messages.h"
#include "temporary_directory.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// Heads of n tokens whose values are all `value`.
void write_heads(const std::string& path, Index n, float value) {
  std::vector<OutTensor> tensors;
  for (const char* name : {"q", "k", "v"})
    tensors.push_back({name, {n, 4}, std::vector<float>(static_cast<std::size_t>(4 * n), value)});
  write_safetensors(path, tensors, {});
}

struct Sweep {
  TemporaryDirectory folder;
  std::string first = folder / "first.safetensors", second = folder / "second.safetensors";
  std::optional<BatchItems> items;
  std::unique_ptr<Backend> backend = make_cpu_backend({.threads = 1});
  std::optional<ItemRunner> runner;

  Sweep() {
    write_heads(first, 8, 1);
    write_heads(second, 8, 2);
    begin();
  }
  void begin() {
    const Json plan{{"sources", {first, second}}, {"variants", {"exact", "h1d"}}, {"rounds", 0}};
    items.emplace(batch_plan_from("p.json", parse_json("p.json", plan.dump())));
    runner.emplace(*items, items->fingerprint(), *backend);
  }
  Document row(std::size_t item) { return runner->run(items->item(item), {}); }
};

}  // namespace

TEST_CASE(
    "sweep: a source that is replaced meanwhile has rows with an error, others have numbers") {
  Sweep sweep;
  REQUIRE(sweep.items->size() == 4);
  CHECK(sweep.row(0)["error"].is_null());
  for (const std::string& path : {sweep.first, sweep.second}) {
    write_heads(path + ".new", 6, 3);
    std::filesystem::rename(path + ".new", path);
  }
  CHECK(sweep.row(1)["error"].is_null());  // of the first one, which is still open
  for (const std::size_t item : {2, 3}) {
    const Document row = sweep.row(item);
    REQUIRE(row["error"].is_string());
    check_says(row["error"].get<std::string>(),
               {sweep.second, "was changed after it was opened", "--retry-failed"});
    CHECK_FALSE(row.contains("output_rel_fro"));
  }
  CHECK_SAYS(sweep.items->fingerprint(), sweep.first, "was changed after it was opened");
  sweep.begin();  // the same command again: another plan
  CHECK(sweep.row(2)["error"].is_null());
  CHECK(sweep.row(2)["n"] == 6);
}

TEST_CASE("sweep: an array more in a directory is other content, too") {
  Sweep sweep;
  sweep.second = sweep.folder / "arrays";
  std::filesystem::create_directory(sweep.second);
  const std::string array = npy_bytes(npy_dict("<f4", "(8, 4)"), floats(32));
  for (const char* name : {"q", "k", "v"}) write_bytes(sweep.second + "/" + name + ".npy", array);
  sweep.begin();
  CHECK(sweep.row(2)["error"].is_null());
  sweep.begin();
  write_bytes(sweep.second + "/other.npy", array);
  const Document row = sweep.row(2);
  REQUIRE(row["error"].is_string());
  check_says(row["error"].get<std::string>(), {sweep.second, "other files", "--retry-failed"});
}
