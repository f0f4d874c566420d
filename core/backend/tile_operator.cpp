#include "backend/tile_operator.h"

#include <algorithm>
#include <numbers>
#include <numeric>

#include "backend/bound_tiles.h"
#include "backend/dense_sweep.h"
#include "backend/tile_entries.h"
#include "backend/tile_sweep.h"

namespace fovea {
namespace {

// The loops read whole vectors of a row.
struct Padded {
  Matrix copy;
  MatrixView view;

  explicit Padded(MatrixView v) : view(v) {
    if (v.cols % 16 == 0) return;
    copy = Matrix::padded(v.rows, v.cols);
    for (Index i = 0; i < v.rows; ++i) std::copy_n(v.row(i), v.cols, copy.row(i));
    view = copy;
  }
  bool is_copy() const { return !copy.empty(); }
};

class TileOperator final : public Operator {
 public:
  TileOperator(std::shared_ptr<const Plan> plan, const Problem& problem, const isa::Loops& loops,
               std::shared_ptr<Workers> workers, Run& run)
      : Operator(std::move(plan), problem),
        workers_(std::move(workers)),
        tiles_(bind(*this, loops, *workers_, run)),
        log2_sums_(static_cast<std::size_t>(this->plan().n)),
        known_(log2_sums_.size(), false),
        unknown_(this->plan().n) {}

 private:
  static BoundTiles bind(const Operator& self, const isa::Loops& loops, Workers& workers,
                         Run& run) {
    const auto stage = run.profile.stage("upload");
    return BoundTiles(self.plan(), self.problem(), loops, workers, run.stop);
  }

  Output do_apply(MatrixView v, Run& run) const override {
    const Padded values(v);
    TileSweep::Result result = TileSweep(tiles_, values.view, *workers_, run).attend();
    Output out{values.is_copy() ? Matrix::copy_of(result.z) : std::move(result.z),
               in_natural_units(result.log2_sums)};
    if (unknown_ > 0) {
      log2_sums_ = std::move(result.log2_sums);
      known_.assign(log2_sums_.size(), true);
      unknown_ = 0;
    }
    return out;
  }

  bool do_has_rows() const override { return tiles_.dense(); }

  RowsOutput do_apply_rows(MatrixView v, IndexRange rows, Index pixel, Run& run) const override {
    const Padded values(v);
    const std::vector<std::int32_t> queries = tokens_in(rows);
    std::vector<Index> map_rows = bounds(rows, pixel);
    for (Index& row : map_rows) row -= rows.begin;
    const std::vector<Index> map_cols = bounds({0, plan().n}, pixel);
    const DenseSweep::Wish wish{queries, values.view, map_rows, map_cols};
    const auto stage = run.profile.stage("attend");
    DenseSweep::Found found = DenseSweep(tiles_, wish, *workers_, run).attend();
    keep(queries, found.log2_sums);
    return {{values.is_copy() ? Matrix::copy_of(found.z) : std::move(found.z),
             in_natural_units(found.log2_sums)},
            std::move(found.most),
            std::move(found.mean)};
  }

  Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const override {
    if (tiles_.dense() && pool.one_row && pool.kind != Pool::Kind::none &&
        pool.cols < cols.size() && 2 * unknown_ > plan().n)
      return drawn_pixels(rows, cols, pool, run);
    find_sums(rows, pool, run);
    const auto stage = run.profile.stage("entries");
    tiles_.complete(*workers_, run.stop);
    return tile_entries(tiles_, rows, cols, pool, log2_sums_, *workers_, run);
  }

  // Of rows that are mostly not known: their sums and pixels in one pass.
  Matrix drawn_pixels(IndexRange rows, IndexRange cols, const Pool& pool, Run& run) const {
    const std::vector<std::int32_t> queries = drawn_in(rows, pool);
    std::vector<Index> map_rows(queries.size() + 1), map_cols;
    std::iota(map_rows.begin(), map_rows.end(), Index{0});
    for (Index c = 0; c <= pool.cols; ++c)
      map_cols.push_back(cols.begin + c * cols.size() / pool.cols);
    const auto stage = run.profile.stage("entries");
    const DenseSweep::Wish wish{.queries = queries, .map_rows = map_rows, .map_cols = map_cols};
    DenseSweep::Found found = DenseSweep(tiles_, wish, *workers_, run).attend();
    keep(queries, found.log2_sums);
    return pool.kind == Pool::Kind::mean ? std::move(found.mean) : std::move(found.most);
  }

