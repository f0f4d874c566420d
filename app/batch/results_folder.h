// A ResultsFolder holds what a sweep has found. Several processes may work in it at once.
//   plan.json                     whose results these are
//   results.jsonl                 the rows, as they were finished; in order once all have ended
//   results.shard-1-of-4.jsonl    those of a shard
//   results.csv                   a table of all, now and then and at the end
//   locks                         who works on what
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "batch/batch_items.h"
#include "batch/results_table.h"

namespace fovea {

class ResultsFolder {
 public:
  explicit ResultsFolder(std::string path) : path_(std::move(path)) {}

  /// Makes the folder for a plan, unless it is there for this plan already. Throws InputError when
  /// it holds results of another plan, UnavailableError when it cannot be written, Cancelled.
  void prepare(const BatchItems& items, const std::stop_token& stop = {});
  /// Reads whose results these are. Throws InputError when there are none.
  void open();

  const std::string& path() const { return path_; }
  const std::string& plan() const { return plan_; }
  std::size_t items() const { return items_; }

  std::string locks() const { return file("locks"); }
  std::string csv() const { return file("results.csv"); }
  std::string journal(const Shard& shard) const;

  /// All rows of all journals. A last line that was written only in part is passed over.
  ResultsTable read() const;
  void write_csv(const ResultsTable& table) const;
  /// Gathers the rows of all journals in results.jsonl and results.csv, in order. Nobody may append
  /// meanwhile.
  ResultsTable merge() const;

 private:
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::vector<std::string> journals() const;
  bool read_plan();

  std::string path_, plan_;
  std::size_t items_ = 0;
};

}  // namespace fovea
