#include "features/feature_operator.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "device/device_operator.h"
#include "device/timeline.h"
#include "features/feature_entries.h"
#include "features/feature_logs.h"
#include "features/feature_values.h"

namespace fovea::cuda {
namespace {

// Numbers of the states and features of the chunks that go together: 32 MiB, so that what one
// kernel writes the next one reads from the second-level cache of a large GPU.
constexpr Index group_numbers = Index{1} << 23;

// The features of the tokens of some chunks.
struct Group {
  Group(const Device& device, Index chunks, Index features)
      : query(device, chunks * feature_chunk, features),
        key(device, chunks * feature_chunk, features) {}
  DeviceMatrix query, key;
};

class FeatureOperator final : public DeviceOperator {
 public:
  FeatureOperator(std::shared_ptr<const Plan> plan, const Problem& problem,
                  std::shared_ptr<SharedTensors> shared, Run& run)
      : DeviceOperator(std::move(plan), problem, std::move(shared)),
        features_(std::get<FeaturePlan>(this->plan().form)),
        count_(features_.features(problem.d())),
        chunks_((n() + feature_chunk - 1) / feature_chunk) {
    Matrix directions;  // until it is uploaded
    Timeline timeline(device());
    {
      const auto stage = timeline.stage("upload");
      q_ = tensors().uploaded({problem.q, problem.owner});
      k_ = tensors().uploaded({problem.k, problem.owner});
      if (exponential()) {
        directions = Matrix::copy_of(features_.directions);
        const auto unit = static_cast<float>(std::sqrt(problem.scale) * std::numbers::log2e);
        for (Index r = 0; r < count_; ++r)
          for (Index c = 0; c < problem.d(); ++c) directions(r, c) *= unit;
        directions_ = {device(), count_, problem.d()};
        directions_.upload(device(), directions);
      }
    }
    timeline.finish(run.profile);
  }

 private:
  // Sums of all rows and chunks, from Q and K alone.
  struct Sums {
    DeviceMatrix own_maximum, own_sum, maximum, sum;  // as in KeySums
    Buffer<double> carry;
    Buffer<float> row_maximum, row_sum, log2_sum;
    DeviceMatrix pairs;
    Buffer<double> factor;  // [n] log2 of what sums of rows leave out

    KeySums keys() const {
      return {own_maximum.data(), own_sum.data(), maximum.data(), sum.data(), carry.data()};
    }
    FeatureRowSums rows() const {
      return {row_maximum.data(), row_sum.data(), log2_sum.data(), pairs.data()};
    }
  };
  // One slice of the columns of V.
  struct Values {
    std::shared_ptr<const DeviceMatrix> v;
    DeviceMatrix z;
    Buffer<double> carry;
  };

  Index n() const { return plan().lengths.n(); }
  bool exponential() const { return features_.map == FeatureMap::exponential; }

  Output do_apply(MatrixView v, Run& run) const override {
    Output out{Matrix::unwritten(n(), v.cols), std::vector<float>(static_cast<std::size_t>(n()))};
    for (Index first = 0; first < v.cols; first += columns_of_slice) {
      const Index cols = std::min(columns_of_slice, v.cols - first);
      Timeline timeline(device());
      const Tensor part = columns(v, {first, first + cols});
      Values values{{}, {device(), n(), cols}, {}};
      {
        const auto stage = timeline.stage("upload");
        values.v = tensors().uploaded(part);
        values.carry = {device(), static_cast<std::size_t>(count_ * values.v->stride())};
        values.carry.clear();
      }
      keep(part, values.v);
      sum(&values, timeline, run);
      {
        const auto stage = timeline.stage("download");
        values.z.download(device(), out.z.data() + first, out.z.stride(), n());
      }
      timeline.finish(run.profile);
    }
    find_log_sums(out.lse);
    return out;
  }

