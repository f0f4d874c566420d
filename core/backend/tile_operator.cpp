#include "backend/tile_operator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "backend/pyramid.h"

namespace fovea {
namespace {

using isa::max_keys;
using isa::max_lanes;

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

// Tiles over the same rows: their columns follow one another in one softmax.
struct Group {
  IndexRange rows;                  // positions
  std::size_t first = 0, last = 0;  // tiles [first, last) of the pass
};

// Up to 64 row positions of a group.
struct Strip {
  IndexRange rows;
  std::size_t first = 0, last = 0;
};

// What bind derives from a Pass.
struct BoundPass {
  const Pass* pass = nullptr;
  std::vector<Group> groups;  // by ascending rows
  std::vector<Strip> strips;
  std::vector<float> log2_weight;       // per column position; empty: all 0
  std::vector<float> log2_pair_weight;  // the same per fine pair, for entries of P
  std::vector<std::int32_t> position;   // cluster -> row position, -1: none; empty: identity

  Index row(Index p) const {
    return pass->rows.empty() ? p : pass->rows[static_cast<std::size_t>(p)];
  }
  Index col(Index p) const {
    return pass->cols.empty() ? p : pass->cols[static_cast<std::size_t>(p)];
  }
};

// Running softmax of every query cluster of a level, logits in log2 units.
struct State {
  std::vector<float> maximum, sum;
  Matrix z;  // not yet divided by sum; no columns when only the sums are asked for

  State(Index count, Index dv)
      : maximum(static_cast<std::size_t>(count), minus_infinity),
        sum(static_cast<std::size_t>(count), 0.0f),
        z(Matrix::padded(count, dv)) {}
};

// Memory of one thread for one strip.
struct Scratch {
  std::vector<float, AlignedAllocator<float>> packed, s;
  alignas(64) float maximum[max_lanes], sum[max_lanes], rescale[max_lanes], log2_sum[max_lanes];
  alignas(64) std::int32_t lane_token[max_lanes], key_token[max_keys];
  const float* row[max_lanes];
  float* z[max_lanes];
  const float* key[max_keys];
  const float* value[max_keys];
  float weight[max_keys];
  float reduced[max_keys];
  Index column[max_keys];  // cluster of each key

  explicit Scratch(Index d)
      : packed(static_cast<std::size_t>(d) * max_lanes),
        s(static_cast<std::size_t>(max_keys) * max_lanes) {}
};

// Lanes and keys of one step against a band: what of it counts.
enum class Fill { empty, partial, full };

Fill classify(const Band& band, IndexRange lanes, IndexRange keys) {  // inclusive token extremes
  if (band.everything()) return Fill::full;
  const Index least = lanes.begin - keys.end, most = lanes.end - keys.begin;
  if (most < band.lo || least > band.hi) return Fill::empty;
  return least >= band.lo && most <= band.hi ? Fill::full : Fill::partial;
}

IndexRange extremes(const std::int32_t* tokens, int count) {
  const auto [low, high] = std::minmax_element(tokens, tokens + count);
  return {*low, *high};
}

class TileOperator final : public Operator {
 public:
  TileOperator(std::shared_ptr<const Plan> plan, const Problem& problem, const isa::Loops& loops,
               std::shared_ptr<Workers> workers, Run& run)
      : Operator(std::move(plan), problem),
        tiles_(std::get<TilePlan>(this->plan().form)),
        loops_(loops),
        workers_(std::move(workers)) {
    const auto stage = run.profile.stage("upload");
    for (const Pass& pass : tiles_.passes) {
      bound_.push_back(bind_pass(pass));
      query_top_ = std::max(query_top_, pass.query_level);
      key_top_ = std::max(key_top_, pass.key_level);
    }
    keys_ = mean_pyramid(problem.k, key_top_, *workers_, run.stop);
    if (tiles_.coarse_query == CoarseQuery::mean)
      queries_ = mean_pyramid(problem.q, query_top_, *workers_, run.stop);
  }

 private:
  Index n() const { return plan().n; }
  Index d() const { return problem().d(); }
  float log2_scale() const { return static_cast<float>(problem().scale * std::numbers::log2e); }

