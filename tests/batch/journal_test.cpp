// Journals, locks and tables of results: what several processes share and what survives them.
#include "batch/journal.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <sstream>

#include "batch/results_table.h"
#include "data/csv_text.h"
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
  const Directory folder(scratch.path());
  Journal one(folder, "j"), other(folder, "j");
  CHECK(one.news().empty());
  one.append("a");
  other.append("b");
  CHECK(one.news() == Lines{"a", "b"});
  CHECK(one.news().empty());
  CHECK(other.news() == Lines{"a", "b"});
  CHECK(read_bytes(scratch / "j") == "a\nb\n");
}

TEST_CASE("a line without its end stays until a row is appended, and goes then") {
  const TemporaryDirectory scratch;
  const Directory folder(scratch.path());
  const std::string path = scratch.write("j", "whole\nhal");
  Journal journal(folder, "j");
  CHECK(journal.unfinished_bytes() == 3);
  CHECK(journal.news() == Lines{"whole"});
  CHECK(read_bytes(path) == "whole\nhal");
  journal.append("other");
  CHECK(read_bytes(path) == "whole\nother\n");
  write_bytes(path, "whole\nother\nanother\nha");  // by one that was killed meanwhile
  CHECK(journal.news() == Lines{"other", "another"});
  journal.append("next");
  CHECK(journal.news() == Lines{"next"});
  CHECK(read_bytes(path) == "whole\nother\nanother\nnext\n");
  scratch.write("k", std::string(200000, 'x'));
  Journal only(folder, "k");
  CHECK(only.unfinished_bytes() == 200000);
  only.append("first");
  CHECK(read_bytes(scratch / "k") == "first\n");
}

TEST_CASE("a full disk leaves the journal as it was") {
  const TemporaryDirectory scratch;
  const Directory folder(scratch.path());
  Journal journal(folder, "j");
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

TEST_CASE("a row has names that a sweep gives, and no lists: both would change the table") {
  ResultsTable table("p", 5);
  const auto add = [&](const std::string& more) {
    return message_of([&] { table.add("f line 7", row(1, "null", more)); });
  };
  CHECK(add(R"(,"row_rel_error_p90":1,"set.block":32)").empty());
  for (const char* name : {"\\ntouch x\\n#", "a,b", "a\\\"b", "=1+1", "@x", "A", "", " a", "1a",
                           "\\u001b[31m", "\\u00e9"})
    check_says(add(std::string(",\"") + name + "\":1"), {"f line 7", "has the name \"", "again"});
  check_says(add(",\"" + std::string(65, 'a') + "\":1"), {"f line 7", "has the name"});
  check_says(add(R"(,"a":[1])"), {"f line 7", "has a list by the name \"a\""});
  check_says(add(R"(,"a":{})"), {"f line 7", "has an object by the name \"a\""});
}

TEST_CASE("a text that a spreadsheet would take for a formula begins with an apostrophe") {
  for (const char* text :
       {"=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3+cmd|'x'!A0", "-x", "\t=1"})
    CHECK(csv_cell(text) == std::string("'") + text);
  CHECK(csv_cell("=HYPERLINK(\"x\")") == "\"'=HYPERLINK(\"\"x\"\")\"");
  for (const char* text : {"-1.5e-3", "+2", "-1 2 -3", "a=b", "x-y", "", "1", "layer0"})
    CHECK(csv_cell(text) == text);
  ResultsTable table("p", 5);
  table.add("", row(1, "null", R"(,"layer_name":"=cmd|'x'!A0","a":-1.5,"b":"-infinite")"));
  CHECK(text_of_csv(table) == "item,layer_name,a,b,plan,error\n1,'=cmd|'x'!A0,-1.5,-inf,p,\n");
}

TEST_CASE("the last line of a journal is a part of a row, or the file is that of another") {
  for (const char* part : {"", "{", "{\"it", "{\"item\":", "{\"item\":3,\"sou"})
    for (const std::size_t zeros : {0, 1, 4096})  // as a power cut leaves them
      CHECK_NOTHROW(require_part_of_row("f line 7", part + std::string(zeros, '\0')));
  for (const char* part : {"x", "{\"x", "{}", " {\"item\":3", "#!/bin/sh"})
    CHECK_SAYS(require_part_of_row("f line 7", part), "f line 7", "no end of line", "this sweep");
  CHECK_SAYS(require_part_of_row("f line 7", std::string("\0{\"item\"", 8)), "no end of line");
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
