#include "device/device_operator.h"

#include <algorithm>
#include <cmath>

#include "data/pixels.h"
#include "device/compare.h"
#include "device/timeline.h"

namespace fovea::cuda {
namespace {

constexpr Index part_entries = Index{1}
                               << 24;  // of each operator that are held at once, at least a row

DenseTile dense(const DeviceMatrix& tile) {
  return {tile.data(), tile.stride()};
}

// Rows of a tile that are held at once, of at most `most`.
Index rows_at_once(Index cols, Index most) {
  return std::clamp<Index>(part_entries / cols, 1, most);
}

// The part of a run that makes some of `count` places.
Run part_of(const Run& run, IndexRange places, Index count) {
  const auto share = [&](Index place) {
    return static_cast<double>(place) / static_cast<double>(count);
  };
  return run.part(share(places.begin), share(places.end));
}

// Calls make(places) for parts of [0, count) in turn, `at_once` places each. When it throws for
// lack of memory, before it has changed anything, it is called again with half as many.
template <class Make>
void in_parts(Index count, Index at_once, Make make) {
  for (Index begin = 0; begin < count;) try {
      const IndexRange places{begin, std::min(begin + at_once, count)};
      make(places);
      begin = places.end;
    } catch (const DeviceLostError&) {
      throw;
    } catch (const UnavailableError&) {
      if (at_once <= 1) throw;
      at_once /= 2;
    }
}

}  // namespace

Tensor DeviceOperator::columns(MatrixView v, IndexRange cols) const {
  const MatrixView own = problem().v;
  const bool is_own = v.data == own.data && v.rows == own.rows && v.stride == own.stride;
  return {{v.data + cols.begin, v.rows, cols.size(), v.stride}, is_own ? problem().owner : nullptr};
}

Matrix DeviceOperator::entries(IndexRange rows, IndexRange cols, Run& run) const {
  Matrix out(rows.size(), cols.size());
  in_parts(rows.size(), rows_at_once(cols.size(), rows.size()), [&](IndexRange places) {
    Run its_part = part_of(run, places, rows.size());
    const DeviceMatrix part = device_tile(EntryRows{rows}.part(places), cols, 0.0f, its_part);
    part.download(device(), out.row(places.begin), out.stride(), places.size());
    device().wait();
  });
  return out;
}

std::optional<Matrix> DeviceOperator::do_difference(const Operator& exact, IndexRange rows,
                                                    IndexRange cols, Pool pool, Difference kind,
                                                    Run& run) const {
  const auto* other = dynamic_cast<const DeviceOperator*>(&exact);
  if (!other || other->tensors_ != tensors_) return std::nullopt;
  if (pool.kind == Pool::Kind::none) pool = {Pool::Kind::mean, rows.size(), cols.size()};
  return pool_parts(other, rows, cols, pool, kind, run);
}

Matrix DeviceOperator::pooled(IndexRange rows, IndexRange cols, Pool pool, Run& run) const {
  return pool_parts(nullptr, rows, cols, pool, Difference::signed_difference, run);
}

Matrix DeviceOperator::pool_parts(const DeviceOperator* other, IndexRange rows, IndexRange cols,
                                  Pool pool, Difference kind, Run& run) const {
  const bool mean = pool.kind == Pool::Kind::mean;
  const EntryRows wanted = entry_rows(rows, pool);
  const Index height = wanted.size();
  Buffer<double> pixels(device(), static_cast<std::size_t>(pool.rows * pool.cols));
  pixels.clear();
  DeviceMatrix zeros(device(), other ? 0 : 1, cols.size());  // a row that stands for all
  zeros.clear();
  Run quiet = run.quiet();
  in_parts(height, rows_at_once(cols.size(), height), [&](IndexRange down) {
    run.check();
    const EntryRows its_rows = wanted.part(down);
    const DeviceMatrix q = device_tile(its_rows, cols, 0.0f, quiet),
                       p = other ? other->device_tile(its_rows, cols, 0.0f, quiet) : DeviceMatrix();
    Timeline timeline(device());
    {
      const auto stage = timeline.stage(other ? "compare" : "entries");
      pool_difference({.approximate = dense(q),
                       .exact = other ? dense(p) : DenseTile{zeros.data(), 0},
                       .rows = down,
                       .cols = {0, cols.size()},
                       .rectangle_rows = height,
                       .rectangle_cols = cols.size(),
                       .grid_rows = pool.rows,
                       .grid_cols = pool.cols,
                       .kind = kind,
                       .mean = mean,
                       .pixels = pixels.data()},
                      device().stream());
    }
    timeline.finish(run.profile);
    run.reached(static_cast<double>(down.end) / static_cast<double>(height));
  });
  std::vector<double> sums(pixels.size());
  pixels.download(sums.data(), sums.size());
  device().wait();
  Matrix out(pool.rows, pool.cols);
  for (Index r = 0; r < pool.rows; ++r)
    for (Index c = 0; c < pool.cols; ++c) {
      const Index area =
          pixel_extent(r, height, pool.rows) * pixel_extent(c, cols.size(), pool.cols);
      const double value = sums[r * pool.cols + c];
      out(r, c) = static_cast<float>(mean ? value / static_cast<double>(area) : value);
    }
  return out;
}

std::optional<std::vector<RowDifference>> DeviceOperator::do_compare_rows(const Operator& exact,
                                                                          IndexRange rows,
                                                                          Run& run) const {
  const auto* other = dynamic_cast<const DeviceOperator*>(&exact);
  if (!other || other->tensors_ != tensors_) return std::nullopt;
  const Index n = plan().keys();
  std::vector<RowDifference> out(static_cast<std::size_t>(rows.size()));
  in_parts(rows.size(), rows_at_once(n, rows.size()), [&](IndexRange places) {
    const EntryRows part = EntryRows{rows}.part(places);
    const Run its_part = part_of(run, places, rows.size());
    Run first = its_part.part(0, 0.5), second = its_part.part(0.5, 1);
    const DeviceMatrix q = device_tile(part, {0, n}, -INFINITY, first),
                       p = other->device_tile(part, {0, n}, 0.0f, second);
    const auto count = static_cast<std::size_t>(places.size());
    const Buffer<RowDifference> found(device(), count);
    Timeline timeline(device());
    {
      const auto stage = timeline.stage("compare");
      cuda::compare_rows(dense(q), dense(p), places.size(), n, found.data(), device().stream());
    }
    found.download(out.data() + places.begin, count);
    timeline.finish(run.profile);
  });
  return out;
}

}  // namespace fovea::cuda