  const float* query_row(int level, Index cluster) const {
    if (level == 0) return problem().q.row(cluster);
    if (tiles_.coarse_query == CoarseQuery::first) return problem().q.row(cluster << level);
    return queries_[static_cast<std::size_t>(level) - 1].row(cluster);
  }
  MatrixView keys_at(int level) const {
    return level == 0 ? problem().k : keys_[static_cast<std::size_t>(level) - 1].view();
  }

  int lanes_for(int count) const {
    return (count + loops_.width - 1) / loops_.width * loops_.width;
  }

  BoundPass bind_pass(const Pass& pass) const {
    BoundPass bound;
    bound.pass = &pass;
    for (std::size_t t = 0; t < pass.tiles.size(); ++t) {
      const IndexRange rows = pass.tiles[t].rows;
      if (rows.size() <= 0 || pass.tiles[t].cols.size() <= 0) continue;
      if (!bound.groups.empty() && bound.groups.back().rows == rows &&
          bound.groups.back().last == t)
        ++bound.groups.back().last;
      else
        bound.groups.push_back({rows, t, t + 1});
    }
    std::ranges::sort(bound.groups, {}, [](const Group& g) { return g.rows.begin; });
    for (const Group& g : bound.groups)
      for (Index begin = g.rows.begin; begin < g.rows.end; begin += max_lanes)
        bound.strips.push_back({{begin, std::min(begin + max_lanes, g.rows.end)}, g.first, g.last});
    bind_weights(pass, bound);
    if (!pass.rows.empty()) {
      bound.position.assign(static_cast<std::size_t>(clusters(n(), pass.query_level)), -1);
      for (std::size_t p = 0; p < pass.rows.size(); ++p)
        bound.position[static_cast<std::size_t>(pass.rows[p])] = static_cast<std::int32_t>(p);
    }
    return bound;
  }

  // A column counts as often as its weight says, else as often as its cluster has tokens.
  void bind_weights(const Pass& pass, BoundPass& bound) const {
    if (pass.weight.empty() && pass.key_level == 0) return;
    const Index count =
        pass.cols.empty() ? clusters(n(), pass.key_level) : static_cast<Index>(pass.cols.size());
    for (Index p = 0; p < count; ++p) {
      const float size =
          static_cast<float>(cluster_tokens(bound.col(p), pass.key_level, n()).size());
      const float weight = pass.weight.empty() ? size : pass.weight[static_cast<std::size_t>(p)];
      bound.log2_weight.push_back(std::log2(weight));
      if (!pass.weight.empty()) bound.log2_pair_weight.push_back(std::log2(weight / size));
    }
  }

  // ---- Z = P V ----------------------------------------------------------------------------------

  Output do_apply(MatrixView v, Run& run) const override {
    Matrix padded;
    MatrixView values = v;
    if (v.cols % 16 != 0 || v.stride < v.cols) {
      padded = Matrix::padded(v.rows, v.cols);
      for (Index i = 0; i < v.rows; ++i) std::copy_n(v.row(i), v.cols, padded.row(i));
      values = padded;
    }
    State state = attend(values, run);
    const auto stage = run.profile.stage("divide");
    keep_sums(state);
    Output out;
    out.lse.resize(static_cast<std::size_t>(n()));
    for (Index i = 0; i < n(); ++i) {
      const float sum = state.sum[static_cast<std::size_t>(i)];
      const float inverse = sum > 0 ? 1.0f / sum : 0.0f;
      float* z = state.z.row(i);
      for (Index c = 0; c < v.cols; ++c) z[c] *= inverse;
      out.lse[static_cast<std::size_t>(i)] =
          static_cast<float>(std::numbers::ln2 * log2_sum(state, static_cast<std::size_t>(i)));
    }
    out.z = v.cols % 16 == 0 ? std::move(state.z) : Matrix::copy_of(state.z);
    return out;
  }

  static double log2_sum(const State& state, std::size_t i) {
    return state.sum[i] > 0 ? state.maximum[i] + std::log2(static_cast<double>(state.sum[i]))
                            : -std::numeric_limits<double>::infinity();
  }

