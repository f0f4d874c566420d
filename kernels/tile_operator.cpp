#include "tile_operator.h"

#include <cmath>
#include <numbers>

#include "attend.h"
#include "attend_mma.h"
#include "buffer.h"
#include "device_matrix.h"
#include "entries.h"
#include "finish.h"
#include "matrix_16.h"
#include "pyramid.h"
#include "slices.h"
#include "tile_list.h"
#include "timeline.h"

namespace fovea::cuda {
namespace {

// Columns of V that one pass over P takes; fp32 strips of height 128 take fewer.
constexpr Index most_columns = 256, tall_columns = 64;

// Whether rounding to 16 bits has made an infinity of a number.
class Overflow {
 public:
  explicit Overflow(const Device& device) : device_(device), flag_(device, 1) { flag_.clear(); }

  int* flag() const { return flag_.data(); }
  void require_none(Precision precision, const char* what) const {
    if (precision == Precision::fp32) return;
    int overflows = 0;
    flag_.download(&overflows, 1);
    device_.wait();
    if (overflows)
      throw UnavailableError("CUDA: precision " + name_of(precision) + ": " + what +
                             " has values beyond its range; fp32 holds them");
  }

 private:
  const Device& device_;
  Buffer<int> flag_;
};

std::size_t shared_bytes(Precision precision, int height, Index d) {
  const int columns = static_cast<int>(d);
  return precision == Precision::fp32 ? attend_shared_bytes(height, columns)
                                      : attend_mma_shared_bytes(height, columns);
}

// The tallest strips that the plan fills, whose memory a block can have, and of which there are
// enough to keep the device busy.
int choose_height(const TileList& list, const Problem& problem, Precision precision,
                  const Device& device) {
  for (const int height : {128, 64}) {
    if (shared_bytes(precision, height, problem.d()) > device.shared_per_block()) continue;
    if (precision == Precision::fp32 && height == 128 && problem.dv() > tall_columns) continue;
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

// Strips as one precision wants them, here and on the device.
struct ResidentStrips {
  ResidentStrips() = default;
  ResidentStrips(const TileList& tiles, int strip_height, const Device& device)
      : height(strip_height),
        list(cut_strips(tiles, height)),
        strips(device, std::span<const Strip>(list.strips)),
        runs(device, std::span<const ColumnRun>(list.runs)) {}

  int height = 0;
  StripList list;
  Buffer<Strip> strips;
  Buffer<ColumnRun> runs;
};

class TileOperator final : public Operator {
 public:
  TileOperator(std::shared_ptr<const Plan> plan, const Problem& problem, Precision precision,
               std::shared_ptr<const Device> device, Run& run)
      : Operator(std::move(plan), problem), precision_(precision), device_(std::move(device)) {
    Timeline timeline(*device_);
    {
      const auto stage = run.profile.stage("flatten");
      list_ = flatten(this->plan());
      strips_ = cut(precision_);
    }
    Overflow overflow(*device_);
    {
      const auto stage = timeline.stage("upload");
      k_ = upload_pyramid(problem.k, list_.key_top);
      q_ = upload_pyramid(problem.q, list_.mean_queries ? list_.query_top : 0);
      if (precision_ != Precision::fp32) {
        k16_ = rounded(k_, 1, overflow);
        q16_ = rounded(q_, log2_scale(), overflow);
      }
      indices_ = {*device_, std::span<const std::int32_t>(list_.indices)};
      weights_ = {*device_, std::span<const float>(list_.weights)};
    }
    timeline.finish(run.profile);
    overflow.require_none(precision_, "q, times its scale, or k");
  }

 private:
  Index n() const { return plan().n; }

  DeviceMatrix upload_pyramid(MatrixView rows, int top) const {
    DeviceMatrix out(*device_, pyramid_rows(n(), top + 1), rows.cols);
    out.upload(*device_, rows);
    coarsen(out.data(), n(), out.stride(), top, device_->stream());
    return out;
  }

  Matrix16 rounded(const DeviceMatrix& from, float factor, const Overflow& overflow) const {
    Matrix16 to(*device_, from.rows(), from.cols());
    round_to_16({.from = from.data(),
                 .rows = from.rows(),
                 .from_stride = from.stride(),
                 .factor = factor,
                 .to = to.data(),
                 .to_stride = to.stride(),
                 .precision = precision_,
                 .overflows = overflow.flag()},
                device_->stream());
    return to;
  }

  ResidentStrips cut(Precision precision) const {
    return {list_, choose_height(list_, problem(), precision, *device_), *device_};
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
    Buffer<float> log2_sum(*device_, static_cast<std::size_t>(n()));
    const Index columns =
        precision_ == Precision::fp32 && strips_.height == 128 ? tall_columns : most_columns;
    for (Index first = 0; first < v.cols; first += columns) {
      const Index cols = std::min(columns, v.cols - first);
      const MatrixView part{v.data + first, v.rows, cols, v.stride};
      Timeline timeline(*device_);
      const DeviceMatrix z = precision_ == Precision::fp32
                                 ? attend_fp32(part, strips_, log2_sum, timeline, run)
                                 : attend_16(part, log2_sum, timeline, run);
      {
        const auto stage = timeline.stage("download");
        z.download(*device_, out.z.data() + first, out.z.stride(), n());
      }
      timeline.finish(run.profile);
    }
    log2_sum.download(out.lse.data(), out.lse.size());
    device_->wait();
    for (float& sum : out.lse)
      sum = static_cast<float>(std::numbers::ln2 * static_cast<double>(sum));
    if (precision_ == Precision::fp32) log2_sum_ = std::move(log2_sum);
    return out;
  }

  // The softmax of all queries while it is made: rows of all their levels.
  struct States {
    States(const Device& device, Index rows, Index dv)
        : z(device, rows, dv),
          maximum(device, static_cast<std::size_t>(rows)),
          sum(device, static_cast<std::size_t>(rows)) {}
    DeviceMatrix z;  // in the end Z, in the first n rows
    Buffer<float> maximum, sum;
  };

  // `launch` starts a range of the strips, with or without a state to merge into.
  template <class Launch>
  void attend_all(States& states, const ResidentStrips& strips, Buffer<float>& log2_sum,
                  Timeline& timeline, Run& run, Launch launch) const {
    const bool complete = list_.complete();
    {
      const auto stage = timeline.stage("attend");
      if (!complete) states.sum.clear();
      Slices slices(*device_, strips.list, run);
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
           device_->stream());
  }

  // `values` may have no columns: only the sums are wanted.
  DeviceMatrix attend_fp32(MatrixView values, const ResidentStrips& strips, Buffer<float>& log2_sum,
                           Timeline& timeline, Run& run) const {
    States states(*device_, pyramid_rows(n(), list_.query_top + 1), values.cols);
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
                        strips.height, device_->stream());
               });
    return std::move(states.z);
  }

