#include "analysis/error_map.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "data/pixels.h"

namespace fovea {
namespace {

// Entries of both operators that are held at once: enough rows for all threads, fewer if rows are
// long.
constexpr Index band_entries = Index{1} << 21, least_rows = 64;

template <Difference kind>
inline float error_of(float approximate, float exact) {
  const float difference = approximate - exact;
  if constexpr (kind == Difference::absolute) return std::abs(difference);
  if constexpr (kind == Difference::squared) return difference * difference;
  if constexpr (kind == Difference::relative) {
    if (difference == 0) return 0;
    return exact > 0 ? difference / exact
                     : std::copysign(std::numeric_limits<float>::infinity(), difference);
  }
  return difference;
}

// The state of a pixel: extremes in lanes, so that the loop over entries is vectorised.
struct Pixel {
  static constexpr Index lanes = 16;
  double sum = 0;
  float high = -std::numeric_limits<float>::infinity(),
        low = std::numeric_limits<float>::infinity();
  bool not_a_number = false;

  float most() const {
    if (not_a_number) return std::numeric_limits<float>::quiet_NaN();
    return high >= -low ? high : low;
  }
};

template <Difference kind>
void add_few_extremes(const float* approximate, const float* exact, Index count, Pixel& pixel) {
  for (Index j = 0; j < count; ++j) {
    const float x = error_of<kind>(approximate[j], exact[j]);
    pixel.high = x > pixel.high ? x : pixel.high;
    pixel.low = x < pixel.low ? x : pixel.low;
    pixel.not_a_number |= std::isnan(x);
  }
}

template <Difference kind>
void add_extremes(const float* approximate, const float* exact, Index count, Pixel& pixel) {
  if (count < Pixel::lanes) return add_few_extremes<kind>(approximate, exact, count, pixel);
  float high[Pixel::lanes], low[Pixel::lanes], check[Pixel::lanes] = {};
  std::fill_n(high, Pixel::lanes, pixel.high);
  std::fill_n(low, Pixel::lanes, pixel.low);
  Index j = 0;
  for (; j + Pixel::lanes <= count; j += Pixel::lanes)
    for (Index lane = 0; lane < Pixel::lanes; ++lane) {
      const float x = error_of<kind>(approximate[j + lane], exact[j + lane]);
      high[lane] = x > high[lane] ? x : high[lane];
      low[lane] = x < low[lane] ? x : low[lane];
      check[lane] += x - x;  // NaN from here on; infinities are handled below
    }
  bool odd = false;
  for (Index lane = 0; lane < Pixel::lanes; ++lane) {
    pixel.high = std::max(pixel.high, high[lane]);
    pixel.low = std::min(pixel.low, low[lane]);
    odd = odd || check[lane] != 0;
  }
  for (Index k = 0; odd && k < j; ++k)
    pixel.not_a_number |= std::isnan(error_of<kind>(approximate[k], exact[k]));
  add_few_extremes<kind>(approximate + j, exact + j, count - j, pixel);
}

template <Difference kind>
void add_sum(const float* approximate, const float* exact, Index count, Pixel& pixel) {
  double sums[4] = {};
  Index j = 0;
  for (; j + 4 <= count; j += 4)
    for (Index lane = 0; lane < 4; ++lane)
      sums[lane] += static_cast<double>(error_of<kind>(approximate[j + lane], exact[j + lane]));
  for (; j < count; ++j) sums[0] += static_cast<double>(error_of<kind>(approximate[j], exact[j]));
  pixel.sum += sums[0] + sums[1] + sums[2] + sums[3];
}

template <Difference kind>
void take_entries(const float* approximate, const float* exact, Index count, float* out) {
  for (Index j = 0; j < count; ++j) out[j] = error_of<kind>(approximate[j], exact[j]);
}

template <Difference kind>
void add_sum_and_extremes(const float* approximate, const float* exact, Index count, Pixel& pixel) {
  add_sum<kind>(approximate, exact, count, pixel);
  add_extremes<kind>(approximate, exact, count, pixel);
}

// The loops over one row of entries.
struct Loops {
  using Add = void (*)(const float*, const float*, Index, Pixel&);
  using Take = void (*)(const float*, const float*, Index, float*);
  Add add;
  Take take;
};

template <Difference kind>
Loops loops_for(const Pool& pool) {
  if (pool.kind != Pool::Kind::mean) return {add_extremes<kind>, take_entries<kind>};
  return {pool.largest ? add_sum_and_extremes<kind> : add_sum<kind>, take_entries<kind>};
}

Loops loops_for(Difference kind, const Pool& pool) {
  switch (kind) {
    case Difference::absolute:
      return loops_for<Difference::absolute>(pool);
    case Difference::squared:
      return loops_for<Difference::squared>(pool);
    case Difference::relative:
      return loops_for<Difference::relative>(pool);
    case Difference::signed_difference:
      break;
  }
  return loops_for<Difference::signed_difference>(pool);
}

// Rows of pixels into `out`, one row of P after another.
class Pooling {
 public:
  Pooling(Difference kind, Index rows, Index cols, const Pool& pool, Matrix& out)
      : loops_(loops_for(kind, pool)),
        rows_(rows),
        cols_(cols),
        pool_(pool),
        out_(out),
        pixels_(pool.cols) {}

