#include "tile_operator.h"

#include <cmath>
#include <numbers>

#include "attend.h"
#include "attend_mma.h"
#include "buffer.h"
#include "device_operator.h"
#include "entries.h"
#include "fill.h"
#include "finish.h"
#include "matrix_16.h"
#include "pyramid.h"
#include "resident_strips.h"
#include "slices.h"
#include "tile_list.h"
#include "timeline.h"

namespace fovea::cuda {
namespace {

// The softmax of all queries while it is made: rows of all their levels.
struct States {
  States(const Device& device, Index rows, Index dv)
      : z(device, rows, dv),
        maximum(device, static_cast<std::size_t>(rows)),
        sum(device, static_cast<std::size_t>(rows)) {}
  DeviceMatrix z;  // in the end Z, in the first n rows
  Buffer<float> maximum, sum;
};

class TileOperator final : public DeviceOperator {
 public:
  TileOperator(std::shared_ptr<const Plan> plan, const Problem& problem, Precision precision,
               std::shared_ptr<const Device> its_device, Run& run)
      : DeviceOperator(std::move(plan), problem, std::move(its_device)), precision_(precision) {
    Timeline timeline(device());
    {
      const auto stage = run.profile.stage("flatten");
      list_ = flatten(this->plan());
      strips_ = {list_, problem.d(), problem.dv(), precision_, device()};
    }
    Overflow overflow(device());
    {
      const auto stage = timeline.stage("upload");
      k_ = upload_pyramid(problem.k, list_.key_top);
      q_ = upload_pyramid(problem.q, list_.mean_queries ? list_.query_top : 0);
      if (precision_ != Precision::fp32) {
        k16_ = rounded(k_, 1, overflow);
        q16_ = rounded(q_, log2_scale(), overflow);
      }
      indices_ = {device(), std::span<const std::int32_t>(list_.indices)};
      weights_ = {device(), std::span<const float>(list_.weights)};
    }
    timeline.finish(run.profile);
    overflow.require_none(precision_, "q, times its scale, or k");
  }

 private:
  Index n() const { return plan().n; }

  DeviceMatrix upload_pyramid(MatrixView rows, int top) const {
    DeviceMatrix out(device(), pyramid_rows(n(), top + 1), rows.cols);
    out.upload(device(), rows);
    coarsen(out.data(), n(), out.stride(), top, device().stream());
    return out;
  }

  Matrix16 rounded(const DeviceMatrix& from, float factor, const Overflow& overflow) const {
    Matrix16 to(device(), from.rows(), from.cols());
    round_to_16({.from = from.data(),
                 .rows = from.rows(),
                 .from_stride = from.stride(),
                 .factor = factor,
                 .to = to.data(),
                 .to_stride = to.stride(),
                 .precision = precision_,
                 .overflows = overflow.flag()},
                device().stream());
    return to;
  }

  float log2_scale() const { return static_cast<float>(problem().scale * std::numbers::log2e); }

  StripArgs strip_args(const Strip* strips, Index count, const ColumnRun* runs,
                       const std::int32_t* indices) const {
    return {.q = {q_.data(), q_.stride()},
            .k = {k_.data(), k_.stride()},
            .d = static_cast<int>(problem().d()),
            .log2_scale = log2_scale(),
            .strips = strips,
            .count = static_cast<int>(count),
            .lists = {runs, indices, weights_.data()}};
  }

  Output do_apply(MatrixView v, Run& run) const override {
    Output out{Matrix(n(), v.cols), std::vector<float>(static_cast<std::size_t>(n()))};
    Buffer<float> log2_sum(device(), static_cast<std::size_t>(n()));
    const Index columns = columns_per_pass(strips_.height, precision_);
    for (Index first = 0; first < v.cols; first += columns) {
      const Index cols = std::min(columns, v.cols - first);
      const MatrixView part{v.data + first, v.rows, cols, v.stride};
      Timeline timeline(device());
      const DeviceMatrix z = precision_ == Precision::fp32
                                 ? attend_fp32(part, strips_, log2_sum, timeline, run)
                                 : attend_16(part, log2_sum, timeline, run);
      {
        const auto stage = timeline.stage("download");
        z.download(device(), out.z.data() + first, out.z.stride(), n());
      }
      timeline.finish(run.profile);
    }
    log2_sum.download(out.lse.data(), out.lse.size());
    device().wait();
    for (float& sum : out.lse)
      sum = static_cast<float>(std::numbers::ln2 * static_cast<double>(sum));
    if (precision_ == Precision::fp32) log2_sum_ = std::move(log2_sum);
    return out;
  }

