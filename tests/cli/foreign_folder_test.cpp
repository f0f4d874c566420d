// Folders that somebody else has made: whatever they hold, commands that write there change nothing
// outside, and no file inside that is not theirs.
#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "cli/program.h"
#include "messages.h"

using namespace fovea::test;

namespace {

/// A sweep that has ended, as somebody sends it, beside a file of the user.
struct Sent {
  TemporaryDirectory home;
  std::string plan, folder = home / "sent", precious = home / "precious";

  explicit Sent(const std::string& content) {
    plan = home.write(
        "a-plan.json",
        R"({"sources": ["synthetic:gaussian?n=16&d=4"], "variants": ["exact"], "rounds": 0})");
    REQUIRE(run_program({"sweep", plan, "-o", folder}).status == 0);
    write_bytes(precious, content);
  }
  std::string fingerprint() const {
    return nlohmann::json::parse(read_bytes(folder + "/plan.json"))["plan"];
  }
  void link(const std::string& name) const {
    std::filesystem::remove(folder + "/" + name);
    std::filesystem::create_symlink("../precious", folder + "/" + name);
  }
  void check_refused(std::initializer_list<std::string> says) const {
    const std::string before = read_bytes(precious);
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"sweep", "--merge", folder},
                                               {"sweep", plan, "-o", folder},
                                               {"sweep", plan, "-o", folder, "--shard", "1/2"}}) {
      CAPTURE(words[1]);
      const Ended ended = run_program(words);
      CHECK(ended.status == 3);
      check_says(ended.err, says);
      CHECK(read_bytes(precious) == before);
    }
  }
};

}  // namespace

TEST_CASE("a folder of results whose files are links writes nowhere else") {
  const Sent sent("one line without its end");
  for (const char* name :
       {"results.csv", "results.jsonl", "results.shard-1-of-2.jsonl", "locks", "plan.json"}) {
    CAPTURE(name);
    const std::string file = sent.folder + "/" + name;
    const bool was_there = std::filesystem::exists(file);
    const std::string before = read_bytes(file);
    sent.link(name);
    sent.check_refused({std::string("sent/") + name, "is a symbolic link", "Remove the link"});
    std::filesystem::remove(file);
    if (was_there) write_bytes(file, before);
  }
}

TEST_CASE("a row cannot put lines, formulas or other columns into the table") {
  for (const char* key : {"\\ntouch PWNED\\n#", "=1+1", "a,b", "\\\"", "\\u001b[2J"}) {
    CAPTURE(key);
    const Sent sent("alias ls=ls\n");
    const std::string table = read_bytes(sent.folder + "/results.csv"),
                      row = std::string("{\"item\":0,\"") + key + "\":1,\"plan\":\"" +
                            sent.fingerprint() + "\",\"error\":null}\n";
    write_bytes(sent.folder + "/results.jsonl", row);
    sent.check_refused({"results.jsonl line 1", "has the name", "expected a row of this sweep"});
    CHECK(read_bytes(sent.folder + "/results.jsonl") == row);
    CHECK(read_bytes(sent.folder + "/results.csv") == table);
  }
}

TEST_CASE("a journal that is none is left as it is") {
  for (const char* content : {"a text", "{\"a\": 1}", "line\nand another"}) {
    CAPTURE(content);
    const Sent sent("");
    write_bytes(sent.folder + "/results.jsonl", content);
    sent.check_refused({"results.jsonl line 1", "expected a row of this sweep"});
    CHECK(read_bytes(sent.folder + "/results.jsonl") == content);
  }
}

TEST_CASE("numbers go into a folder that is there, but not through its links") {
  const TemporaryDirectory home;
  const std::string folder = home / "sent", precious = home.write("precious", "alias ls=ls\n");
  const std::vector<std::string> words{
      "render", "synthetic:gaussian?n=16&d=4", "--variant", "exact", "-o", home / "f.png", "--data",
      folder};
  std::filesystem::create_directory(folder);
  REQUIRE(run_program(words).status == 0);
  CHECK(std::filesystem::exists(folder + "/1-heatmap-exact.csv"));
  for (const char* name : {"1-heatmap-exact.csv", "1-heatmap-exact.npy"}) {
    CAPTURE(name);
    std::filesystem::remove(folder + "/" + name);
    std::filesystem::create_symlink("../precious", folder + "/" + name);
    const Ended ended = run_program(words);
    CHECK(ended.status == 3);
    check_says(ended.err, {std::string("sent/") + name, "is a symbolic link"});
    CHECK(read_bytes(precious) == "alias ls=ls\n");
    std::filesystem::remove(folder + "/" + name);
  }
}