  // Runs all passes; the result is per query (level 0). `values` may have no columns.
  State attend(MatrixView values, Run& run) const {
    std::vector<Matrix> coarse_values;
    if (key_top_ > 0 && values.cols > 0) {
      const auto stage = run.profile.stage("coarsen");
      coarse_values = mean_pyramid(values, key_top_, *workers_, run.stop);
    }
    std::vector<State> states;
    for (int level = 0; level <= query_top_; ++level)
      states.emplace_back(clusters(n(), level), values.cols);
    {
      const auto stage = run.profile.stage("attend");
      std::vector<Scratch> scratch(static_cast<std::size_t>(workers_->threads()), Scratch(d()));
      Index total = 0, finished = 0;
      for (const BoundPass& bound : bound_) total += static_cast<Index>(bound.strips.size());
      for (const BoundPass& bound : bound_) {
        const int level = bound.pass->key_level;
        const MatrixView level_values =
            level == 0 || values.cols == 0
                ? values
                : coarse_values[static_cast<std::size_t>(level) - 1].view();
        State& state = states[static_cast<std::size_t>(bound.pass->query_level)];
        std::atomic<Index> done = 0;
        workers_->loop(
            static_cast<Index>(bound.strips.size()), run.stop, [&](Index turn, int worker) {
              attend_strip(bound, bound.strips[static_cast<std::size_t>(turn)], level_values, state,
                           scratch[static_cast<std::size_t>(worker)], run.stop);
              if (run.progress)
                run.progress->fraction =
                    static_cast<double>(finished + ++done) / static_cast<double>(total);
            });
        finished += static_cast<Index>(bound.strips.size());
      }
    }
    const auto stage = run.profile.stage("merge");
    for (int level = query_top_; level > 0; --level)
      merge_down(states[static_cast<std::size_t>(level)],
                 states[static_cast<std::size_t>(level) - 1], run);
    return std::move(states.front());
  }

  void attend_strip(const BoundPass& bound, const Strip& strip, MatrixView values, State& state,
                    Scratch& x, const std::stop_token& stop) const {
    const Pass& pass = *bound.pass;
    const int count = static_cast<int>(strip.rows.size()), lanes = lanes_for(count);
    for (int lane = 0; lane < lanes; ++lane) {
      const Index cluster = bound.row(strip.rows.begin + std::min(lane, count - 1));
      x.row[lane] = query_row(pass.query_level, cluster);
      x.z[lane] = state.z.row(cluster);
      x.lane_token[lane] = static_cast<std::int32_t>(cluster);
      x.maximum[lane] = state.maximum[static_cast<std::size_t>(cluster)];
      x.sum[lane] = state.sum[static_cast<std::size_t>(cluster)];
    }
    loops_.pack(x.row, count, lanes, static_cast<int>(d()), log2_scale(), x.packed.data());
    const IndexRange lane_extremes = extremes(x.lane_token, count);
    for (std::size_t t = strip.first; t < strip.last; ++t) {
      const Tile& tile = pass.tiles[t];
      for (Index begin = tile.cols.begin; begin < tile.cols.end; begin += max_keys) {
        const IndexRange cols{begin, std::min(begin + max_keys, tile.cols.end)};
        const Fill fill = gather_keys(bound, cols, tile.band, lane_extremes, x);
        if (fill == Fill::empty) continue;
        if (stop.stop_requested()) throw Cancelled();
        const int keys = static_cast<int>(cols.size());
        step_logits(bound.log2_weight, cols, fill, tile.band, lanes, x);
        const bool moved = loops_.softmax(x.s.data(), lanes, keys, x.maximum, x.sum, x.rescale);
        if (values.cols == 0) continue;
        if (moved) rescale_rows(x, count, state.z.stride());
        for (int k = 0; k < keys; ++k) x.value[k] = values.row(x.column[k]);
        loops_.accumulate(x.s.data(), lanes, count, keys, x.value,
                          static_cast<int>(state.z.stride()), x.z);
      }
    }
    for (int lane = 0; lane < count; ++lane) {
      const auto cluster = static_cast<std::size_t>(x.lane_token[lane]);
      state.maximum[cluster] = x.maximum[lane];
      state.sum[cluster] = x.sum[lane];
    }
  }

