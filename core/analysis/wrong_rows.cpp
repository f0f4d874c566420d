#include "analysis/wrong_rows.h"

#include <algorithm>
#include <optional>

namespace fovea {
namespace {

std::vector<IndexRange> runs_of(const std::vector<Index>& rows) {
  std::vector<IndexRange> runs;
  for (const Index row : rows) {
    if (!runs.empty() && runs.back().end == row)
      ++runs.back().end;
    else
      runs.push_back({row, row + 1});
  }
  return runs;
}

/// The distance of runs that are equally long and equally far apart, and that stop only where the
/// rows do. Two of them might be chance.
std::optional<Index> period_of(const std::vector<IndexRange>& runs, Index all) {
  if (runs.size() < 3) return {};
  const Index period = runs[1].begin - runs[0].begin, length = runs[0].size();
  if (runs[0].begin >= period || runs.back().begin + period + length <= all) return {};
  for (std::size_t r = 1; r < runs.size(); ++r) {
    const bool cut_off = r + 1 == runs.size() && runs[r].end == all && runs[r].size() < length;
    if (runs[r].begin - runs[r - 1].begin != period || (runs[r].size() != length && !cut_off))
      return {};
  }
  return period;
}

std::string ordinal(Index number) {
  const Index last = number % 10, tens = number % 100 / 10;
  return std::to_string(number) + (tens == 1   ? "th"
                                   : last == 1 ? "st"
                                   : last == 2 ? "nd"
                                   : last == 3 ? "rd"
                                               : "th");
}

std::string rows_text(IndexRange rows, const std::string& of = {}) {
  if (rows.size() == 1) return "row" + of + " " + std::to_string(rows.begin);
  return "rows" + of + " " + std::to_string(rows.begin) + " to " + std::to_string(rows.end - 1);
}

}  // namespace

std::string place_text(const std::vector<Index>& rows, Index all, const std::string& of) {
  if (rows.empty()) return {};
  const Index count = std::ssize(rows);
  if (count == all) return "all " + std::to_string(all) + " rows" + of;
  const std::vector<IndexRange> runs = runs_of(rows);
  if (runs.size() == 1) {
    const bool to_the_end = runs[0].end == all && count > 1;
    return rows_text(runs[0], of) + (to_the_end ? ", the last " + std::to_string(count) : "");
  }
  if (const auto period = period_of(runs, all))
    return runs[0].size() == 1 ? "every " + ordinal(*period) + " row" + of + " from " +
                                     std::to_string(runs[0].begin) + " on"
                               : rows_text(runs[0], of) + " of every " + std::to_string(*period);
  return std::to_string(count) + " of " + std::to_string(all) + " rows" + of +
         ", the first is row " + std::to_string(rows.front());
}

}  // namespace fovea
