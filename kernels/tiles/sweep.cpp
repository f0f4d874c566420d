#include "tiles/sweep.h"

#include "tiles/attend.h"
#include "tiles/attend_mma.h"
#include "tiles/finish.h"
#include "tiles/slices.h"

namespace fovea::cuda {
namespace {

class Sweeping {
 public:
  Sweeping(const BoundList& bound, const ResidentStrips& strips, Index dv, RowMaps* maps,
           Timeline& timeline, Run& run)
      : bound_(bound),
        strips_(strips),
        maps_(maps),
        timeline_(timeline),
        run_(run),
        complete_(bound.list().complete() && !bound.has_sink()) {
    const Device& device = bound.device();
    const Index rows = pyramid_rows(strips.rows.size(), bound.list().query_top + 1);
    found_ = {.z = {device, rows, dv},
              .maximum = {device, static_cast<std::size_t>(rows)},
              .sum = {device, static_cast<std::size_t>(rows)},
              .log2_sum = {device, static_cast<std::size_t>(strips.rows.size())}};
  }

  Sweep in_fp32(const DeviceMatrix& v) {
    attend_all([&](const Strip* first, Index count) {
      attend({.strips = bound_.strip_args(first, count, strips_.runs.data()),
              .v = {v.data(), v.stride()},
              .dv = v.stride(),
              .z = found_.z.data(),
              .z_stride = found_.z.stride(),
              .maximum = found_.maximum.data(),
              .sum = found_.sum.data(),
              .last = complete_,
              .segments = maps_ ? maps_->segments() : SegmentArgs{}},
             strips_.height, stream());
    });
    return std::move(found_);
  }

  Sweep in_16_bits(const Matrix16& v) {
    const auto launch = strips_.precision == Precision::bf16 ? attend_mma<Precision::bf16>
                                                             : attend_mma<Precision::fp16>;
    attend_all([&](const Strip* first, Index count) {
      launch({.q = bound_.q16().rows(),
              .k = bound_.k16().rows(),
              .v = v.rows(),
              .d = bound_.d(),
              .dv = found_.z.stride(),
              .strips = first,
              .count = static_cast<int>(count),
              .lists = bound_.lists(strips_.runs.data()),
              .z = found_.z.data(),
              .z_stride = found_.z.stride(),
              .maximum = found_.maximum.data(),
              .sum = found_.sum.data(),
              .last = complete_},
             strips_.height, stream());
    });
    return std::move(found_);
  }

 private:
  cudaStream_t stream() const { return bound_.device().stream(); }

  // `launch` launches a range of the strips.
  template <class Launch>
  void attend_all(Launch launch) {
    {
      const auto stage = timeline_.stage("attend");
      if (!complete_) found_.sum.clear();
      Slices slices(bound_.device(), strips_.list, run_, maps_ ? maps_->reserve() : 0);
      for (StripRange range = slices.next(); range.first < range.last; range = slices.next()) {
        launch(strips_.strips.data() + range.first, range.last - range.first);
        if (maps_) add_to_maps(range);
      }
    }
    if (maps_) return;
    const auto stage = timeline_.stage("merge");
    finish_rows({0, strips_.rows.size()});
  }

  void add_to_maps(StripRange range) {
    const Strip &first = strips_.list.strips[range.first],
                &last = strips_.list.strips[range.last - 1];
    const IndexRange rows{first.first_row - strips_.rows.begin,
                          last.first_row + last.row_count - strips_.rows.begin};
    finish_rows(rows);
    maps_->add(rows.begin, rows.size(), found_.log2_sum.data() + rows.begin);
  }

  // With levels, all rows at once.
  void finish_rows(IndexRange rows) {
    finish({.n = rows.size(),
            .levels = bound_.list().query_top + 1,
            .dv = found_.z.stride(),
            .z = found_.z.row(rows.begin),
            .z_stride = found_.z.stride(),
            .maximum = found_.maximum.data() + rows.begin,
            .sum = found_.sum.data() + rows.begin,
            .divided = complete_,
            .log2_sink = bound_.log2_sink(),
            .log2_sum = found_.log2_sum.data() + rows.begin},
           stream());
  }

  const BoundList& bound_;
  const ResidentStrips& strips_;
  RowMaps* const maps_;
  Timeline& timeline_;
  Run& run_;
  const bool complete_;
  Sweep found_;
};

}  // namespace

Values upload_values(const BoundList& bound, MatrixView values, Precision precision,
                     Timeline& timeline) {
  Values out{values.cols};
  const Overflow overflow(bound.device());
  {
    const auto stage = timeline.stage("upload");
    out.fp32 = bound.upload_pyramid(values, bound.list().key_top);
    if (precision == Precision::fp32) return out;
    out.rounded = bound.rounded(out.fp32, 1, overflow);
  }
  out.fp32 = {};
  overflow.require_none(precision, "v");
  return out;
}

Sweep sweep(const BoundList& bound, const ResidentStrips& strips, const Values& values,
            RowMaps* maps, Timeline& timeline, Run& run) {
  Sweeping sweeping(bound, strips, values.cols, maps, timeline, run);
  return strips.precision == Precision::fp32 ? sweeping.in_fp32(values.fp32)
                                             : sweeping.in_16_bits(values.rounded);
}

}  // namespace fovea::cuda