  // Fills key pointers and tokens of the columns unless none of them counts.
  Fill gather_keys(const BoundPass& bound, IndexRange cols, const Band& band,
                   IndexRange lane_extremes, Scratch& x) const {
    const int count = static_cast<int>(cols.size());
    if (bound.pass->cols.empty()) {
      const Fill fill = classify(band, lane_extremes, {cols.begin, cols.end - 1});
      if (fill == Fill::empty) return fill;
    }
    for (int k = 0; k < count; ++k) {
      x.column[k] = bound.col(cols.begin + k);
      x.key_token[k] = static_cast<std::int32_t>(x.column[k]);
    }
    const Fill fill = classify(band, lane_extremes, extremes(x.key_token, count));
    if (fill == Fill::empty) return fill;
    const MatrixView keys = keys_at(bound.pass->key_level);
    for (int k = 0; k < count; ++k) x.key[k] = keys.row(x.column[k]);
    return fill;
  }

  void step_logits(const std::vector<float>& log2_weight, IndexRange cols, Fill fill,
                   const Band& band, int lanes, Scratch& x) const {
    const int keys = static_cast<int>(cols.size());
    loops_.logits(x.packed.data(), lanes, static_cast<int>(d()), x.key, keys, x.s.data());
    if (!log2_weight.empty())
      loops_.add_weights(x.s.data(), lanes, keys, log2_weight.data() + cols.begin);
    if (fill == Fill::partial)
      loops_.mask(x.s.data(), lanes, keys, x.lane_token, x.key_token,
                  static_cast<std::int32_t>(band.lo), static_cast<std::int32_t>(band.hi));
  }

  static void rescale_rows(const Scratch& x, int count, Index width) {
    for (int lane = 0; lane < count; ++lane)
      if (const float factor = x.rescale[lane]; factor != 1.0f)
        for (Index c = 0; c < width; ++c) x.z[lane][c] *= factor;
  }

  // What a coarse query found belongs to each of its two children.
  void merge_down(const State& parent, State& child, Run& run) const {
    constexpr Index per_turn = 512;
    const Index count = static_cast<Index>(child.sum.size());
    workers_->loop((count + per_turn - 1) / per_turn, run.stop, [&](Index turn, int) {
      for (Index i = turn * per_turn; i < std::min(count, (turn + 1) * per_turn); ++i) {
        const auto c = static_cast<std::size_t>(i), p = c / 2;
        if (!(parent.sum[p] > 0)) continue;
        const float top = std::max(child.maximum[c], parent.maximum[p]);
        const float ours = std::exp2(child.maximum[c] - top),
                    theirs = std::exp2(parent.maximum[p] - top);
        child.maximum[c] = top;
        child.sum[c] = child.sum[c] * ours + parent.sum[p] * theirs;
        float* z = child.z.row(i);
        const float* from = parent.z.row(i / 2);
        for (Index x = 0; x < child.z.stride(); ++x) z[x] = z[x] * ours + from[x] * theirs;
      }
    });
  }

  // ---- Entries of P -----------------------------------------------------------------------------

  // A rectangle on its way to pixels. Pixel p of a side of `size` tokens begins at p size / pixels.
  struct Canvas {
    IndexRange rows, cols;
    Pool pool;
    static Index begin(Index pixel, Index size, Index pixels) { return pixel * size / pixels; }
    static Index pixel_of(Index offset, Index size, Index pixels) {
      return pixels == size ? offset : ((offset + 1) * pixels - 1) / size;
    }
    Index column_of(Index token) const {
      return pixel_of(token - cols.begin, cols.size(), pool.cols);
    }
    Index row_of(Index token) const { return pixel_of(token - rows.begin, rows.size(), pool.rows); }
  };

  // Pixel rows [pixels) with the tokens they cover: the work of one turn.
  struct RowBand {
    IndexRange pixels, tokens;
    std::vector<double> sums;  // [pixels.size(), canvas columns]
  };

  Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const override {
    const std::vector<float>& log2_sums = row_sums(run);
    const auto stage = run.profile.stage("entries");
    const Canvas canvas{rows, cols, pool};
    std::vector<IndexRange> bands;  // of pixel rows, about 64 tokens each
    for (Index p = 0; p < pool.rows;) {
      Index q = p + 1;
      while (q < pool.rows && Canvas::begin(q + 1, rows.size(), pool.rows) -
                                      Canvas::begin(p, rows.size(), pool.rows) <=
                                  max_lanes)
        ++q;
      bands.push_back({p, q});
      p = q;
    }
    Matrix out(pool.rows, pool.cols);
    std::vector<Scratch> scratch(static_cast<std::size_t>(workers_->threads()), Scratch(d()));
    std::atomic<Index> done = 0;
    workers_->loop(static_cast<Index>(bands.size()), run.stop, [&](Index turn, int worker) {
      const IndexRange pixels = bands[static_cast<std::size_t>(turn)];
      RowBand band{pixels,
                   {rows.begin + Canvas::begin(pixels.begin, rows.size(), pool.rows),
                    rows.begin + Canvas::begin(pixels.end, rows.size(), pool.rows)},
                   std::vector<double>(static_cast<std::size_t>(pixels.size() * pool.cols))};
      for (const BoundPass& bound : bound_)
        band_entries(bound, canvas, log2_sums, band, scratch[static_cast<std::size_t>(worker)],
                     run.stop);
      finish(canvas, band, out);
      if (run.progress)
        run.progress->fraction = static_cast<double>(++done) / static_cast<double>(bands.size());
    });
    return out;
  }

