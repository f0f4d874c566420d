#include "backend/tile_entries.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>

#include "backend/query_strip.h"
#include "data/pixels.h"

namespace fovea {
namespace {

// A rectangle of P and the grid of pixels that it becomes.
struct Canvas {
  IndexRange rows, cols;
  Pool pool;

  Index column_of(Index token) const {
    return pixel_of(token - cols.begin, cols.size(), pool.cols);
  }
  Index row_of(Index token) const { return pixel_of(token - rows.begin, rows.size(), pool.rows); }
  // A pixel is one entry.
  bool entries() const {
    return pool.kind == Pool::Kind::none || (pool.one_row && pool.cols == cols.size());
  }
  IndexRange tokens_of(IndexRange pixels) const {
    return {rows.begin + pixel_begin(pixels.begin, rows.size(), pool.rows),
            rows.begin + pixel_begin(pixels.end, rows.size(), pool.rows)};
  }
};

// Bands of pixel rows that have about 64 queries together, or of a single row that has more. Bands
// have fewer queries if a thread would be idle otherwise.
std::vector<IndexRange> bands_of(const Canvas& canvas, int threads) {
  std::vector<IndexRange> bands;
  const auto queries = [&](IndexRange pixels) {
    return canvas.pool.one_row ? pixels.size() : canvas.tokens_of(pixels).size();
  };
  const Index most =
      std::clamp<Index>(queries({0, canvas.pool.rows}) / threads, 16, isa::usual_lanes);
  for (Index p = 0; p < canvas.pool.rows;) {
    Index q = p + 1;
    while (q < canvas.pool.rows && queries({p, q + 1}) <= most) ++q;
    bands.push_back({p, q});
    p = q;
  }
  return bands;
}

// The pixel rows of one turn of the loop, and the strip that fills them.
class RowBand {
 public:
  RowBand(const BoundTiles& tiles, const Canvas& canvas, IndexRange pixels,
          const std::vector<float>& log2_sums, QueryStrip& strip, const std::stop_token& stop,
          Matrix& out)
      : tiles_(tiles),
        canvas_(canvas),
        pixels_(pixels),
        log2_sums_(log2_sums),
        strip_(strip),
        stop_(stop),
        out_(out),
        sums_(pixels_found(false)),
        largest_(pixels_found(true)) {
    const IndexRange tokens = canvas.tokens_of(pixels);
    if (canvas.pool.one_row)
      for (Index p = pixels.begin; p < pixels.end; ++p)
        queries_.push_back(drawn_row(canvas.rows, canvas.pool, p));
    else
      for (Index i = tokens.begin; i < tokens.end; ++i) queries_.push_back(i);
  }

  // The queries of the band that the pass evaluates, group by group, 64 at a time.
  void add(const BoundPass& bound) {
    const int level = bound.pass->query_level;
    const ClusterRows queries = tiles_.queries(level);
    const std::vector<Placed> placed = placed_in(bound);
    auto at = placed.begin();
    const Index first = placed.empty() ? 0 : placed.front().position;
    auto group = std::ranges::upper_bound(bound.groups, first, {},
                                          [](const TileGroup& g) { return g.rows.end; });
    for (; group != bound.groups.end() && at != placed.end(); ++group) {
      strip_.count = 0;
      for (; at != placed.end() && at->position < group->rows.end; ++at) {
        if (at->position < group->rows.begin) continue;
        strip_.row[strip_.count] = queries.row(bound.row(at->position));
        strip_.lane_token[strip_.count] = static_cast<std::int32_t>(at->query);
        if (++strip_.count == isa::usual_lanes) add_strip(bound, *group);
      }
      if (strip_.count > 0) add_strip(bound, *group);
    }
  }

  // Single entries were already written.
  void write() const {
    const Pool& pool = canvas_.pool;
    if (canvas_.entries()) return;
    for (Index p = pixels_.begin; p < pixels_.end; ++p) {
      const Index rows = pool.one_row ? 1 : pixel_extent(p, canvas_.rows.size(), pool.rows);
      const auto at = static_cast<std::size_t>((p - pixels_.begin) * pool.cols);
      if (!sums_.empty())
        for (Index c = 0; c < pool.cols; ++c)
          out_(p, c) = static_cast<float>(
              sums_[at + static_cast<std::size_t>(c)] /
              static_cast<double>(rows * pixel_extent(c, canvas_.cols.size(), pool.cols)));
      Matrix* const most = pool.kind == Pool::Kind::max ? &out_ : pool.largest;
      if (most)
        for (Index c = 0; c < pool.cols; ++c)
          (*most)(p, c) = largest_[at + static_cast<std::size_t>(c)];
    }
  }