  // `launch` starts a range of the strips, with or without a state to merge into.
  template <class Launch>
  void attend_all(States& states, const ResidentStrips& strips, Buffer<float>& log2_sum,
                  Timeline& timeline, Run& run, Launch launch) const {
    const bool complete = list_.complete();
    {
      const auto stage = timeline.stage("attend");
      if (!complete) states.sum.clear();
      Slices slices(device(), strips.list, run);
      for (StripRange range = slices.next(); range.first < range.last; range = slices.next())
        launch(strips.strips.data() + range.first, range.last - range.first, complete);
    }
    const auto stage = timeline.stage("merge");
    finish({.n = n(),
            .levels = list_.query_top + 1,
            .dv = states.z.stride(),
            .z = states.z.data(),
            .z_stride = states.z.stride(),
            .maximum = states.maximum.data(),
            .sum = states.sum.data(),
            .divided = complete,
            .log2_sum = log2_sum.data()},
           device().stream());
  }

  // `values` may have no columns: only the sums are wanted.
  DeviceMatrix attend_fp32(MatrixView values, const ResidentStrips& strips, Buffer<float>& log2_sum,
                           Timeline& timeline, Run& run) const {
    States states(device(), pyramid_rows(n(), list_.query_top + 1), values.cols);
    DeviceMatrix v;
    if (values.cols > 0) {
      const auto stage = timeline.stage("upload");
      v = upload_pyramid(values, list_.key_top);
    }
    attend_all(states, strips, log2_sum, timeline, run,
               [&](const Strip* first, Index count, bool complete) {
                 attend({.strips = strip_args(first, count, strips.runs.data(), indices_.data()),
                         .v = {v.data(), v.stride()},
                         .dv = v.stride(),
                         .z = states.z.data(),
                         .z_stride = states.z.stride(),
                         .maximum = states.maximum.data(),
                         .sum = states.sum.data(),
                         .last = complete},
                        strips.height, device().stream());
               });
    return std::move(states.z);
  }

  DeviceMatrix attend_16(MatrixView values, Buffer<float>& log2_sum, Timeline& timeline,
                         Run& run) const {
    States states(device(), pyramid_rows(n(), list_.query_top + 1), values.cols);
    const Overflow overflow(device());
    Matrix16 v;
    {
      const auto stage = timeline.stage("upload");
      v = rounded(upload_pyramid(values, list_.key_top), 1, overflow);
    }
    const auto launch =
        precision_ == Precision::bf16 ? attend_mma<Precision::bf16> : attend_mma<Precision::fp16>;
    attend_all(states, strips_, log2_sum, timeline, run,
               [&](const Strip* first, Index count, bool complete) {
                 launch({.q = q16_.rows(),
                         .k = k16_.rows(),
                         .v = v.rows(),
                         .d = static_cast<int>(problem().d()),
                         .dv = states.z.stride(),
                         .strips = first,
                         .count = static_cast<int>(count),
                         .lists = {strips_.runs.data(), indices_.data(), weights_.data()},
                         .z = states.z.data(),
                         .z_stride = states.z.stride(),
                         .maximum = states.maximum.data(),
                         .sum = states.sum.data(),
                         .last = complete},
                        strips_.height, device().stream());
               });
    overflow.require_none(precision_, "v");
    return std::move(states.z);
  }

  Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const override {
    find_sums(run);
    DeviceMatrix pixels(device(), pool.rows, pool.cols);
    pixels.clear();
    const EntryRows wanted = entry_rows(rows, pool);
    deposit(wanted, cols, pool, pixels, run);
    Matrix out(pool.rows, pool.cols);
    pixels.download(device(), out.data(), out.stride(), pool.rows);
    device().wait();
    if (pool.kind == Pool::Kind::mean) divide_by_area(out, wanted.size(), cols.size());
    return out;
  }

