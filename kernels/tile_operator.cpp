#include "tile_operator.h"

#include <cmath>
#include <numbers>

#include "attend.h"
#include "buffer.h"
#include "device_operator.h"
#include "entries.h"
#include "fill.h"
#include "finish.h"
#include "pyramid.h"
#include "slices.h"
#include "tile_list.h"
#include "timeline.h"

namespace fovea::cuda {
namespace {

// Columns of V that one pass over P takes.
constexpr Index most_columns = 256;

// The tallest strips that the plan fills, whose memory a block can have, and of which there are
// enough to keep the device busy.
int choose_height(const TileList& list, Index d, const Device& device) {
  for (const int height : {128, 64}) {
    if (attend_shared_bytes(height, static_cast<int>(d)) > device.shared_per_block()) continue;
    Index rows = 0, strips = 0;
    for (const Layer& layer : list.layers)
      for (const RowGroup& group : layer.groups) {
        rows += group.rows.size();
        strips += (group.rows.size() + height - 1) / height;
      }
    if (strips >= 2 * device.multiprocessors() && 4 * rows >= 3 * strips * height) return height;
  }
  return 16;
}

class TileOperator final : public DeviceOperator {
 public:
  TileOperator(std::shared_ptr<const Plan> plan, const Problem& problem,
               std::shared_ptr<const Device> its_device, Run& run)
      : DeviceOperator(std::move(plan), problem, std::move(its_device)) {
    Timeline timeline(device());
    {
      const auto stage = run.profile.stage("flatten");
      list_ = flatten(this->plan());
      height_ = choose_height(list_, problem.d(), device());
      strips_ = cut_strips(list_, height_);
    }
    {
      const auto stage = timeline.stage("upload");
      k_ = upload_pyramid(problem.k, list_.key_top);
      q_ = upload_pyramid(problem.q, list_.mean_queries ? list_.query_top : 0);
      device_strips_ = {device(), std::span<const Strip>(strips_.strips)};
      device_runs_ = {device(), std::span<const ColumnRun>(strips_.runs)};
      indices_ = {device(), std::span<const std::int32_t>(list_.indices)};
      weights_ = {device(), std::span<const float>(list_.weights)};
    }
    timeline.finish(run.profile);
  }

 private:
  Index n() const { return plan().n; }

  DeviceMatrix upload_pyramid(MatrixView rows, int top) const {
    DeviceMatrix out(device(), pyramid_rows(n(), top + 1), rows.cols);
    out.upload(device(), rows);
    coarsen(out.data(), n(), out.stride(), top, device().stream());
    return out;
  }

  StripArgs strip_args(const Strip* strips, Index count, const ColumnRun* runs,
                       const std::int32_t* indices) const {
    return {.q = {q_.data(), q_.stride()},
            .k = {k_.data(), k_.stride()},
            .d = static_cast<int>(problem().d()),
            .log2_scale = static_cast<float>(problem().scale * std::numbers::log2e),
            .strips = strips,
            .count = static_cast<int>(count),
            .lists = {runs, indices, weights_.data()}};
  }

  Output do_apply(MatrixView v, Run& run) const override {
    Output out{Matrix(n(), v.cols), std::vector<float>(static_cast<std::size_t>(n()))};
    for (Index first = 0; first < v.cols; first += most_columns) {
      const Index cols = std::min(most_columns, v.cols - first);
      const MatrixView part{v.data + first, v.rows, cols, v.stride};
      Timeline timeline(device());
      const DeviceMatrix z = attend_values(part, timeline, run);
      {
        const auto stage = timeline.stage("download");
        z.download(device(), out.z.data() + first, out.z.stride(), n());
      }
      timeline.finish(run.profile);
    }
    keep_sums();
    for (std::size_t i = 0; i < out.lse.size(); ++i)
      out.lse[i] = static_cast<float>(std::numbers::ln2 * static_cast<double>(host_log2_sum_[i]));
    return out;
  }

  // Z in the first n rows. `values` may have no columns: only the sums are wanted.
  DeviceMatrix attend_values(MatrixView values, Timeline& timeline, Run& run) const {
    const bool complete = list_.complete();
    const Index states = pyramid_rows(n(), list_.query_top + 1);
    DeviceMatrix v, z(device(), states, values.cols);
    if (values.cols > 0) {
      const auto stage = timeline.stage("upload");
      v = upload_pyramid(values, list_.key_top);
    }
    Buffer<float> maximum(device(), static_cast<std::size_t>(states)),
        sum(device(), static_cast<std::size_t>(states));
    log2_sum_ = {device(), static_cast<std::size_t>(n())};
    {
      const auto stage = timeline.stage("attend");
      if (!complete) sum.clear();
      AttendArgs args{.strips = {},
                      .v = {v.data(), v.stride()},
                      .dv = v.stride(),
                      .z = z.data(),
                      .z_stride = z.stride(),
                      .maximum = maximum.data(),
                      .sum = sum.data(),
                      .last = complete};
      Slices slices(device(), strips_, run);
      for (StripRange range = slices.next(); range.first < range.last; range = slices.next()) {
        args.strips = strip_args(device_strips_.data() + range.first, range.last - range.first,
                                 device_runs_.data(), indices_.data());
        attend(args, height_, device().stream());
      }
    }
    const auto stage = timeline.stage("merge");
    finish({.n = n(),
            .levels = list_.query_top + 1,
            .dv = z.stride(),
            .z = z.data(),
            .z_stride = z.stride(),
            .maximum = maximum.data(),
            .sum = sum.data(),
            .divided = complete,
            .log2_sum = log2_sum_.data()},
           device().stream());
    return z;
  }