 private:
  // Whether the sum or the largest entry of each pixel is wanted.
  bool finds(bool maximum) const {
    const Pool& pool = canvas_.pool;
    const bool largest = pool.kind == Pool::Kind::max || pool.largest;
    return !canvas_.entries() && (maximum ? largest : pool.kind == Pool::Kind::mean);
  }
  std::size_t pixels_found(bool maximum) const {
    return finds(maximum) ? static_cast<std::size_t>(pixels_.size() * canvas_.pool.cols) : 0;
  }

  // A query of the band at the row position of its cluster.
  struct Placed {
    Index position, query;
    friend auto operator<=>(const Placed&, const Placed&) = default;
  };

  std::vector<Placed> placed_in(const BoundPass& bound) const {
    std::vector<Placed> placed;
    placed.reserve(queries_.size());
    for (const Index query : queries_) {
      const Index cluster = query >> bound.pass->query_level;
      const Index p = bound.position.empty() ? cluster : bound.position[cluster];
      if (p >= 0) placed.push_back({p, query});
    }
    if (!bound.position.empty()) std::ranges::sort(placed);
    return placed;
  }

  void add_strip(const BoundPass& bound, const TileGroup& group) {
    strip_.pack();
    for (int lane = 0; lane < strip_.lanes(); ++lane)
      log2_sum_[lane] = lane < strip_.count ? log2_sums_[strip_.lane_token[lane]]
                                            : -std::numeric_limits<float>::infinity();
    strip_.for_steps(bound, group, tiles_.keys(bound.pass->key_level), canvas_.cols,
                     bound.log2_pair_weight, stop_, [&] {
                       strip_.loops().normalise(strip_.s.data(), strip_.lanes(), strip_.keys,
                                                log2_sum_, tiles_.log2_most());
                       deposit(bound.pass->key_level);
                     });
    strip_.count = 0;
  }

  void deposit(int level) {
    if (canvas_.entries()) return deposit_entries(level);
    for (const bool maximum : {false, true}) {
      if (!finds(maximum)) continue;
      if (pixels_.size() == 1 && std::ssize(queries_) > isa::usual_lanes / 2)
        deposit_reduced(level, maximum);
      else
        deposit_pooled(level, maximum);
    }
  }

  // No pair is covered twice; a masked one adds 0.
  void deposit_entries(int level) {
    const int lanes = strip_.lanes();
    for (int lane = 0; lane < strip_.count; ++lane) {
      float* row = out_.row(canvas_.row_of(strip_.lane_token[lane]));
      const float* s = strip_.s.data() + lane;
      for (int k = 0; k < strip_.keys; ++k) {
        const IndexRange its = tokens_of_key(k, level);
        for (Index j = its.begin; j < its.end; ++j) row[j - canvas_.cols.begin] += s[k * lanes];
      }
    }
  }

  // All queries of the strip lie in one row of pixels. Sums are rounded in another way here than in
  // a band of several rows, and no bit of a result may depend on the number of threads. Therefore
  // only rows with more than half of a band's queries are reduced: they are alone in their band for
  // any number of threads. A smaller row may share a band and is never reduced.
  void deposit_reduced(int level, bool maximum) {
    strip_.loops().reduce(strip_.s.data(), strip_.lanes(), strip_.count, strip_.keys, maximum,
                          reduced_);
    for (int k = 0; k < strip_.keys; ++k)
      for_pixels(tokens_of_key(k, level), [&](Index column, Index keys) {
        put(pixels_.begin, column, reduced_[k], keys, maximum);
      });
  }

