#include "batch/table_refresh.h"

#include <algorithm>
#include <system_error>

namespace fovea {
namespace {

constexpr double most_share = 0.05;  // of the time, for writing tables

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TableRefresh::TableRefresh(const ResultsFolder& folder, double seconds)
    : folder_(folder), least_pause_(seconds), pause_(seconds), written_(time_of_table()) {}

std::filesystem::file_time_type TableRefresh::time_of_table() const {
  std::error_code none;
  return std::filesystem::last_write_time(folder_.csv(), none);
}

void TableRefresh::refresh() {
  if (seconds_since(looked_) < pause_) return;
  const auto begin = Clock::now();
  if (time_of_table() == written_) folder_.write_csv(folder_.read());
  written_ = time_of_table();
  pause_ = std::max(least_pause_, seconds_since(begin) / most_share);
  looked_ = Clock::now();
}

}  // namespace fovea
