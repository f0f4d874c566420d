#include "backend/tile_entries.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "backend/query_strip.h"

namespace fovea {
namespace {

// A rectangle on its way to pixels. Pixel p of a side of `size` tokens begins at p size / pixels.
struct Canvas {
  IndexRange rows, cols;
  Pool pool;

  static Index begin(Index pixel, Index size, Index pixels) { return pixel * size / pixels; }
  static Index pixel_of(Index offset, Index size, Index pixels) {
    return pixels == size ? offset : ((offset + 1) * pixels - 1) / size;
  }
  static Index extent(Index pixel, Index size, Index pixels) {
    return begin(pixel + 1, size, pixels) - begin(pixel, size, pixels);
  }
  Index column_of(Index token) const {
    return pixel_of(token - cols.begin, cols.size(), pool.cols);
  }
  Index row_of(Index token) const { return pixel_of(token - rows.begin, rows.size(), pool.rows); }
  IndexRange tokens_of(IndexRange pixels) const {
    return {rows.begin + begin(pixels.begin, rows.size(), pool.rows),
            rows.begin + begin(pixels.end, rows.size(), pool.rows)};
  }
};

// Pixel rows of about 64 tokens together, or one row of more.
std::vector<IndexRange> bands_of(const Canvas& canvas) {
  std::vector<IndexRange> bands;
  for (Index p = 0; p < canvas.pool.rows;) {
    Index q = p + 1;
    while (q < canvas.pool.rows && canvas.tokens_of({p, q + 1}).size() <= isa::max_lanes) ++q;
    bands.push_back({p, q});
    p = q;
  }
  return bands;
}

// The pixel rows of one turn of the loop, and the strip that fills them.
class RowBand {
 public:
  RowBand(const BoundTiles& tiles, const Canvas& canvas, IndexRange pixels,
          const std::vector<float>& log2_sums, QueryStrip& strip, const std::stop_token& stop)
      : tiles_(tiles),
        canvas_(canvas),
        pixels_(pixels),
        tokens_(canvas.tokens_of(pixels)),
        log2_sums_(log2_sums),
        strip_(strip),
        stop_(stop),
        sums_(static_cast<std::size_t>(pixels.size() * canvas.pool.cols)) {}

  // The queries of the band that the pass evaluates, group by group, 64 at a time.
  void add(const BoundPass& bound) {
    const int level = bound.pass->query_level;
    const ClusterRows queries = tiles_.queries(level);
    const std::vector<Index> positions = positions_in(bound);
    auto at = positions.begin();
    const Index first = positions.empty() ? 0 : positions.front();
    auto group = std::ranges::upper_bound(bound.groups, first, {},
                                          [](const TileGroup& g) { return g.rows.end; });
    for (; group != bound.groups.end() && at != positions.end(); ++group) {
      strip_.count = 0;
      for (; at != positions.end() && *at < group->rows.end; ++at) {
        if (*at < group->rows.begin) continue;
        const Index cluster = bound.row(*at);
        const IndexRange its = cluster_tokens(cluster, level, tiles_.n());
        for (Index i = std::max(its.begin, tokens_.begin); i < std::min(its.end, tokens_.end);
             ++i) {
          strip_.row[strip_.count] = queries.row(cluster);
          strip_.lane_token[strip_.count] = static_cast<std::int32_t>(i);
          if (++strip_.count == isa::max_lanes) add_strip(bound, *group);
        }
      }
      if (strip_.count > 0) add_strip(bound, *group);
    }
  }

  void write(Matrix& out) const {
    const Pool& pool = canvas_.pool;
    for (Index p = pixels_.begin; p < pixels_.end; ++p)
      for (Index c = 0; c < pool.cols; ++c) {
        double value = sums_[static_cast<std::size_t>((p - pixels_.begin) * pool.cols + c)];
        if (pool.kind == Pool::Kind::mean)
          value /= static_cast<double>(Canvas::extent(p, canvas_.rows.size(), pool.rows) *
                                       Canvas::extent(c, canvas_.cols.size(), pool.cols));
        out(p, c) = static_cast<float>(value);
      }
  }

