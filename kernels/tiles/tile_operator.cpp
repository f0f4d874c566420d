#include "tiles/tile_operator.h"

#include <algorithm>
#include <numbers>

#include "backend/row_estimates.h"
#include "data/pixels.h"
#include "device/buffer.h"
#include "device/device_operator.h"
#include "device/fill.h"
#include "tiles/entries.h"
#include "tiles/row_sums.h"
#include "tiles/slices.h"

namespace fovea::cuda {
namespace {

class TileOperator final : public DeviceOperator {
 public:
  TileOperator(std::shared_ptr<const Plan> plan, const Problem& problem, Precision precision,
               std::shared_ptr<SharedTensors> shared, Run& run)
      : DeviceOperator(std::move(plan), problem, std::move(shared)),
        bound_(this->plan(), problem, precision, tensors(), run),
        query_tiles_(list(), problem.d(), problem.dv(), bound_.precision(), warpgroups(), device()),
        sums_(bound_) {
    if (estimated()) sums_.set_all(log2_row_sums(this->plan()));
  }

 private:
  const TileList& list() const { return bound_.list(); }
  bool warpgroups() const {
    return of_16_bits(bound_.precision()) && device().wgmma() &&
           !bound_.lists(nullptr).head.changes;
  }
  bool estimated() const { return !std::get<TilePlan>(plan().form).row_estimates.empty(); }

  static double share(Index part, Index whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  }

  Output do_apply(MatrixView v, Run& run) const override {
    return apply_query_tiles(query_tiles_, v, {}, run);
  }

  bool do_has_rows() const override { return list().dense; }

  RowsOutput do_apply_rows(MatrixView v, IndexRange rows, Index pixel, Run& run) const override {
    RowsOutput out;
    // Values of more columns are not multiplied by warpgroups, with maps and without: Z must not
    // depend on whether there are maps.
    const ResidentQueryTiles query_tiles(list(), rows, problem().d(), v.cols, bound_.precision(),
                                         warpgroups() && v.cols <= map_values, device());
    out.output = apply_query_tiles(query_tiles, v, {&out, pixel}, run);
    return out;
  }

  struct WantedMaps {
    RowsOutput* to = nullptr;  // null: none are wanted
    Index pixel = 0;
  };

  // As many passes over P as V's columns need. The first one makes the maps, of its own logits.
  Output apply_query_tiles(const ResidentQueryTiles& query_tiles, MatrixView v, WantedMaps wanted,
                           Run& run) const {
    const Index rows = query_tiles.rows.size();
    std::optional<RowMaps> maps;
    if (wanted.to) maps.emplace(device(), query_tiles, plan().keys(), wanted.pixel);
    Output out{Matrix::unwritten(rows, v.cols), std::vector<float>(static_cast<std::size_t>(rows))};
    Sweep swept;
    for (Index first = 0, cols = 0; first < v.cols; first += cols) {
      cols = std::min(v.cols - first, columns_per_pass(query_tiles.height, query_tiles.precision));
      if (maps) cols = std::min(cols, map_values);
      Timeline timeline(device());
      swept = {};  // its memory is needed again
      const Values values = values_of(v, {first, first + cols}, query_tiles.precision, timeline);
      if (values.precision != query_tiles.precision) {
        timeline.finish(run.profile);
        return apply_query_tiles(
            query_tiles_without_warpgroups(Precision::fp32, query_tiles.rows, v.cols, wanted.to), v,
            wanted, run);
      }
      Run pass = run.part(share(first, v.cols), share(first + cols, v.cols));
      swept = sweep(bound_, query_tiles, values, maps ? &*maps : nullptr, timeline, pass);
      if (swept.too_tall) {
        timeline.finish(run.profile);
        return apply_query_tiles(query_tiles_without_warpgroups(
                                     query_tiles.precision, query_tiles.rows, v.cols, wanted.to),
                                 v, wanted, run);
      }
      if (maps) maps->download(*wanted.to);
      maps.reset();
      {
        const auto stage = timeline.stage("download");
        swept.z.download(device(), out.z.data() + first, out.z.stride(), rows);
      }
      timeline.finish(run.profile);
    }
    swept.log2_sum.download(out.lse.data(), out.lse.size());
    device().wait();
    if (estimated()) divide_by(log2_row_sums(plan()), out.z, out.lse);
    for (float& sum : out.lse)
      sum = static_cast<float>(std::numbers::ln2 * static_cast<double>(sum));
    if (query_tiles.precision == Precision::fp32) sums_.keep(query_tiles.rows, std::move(swept));
    return out;
  }

  Values values_of(MatrixView v, IndexRange cols, Precision precision, Timeline& timeline) const {
    const Tensor part = columns(v, cols);
    Values values = make_values(bound_, part, precision, timeline);
    keep(part, values.rounded ? std::shared_ptr<const void>(values.rounded) : values.fp32);
    return values;
  }