  void keep_sums() const {
    host_log2_sum_.resize(static_cast<std::size_t>(n()));
    log2_sum_.download(host_log2_sum_.data(), host_log2_sum_.size());
    device().wait();
  }

  Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const override {
    find_sums(run);
    DeviceMatrix pixels(device(), pool.rows, pool.cols);
    pixels.clear();
    deposit(rows, cols, pool, pixels, run);
    Matrix out(pool.rows, pool.cols);
    pixels.download(device(), out.data(), out.stride(), pool.rows);
    device().wait();
    if (pool.kind == Pool::Kind::mean) divide_by_area(out, rows, cols);
    return out;
  }

  DeviceMatrix device_tile(IndexRange rows, IndexRange cols, float elsewhere,
                           Run& run) const override {
    find_sums(run);
    DeviceMatrix tile(device(), rows.size(), cols.size());
    fill(tile.data(), tile.rows() * tile.stride(), elsewhere, device().stream());
    deposit(rows, cols, {Pool::Kind::none, rows.size(), cols.size()}, tile, run);
    return tile;
  }

  // From the first apply, else found now without values.
  void find_sums(Run& run) const {
    if (log2_sum_.size() > 0) return;
    Timeline timeline(device());
    attend_values(MatrixView{nullptr, n(), 0, 0}, timeline, run);
    timeline.finish(run.profile);
  }

  void deposit(IndexRange rows, IndexRange cols, Pool pool, const DeviceMatrix& pixels,
               Run& run) const {
    const EntryList list = cut_entries(list_, rows, cols, entries_height);
    if (list.strips.empty()) return;
    Timeline timeline(device());
    {
      const auto stage = timeline.stage("entries");
      const Buffer<Strip> strips(device(), std::span<const Strip>(list.strips));
      const Buffer<ColumnRun> runs(device(), std::span<const ColumnRun>(list.runs));
      const Buffer<std::int32_t> tokens(device(), std::span<const std::int32_t>(list.tokens)),
          levels(device(), std::span<const std::int32_t>(list.query_level));
      const StripList all{list.strips, list.runs, {{0, static_cast<Index>(list.strips.size())}}};
      Slices slices(device(), all, run);
      for (StripRange range = slices.next(); range.first < range.last; range = slices.next())
        entries({.strips = strip_args(strips.data() + range.first, range.last - range.first,
                                      runs.data(), indices_.data()),
                 .tokens = tokens.data(),
                 .query_level = levels.data() + range.first,
                 .log2_sum = log2_sum_.data(),
                 .n = n(),
                 .grid = {.row_begin = static_cast<std::int32_t>(rows.begin),
                          .row_count = static_cast<std::int32_t>(rows.size()),
                          .col_begin = static_cast<std::int32_t>(cols.begin),
                          .col_count = static_cast<std::int32_t>(cols.size()),
                          .rows = static_cast<std::int32_t>(pool.rows),
                          .cols = static_cast<std::int32_t>(pool.cols)},
                 .deposit = pool.kind == Pool::Kind::none  ? Deposit::entry
                            : pool.kind == Pool::Kind::max ? Deposit::maximum
                                                           : Deposit::sum,
                 .pixels = pixels.data(),
                 .stride = pixels.stride()},
                device().stream());
    }
    timeline.finish(run.profile);
  }

  static void divide_by_area(Matrix& sums, IndexRange rows, IndexRange cols) {
    const auto extent = [](Index pixel, Index size, Index pixels) {
      return static_cast<double>((pixel + 1) * size / pixels - pixel * size / pixels);
    };
    for (Index r = 0; r < sums.rows(); ++r)
      for (Index c = 0; c < sums.cols(); ++c)
        sums(r, c) = static_cast<float>(static_cast<double>(sums(r, c)) /
                                        (extent(r, rows.size(), sums.rows()) *
                                         extent(c, cols.size(), sums.cols())));
  }

  TileList list_;
  int height_ = 0;
  StripList strips_;
  DeviceMatrix q_, k_;  // pyramids
  Buffer<Strip> device_strips_;
  Buffer<ColumnRun> device_runs_;
  Buffer<std::int32_t> indices_;
  Buffer<float> weights_;
  mutable Buffer<float> log2_sum_;  // [n]; an Operator is used from one thread at a time
  mutable std::vector<float> host_log2_sum_;
};

}  // namespace

std::unique_ptr<Operator> make_tile_operator(std::shared_ptr<const Plan> plan,
                                             const Problem& problem,
                                             std::shared_ptr<const Device> device, Run& run) {
  return std::make_unique<TileOperator>(std::move(plan), problem, std::move(device), run);
}

}  // namespace fovea::cuda
