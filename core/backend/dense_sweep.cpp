#include "backend/dense_sweep.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "data/error.h"

namespace fovea {
namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

using Floats = std::vector<float, AlignedAllocator<float>>;

}  // namespace

// The state of one thread: a strip of queries, and its segments in each pixel column.
class DenseSweep::Worker {
 public:
  Worker(const BoundTiles& tiles, const Request& request, const std::stop_token& stop, Found& found)
      : tiles_(tiles),
        request_(request),
        stop_(stop),
        found_(found),
        strip_(tiles),
        columns_(request.map_cols.empty() ? 0 : std::ssize(request.map_cols) - 1),
        maximum_((columns_ + 1) * isa::max_lanes),
        sum_(maximum_.size()),
        reference_(maximum_.size()),
        zeros_(Matrix::padded(1, std::max<Index>(request.values.cols, 1))),
        most_row_(columns_),
        reduced_(columns_),
        sum_row_(columns_) {}

  // Queries that belong to no map.
  void attend_queries(IndexRange queries) { attend(queries); }

  // All queries of some map rows.
  void attend_map_rows(IndexRange rows) {
    const auto bound = [&](Index row) { return request_.map_rows[row]; };
    Index row = rows.begin;
    begin_row();
    for (Index q = bound(rows.begin); q < bound(rows.end);) {
      const IndexRange strip{q, std::min(q + isa::max_lanes, bound(rows.end))};
      attend(strip);
      finish_segments();
      while (q < strip.end) {
        const Index end = std::min(strip.end, bound(row + 1));
        add_to_row({q - strip.begin, end - strip.begin});
        q = end;
        if (end == bound(row + 1)) end_row(row++);
      }
    }
  }

 private:
  void attend(IndexRange queries) {
    strip_.count = static_cast<int>(queries.size());
    for (int lane = 0; lane < strip_.count; ++lane) {
      const std::int32_t token = request_.queries[queries.begin + lane];
      strip_.row[lane] = tiles_.problem().q.row(token);
      strip_.lane_token[lane] = token;
      running_maximum_[lane] = minus_infinity;
      running_sum_[lane] = 0;
      from_[lane] = zeros_.data();
      if (!request_.values.empty()) z_[lane] = found_.z.row(queries.begin + lane);
    }
    strip_.pack();
    for (int lane = strip_.count; lane < strip_.lanes(); ++lane) {
      running_maximum_[lane] = minus_infinity;
      running_sum_[lane] = 0;
    }
    clear_segments();
    const BoundPass& pass = tiles_.passes().front();
    first_ = true;
    strip_.for_steps(pass, pass.groups.front(), tiles_.keys(0), {0, tiles_.lengths().keys}, {},
                     stop_, [this] { take_step(); });
    write(queries);
  }

  void take_step() {
    if (columns_ > 0) {
      find_segments();
      strip_.loops().softmax_segments(strip_.s.data(), strip_.lanes(), segments_, running_maximum_,
                                      running_sum_, rescale_);
    } else {
      strip_.loops().softmax(strip_.s.data(), strip_.lanes(), strip_.keys, running_maximum_,
                             running_sum_, rescale_);
    }
    if (request_.values.empty()) return;
    for (int k = 0; k < strip_.keys; ++k) value_[k] = request_.values.row(strip_.column[k]);
    tiles_.loops().accumulate({.s = strip_.s.data(),
                               .lanes = strip_.lanes(),
                               .count = strip_.count,
                               .keys = strip_.keys,
                               .live = strip_.live,
                               .values = value_,
                               .rescale = rescale_,
                               .from = first_ ? from_ : z_,
                               .z = z_},
                              static_cast<int>(found_.z.stride()));
    first_ = false;
  }