  DeviceMatrix attend_16(MatrixView values, Buffer<float>& log2_sum, Timeline& timeline,
                         Run& run) const {
    States states(*device_, pyramid_rows(n(), list_.query_top + 1), values.cols);
    const Overflow overflow(*device_);
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
                        strips_.height, device_->stream());
               });
    overflow.require_none(precision_, "v");
    return std::move(states.z);
  }

  // What entries of P are divided by: in fp32, so from the first apply only if that is.
  void find_sums(Timeline& timeline, Run& run) const {
    if (log2_sum_.size() > 0) return;
    Buffer<float> log2_sum(*device_, static_cast<std::size_t>(n()));
    const MatrixView no_values{nullptr, n(), 0, 0};
    if (precision_ == Precision::fp32) {
      attend_fp32(no_values, strips_, log2_sum, timeline, run);
    } else {
      const ResidentStrips strips = cut(Precision::fp32);
      attend_fp32(no_values, strips, log2_sum, timeline, run);
    }
    log2_sum_ = std::move(log2_sum);
  }

  Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const override {
    Timeline timeline(*device_);
    find_sums(timeline, run);
    Matrix out(pool.rows, pool.cols);
    DeviceMatrix pixels(*device_, 1, pool.rows * pool.cols);
    {
      const auto stage = timeline.stage("entries");
      pixels.clear();
      const EntryList list = cut_entries(list_, rows, cols, entries_height);
      deposit(list, rows, cols, pool, pixels, run);
    }
    pixels.download(*device_, out.data(), pixels.cols(), 1);
    timeline.finish(run.profile);
    if (pool.kind == Pool::Kind::mean) divide_by_area(out, rows, cols);
    return out;
  }

  void deposit(const EntryList& list, IndexRange rows, IndexRange cols, Pool pool,
               const DeviceMatrix& pixels, Run& run) const {
    if (list.strips.empty()) return;
    // The kernel finds orders of tokens and of columns in one array.
    std::vector<std::int32_t> indices = list_.indices;
    indices.insert(indices.end(), list.tokens.begin(), list.tokens.end());
    std::vector<Strip> strips = list.strips;
    for (Strip& strip : strips)
      if (strip.rows >= 0) strip.rows += static_cast<std::int32_t>(list_.indices.size());
    const Buffer<Strip> device_strips(*device_, std::span<const Strip>(strips));
    const Buffer<ColumnRun> runs(*device_, std::span<const ColumnRun>(list.runs));
    const Buffer<std::int32_t> all(*device_, std::span<const std::int32_t>(indices)),
        levels(*device_, std::span<const std::int32_t>(list.query_level));
    const StripList all_strips{strips, list.runs, {{0, static_cast<Index>(strips.size())}}};
    Slices slices(*device_, all_strips, run);
    for (StripRange range = slices.next(); range.first < range.last; range = slices.next())
      entries({.strips = strip_args(device_strips.data() + range.first, range.last - range.first,
                                    runs.data(), all.data()),
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
               .pixels = pixels.data()},
              device_->stream());
    device_->wait();  // what was uploaded for this call goes
  }

  static void divide_by_area(Matrix& sums, IndexRange rows, IndexRange cols) {
    const auto extent = [](Index pixel, Index size, Index pixels) {
      return static_cast<double>((pixel + 1) * size / pixels - pixel * size / pixels);
    };
    for (Index r = 0; r < sums.rows(); ++r)
      for (Index c = 0; c < sums.cols(); ++c)
        sums(r, c) = static_cast<float>(
            static_cast<double>(sums(r, c)) /
            (extent(r, rows.size(), sums.rows()) * extent(c, cols.size(), sums.cols())));
  }

  Precision precision_;
  std::shared_ptr<const Device> device_;
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