  static void finish(const Canvas& canvas, const RowBand& band, Matrix& out) {
    const Pool& pool = canvas.pool;
    for (Index p = band.pixels.begin; p < band.pixels.end; ++p)
      for (Index c = 0; c < pool.cols; ++c) {
        double value = band.sums[static_cast<std::size_t>((p - band.pixels.begin) * pool.cols + c)];
        if (pool.kind == Pool::Kind::mean) {
          const auto extent = [](Index pixel, Index size, Index pixels) {
            return Canvas::begin(pixel + 1, size, pixels) - Canvas::begin(pixel, size, pixels);
          };
          value /= static_cast<double>(extent(p, canvas.rows.size(), pool.rows) *
                                       extent(c, canvas.cols.size(), pool.cols));
        }
        out(p, c) = static_cast<float>(value);
      }
  }

  // log2 of every row's sum: from the first apply, else found now without values.
  const std::vector<float>& row_sums(Run& run) const {
    if (log2_sums_.empty()) keep_sums(attend(MatrixView{nullptr, n(), 0, 0}, run));
    return log2_sums_;
  }

  void keep_sums(const State& state) const {
    if (!log2_sums_.empty()) return;
    log2_sums_.resize(static_cast<std::size_t>(n()));
    for (std::size_t i = 0; i < log2_sums_.size(); ++i)
      log2_sums_[i] = static_cast<float>(log2_sum(state, i));
  }

  void band_entries(const BoundPass& bound, const Canvas& canvas,
                    const std::vector<float>& log2_sums, RowBand& band, Scratch& x,
                    const std::stop_token& stop) const {
    const int level = bound.pass->query_level;
    std::vector<Index> positions;
    for (Index c = band.tokens.begin >> level; c <= (band.tokens.end - 1) >> level; ++c) {
      const Index p = bound.position.empty() ? c : bound.position[static_cast<std::size_t>(c)];
      if (p >= 0) positions.push_back(p);
    }
    std::ranges::sort(positions);
    auto at = positions.begin();
    auto group = std::ranges::upper_bound(bound.groups, positions.empty() ? 0 : positions.front(),
                                          {}, [](const Group& g) { return g.rows.end; });
    for (; group != bound.groups.end() && at != positions.end(); ++group) {
      int lanes = 0;
      for (; at != positions.end() && *at < group->rows.end; ++at) {
        if (*at < group->rows.begin) continue;
        const Index cluster = bound.row(*at);
        const IndexRange tokens = cluster_tokens(cluster, level, n());
        for (Index i = std::max(tokens.begin, band.tokens.begin);
             i < std::min(tokens.end, band.tokens.end); ++i) {
          x.row[lanes] = query_row(level, cluster);
          x.lane_token[lanes] = static_cast<std::int32_t>(i);
          x.log2_sum[lanes] = log2_sums[static_cast<std::size_t>(i)];
          if (++lanes == max_lanes) {
            strip_entries(bound, *group, lanes, canvas, band, x, stop);
            lanes = 0;
          }
        }
      }
      if (lanes > 0) strip_entries(bound, *group, lanes, canvas, band, x, stop);
    }
  }