  void find_log_sums(std::vector<float>& lse) const {
    std::vector<double> factor(lse.size());
    sums_->log2_sum.download(lse.data(), lse.size());
    sums_->factor.download(factor.data(), factor.size());
    device().wait();
    const double shared = exponential() ? std::log2(static_cast<double>(count_)) : 0;
    for (std::size_t i = 0; i < lse.size(); ++i)
      lse[i] = static_cast<float>(std::numbers::ln2 *
                                  (static_cast<double>(lse[i]) + factor[i] - shared));
  }

  // ---- Sums and, with values, Z: one group of chunks after the other ----------------------------

  std::unique_ptr<Sums> empty_sums() const {
    const auto tokens = static_cast<std::size_t>(n());
    auto sums = std::make_unique<Sums>(Sums{.own_maximum = {device(), chunks_, count_},
                                            .own_sum = {device(), chunks_, count_},
                                            .maximum = {device(), chunks_ + 1, count_},
                                            .sum = {device(), chunks_, count_},
                                            .carry = {device(), static_cast<std::size_t>(count_)},
                                            .row_maximum = {device(), tokens},
                                            .row_sum = {device(), tokens},
                                            .log2_sum = {device(), tokens},
                                            .pairs = {device(), n(), feature_chunk},
                                            .factor = {device(), tokens}});
    sums->carry.clear();
    return sums;
  }

  Index chunks_at_once(const Values* values) const {
    const Index of_chunk = count_ * (2 * feature_chunk + (values ? values->v->stride() : Index{0}));
    return std::clamp<Index>(group_numbers / of_chunk, 1, chunks_);
  }

  void sum(const Values* values, Timeline& timeline, Run& run) const {
    sums_.reset();  // its memory is needed again
    auto sums = empty_sums();
    const Index at_once = chunks_at_once(values);
    const Group group(device(), at_once, count_);
    const Buffer<float> states(
        device(),
        values ? static_cast<std::size_t>(at_once * count_ * values->v->stride()) : std::size_t{0});
    for (Index first = 0; first < chunks_; first += at_once) {
      run.check();
      const FeatureChunks chunks = chunks_of(first, std::min(at_once, chunks_ - first), group);
      const FeatureValueArgs args{.chunks = chunks,
                                  .sums = sums->keys(),
                                  .rows = sums->rows(),
                                  .v = values ? values->v->data() : nullptr,
                                  .stride = values ? values->v->stride() : 0,
                                  .states = states.data(),
                                  .carry = values ? values->carry.data() : nullptr,
                                  .z = values ? values->z.data() : nullptr};
      sum_keys(group, args, timeline);
      attend(group, args, sums->factor.data(), timeline);
      run.reached(static_cast<double>(first + chunks.count) / static_cast<double>(chunks_));
    }
    sums_ = std::move(sums);
  }

  FeatureChunks chunks_of(Index first, Index count, const Group& group) const {
    return {.first = first,
            .count = count,
            .n = n(),
            .features = static_cast<int>(count_),
            .stride = group.key.stride(),
            .query = group.query.data(),
            .key = group.key.data()};
  }
  IndexRange tokens_of(const FeatureChunks& chunks) const {
    return {chunks.first * feature_chunk,
            std::min((chunks.first + chunks.count) * feature_chunk, n())};
  }

  void sum_keys(const Group& group, const FeatureValueArgs& args, Timeline& timeline) const {
    const auto stage = timeline.stage("key sums");
    make_logs(*k_, {tokens_of(args.chunks)}, nullptr, group.key, nullptr);
    sum_chunks(args.chunks, args.sums, device().stream());
    scan_sums(args.chunks, args.sums, device().stream());
    if (!args.v) return;
    sum_values(args, device().stream());
    scan_values(args, device().stream());
  }

  void attend(const Group& group, const FeatureValueArgs& args, double* factor,
              Timeline& timeline) const {
    const auto stage = timeline.stage("attend");
    const IndexRange tokens = tokens_of(args.chunks);
    make_logs(*q_, {tokens}, nullptr, group.query, factor + tokens.begin);
    sum_rows(args.chunks, args.sums, args.rows, device().stream());
    if (args.v) attend_features(args, device().stream());
  }

