// A ResultsFolder holds the results of a sweep. Several processes may work in it at once.
//   plan.json                     whose results these are
//   results.jsonl                 the rows, as they were finished; in order once all have ended
//   results.shard-1-of-4.jsonl    those of a shard
//   results.csv                   a table of all, now and then and at the end
//   locks                         who works on what
// The folder may come from somebody else: these files are opened relative to it, links are refused,
// and nothing is written before the plan and all lines of all journals are known to be of one
// sweep.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "batch/batch_items.h"
#include "batch/results_table.h"
#include "io/directory.h"

namespace fovea {

class ResultsFolder {
 public:
  explicit ResultsFolder(std::string path) : path_(std::move(path)) {}

  /// Makes the folder for a plan, unless it exists for this plan already. Throws InputError if it
  /// holds results of another plan, or a link or anything but a file under one of these names;
  /// UnavailableError if it cannot be written; Cancelled.
  void prepare(const BatchItems& items, const std::stop_token& stop = {});
  /// Reads the plan of the results. Throws InputError if there is none, or as prepare().
  void open();

  const std::string& path() const { return path_; }
  const std::string& plan() const { return plan_; }
  std::size_t items() const { return items_; }

  std::string csv() const { return path_ + "/" + csv_; }  // its path
  /// The opened folder, after prepare() or open(), and names in it.
  const Directory& directory() const { return *directory_; }
  static std::string locks() { return "locks"; }
  static std::string journal(const Shard& shard);

  /// All rows of all journals. An unfinished last line is skipped. Throws InputError for anything
  /// that is neither a row of this sweep nor the beginning of one.
  ResultsTable read() const;
  void write_csv(const ResultsTable& table) const;
  /// Gathers the rows of all journals in results.jsonl and results.csv, in order. Nobody may append
  /// meanwhile.
  ResultsTable merge() const;

 private:
  static constexpr const char* csv_ = "results.csv";

  void open_directory();
  std::vector<std::string> journals() const;
  bool read_plan();
  /// Writes the plan unless it is there.
  void write_plan(const BatchItems& items, const std::string& fingerprint) const;

  std::string path_, plan_;
  std::shared_ptr<const Directory> directory_;
  std::size_t items_ = 0;
};

}  // namespace fovea
