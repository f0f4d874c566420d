#include "tiles/joined_runs.h"

#include <algorithm>
#include <span>
#include <tuple>

namespace fovea::cuda {
namespace {

// Only runs of which all of this is equal are joined.
auto kind(const ColumnRun& run) {
  return std::tuple(run.cols, run.key_base, run.weight, run.pair_weight, run.lo, run.hi,
                    run.earlier, run.rounds);
}

// Keys of the same rows that follow one another are one run.
void add(const ColumnRun& run, std::vector<ColumnRun>& joined) {
  const auto before = std::ranges::find_if(joined, [&](const ColumnRun& each) {
    return each.end == run.begin && each.first_row == run.first_row &&
           each.last_row == run.last_row;
  });
  if (before == joined.end())
    joined.push_back(run);
  else
    before->end = run.end;
}

// Runs of one kind, by where they begin.
std::vector<ColumnRun> join(std::span<const ColumnRun> runs) {
  std::vector<ColumnRun> joined, here;  // here: the runs that have keys [at, end), by their rows
  std::int32_t at = 0;
  for (std::size_t next = 0; next < runs.size() || !here.empty();) {
    if (here.empty()) at = runs[next].begin;
    for (; next < runs.size() && runs[next].begin == at; ++next)
      here.insert(std::ranges::upper_bound(here, runs[next].first_row, {}, &ColumnRun::first_row),
                  runs[next]);
    std::int32_t end = std::ranges::min_element(here, {}, &ColumnRun::end)->end;
    if (next < runs.size()) end = std::min(end, runs[next].begin);
    for (std::size_t r = 0; r < here.size();) {
      ColumnRun run = here[r];
      run.begin = at;
      run.end = end;
      for (++r; r < here.size() && here[r].first_row == run.last_row; ++r)
        run.last_row = here[r].last_row;
      add(run, joined);
    }
    std::erase_if(here, [&](const ColumnRun& run) { return run.end == end; });
    at = end;
  }
  return joined;
}

}  // namespace

void append_joined_runs(const TileList& list, const std::vector<Piece>& pieces,
                        std::vector<ColumnRun>& out) {
  std::vector<ColumnRun> runs;
  for (const Piece& piece : pieces)
    for (const std::int32_t r : piece.group->runs) {
      ColumnRun& run = runs.emplace_back(list.group_runs[r]);
      run.first_row = static_cast<std::int32_t>(piece.rows.begin);
      run.last_row = static_cast<std::int32_t>(piece.rows.end);
    }
  std::ranges::stable_sort(runs, {}, [](const ColumnRun& run) {
    return std::tuple(kind(run), run.begin, run.first_row);
  });
  for (std::size_t first = 0; first < runs.size();) {
    std::size_t last = first + 1;
    while (last < runs.size() && kind(runs[last]) == kind(runs[first])) ++last;
    const std::vector<ColumnRun> joined = join(std::span(runs).subspan(first, last - first));
    out.insert(out.end(), joined.begin(), joined.end());
    first = last;
  }
}

}  // namespace fovea::cuda