  void strip_entries(const BoundPass& bound, const Group& group, int count, const Canvas& canvas,
                     RowBand& band, Scratch& x, const std::stop_token& stop) const {
    const Pass& pass = *bound.pass;
    const int lanes = lanes_for(count), level = pass.key_level;
    for (int lane = count; lane < lanes; ++lane) {
      x.lane_token[lane] = x.lane_token[count - 1];
      x.log2_sum[lane] = minus_infinity;
    }
    loops_.pack(x.row, count, lanes, static_cast<int>(d()), log2_scale(), x.packed.data());
    const IndexRange lane_extremes = extremes(x.lane_token, count);
    const MatrixView keys = keys_at(level);
    for (std::size_t t = group.first; t < group.last; ++t) {
      const Tile& tile = pass.tiles[t];
      IndexRange cols = tile.cols;
      if (pass.cols.empty())
        cols = {std::max(cols.begin, canvas.cols.begin >> level),
                std::min(cols.end, ((canvas.cols.end - 1) >> level) + 1)};
      int filled = 0;
      const auto flush = [&] {
        if (filled == 0) return;
        if (stop.stop_requested()) throw Cancelled();
        const Fill fill = classify(tile.band, lane_extremes, extremes(x.key_token, filled));
        if (fill != Fill::empty) {
          loops_.logits(x.packed.data(), lanes, static_cast<int>(d()), x.key, filled, x.s.data());
          if (!bound.log2_pair_weight.empty())
            loops_.add_weights(x.s.data(), lanes, filled, x.weight);
          if (fill == Fill::partial)
            loops_.mask(x.s.data(), lanes, filled, x.lane_token, x.key_token,
                        static_cast<std::int32_t>(tile.band.lo),
                        static_cast<std::int32_t>(tile.band.hi));
          loops_.normalise(x.s.data(), lanes, filled, x.log2_sum);
          deposit(level, count, lanes, filled, canvas, band, x);
        }
        filled = 0;
      };
      for (Index p = cols.begin; p < cols.end; ++p) {
        const Index column = bound.col(p);
        const IndexRange tokens = cluster_tokens(column, level, n());
        if (tokens.end <= canvas.cols.begin || tokens.begin >= canvas.cols.end) continue;
        x.column[filled] = column;
        x.key_token[filled] = static_cast<std::int32_t>(column);
        x.key[filled] = keys.row(column);
        if (!bound.log2_pair_weight.empty())
          x.weight[filled] = bound.log2_pair_weight[static_cast<std::size_t>(p)];
        if (++filled == max_keys) flush();
      }
      flush();
    }
  }

  // Entries of the step into the band's pixels.
  void deposit(int level, int count, int lanes, int keys, const Canvas& canvas, RowBand& band,
               Scratch& x) const {
    const bool maximum = canvas.pool.kind == Pool::Kind::max;
    const bool one_pixel_row = band.pixels.size() == 1;
    if (one_pixel_row) loops_.reduce(x.s.data(), lanes, count, keys, maximum, x.reduced);
    for (int k = 0; k < keys; ++k) {
      const IndexRange tokens = cluster_tokens(x.column[k], level, n());
      for (Index j = std::max(tokens.begin, canvas.cols.begin);
           j < std::min(tokens.end, canvas.cols.end); ++j) {
        const Index column = canvas.column_of(j);
        const auto put = [&](Index pixel, float value) {
          double& sum = band.sums[static_cast<std::size_t>(
              (pixel - band.pixels.begin) * canvas.pool.cols + column)];
          sum = maximum ? std::max(sum, static_cast<double>(value))
                        : sum + static_cast<double>(value);
        };
        if (one_pixel_row)
          put(band.pixels.begin, x.reduced[k]);
        else
          for (int lane = 0; lane < count; ++lane)
            put(canvas.row_of(x.lane_token[lane]), x.s[static_cast<std::size_t>(k * lanes + lane)]);
      }
    }
  }

  const TilePlan& tiles_;
  const isa::Loops& loops_;
  std::shared_ptr<Workers> workers_;
  std::vector<BoundPass> bound_;
  int query_top_ = 0, key_top_ = 0;
  std::vector<Matrix> keys_, queries_;    // levels 1.. of the pyramids
  mutable std::vector<float> log2_sums_;  // [n]; an Operator is used from one thread at a time
};

}  // namespace

std::unique_ptr<Operator> make_tile_operator(std::shared_ptr<const Plan> plan,
                                             const Problem& problem, const isa::Loops& loops,
                                             std::shared_ptr<Workers> workers, Run& run) {
  return std::make_unique<TileOperator>(std::move(plan), problem, loops, std::move(workers), run);
}

}  // namespace fovea
