#include "tiles/divided_strips.h"

#include <algorithm>
#include <numeric>

namespace fovea::cuda {
namespace {

// The positions of a run that the kernels go through (next_step in strip.cuh).
IndexRange reached(const Strip& strip, const ColumnRun& run) {
  IndexRange keys{run.begin, run.end};
  if (strip.rows < 0 && run.cols < 0) {
    const Index first = std::max(strip.first_row, run.first_row),
                last = std::min(strip.first_row + strip.row_count, run.last_row) - 1;
    keys.begin = std::clamp(first - run.hi, keys.begin, keys.end);
    keys.end = std::clamp(last - run.lo + 1, keys.begin, keys.end);
  }
  return keys;
}

Index size_of_parts(Index keys, Index parts, Index step) {
  return (keys + parts * step - 1) / (parts * step) * step;
}

// Cuts the runs of a strip into parts of `size` keys and calls `add` with each part, a strip
// with its own runs.
template <class Add>
void cut_keys(Strip strip, Index size, std::vector<ColumnRun>& runs, Add add) {
  const std::int32_t last_run = strip.last_run;
  Index taken = 0;
  std::vector<ColumnRun> part;
  const auto finish = [&] {
    strip.first_run = static_cast<std::int32_t>(runs.size());
    runs.insert(runs.end(), part.begin(), part.end());
    strip.last_run = static_cast<std::int32_t>(runs.size());
    add(strip);
    part.clear();
    taken = 0;
  };
  for (std::int32_t r = strip.first_run; r < last_run; ++r) {
    ColumnRun run = runs[r];
    const IndexRange keys = reached(strip, run);
    for (Index begin = keys.begin; begin < keys.end; begin = run.end) {
      run.begin = static_cast<std::int32_t>(begin);
      run.end = static_cast<std::int32_t>(std::min(keys.end, begin + size - taken));
      taken += run.end - run.begin;
      part.push_back(run);
      if (taken == size) finish();
    }
  }
  if (taken > 0) finish();
}

}  // namespace

Index StripList::after(Index strip) const {
  const auto found = std::ranges::lower_bound(divided, strip, {}, &DividedStrip::first);
  return found != divided.end() && found->first == strip ? strip + found->parts : strip + 1;
}

Index keys_of(const Strip& strip, const std::vector<ColumnRun>& runs) {
  Index keys = 0;
  for (std::int32_t r = strip.first_run; r < strip.last_run; ++r)
    keys += reached(strip, runs[r]).size();
  return keys;
}

void put_longest_first(StripList& list) {
  for (const StripRange& round : list.rounds) {
    std::vector<std::pair<Index, Strip>> strips;
    for (Index s = round.first; s < round.last; ++s)
      strips.emplace_back(keys_of(list.strips[s], list.runs), list.strips[s]);
    std::ranges::stable_sort(strips, std::greater{}, [](const auto& each) { return each.first; });
    for (Index s = round.first; s < round.last; ++s)
      list.strips[s] = strips[s - round.first].second;
  }
}

void divide_strips(StripList& list, Index most_keys, Index step, Index states) {
  std::vector<Strip> strips;
  for (StripRange& round : list.rounds) {
    const StripRange whole = round;
    round.first = std::ssize(strips);
    for (Index s = whole.first; s < whole.last; ++s) {
      Strip strip = list.strips[s];
      const Index keys = keys_of(strip, list.runs);
      if (keys <= most_keys) {
        strips.push_back(strip);
        continue;
      }
      DividedStrip divided{strip, static_cast<std::int32_t>(strips.size()), 0};
      strip.part = true;
      const Index size = size_of_parts(keys, (keys - 1) / most_keys + 1, step);
      cut_keys(strip, size, list.runs, [&](Strip part) {
        part.state_base = static_cast<std::int32_t>(states + list.part_states);
        list.part_states += part.row_count;
        strips.push_back(part);
        ++divided.parts;
      });
      list.divided.push_back(divided);
    }
    round.last = std::ssize(strips);
  }
  list.strips = std::move(strips);
}

}  // namespace fovea::cuda
