#include "tiles/row_sums.h"

#include <algorithm>

#include "tiles/attend.h"
#include "tiles/divided_query_tiles.h"
#include "tiles/finish.h"
#include "tiles/join_parts.h"
#include "tiles/slices.h"

namespace fovea::cuda {

RowSums::RowSums(const BoundList& bound)
    : bound_(bound),
      dense_(bound.list().dense),
      known_(static_cast<std::size_t>(bound.lengths().queries)),
      unknown_(bound.lengths().queries) {}

void RowSums::set_all(const std::vector<float>& log2_sums) {
  log2_sum_ = {bound_.device(), std::span<const float>(log2_sums)};
  bound_.device().wait();  // the caller's sums may end now
  note({0, bound_.lengths().queries});
}

const float* RowSums::of(const EntryRows& rows, Run& run) {
  if (unknown_ > 0 && !dense_) find_all(run);
  if (unknown_ > 0) find(rows, run);
  return log2_sum_.data();
}

Index RowSums::unknown_of(const EntryRows& rows) const {
  return unknown_ == 0 ? 0 : unknown_rows(rows).size();
}

void RowSums::find_all(Run& run) {
  Timeline timeline(bound_.device());
  const ResidentQueryTiles tiles(bound_.list(), bound_.d(), 0, Precision::fp32, false,
                                 bound_.device());
  Sweep swept = sweep(bound_, tiles, {}, nullptr, timeline, run);
  timeline.finish(run.profile);
  keep({0, bound_.lengths().queries}, std::move(swept));
}

void RowSums::keep(IndexRange rows, Sweep swept) {
  if (unknown_ == 0) return;
  if (rows.size() == bound_.lengths().queries) {
    log2_sum_ = std::move(swept.log2_sum);
  } else {
    make_states();
    const auto count = static_cast<std::size_t>(rows.size());
    copy(swept.maximum.data(), maximum_.data() + rows.begin, count);
    copy(swept.sum.data(), sum_.data() + rows.begin, count);
    finish_all();
  }
  note(rows);
}

// Rows whose sums are not known yet: a whole range, or single rows.
EntryRows RowSums::unknown_rows(const EntryRows& rows) const {
  EntryRows out{rows.range};
  const auto look = [&](Index i) {
    if (!known_[i]) out.drawn.push_back(static_cast<std::int32_t>(i));
  };
  if (rows.drawn.empty())
    for (Index i = rows.range.begin; i < rows.range.end; ++i) look(i);
  else
    for (const std::int32_t i : rows.drawn) look(i);
  if (out.drawn.empty()) return {{0, 0}};
  out.range = {out.drawn.front(), Index{out.drawn.back()} + 1};
  if (std::ssize(out.drawn) == out.range.size()) out.drawn.clear();
  return out;
}

void RowSums::find(const EntryRows& rows, Run& run) {
  const EntryRows unknown = unknown_rows(rows);
  if (unknown.size() == 0) return;
  const Device& device = bound_.device();
  const IndexRange all_keys{0, bound_.lengths().keys};
  const QueryTileShape shape = choose_shape(
      [&](int height) {
        const Index tiles = (unknown.size() + height - 1) / height;
        return std::vector{EqualQueryTiles{static_cast<std::int32_t>(all_keys.size()),
                                           static_cast<std::int32_t>(tiles)}};
      },
      {.d = bound_.d()}, device);
  EntryList cut = cut_entries(bound_.list(), unknown, all_keys, shape.height);
  QueryTileList list{std::move(cut.tiles), std::move(cut.runs), {}};
  list.rounds = {{0, std::ssize(list.tiles)}};
  divide_query_tiles(list, shape.most_keys, shape.keys_per_kv_tile, bound_.lengths().queries);
  make_states(list.part_states);
  const SoftmaxStates states{.maximum = maximum_.data(), .sum = sum_.data(), .last = true};
  Timeline timeline(device);
  {
    auto stage = timeline.stage("sums");
    const Buffer<QueryTile> tiles(device, std::span<const QueryTile>(list.tiles));
    const Buffer<ColumnRun> runs(device, std::span<const ColumnRun>(list.runs));
    const Buffer<DividedQueryTile> divided(device, std::span<const DividedQueryTile>(list.divided));
    const Buffer<std::int32_t> tokens(device, std::span<const std::int32_t>(cut.tokens));
    Slices slices(device, list, shape.wave, run, stage, Precision::fp32, bound_.d());
    for (QueryTileRange range = slices.next(); range.first < range.last; range = slices.next())
      attend({.states = states,
              .d = bound_.d(),
              .queries = bound_.query_tiles(tiles.data() + range.first, range.last - range.first,
                                            runs.data(), tokens.data())},
             bound_.fp32_operands(), shape.height, device.shared_per_block(), device.stream());
    join_parts({.divided = divided.data(),
                .count = static_cast<int>(list.divided.size()),
                .tiles = tiles.data(),
                .indices = tokens.data(),
                .states = states},
               device.stream());
    finish_all();
  }
  timeline.finish(run.profile);
  if (unknown.drawn.empty()) return note(unknown.range);
  for (const Index i : unknown.drawn) note({i, i + 1});
}

void RowSums::make_states(Index more) {
  const Device& device = bound_.device();
  const auto n = static_cast<std::size_t>(bound_.lengths().queries),
             states = n + static_cast<std::size_t>(more);
  if (sum_.size() >= states) return;
  Buffer<float> maximum(device, states), sum(device, states);
  sum.clear();
  if (sum_.size() > 0) {
    copy(maximum_.data(), maximum.data(), n);
    copy(sum_.data(), sum.data(), n);
  } else {
    log2_sum_ = {device, n};
  }
  maximum_ = std::move(maximum);
  sum_ = std::move(sum);
}

void RowSums::copy(const float* from, float* to, std::size_t count) const {
  check(cudaMemcpyAsync(to, from, count * sizeof(float), cudaMemcpyDeviceToDevice,
                        bound_.device().stream()),
        "copying sums");
}

void RowSums::finish_all() {
  finish({.n = bound_.lengths().queries,
          .maximum = maximum_.data(),
          .sum = sum_.data(),
          .divided = true,
          .log2_sink = bound_.log2_sink(),
          .log2_sum = log2_sum_.data()},
         bound_.device().stream());
}

void RowSums::note(IndexRange rows) {
  for (Index i = rows.begin; i < rows.end; ++i) {
    const auto at = static_cast<std::size_t>(i);
    unknown_ -= !known_[at];
    known_[at] = true;
  }
}

}  // namespace fovea::cuda