  DeviceMatrix device_tile(const EntryRows& rows, IndexRange cols, float elsewhere,
                           Run& run) const override {
    find_sums(run);
    DeviceMatrix tile(device(), rows.size(), cols.size());
    fill(tile.data(), tile.rows() * tile.stride(), elsewhere, device().stream());
    deposit(rows, cols, {Pool::Kind::none, rows.size(), cols.size()}, tile, run);
    return tile;
  }

  // What entries of P are divided by: in fp32, so from the first apply only if that is.
  void find_sums(Run& run) const {
    if (log2_sum_.size() > 0) return;
    Timeline timeline(device());
    const ResidentStrips strips(list_, problem().d(), 0, Precision::fp32, device());
    Buffer<float> log2_sum(device(), static_cast<std::size_t>(n()));
    attend_fp32(MatrixView{nullptr, n(), 0, 0}, strips, log2_sum, timeline, run);
    log2_sum_ = std::move(log2_sum);
    timeline.finish(run.profile);
  }

  void deposit(const EntryRows& rows, IndexRange cols, Pool pool, const DeviceMatrix& pixels,
               Run& run) const {
    const EntryList list = cut_entries(list_, rows, cols, entries_height);
    if (list.strips.empty()) return;
    Timeline timeline(device());
    {
      const auto stage = timeline.stage("entries");
      const Buffer<Strip> strips(device(), std::span<const Strip>(list.strips));
      const Buffer<ColumnRun> runs(device(), std::span<const ColumnRun>(list.runs));
      const Buffer<std::int32_t> tokens(device(), std::span<const std::int32_t>(list.tokens)),
          levels(device(), std::span<const std::int32_t>(list.query_level)),
          drawn(device(), std::span<const std::int32_t>(rows.drawn));
      const StripList all{list.strips, list.runs, {{0, static_cast<Index>(list.strips.size())}}};
      Slices slices(device(), all, run);
      for (StripRange range = slices.next(); range.first < range.last; range = slices.next())
        entries({.strips = strip_args(strips.data() + range.first, range.last - range.first,
                                      runs.data(), indices_.data()),
                 .tokens = tokens.data(),
                 .query_level = levels.data() + range.first,
                 .log2_sum = log2_sum_.data(),
                 .n = n(),
                 .grid = {.row_begin = static_cast<std::int32_t>(rows.range.begin),
                          .row_count = static_cast<std::int32_t>(rows.range.size()),
                          .col_begin = static_cast<std::int32_t>(cols.begin),
                          .col_count = static_cast<std::int32_t>(cols.size()),
                          .rows = static_cast<std::int32_t>(pool.rows),
                          .cols = static_cast<std::int32_t>(pool.cols)},
                 .drawn = drawn.data(),
                 .drawn_count = static_cast<int>(drawn.size()),
                 .deposit = pool.kind == Pool::Kind::none  ? Deposit::entry
                            : pool.kind == Pool::Kind::max ? Deposit::maximum
                                                           : Deposit::sum,
                 .pixels = pixels.data(),
                 .stride = pixels.stride()},
                device().stream());
    }
    timeline.finish(run.profile);
  }

  static void divide_by_area(Matrix& sums, Index rows, Index cols) {
    const auto extent = [](Index pixel, Index size, Index pixels) {
      return static_cast<double>((pixel + 1) * size / pixels - pixel * size / pixels);
    };
    for (Index r = 0; r < sums.rows(); ++r)
      for (Index c = 0; c < sums.cols(); ++c)
        sums(r, c) = static_cast<float>(
            static_cast<double>(sums(r, c)) /
            (extent(r, rows, sums.rows()) * extent(c, cols, sums.cols())));
  }

  Precision precision_;
  TileList list_;
  ResidentStrips strips_;
  DeviceMatrix q_, k_;  // pyramids
  Matrix16 q16_, k16_;  // the same in the precision of Z, q times log2_scale
  Buffer<std::int32_t> indices_;
  Buffer<float> weights_;
  mutable Buffer<float> log2_sum_;  // [n], fp32; an Operator is used from one thread at a time
};

}  // namespace

std::unique_ptr<Operator> make_tile_operator(std::shared_ptr<const Plan> plan,
                                             const Problem& problem, Precision precision,
                                             std::shared_ptr<const Device> device, Run& run) {
  return std::make_unique<TileOperator>(std::move(plan), problem, precision, std::move(device),
                                        run);
}

}  // namespace fovea::cuda