  // The keys of a step are in sequence order without gaps. Keys outside the map belong to a segment
  // of their own, after all others.
  void find_segments() {
    const std::span<const Index> bound = request_.map_cols;
    Index key = strip_.column[0];
    const Index end = strip_.column[strip_.keys - 1] + 1;
    Index pixel = std::ranges::upper_bound(bound, key) - bound.begin() - 1;  // -1: before the map
    const Index lanes = strip_.lanes();
    segments_ = {0, segment_end_, segment_maximum_, segment_sum_, segment_reference_, false};
    for (; key < end; ++pixel) {
      const bool inside = 0 <= pixel && pixel < columns_;
      const Index slot = inside ? pixel : columns_;
      const Index until = pixel < columns_ ? std::min(end, bound[pixel + 1]) : end;
      if (segments_.count == 0) segments_.first_goes_on = slot == last_slot_;
      const int i = segments_.count++;
      segment_end_[i] = static_cast<int>(until - strip_.column[0]);
      segment_maximum_[i] = &maximum_[slot * lanes];
      segment_sum_[i] = &sum_[slot * lanes];
      segment_reference_[i] = &reference_[slot * lanes];
      last_slot_ = slot;
      key = until;
    }
    seen_ = std::max(seen_, std::min(last_slot_ + 1, columns_));
  }

  void clear_segments() {
    if (columns_ == 0) return;
    const Index used = (columns_ + 1) * strip_.lanes();
    std::fill_n(maximum_.begin(), used, minus_infinity);
    std::fill_n(sum_.begin(), used, 0.0f);
    std::fill_n(reference_.begin(), used, 0.0f);
    last_slot_ = -1;
    seen_ = 0;
  }

  void write(IndexRange queries) {
    for (int lane = 0; lane < strip_.lanes(); ++lane) {
      // Not `!(sum > 0)`: the sum of a row with NaN is NaN, which is not a row without keys.
      const bool none = running_sum_[lane] == 0;
      const float own =
          none ? minus_infinity
               : static_cast<float>(static_cast<double>(running_maximum_[lane]) +
                                    std::log2(static_cast<double>(running_sum_[lane])));
      log2_sum_[lane] = tiles_.with_sink(own);
      if (lane >= strip_.count) continue;
      const Index at = queries.begin + lane;
      found_.log2_sums[at] = log2_sum_[lane];
      if (request_.values.empty()) continue;
      const auto width = static_cast<int>(found_.z.stride());
      if (none)
        std::fill_n(z_[lane], width, 0.0f);
      else
        tiles_.loops().scale(z_[lane], width,
                             BoundTiles::factor(running_sum_[lane], own, log2_sum_[lane]));
    }
  }

  // Turns logits and sums into entries of P and their sums.
  void finish_segments() {
    const isa::Loops& loops = strip_.loops();
    const int lanes = strip_.lanes(), seen = static_cast<int>(seen_);
    // Segments without an admitted key get the reference -inf, of which normalise() makes the
    // factor 0, in a row of NaN too. (If all logits are NaN the maximum is -inf as well, but the
    // sum is not 0.)
    for (int i = 0; i < seen * lanes; ++i)
      if (maximum_[i] == minus_infinity && sum_[i] == 0) reference_[i] = minus_infinity;
    loops.normalise(maximum_.data(), lanes, seen, log2_sum_, 0);
    loops.normalise(reference_.data(), lanes, seen, log2_sum_, 0);
    loops.multiply(sum_.data(), reference_.data(), seen * lanes);
  }

  void begin_row() {
    std::ranges::fill(most_row_, 0.0f);
    std::ranges::fill(sum_row_, 0.0);
    row_queries_ = 0;
  }

  void add_to_row(IndexRange lanes) {
    const isa::Loops& loops = strip_.loops();
    const auto count = static_cast<int>(lanes.size()), seen = static_cast<int>(seen_);
    row_queries_ += lanes.size();
    loops.reduce(&sum_[lanes.begin], strip_.lanes(), count, seen, false, reduced_.data());
    for (Index c = 0; c < seen_; ++c) sum_row_[c] += static_cast<double>(reduced_[c]);
    loops.reduce(&maximum_[lanes.begin], strip_.lanes(), count, seen, true, reduced_.data());
    for (Index c = 0; c < seen_; ++c) most_row_[c] = std::max(most_row_[c], reduced_[c]);
  }

