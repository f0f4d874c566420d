#include "tiles/joined_runs.h"

#include <algorithm>
#include <tuple>

namespace fovea::cuda {
namespace {

// Only runs of which all of this is equal are joined.
auto kind(const ColumnRun& run) {
  return std::tuple(run.cols, run.key_base, run.weight, run.pair_weight, run.lo, run.hi,
                    run.earlier, run.rounds);
}

}  // namespace

// Joins runs of one kind, by where they begin. here_: those that have keys [at, end), by their
// rows.
void JoinedRuns::join(std::span<const ColumnRun> runs) {
  const std::size_t first = joined_.size();
  std::int32_t at = 0;
  for (std::size_t next = 0; next < runs.size() || !here_.empty();) {
    if (here_.empty()) at = runs[next].begin;
    for (; next < runs.size() && runs[next].begin == at; ++next)
      here_.insert(std::ranges::upper_bound(here_, runs[next].first_row, {}, &ColumnRun::first_row),
                   runs[next]);
    std::int32_t end = std::ranges::min_element(here_, {}, &ColumnRun::end)->end;
    if (next < runs.size()) end = std::min(end, runs[next].begin);
    for (std::size_t r = 0; r < here_.size();) {
      const ColumnRun& from = here_[r];
      std::int32_t last_row = from.last_row;
      for (++r; r < here_.size() && here_[r].first_row == last_row; ++r)
        last_row = here_[r].last_row;
      // Keys of the same rows that follow one another are one run.
      const auto before = std::find_if(joined_.begin() + static_cast<std::ptrdiff_t>(first),
                                       joined_.end(), [&](const ColumnRun& run) {
                                         return run.end == at && run.first_row == from.first_row &&
                                                run.last_row == last_row;
                                       });
      if (before != joined_.end()) {
        before->end = end;
        continue;
      }
      ColumnRun& run = joined_.emplace_back(from);
      run.begin = at;
      run.end = end;
      run.last_row = last_row;
    }
    std::erase_if(here_, [&](const ColumnRun& run) { return run.end == end; });
    at = end;
  }
}

std::span<const ColumnRun> JoinedRuns::of(const std::vector<Piece>& pieces) {
  runs_.clear();
  joined_.clear();
  for (const Piece& piece : pieces)
    for (const ColumnRun& of_group : list_.runs_of(*piece.group)) {
      ColumnRun& run = runs_.emplace_back(of_group);
      run.first_row = static_cast<std::int32_t>(piece.rows.begin);
      run.last_row = static_cast<std::int32_t>(piece.rows.end);
    }
  std::ranges::stable_sort(
      runs_, {}, [](const ColumnRun& run) { return std::tuple(run.begin, run.first_row); });
  if (!std::ranges::is_sorted(runs_, {}, kind)) std::ranges::stable_sort(runs_, {}, kind);
  for (std::size_t first = 0; first < runs_.size();) {
    std::size_t last = first + 1;
    while (last < runs_.size() && kind(runs_[last]) == kind(runs_[first])) ++last;
    join(std::span(runs_).subspan(first, last - first));
    first = last;
  }
  return joined_;
}

}  // namespace fovea::cuda
