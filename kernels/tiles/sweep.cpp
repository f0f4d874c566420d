#include "tiles/sweep.h"

#include <algorithm>
#include <cmath>

#include "backend/stage_names.h"
#include "device/split_matrix.h"
#include "device/wgmma.h"
#include "tiles/attend.h"
#include "tiles/attend_mma.h"
#include "tiles/attend_wgmma.h"
#include "tiles/finish.h"
#include "tiles/join_parts.h"
#include "tiles/pyramid.h"
#include "tiles/slices.h"

namespace fovea::cuda {
namespace {

class Sweeping {
 public:
  Sweeping(const BoundList& bound, const ResidentQueryTiles& query_tiles, Index dv, RowMaps* maps,
           Timeline& timeline, Run& run)
      : bound_(bound),
        query_tiles_(query_tiles),
        maps_(maps),
        timeline_(timeline),
        run_(run),
        complete_(bound.list().complete() && !bound.has_sink()) {
    const Device& device = bound.device();
    found_ = {.z = {device, query_tiles.states, dv},
              .maximum = {device, static_cast<std::size_t>(query_tiles.states)},
              .sum = {device, static_cast<std::size_t>(query_tiles.states)},
              .log2_sum = {device, static_cast<std::size_t>(query_tiles.rows.size())}};
  }

  Sweep in_fp32(const Values& values) {
    const Rows v = values.fp32 ? Rows{values.fp32->data(), values.fp32->stride()} : Rows{};
    const Fp32Operands operands = bound_.fp32_operands(v);
    kernel_ = "fp32";
    attend_all([&](const AttendArgs& args) {
      attend(args, operands, query_tiles_.height, bound_.device().shared_per_block(), stream());
    });
    return std::move(found_);
  }

  Sweep on_tensor_cores(const Values& values) {
    const MmaOperands operands = bound_.mma_operands(values.rounded->parts.rows(), values.factor);
    kernel_ = "wgmma";
    if constexpr (wgmma_built)
      if (query_tiles_.warpgroups && bound_.device().wgmma() &&
          wgmma_takes(query_tiles_.height, bound_.d(), found_.z.stride(), maps_ != nullptr) &&
          by_warpgroups(operands))
        return std::move(found_);
    if (query_tiles_.height > query_tile_heights.back()) return {.too_tall = true};
    const Precision precision = query_tiles_.precision;
    const auto launch = precision == Precision::bf16   ? attend_mma<Precision::bf16>
                        : precision == Precision::fp16 ? attend_mma<Precision::fp16>
                                                       : attend_mma<Precision::fp32_split>;
    kernel_ = precision == Precision::fp32_split ? "mma of split numbers" : "mma";
    attend_all(
        [&](const AttendArgs& args) { launch(args, operands, query_tiles_.height, stream()); });
    return std::move(found_);
  }

 private:
  // False: the kernel timed out, and is not used again.
  bool by_warpgroups(const MmaOperands& operands) {
    const auto launch = query_tiles_.precision == Precision::bf16 ? attend_wgmma<Precision::bf16>
                                                                  : attend_wgmma<Precision::fp16>;
    Buffer<int> stuck(bound_.device(), 1);
    stuck.clear();
    attend_all([&](const AttendArgs& args) {
      launch(args, operands, query_tiles_.height, stuck.data(), stream());
    });
    int found = 0;
    stuck.download(&found, 1);
    bound_.device().wait();
    if (found == 0) return true;
    bound_.device().give_up_wgmma();
    if (maps_) maps_->clear();
    run_.profile.add(wgmma_timed_out, 0);
    return false;
  }

  AttendArgs args(QueryTileRange range) const {
    return {.states = states(),
            .d = bound_.d(),
            .queries = bound_.query_tiles(query_tiles_.tiles.data() + range.first,
                                          range.last - range.first, query_tiles_.runs.data()),
            .segments = maps_ ? maps_->segments() : SegmentArgs{}};
  }

  SoftmaxStates states() const {
    return {.dv = found_.z.stride(),
            .z = found_.z.data(),
            .z_stride = found_.z.stride(),
            .maximum = found_.maximum.data(),
            .sum = found_.sum.data(),
            .last = complete_};
  }

  cudaStream_t stream() const { return bound_.device().stream(); }

  // `launch` launches a range of the query tiles.
  template <class Launch>
  void attend_all(Launch launch) {
    {
      auto stage = timeline_.stage("attend");
      stage.by(kernel_);
      if (!complete_) found_.sum.clear();
      Slices slices(bound_.device(), query_tiles_.list, query_tiles_.wave, run_, stage,
                    query_tiles_.precision, bound_.d() + found_.z.stride(),
                    maps_ ? maps_->reserve() : 0);
      for (QueryTileRange range = slices.next(); range.first < range.last; range = slices.next()) {
        launch(args(range));
        join(range);
        if (maps_) add_to_maps(range);
      }
    }
    if (maps_) return;
    const auto stage = timeline_.stage("merge");
    finish_rows({0, query_tiles_.rows.size()});
  }

  void join(QueryTileRange range) {
    const auto& divided = query_tiles_.list.divided;
    const auto at = [&](Index tile) {
      return std::ranges::lower_bound(divided, tile, {}, &DividedQueryTile::first) -
             divided.begin();
    };
    const auto first = at(range.first), last = at(range.last);
    join_parts({.divided = query_tiles_.divided.data() + first,
                .count = static_cast<int>(last - first),
                .tiles = query_tiles_.tiles.data(),
                .indices = bound_.lists(nullptr).indices,
                .states = states()},
               stream());
  }

  void add_to_maps(QueryTileRange range) {
    const QueryTile &first = query_tiles_.list.tiles[range.first],
                    &last = query_tiles_.list.tiles[range.last - 1];
    const IndexRange rows{first.first_row - query_tiles_.rows.begin,
                          last.first_row + last.row_count - query_tiles_.rows.begin};
    finish_rows(rows);
    maps_->add(range.first, rows.begin, rows.size(), found_.log2_sum.data() + rows.begin);
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
  const ResidentQueryTiles& query_tiles_;
  RowMaps* const maps_;
  Timeline& timeline_;
  Run& run_;
  const bool complete_;
  const char* kernel_ = "";
  Sweep found_;
};

}  // namespace

Values make_values(const BoundList& bound, const Tensor& values, Precision precision,
                   Timeline& timeline) {
  Values out{.cols = values.rows.cols, .precision = precision};
  const int top = bound.list().key_top;
  if (of_16_bits(precision)) {
    const Overflow overflow(bound.device());
    out.rounded = bound.rounded(values, top, precision, 1, overflow, timeline);
    overflow.require_none(precision, "v");
  } else if (precision == Precision::fp32_split &&
             (out.rounded = bound.split_up(values, top, timeline))) {
    out.factor = std::ldexp(1.0f, -out.rounded->exponent);
  } else {
    out.precision = Precision::fp32;
    out.fp32 = bound.with_means(values, top, timeline);
  }
  return out;
}

Sweep sweep(const BoundList& bound, const ResidentQueryTiles& query_tiles, const Values& values,
            RowMaps* maps, Timeline& timeline, Run& run) {
  Sweeping sweeping(bound, query_tiles, values.cols, maps, timeline, run);
  return query_tiles.precision == Precision::fp32 ? sweeping.in_fp32(values)
                                                  : sweeping.on_tensor_cores(values);
}

}  // namespace fovea::cuda