  // `drawn`: rows.drawn on the device. Factors are those of queries.
  void make_logs(const DeviceMatrix& x, const EntryRows& rows, const std::int32_t* drawn,
                 const DeviceMatrix& logs, double* factor) const {
    feature_logs({.x = x.data(),
                  .x_stride = x.stride(),
                  .d = static_cast<int>(x.cols()),
                  .drawn = drawn,
                  .first = rows.range.begin,
                  .count = rows.size(),
                  .directions = exponential() ? directions_.data() : nullptr,
                  .direction_stride = directions_.stride(),
                  .features = static_cast<int>(count_),
                  .half = std::numbers::log2e * problem().scale / 2,
                  .of_queries = &x == q_.get(),
                  .logs = logs.data(),
                  .log_stride = logs.stride(),
                  .factor = factor},
                 device().stream());
  }

  // ---- Entries of P -----------------------------------------------------------------------------

  Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const override {
    return pool.kind == Pool::Kind::none ? entries(rows, cols, run) : pooled(rows, cols, pool, run);
  }

  DeviceMatrix device_tile(const EntryRows& rows, IndexRange cols, float elsewhere,
                           Run& run) const override {
    Timeline timeline(device());
    if (!sums_) {
      Run quiet = run.quiet();
      sum(nullptr, timeline, quiet);
    }
    DeviceMatrix tile(device(), rows.size(), cols.size());
    {
      const auto stage = timeline.stage("entries");
      const Buffer<std::int32_t> drawn(device(), std::span<const std::int32_t>(rows.drawn));
      const DeviceMatrix query(device(), rows.size(), count_);
      make_logs(*q_, rows, drawn.data(), query, nullptr);
      const Index end = (cols.end + feature_chunk - 1) / feature_chunk,
                  at_once = chunks_at_once(nullptr);
      const DeviceMatrix key(device(), at_once * feature_chunk, count_);
      for (Index first = cols.begin / feature_chunk; first < end; first += at_once) {
        run.check();
        const Index count = std::min(at_once, end - first);
        const IndexRange keys{first * feature_chunk,
                              std::min((first + count) * feature_chunk, n())};
        make_logs(*k_, {keys}, nullptr, key, nullptr);
        const IndexRange its = keys.intersected(cols);
        feature_entries({.rows = sums_->rows(),
                         .own_maximum = sums_->own_maximum.data(),
                         .drawn = drawn.data(),
                         .first_row = rows.range.begin,
                         .row_count = rows.size(),
                         .first_chunk = first,
                         .chunks = count,
                         .first_col = its.begin,
                         .end_col = its.end,
                         .features = static_cast<int>(count_),
                         .stride = key.stride(),
                         .query = query.data(),
                         .key = key.data(),
                         .elsewhere = elsewhere,
                         .out = tile.data() + (its.begin - cols.begin),
                         .out_stride = tile.stride()},
                        device().stream());
      }
    }
    timeline.finish(run.profile);
    return tile;
  }

  const FeaturePlan& features_;
  const Index count_;   // features
  const Index chunks_;  // of all tokens
  std::shared_ptr<const DeviceMatrix> q_, k_;
  DeviceMatrix directions_;  // times sqrt(scale) log2 e
  // Null: not known yet. (An Operator is used from one thread at a time.)
  mutable std::unique_ptr<const Sums> sums_;
};

}  // namespace

std::unique_ptr<Operator> make_feature_operator(std::shared_ptr<const Plan> plan,
                                                const Problem& problem,
                                                std::shared_ptr<SharedTensors> tensors, Run& run) {
  return std::make_unique<FeatureOperator>(std::move(plan), problem, std::move(tensors), run);
}

}  // namespace fovea::cuda
