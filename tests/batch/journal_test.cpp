// Journals, locks and tables of results: what several processes share and what survives them.
#include "batch/journal.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <sstream>

#include "batch/results_table.h"
#include "full_disk.h"
#include "messages.h"
#include "temporary_directory.h"

using namespace fovea;
using namespace fovea::test;

namespace {

using Lines = std::vector<std::string>;
using Kind = FileLocks::Kind;

std::string row(int item, const std::string& error = "null", const std::string& more = "") {
  return "{\"item\":" + std::to_string(item) + more + ",\"plan\":\"p\",\"error\":" + error + "}";
}

std::string text_of_csv(const ResultsTable& table) {
  std::ostringstream out;
  table.write_csv(out);
  return out.str();
}

}  // namespace

TEST_CASE("a journal tells each line once, whoever wrote it") {
  const TemporaryDirectory scratch;
  Journal one(scratch / "j"), other(scratch / "j");
  CHECK(one.news().empty());
  one.append("a");
  other.append("b");
  CHECK(one.news() == Lines{"a", "b"});
  CHECK(one.news().empty());
  CHECK(other.news() == Lines{"a", "b"});
  CHECK(read_bytes(scratch / "j") == "a\nb\n");
}

TEST_CASE("a line without its end is dropped, by who opens the journal and by who appends") {
  const TemporaryDirectory scratch;
  const std::string path = scratch.write("j", "whole\nhal");
  Journal journal(path);
  CHECK(journal.dropped_bytes() == 3);
  CHECK(read_bytes(path) == "whole\n");
  write_bytes(path, "whole\nanother\nha");  // by one that was killed meanwhile
  CHECK(journal.news() == Lines{"whole", "another"});
  journal.append("next");
  CHECK(journal.news() == Lines{"next"});
  CHECK(read_bytes(path) == "whole\nanother\nnext\n");
  const std::string only = scratch.write("k", std::string(200000, 'x'));
  CHECK(Journal(only).dropped_bytes() == 200000);
  CHECK(read_bytes(only).empty());
}

TEST_CASE("a full disk leaves the journal as it was") {
  const TemporaryDirectory scratch;
  Journal journal(scratch / "j");
  journal.append("first");
  {
    const FullDisk full(100);
    CHECK(contains(message_of<UnavailableError>([&] { journal.append(std::string(200, 'x')); }),
                   "j cannot be written: File too large"));
  }
  CHECK(read_bytes(scratch / "j") == "first\n");
  journal.append("second");
  CHECK(journal.news() == Lines{"first", "second"});
}

TEST_CASE("locks exclude others, and those of a killed process are free") {
  const TemporaryDirectory scratch;
  FileLocks one(scratch / "l"), other(scratch / "l");
  CHECK(one.try_lock(3, Kind::exclusive));
  CHECK(!other.try_lock(3, Kind::exclusive));
  CHECK(!other.try_lock(3, Kind::shared));
  CHECK(other.try_lock(4, Kind::exclusive));
  one.release(3);
  CHECK(other.try_lock(3, Kind::exclusive));
  CHECK(one.try_lock(0, Kind::shared));
  CHECK(other.try_lock(0, Kind::shared));
  CHECK(!one.try_lock(0, Kind::exclusive));
  other.release(0);
  CHECK(one.try_lock(0, Kind::exclusive));

  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const FileLocks* mine = new FileLocks(scratch / "l");
    const bool locked = const_cast<FileLocks*>(mine)->try_lock(9, Kind::exclusive);
    [[maybe_unused]] const auto told = write(ready[1], &locked, 1);
    for (;;) pause();
  }
  bool locked = false;
  REQUIRE(read(ready[0], &locked, 1) == 1);
  CHECK(locked);
  CHECK(!one.try_lock(9, Kind::exclusive));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  CHECK(one.try_lock(9, Kind::exclusive));
  close(ready[0]);
  close(ready[1]);
}

TEST_CASE("a table has one row for each item: one that did not fail, else the last") {
  ResultsTable table("p", 5);
  CHECK(table.add("f line 1", row(3, "\"bad\"")) == 3);
  CHECK(table.failed() == 1);
  table.add("f line 2", row(3));
  table.add("f line 3", row(3, "\"worse\""));
  table.add("f line 4", row(1, "\"bad\""));
  table.add("f line 5", row(1, "\"again\""));
  CHECK(table.failed() == 1);
  CHECK(table.missing() == 3);
  std::ostringstream lines;
  table.write_lines(lines);
  CHECK(lines.str() == row(1, "\"again\"") + "\n" + row(3) + "\n");
}

TEST_CASE("what is no row of this sweep is refused with its file and line") {
  ResultsTable table("p", 5);
  const auto add = [&](const std::string& line) {
    return message_of([&] { table.add("f line 7", line); });
  };
  check_says(add("nonsense"), {"f line 7", "not JSON", "computed again"});
  check_says(add("[1]"), {"f line 7", "expected a row"});
  check_says(add("{\"item\": -1, \"plan\": \"p\", \"error\": null}"), {"f line 7"});
  check_says(add(row(5)), {"f line 7", "item 5 of 5"});
  check_says(add("{\"item\": 1, \"plan\": \"q\", \"error\": null}"),
             {"f line 7", "plan \"q\"", "the others are of \"p\"", "one plan"});
}

TEST_CASE("as CSV every key is a column, in its place, and texts are quoted where needed") {
  ResultsTable table("p", 5);
  table.add("", row(1, "null", R"(,"a":1,"c":"infinite")"));
  table.add("", row(0, R"("b, \"x\"")", R"(,"a":0.1,"b":true)"));
  table.add("", row(2, "null", R"(,"b":false,"c":"line\nline","d":null)"));
  CHECK(text_of_csv(table) ==
        "item,a,b,c,d,plan,error\n"
        "0,0.1,true,,,p,\"b, \"\"x\"\"\"\n"
        "1,1,,inf,,p,\n"
        "2,,false,\"line\nline\",,p,\n");
}