  void end_row(Index row) {
    for (Index c = 0; c < columns_; ++c) {
      const Index keys = request_.map_cols[c + 1] - request_.map_cols[c];
      const double sum = sum_row_[c];  // NaN where a query is not finite, which both maps show
      found_.most(row, c) = std::isnan(sum) ? static_cast<float>(sum) : most_row_[c];
      found_.mean(row, c) = static_cast<float>(sum / static_cast<double>(row_queries_ * keys));
    }
    begin_row();
  }

  const BoundTiles& tiles_;
  const Request& request_;
  const std::stop_token& stop_;
  Found& found_;
  QueryStrip strip_;
  Index columns_;
  Floats maximum_, sum_, reference_;  // [columns + 1][lane]
  isa::Segments segments_{};
  int segment_end_[isa::max_keys] = {};
  float* segment_maximum_[isa::max_keys] = {};
  float* segment_sum_[isa::max_keys] = {};
  float* segment_reference_[isa::max_keys] = {};
  Index last_slot_ = -1, seen_ = 0;  // slot of the last key; columns reached so far
  alignas(64) float running_maximum_[isa::max_lanes] = {}, running_sum_[isa::max_lanes] = {};
  alignas(64) float rescale_[isa::max_lanes] = {}, log2_sum_[isa::max_lanes] = {};
  const float* from_[isa::max_lanes] = {};
  float* z_[isa::max_lanes] = {};
  const float* value_[isa::max_keys] = {};
  bool first_ = true;
  Matrix zeros_;
  std::vector<float> most_row_, reduced_;  // [columns] of the current map row
  std::vector<double> sum_row_;
  Index row_queries_ = 0;
};

DenseSweep::DenseSweep(const BoundTiles& tiles, const Request& request, Workers& workers, Run& run)
    : tiles_(tiles), request_(request), workers_(workers), run_(run) {
  const auto queries = std::ssize(request.queries);
  found_.log2_sums.resize(request.queries.size());
  if (!request.values.empty()) found_.z = Matrix::uninitialised(queries, request.values.cols);
  if (!request.map_cols.empty()) {
    const auto side = [](std::span<const Index> bounds) { return std::ssize(bounds) - 1; };
    found_.most = Matrix(side(request.map_rows), side(request.map_cols));
    found_.mean = Matrix(side(request.map_rows), side(request.map_cols));
  }
  cut_turns();
}

DenseSweep::~DenseSweep() = default;

// A turn has map rows of about 64 queries together, or a single map row of more.
void DenseSweep::cut_turns() {
  if (request_.map_cols.empty()) {
    const auto queries = std::ssize(request_.queries);
    for (Index q = 0; q < queries; q += isa::usual_lanes)
      turns_.push_back({q, std::min(q + isa::usual_lanes, queries)});
    return;
  }
  const auto rows = std::ssize(request_.map_rows) - 1;
  for (Index r = 0; r < rows;) {
    Index end = r + 1;
    while (end < rows && request_.map_rows[end + 1] - request_.map_rows[r] <= isa::usual_lanes)
      ++end;
    turns_.push_back({r, end});
    r = end;
  }
}

DenseSweep::Found DenseSweep::attend() {
  std::vector<Worker> threads;
  for (int i = 0; i < workers_.threads(); ++i)
    threads.emplace_back(tiles_, request_, run_.stop, found_);
  std::atomic<Index> done = 0;
  workers_.loop(std::ssize(turns_), run_.stop, [&](Index turn, int worker) {
    Worker& its = threads[worker];
    if (request_.map_cols.empty())
      its.attend_queries(turns_[turn]);
    else
      its.attend_map_rows(turns_[turn]);
    ++done;
    if (worker == 0) run_.reached(static_cast<double>(done) / static_cast<double>(turns_.size()));
  });
  return std::move(found_);
}

}  // namespace fovea