 private:
  std::vector<Index> positions_in(const BoundPass& bound) const {
    const int level = bound.pass->query_level;
    std::vector<Index> positions;
    for (Index c = tokens_.begin >> level; c <= (tokens_.end - 1) >> level; ++c) {
      const Index p = bound.position.empty() ? c : bound.position[static_cast<std::size_t>(c)];
      if (p >= 0) positions.push_back(p);
    }
    std::ranges::sort(positions);
    return positions;
  }

  void add_strip(const BoundPass& bound, const TileGroup& group) {
    strip_.pack();
    for (int lane = 0; lane < strip_.lanes(); ++lane)
      log2_sum_[lane] = lane < strip_.count
                            ? log2_sums_[static_cast<std::size_t>(strip_.lane_token[lane])]
                            : -std::numeric_limits<float>::infinity();
    strip_.for_steps(bound, group, tiles_.keys(bound.pass->key_level), canvas_.cols,
                     bound.log2_pair_weight, stop_, [&] {
                       strip_.loops().normalise(strip_.s.data(), strip_.lanes(), strip_.keys,
                                                log2_sum_);
                       if (pixels_.size() == 1)
                         deposit_reduced(bound.pass->key_level);
                       else
                         deposit(bound.pass->key_level);
                     });
    strip_.count = 0;
  }

  // All queries of the strip lie in one row of pixels.
  void deposit_reduced(int level) {
    const bool maximum = canvas_.pool.kind == Pool::Kind::max;
    strip_.loops().reduce(strip_.s.data(), strip_.lanes(), strip_.count, strip_.keys, maximum,
                          reduced_);
    for (int k = 0; k < strip_.keys; ++k)
      for_columns(k, level, [&](Index column) { put(pixels_.begin, column, reduced_[k]); });
  }

  void deposit(int level) {
    Index pixel[isa::max_lanes];
    for (int lane = 0; lane < strip_.count; ++lane)
      pixel[lane] = canvas_.row_of(strip_.lane_token[lane]);
    for (int k = 0; k < strip_.keys; ++k)
      for_columns(k, level, [&](Index column) {
        const float* s = strip_.s.data() + k * strip_.lanes();
        for (int lane = 0; lane < strip_.count; ++lane) put(pixel[lane], column, s[lane]);
      });
  }

  template <class Use>
  void for_columns(int k, int level, Use use) const {
    const IndexRange its = cluster_tokens(strip_.column[k], level, tiles_.n());
    const Index end = std::min(its.end, canvas_.cols.end);
    for (Index j = std::max(its.begin, canvas_.cols.begin); j < end; ++j) use(canvas_.column_of(j));
  }

  void put(Index pixel, Index column, float value) {
    double& sum =
        sums_[static_cast<std::size_t>((pixel - pixels_.begin) * canvas_.pool.cols + column)];
    const auto entry = static_cast<double>(value);
    sum = canvas_.pool.kind == Pool::Kind::max ? std::max(sum, entry) : sum + entry;
  }

  const BoundTiles& tiles_;
  const Canvas& canvas_;
  IndexRange pixels_, tokens_;
  const std::vector<float>& log2_sums_;
  QueryStrip& strip_;
  std::stop_token stop_;
  std::vector<double> sums_;  // [pixels_.size(), pool.cols]
  alignas(64) float log2_sum_[isa::max_lanes] = {};
  float reduced_[isa::max_keys] = {};
};

}  // namespace

Matrix tile_entries(const BoundTiles& tiles, IndexRange rows, IndexRange cols, Pool pool,
                    const std::vector<float>& log2_sums, Workers& workers, Run& run) {
  const Canvas canvas{rows, cols, pool};
  const std::vector<IndexRange> bands = bands_of(canvas);
  Matrix out(pool.rows, pool.cols);
  std::vector<QueryStrip> strips(static_cast<std::size_t>(workers.threads()), QueryStrip(tiles));
  std::atomic<Index> done = 0;
  workers.loop(static_cast<Index>(bands.size()), run.stop, [&](Index turn, int worker) {
    RowBand band(tiles, canvas, bands[static_cast<std::size_t>(turn)], log2_sums,
                 strips[static_cast<std::size_t>(worker)], run.stop);
    for (const BoundPass& bound : tiles.passes()) band.add(bound);
    band.write(out);
    if (run.progress)
      run.progress->fraction = static_cast<double>(++done) / static_cast<double>(bands.size());
  });
  return out;
}

}  // namespace fovea