  // For values that cannot be split, and where products of warpgroups have timed out.
  ResidentQueryTiles query_tiles_without_warpgroups(Precision precision, IndexRange rows, Index dv,
                                                    bool in_order) const {
    if (rows.size() == plan().queries() && !in_order)
      return {list(), problem().d(), dv, precision, false, device()};
    return {list(), rows, problem().d(), dv, precision, false, device()};
  }

  Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const override {
    if (pool.kind == Pool::Kind::none) return entries(rows, cols, run);
    DeviceMatrix pixels(device(), pool.rows, pool.cols);
    pixels.clear();
    const EntryRows wanted = entry_rows(rows, pool);
    if (pool.kind == Pool::Kind::mean) {
      const Index most =
          largest_extent(wanted.size(), pool.rows) * largest_extent(cols.size(), pool.cols);
      const ExactSums sums(device(), pixels, most);
      deposit(wanted, cols, pool, pixels, sums.words(), run);
      sums.round_to(pixels, device().stream());
    } else {
      deposit(wanted, cols, pool, pixels, {}, run);
    }
    Matrix out(pool.rows, pool.cols);
    pixels.download(device(), out.data(), out.stride(), pool.rows);
    device().wait();
    if (pool.kind == Pool::Kind::mean) divide_by_area(out, wanted.size(), cols.size());
    return out;
  }

  DeviceMatrix device_tile(const EntryRows& rows, IndexRange cols, float elsewhere,
                           Run& run) const override {
    DeviceMatrix tile(device(), rows.size(), cols.size());
    fill(tile.data(), tile.rows() * tile.stride(), elsewhere, device().stream());
    deposit(rows, cols, {Pool::Kind::none, rows.size(), cols.size()}, tile, {}, run);
    return tile;
  }

  static Index largest_extent(Index tokens, Index pixels) { return (tokens + pixels - 1) / pixels; }

  void deposit(const EntryRows& rows, IndexRange cols, Pool pool, const DeviceMatrix& pixels,
               const ExactWords& sums, Run& run) const {
    const Index missing = sums_.unknown_of(rows) * plan().keys();  // pairs of query and key
    const double summed = share(missing, missing + rows.size() * cols.size());
    Run summing = run.part(0, summed), evaluating = run.part(summed, 1);
    const float* const log2_sum = sums_.of(rows, summing);
    const EntryList cut = cut_entries(list(), rows, cols, entries_height);
    if (cut.tiles.empty()) return;
    Timeline timeline(device());
    {
      auto stage = timeline.stage("entries");
      const Buffer<QueryTile> query_tiles(device(), std::span<const QueryTile>(cut.tiles));
      const Buffer<ColumnRun> runs(device(), std::span<const ColumnRun>(cut.runs));
      const Buffer<std::int32_t> tokens(device(), std::span<const std::int32_t>(cut.tokens)),
          levels(device(), std::span<const std::int32_t>(cut.query_level)),
          drawn(device(), std::span<const std::int32_t>(rows.drawn));
      const QueryTileList all{cut.tiles, cut.runs, {{0, std::ssize(cut.tiles)}}};
      Slices slices(device(), all, Index{entries_at_once} * device().multiprocessors(), evaluating,
                    stage, Precision::fp32, problem().d());
      for (QueryTileRange range = slices.next(); range.first < range.last; range = slices.next())
        cuda::entries({.queries = bound_.query_tiles(query_tiles.data() + range.first,
                                                     range.last - range.first, runs.data()),
                       .operands = bound_.fp32_operands(),
                       .d = bound_.d(),
                       .tokens = tokens.data(),
                       .query_level = levels.data() + range.first,
                       .log2_sum = log2_sum,
                       .keys = plan().keys(),
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
                       .sums = sums,
                       .stride = pixels.stride()},
                      device().stream());
    }
    timeline.finish(run.profile);
  }

  static void divide_by_area(Matrix& sums, Index rows, Index cols) {
    for (Index r = 0; r < sums.rows(); ++r)
      for (Index c = 0; c < sums.cols(); ++c) {
        const Index area = pixel_extent(r, rows, sums.rows()) * pixel_extent(c, cols, sums.cols());
        sums(r, c) =
            static_cast<float>(static_cast<double>(sums(r, c)) / static_cast<double>(area));
      }
  }

  const BoundList bound_;
  const ResidentQueryTiles query_tiles_;
  // An Operator is used from one thread at a time.
  mutable RowSums sums_;
};

}  // namespace

std::unique_ptr<Operator> make_tile_operator(std::shared_ptr<const Plan> plan,
                                             const Problem& problem, Precision precision,
                                             std::shared_ptr<SharedTensors> tensors, Run& run) {
  const Device& device = tensors->device();
  if (const Index widest = widest_head(precision, device); problem.d() > widest)
    throw UnavailableError(
        "CUDA: heads of d = " + std::to_string(problem.d()) + "; expected at most " +
        std::to_string(widest) + " on " + device.name() + ", whose blocks have " +
        std::to_string(device.shared_per_block() >> 10) + " KiB of shared memory");
  return std::make_unique<TileOperator>(std::move(plan), problem, precision, std::move(tensors),
                                        run);
}

}  // namespace fovea::cuda
