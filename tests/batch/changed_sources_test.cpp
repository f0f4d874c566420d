// Sources that change while a sweep computes: no row has numbers of other content than the plan's.
#include <doctest/doctest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "backend/backends.h"
#include "batch/item_runner.h"
#include "io/npy.h"
#include "io/safetensors_writer.h"
#include "messages.h"
#include "temporary_directory.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// Heads of n tokens whose values are all `value`.
void write_heads(const std::string& path, Index n, float value, Index heads = 1) {
  std::vector<OutTensor> tensors;
  for (const char* name : {"q", "k", "v"})
    tensors.push_back(
        {name, {heads, n, 4}, std::vector<float>(static_cast<std::size_t>(heads * 4 * n), value)});
  write_safetensors(path, tensors, {});
}

/// Whether a file is opened or read.
class Watch {
 public:
  explicit Watch(const std::string& path) : events_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    REQUIRE(::inotify_add_watch(events_, path.c_str(), IN_OPEN | IN_ACCESS) >= 0);
  }
  ~Watch() { ::close(events_); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Since the last call.
  bool was_used() {
    bool used = false;
    std::array<char, 4096> events{};
    while (::read(events_, events.data(), events.size()) > 0) used = true;
    return used;
  }

 private:
  int events_;
};

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

TEST_CASE("sweep: a source that was found changed is not read again for its other heads") {
  Sweep sweep;
  write_heads(sweep.second, 8, 2, 3);
  sweep.begin();
  REQUIRE(sweep.items->size() == 8);
  std::size_t first_item = 2;
  SUBCASE("replaced before it was opened") {
    write_heads(sweep.second + ".new", 6, 3, 3);
    std::filesystem::rename(sweep.second + ".new", sweep.second);
  }
  SUBCASE("replaced by what is no source") {
    write_bytes(sweep.second + ".new", "of another kind");
    std::filesystem::rename(sweep.second + ".new", sweep.second);
  }
  SUBCASE("overwritten after its first head") {
    CHECK(sweep.row(2)["error"].is_null());
    write_heads(sweep.second + ".new", 12, 3, 3);  // longer: no read ends at once, which is unseen
    write_bytes(sweep.second, read_bytes(sweep.second + ".new"));
    CHECK(sweep.row(3)["error"].is_null());  // of the head that was read before
    first_item = 4;
  }
  Watch watch(sweep.second);
  const Document found = sweep.row(first_item)["error"];
  REQUIRE(found.is_string());
  check_says(found.get<std::string>(), {sweep.second, "was changed after it was opened",
                                        "run the sweep again with --retry-failed"});
  CHECK_FALSE(contains(found.get<std::string>(), "open it again"));
  CHECK(watch.was_used());
  for (std::size_t item = first_item + 1; item < sweep.items->size(); ++item)
    CHECK(sweep.row(item)["error"] == found);
  CHECK_FALSE(watch.was_used());
  CHECK(sweep.row(0)["error"].is_null());  // of the other source
}

TEST_CASE("sweep: a source that was overwritten and is gone has rows that say what to do") {
  Sweep sweep;
  write_heads(sweep.second, 8, 2, 2);
  sweep.begin();
  CHECK(sweep.row(2)["error"].is_null());
  write_bytes(sweep.second, "of another kind");
  std::filesystem::remove(sweep.second);  // what is read is the file that was opened
  const Document row = sweep.row(4);
  REQUIRE(row["error"].is_string());
  CHECK(row["error"] == sweep.second +
                            ": was changed while the sweep read it; put it back and run the sweep "
                            "again with --retry-failed, or sweep into another folder with -o");
}

TEST_CASE("sweep: a source that changes before the first item says to run the sweep again") {
  Sweep sweep;
  write_bytes(sweep.second, "of another kind");
  const std::string message = message_of([&] { (void)sweep.items->fingerprint(); });
  check_says(message, {sweep.second, "was changed after it was opened", "; run the sweep again"});
  CHECK_FALSE(contains(message, "open it again"));
}
