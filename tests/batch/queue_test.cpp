// Several queues in one folder, as processes have them: who gets which item, and what becomes of
// it.
#include <doctest/doctest.h>

#include <memory>
#include <set>

#include "batch/item_queue.h"
#include "messages.h"
#include "temporary_directory.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// Two heads of three items each.
BatchItems two_heads() {
  return BatchItems(batch_plan_from(
      "p", Json::parse(R"({"sources": ["synthetic:gaussian?n=16&d=4", "synthetic:gaussian?n=8&d=4"],
                           "variants": ["exact"], "seeds": [0, 1, 2]})")));
}

struct Shared {
  TemporaryDirectory scratch;
  BatchItems items = two_heads();
  ResultsFolder folder{scratch / "r"};

  Shared() { folder.prepare(items); }
  std::unique_ptr<ItemQueue> join(const Shard& shard = {}, bool retry_failed = false) const {
    return std::make_unique<ItemQueue>(items, folder, shard, retry_failed);
  }
  Document row(std::size_t item, bool failed = false) const {
    return {{"item", item},
            {"plan", folder.plan()},
            {"error", failed ? Document("bad") : Document(nullptr)}};
  }
  std::size_t do_next(ItemQueue& queue, bool failed = false) const {
    const auto item = queue.take();
    REQUIRE(item);
    queue.put(row(item->number, failed));
    return item->number;
  }
};

}  // namespace

TEST_CASE("processes take heads apart, and help where no head is left") {
  const Shared shared;
  const auto one = shared.join(), other = shared.join();
  CHECK(one->take()->number == 0);
  for (const std::size_t expected : {3, 4, 5, 1, 2}) CHECK(shared.do_next(*other) == expected);
  CHECK(!other->take());  // the one that is left is being worked on
  CHECK(!other->finished());
  one->put(shared.row(0));
  CHECK(one->finished());
  CHECK(!one->take());
  CHECK(!other->take());
  CHECK(other->finished());
}

TEST_CASE("an item whose process has gone is handed out again") {
  const Shared shared;
  auto gone = shared.join();
  const auto other = shared.join();
  CHECK(shared.do_next(*gone) == 0);
  CHECK(gone->take()->number == 1);
  gone.reset();
  std::set<std::size_t> left;
  while (const auto item = other->take()) {
    left.insert(item->number);
    other->put(shared.row(item->number));
  }
  CHECK(left == std::set<std::size_t>{1, 2, 3, 4, 5});
  CHECK(other->finished());
}

TEST_CASE("the last one to leave gathers the results, and nobody merges before") {
  const Shared shared;
  const auto one = shared.join(), other = shared.join();
  shared.do_next(*one);
  shared.do_next(*other, true);
  CHECK(contains(message_of<UnavailableError>([&] { merge_results(shared.folder); }),
                 "a sweep still works there"));
  CHECK(!one->leave());
  const auto table = other->leave();
  REQUIRE(table);
  CHECK(table->rows().size() == 2);
  CHECK(table->failed() == 1);
  CHECK(table->missing() == 4);
  CHECK(merge_results(shared.folder).rows().size() == 2);
  CHECK(read_bytes(shared.folder.csv()).starts_with("item,plan,error\n0,"));
}

TEST_CASE("failed items are done, unless they are to be tried again") {
  const Shared shared;
  {
    const auto first = shared.join();
    CHECK(shared.do_next(*first) == 0);
    CHECK(shared.do_next(*first, true) == 1);
    first->leave();
  }
  {
    const auto again = shared.join();
    CHECK(again->done() == 2);
    CHECK(again->failed() == 1);
    CHECK(again->take()->number == 2);
  }
  const auto retry = shared.join({}, true);
  CHECK(retry->done() == 1);
  CHECK(retry->failed() == 0);
  CHECK(shared.do_next(*retry, true) == 1);  // once
  CHECK(retry->failed() == 1);
  CHECK(shared.do_next(*retry) == 2);
}

TEST_CASE("a shard has its heads only, and knows what was done without shards") {
  const Shared shared;
  {
    const auto all = shared.join();
    CHECK(shared.do_next(*all) == 0);
    all->leave();
  }
  const auto first = shared.join({1, 2}), second = shared.join({2, 2});
  CHECK(first->total() == 3);
  CHECK(first->done() == 1);
  CHECK(second->done() == 0);
  CHECK(shared.do_next(*first) == 1);
  CHECK(shared.do_next(*first) == 2);
  CHECK(first->finished());
  CHECK(!first->take());
  for (const std::size_t expected : {3, 4, 5}) CHECK(shared.do_next(*second) == expected);
  CHECK(second->finished());
  first->leave();
  CHECK(second->leave()->missing() == 0);
}

TEST_CASE(
    "a folder with a link or another thing by a name of its own is refused, and not changed") {
  for (const char* name :
       {"plan.json", "results.jsonl", "results.csv", "locks", "results.shard-1-of-2.jsonl"}) {
    CAPTURE(name);
    const Shared shared;
    {
      const auto one = shared.join();
      shared.do_next(*one);
      one->leave();
    }
    const std::string file = shared.folder.path() + "/" + name,
                      precious = shared.scratch.write("precious", "one line without its end");
    std::filesystem::remove(file);
    const auto refused = [&](const char* says) {
      ResultsFolder again(shared.folder.path());
      CHECK_SAYS(again.open(), std::string(name) + ": " + says);
      CHECK_SAYS(again.prepare(shared.items), std::string(name) + ": " + says);
      // What was opened before: it would be read or written later.
      const auto go_on = [&] {
        shared.join({1, 2});
        merge_results(shared.folder);
        ResultsFolder(shared.folder).open();
      };
      CHECK_SAYS(go_on(), name, says);
    };
    std::filesystem::create_symlink("../precious", file);
    refused("is a symbolic link");
    CHECK(read_bytes(precious) == "one line without its end");
    std::filesystem::remove(file);
    std::filesystem::create_symlink("../not-there", file);
    refused("is a symbolic link");
    CHECK_FALSE(std::filesystem::exists(shared.scratch / "not-there"));
    std::filesystem::remove(file);
    std::filesystem::create_directory(file);
    refused("is a directory");
  }
}

TEST_CASE("a folder whose plan has another number of items is refused") {
  const Shared shared;
  Json plan = Json::parse(read_bytes(shared.folder.path() + "/plan.json"));
  plan["items"] = 1000;
  write_bytes(shared.folder.path() + "/plan.json", plan.dump());
  ResultsFolder again(shared.folder.path());
  CHECK_SAYS(
      again.prepare(shared.items), "holds results of another plan",
      "(a plan with 1000 items, this is one with " + std::to_string(shared.items.size()) + ")");
}

TEST_CASE("a folder with a line that is no row of the sweep is not changed at all") {
  for (const char* content :
       {"one line without its end", "{\"item\":0,\"plan\":\"q\",\"error\":null}\n",
        "a text\n{\"item\":0"}) {
    CAPTURE(content);
    const Shared shared;
    const std::string journal = shared.folder.path() + "/results.jsonl",
                      table = shared.folder.csv();
    write_bytes(journal, content);
    write_bytes(table, "old");
    CHECK_SAYS(shared.join(), "results.jsonl line ");
    CHECK_SAYS(merge_results(shared.folder), "results.jsonl line ");
    CHECK(read_bytes(journal) == content);
    CHECK(read_bytes(table) == "old");
  }
}