  // Consecutive keys in the same column of pixels are taken together.
  void deposit_pooled(int level, bool maximum) {
    constexpr int longest = 64;
    Index pixel[isa::max_lanes];
    for (int lane = 0; lane < strip_.count; ++lane)
      pixel[lane] = canvas_.row_of(strip_.lane_token[lane]);
    for (int k = 0, end = 0; k < strip_.keys; k = end) {
      const IndexRange its = tokens_of_key(k, level);
      const Index column = canvas_.column_of(its.begin);
      end = k + 1;
      if (level == 0)
        while (end < std::min(strip_.keys, k + longest) &&
               canvas_.column_of(strip_.column[end]) == column)
          ++end;
      reduce_keys(k, end, maximum);
      for_pixels(its, [&](Index c, Index keys) {
        for (int lane = 0; lane < strip_.count; ++lane)
          put(pixel[lane], c, by_lane_[lane], keys, maximum);
      });
    }
  }

  // A maximum with NaN is NaN: once there, NaN stays.
  void reduce_keys(int begin, int end, bool maximum) {
    const int lanes = strip_.lanes();
    const float* s = strip_.s.data() + begin * lanes;
    std::copy_n(s, lanes, by_lane_);
    for (int k = begin + 1; k < end; ++k) {
      s += lanes;
      if (maximum)
        for (int lane = 0; lane < lanes; ++lane)
          by_lane_[lane] =
              s[lane] > by_lane_[lane] || s[lane] != s[lane] ? s[lane] : by_lane_[lane];
      else
        for (int lane = 0; lane < lanes; ++lane) by_lane_[lane] += s[lane];
    }
  }

  // The tokens of a key within the rectangle.
  IndexRange tokens_of_key(int k, int level) const {
    return cluster_tokens(strip_.column[k], level, tiles_.lengths().keys).intersected(canvas_.cols);
  }

  // use(column, how many of the tokens lie in it)
  template <class Use>
  void for_pixels(IndexRange tokens, Use use) const {
    if (tokens.size() == 1) return use(canvas_.column_of(tokens.begin), Index{1});
    const Index size = canvas_.cols.size(), pixels = canvas_.pool.cols;
    for (Index j = tokens.begin; j < tokens.end;) {
      const Index column = canvas_.column_of(j);
      const Index end =
          std::min(tokens.end, canvas_.cols.begin + pixel_begin(column + 1, size, pixels));
      use(column, end - j);
      j = end;
    }
  }

  // An entry that `keys` pairs of the pixel share.
  void put(Index pixel, Index column, float entry, Index keys, bool maximum) {
    const auto at = static_cast<std::size_t>((pixel - pixels_.begin) * canvas_.pool.cols + column);
    if (!maximum)
      sums_[at] += static_cast<double>(entry) * static_cast<double>(keys);
    else if (entry > largest_[at] || std::isnan(entry))
      largest_[at] = entry;
  }

  const BoundTiles& tiles_;
  const Canvas& canvas_;
  IndexRange pixels_;
  const std::vector<float>& log2_sums_;
  QueryStrip& strip_;
  std::stop_token stop_;
  Matrix& out_;
  std::vector<Index> queries_;  // ascending
  // [pixels_.size(), pool.cols]; empty if it is not wanted.
  std::vector<double> sums_;
  std::vector<float> largest_;
  alignas(64) float log2_sum_[isa::max_lanes] = {};
  alignas(64) float by_lane_[isa::max_lanes] = {};
  float reduced_[isa::max_keys] = {};
};

}  // namespace

Matrix tile_entries(const BoundTiles& tiles, IndexRange rows, IndexRange cols, Pool pool,
                    const std::vector<float>& log2_sums, Workers& workers, Run& run) {
  const Canvas canvas{rows, cols, pool};
  const std::vector<IndexRange> bands = bands_of(canvas, workers.threads());
  Matrix out(pool.rows, pool.cols);
  if (pool.largest) *pool.largest = Matrix(pool.rows, pool.cols);
  std::vector<std::unique_ptr<QueryStrip>> strips(workers.threads());
  std::atomic<Index> done = 0;
  workers.loop(std::ssize(bands), run.stop, [&](Index turn, int worker) {
    if (!strips[worker]) strips[worker] = std::make_unique<QueryStrip>(tiles);
    RowBand band(tiles, canvas, bands[turn], log2_sums, *strips[worker], run.stop, out);
    for (const BoundPass& bound : tiles.passes()) band.add(bound);
    band.write();
    ++done;
    if (worker == 0) run.reached(static_cast<double>(done) / static_cast<double>(bands.size()));
  });
  if (pool.largest && canvas.entries()) *pool.largest = Matrix::copy_of(out);
  return out;
}

}  // namespace fovea