  static std::vector<std::int32_t> drawn_in(IndexRange rows, const Pool& pool) {
    std::vector<std::int32_t> queries;
    for (Index p = 0; p < pool.rows; ++p)
      queries.push_back(static_cast<std::int32_t>(drawn_row(rows, pool, p)));
    return queries;
  }

  // The sums of the rows that a tile looks at, where no run has found them yet: row by row if that
  // is possible, else all.
  void find_sums(IndexRange rows, const Pool& pool, Run& run) const {
    if (unknown_ == 0) return;
    if (!tiles_.dense()) {
      log2_sums_ = TileSweep(tiles_, {nullptr, plan().n, 0, 0}, *workers_, run).attend().log2_sums;
      unknown_ = 0;
      return;
    }
    std::vector<std::int32_t> queries = pool.one_row ? drawn_in(rows, pool) : tokens_in(rows);
    std::erase_if(queries, [&](std::int32_t i) { return known_[static_cast<std::size_t>(i)]; });
    // In pieces, a strip for each thread: what is found stays when the rest is cancelled. Pieces of
    // some 10 ms are rather ended than lost, or nobody who pans quickly would ever have a row.
    const auto piece = static_cast<std::size_t>(isa::usual_lanes * workers_->threads());
    const Index work = isa::usual_lanes * plan().n * problem().d();
    Run quiet{run.profile, work <= work_to_end ? std::stop_token{} : run.stop};
    const auto stage = run.profile.stage("sums");
    for (std::size_t begin = 0; begin < queries.size(); begin += piece) {
      run.check();
      const std::span<const std::int32_t> some(queries.data() + begin,
                                               std::min(piece, queries.size() - begin));
      const DenseSweep::Wish wish{.queries = some};
      keep(some, DenseSweep(tiles_, wish, *workers_, quiet).attend().log2_sums);
    }
  }

  void keep(std::span<const std::int32_t> queries, const std::vector<float>& log2_sums) const {
    for (std::size_t q = 0; q < queries.size(); ++q) {
      const auto i = static_cast<std::size_t>(queries[q]);
      log2_sums_[i] = log2_sums[q];
      if (known_[i]) continue;
      known_[i] = true;
      --unknown_;
    }
  }

  static std::vector<std::int32_t> tokens_in(IndexRange rows) {
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(rows.size()));
    std::iota(tokens.begin(), tokens.end(), static_cast<std::int32_t>(rows.begin));
    return tokens;
  }

  // begin, begin + step, ..., end.
  static std::vector<Index> bounds(IndexRange range, Index step) {
    std::vector<Index> all;
    for (Index i = range.begin; i < range.end; i += step) all.push_back(i);
    all.push_back(range.end);
    return all;
  }

  static std::vector<float> in_natural_units(std::vector<float> log2_sums) {
    for (float& sum : log2_sums) sum *= std::numbers::ln2_v<float>;
    return log2_sums;
  }

  // Multiply-adds of a thread: a tenth of a second without vectors.
  static constexpr Index work_to_end = Index{1} << 30;

  std::shared_ptr<Workers> workers_;
  // Made when first needed; an Operator is used from one thread at a time.
  mutable BoundTiles tiles_;
  mutable std::vector<float> log2_sums_;  // [n]
  mutable std::vector<bool> known_;       // [n] of a dense plan: whose sum is there
  mutable Index unknown_;
};

}  // namespace

std::unique_ptr<Operator> make_tile_operator(std::shared_ptr<const Plan> plan,
                                             const Problem& problem, const isa::Loops& loops,
                                             std::shared_ptr<Workers> workers, Run& run) {
  return std::make_unique<TileOperator>(std::move(plan), problem, loops, std::move(workers), run);
}

}  // namespace fovea