  /// Adds the next row; `last`: the last of its row of pixels.
  void add(const float* approximate, const float* exact, bool last) {
    if (pool_.kind == Pool::Kind::none)
      return loops_.take(approximate, exact, cols_, out_.row(pixel_++));
    for (Index c = 0; c < pool_.cols; ++c) {
      const Index begin = pixel_begin(c, cols_, pool_.cols),
                  end = pixel_begin(c + 1, cols_, pool_.cols);
      loops_.add(approximate + begin, exact + begin, end - begin, pixels_[c]);
    }
    if (last) finish();
  }
  /// One past the last row of the current row of pixels.
  Index end() const { return pixel_begin(pixel_ + 1, rows_, pool_.rows); }

 private:
  void finish() {
    const Index down = pool_.one_row ? 1 : pixel_extent(pixel_, rows_, pool_.rows);
    for (Index c = 0; c < pool_.cols; ++c) {
      Pixel& pixel = pixels_[c];
      const Index across = pixel_extent(c, cols_, pool_.cols);
      out_(pixel_, c) = pool_.kind == Pool::Kind::mean
                            ? static_cast<float>(pixel.sum / static_cast<double>(down * across))
                            : pixel.most();
      if (pool_.largest) (*pool_.largest)(pixel_, c) = pixel.most();
      pixel = {};
    }
    ++pixel_;
  }

  Loops loops_;
  Index rows_, cols_;
  Pool pool_;
  Matrix& out_;
  std::vector<Pixel> pixels_;
  Index pixel_ = 0;
};

}  // namespace

Matrix error_pixels(const Operator& approximate, const Operator& exact, Difference kind,
                    IndexRange rows, IndexRange cols, Pool pool, Run& run) {
  if (pool.kind == Pool::Kind::none) pool = {pool.kind, rows.size(), cols.size()};
  if (pool.kind != Pool::Kind::mean) pool.largest = nullptr;
  if (auto there = approximate.difference(exact, rows, cols, pool, kind, run)) {
    const Pool most{Pool::Kind::max, pool.rows, pool.cols, pool.one_row};
    if (pool.largest)
      *pool.largest = approximate.difference(exact, rows, cols, most, kind, run).value();
    return *std::move(there);
  }
  Matrix out(pool.rows, pool.cols);
  if (pool.largest) *pool.largest = Matrix(pool.rows, pool.cols);
  Pooling pooling(kind, rows.size(), cols.size(), pool, out);
  Run quiet = run.quiet();
  const Index count = pool.one_row ? pool.rows : rows.size();
  // If pixels have unequal heights, their rows are drawn one by one.
  const bool alone = pool.one_row && rows.size() % pool.rows != 0;
  const Index height =
      alone ? 1 : std::clamp(band_entries / cols.size(), std::min(least_rows, count), count);
  for (Index begin = 0; begin < count; begin += height) {
    const Index end = std::min(begin + height, count);
    // Whole rows of P. A drawn row is given as its pixel row, pooled over single columns.
    const IndexRange band =
        pool.one_row ? IndexRange{rows.begin + pixel_begin(begin, rows.size(), pool.rows),
                                  rows.begin + pixel_begin(end, rows.size(), pool.rows)}
                     : IndexRange{rows.begin + begin, rows.begin + end};
    const Pool whole{pool.one_row ? Pool::Kind::max : Pool::Kind::none, end - begin, cols.size(),
                     pool.one_row};
    const Matrix a = approximate.tile(band, cols, whole, quiet);
    const Matrix e = exact.tile(band, cols, whole, quiet);
    for (Index i = begin; i < end; ++i)
      pooling.add(a.row(i - begin), e.row(i - begin), pool.one_row || i + 1 == pooling.end());
    run.reached(static_cast<double>(end) / static_cast<double>(count));
  }
  return out;
}

}  // namespace fovea
