// A TableRefresh writes the table of all results now and then, while several processes work in
// their folder.
#pragma once

#include <chrono>
#include <filesystem>

#include "batch/results_folder.h"

namespace fovea {

class TableRefresh {
 public:
  /// Writes no more often than every `seconds`, and less often if writing takes long.
  explicit TableRefresh(const ResultsFolder& folder, double seconds = 60);

  /// Writes the table when it is due, unless another process has written it since the last time. A
  /// different time of change tells that, not a later one, as clocks may be set back. Throws as
  /// ResultsFolder::read and write_csv.
  void refresh();

 private:
  using Clock = std::chrono::steady_clock;

  /// The same value each time if there is none.
  std::filesystem::file_time_type time_of_table() const;

  const ResultsFolder& folder_;
  double least_pause_, pause_;  // seconds
  Clock::time_point looked_ = Clock::now();
  std::filesystem::file_time_type written_;
};

}  // namespace fovea
