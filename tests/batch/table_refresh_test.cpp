// The table of a sweep is written now and then, by one of the processes, whatever the clock says.
#include "batch/table_refresh.h"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "temporary_directory.h"

using namespace fovea;
using namespace fovea::test;
using namespace std::chrono_literals;

namespace {

struct Table {
  TemporaryDirectory scratch;
  ResultsFolder folder{scratch / "r"};

  Table() {
    folder.prepare(BatchItems(batch_plan_from(
        "p", Json::parse(R"({"sources": ["synthetic:golden"], "variants": ["exact"]})"))));
  }
  /// As another process writes it, `ahead` of this machine's time.
  void write_old(std::filesystem::file_time_type::duration ahead) const {
    write_bytes(folder.csv(), "old");
    std::filesystem::last_write_time(folder.csv(),
                                     std::filesystem::file_time_type::clock::now() + ahead);
  }
  bool is_old() const { return read_bytes(folder.csv()) == "old"; }
};

}  // namespace

TEST_CASE("the table is refreshed after the clock was set back") {
  const Table table;
  table.write_old(1h);
  TableRefresh refresh(table.folder, 0);
  refresh.refresh();
  CHECK_FALSE(table.is_old());
}

TEST_CASE("a table that another process has just written is left for its time") {
  const Table table;
  TableRefresh refresh(table.folder, 0);
  table.write_old(-1s);
  refresh.refresh();
  CHECK(table.is_old());
  // Nobody writes it again: after a pause, longer the longer a look takes, it is refreshed.
  for (int turn = 0; turn < 600 && table.is_old(); ++turn) {
    std::this_thread::sleep_for(100ms);
    refresh.refresh();
  }
  CHECK_FALSE(table.is_old());
}

TEST_CASE("no table is written before its time") {
  const Table table;
  TableRefresh refresh(table.folder);
  refresh.refresh();
  CHECK_FALSE(std::filesystem::exists(table.folder.csv()));
}
