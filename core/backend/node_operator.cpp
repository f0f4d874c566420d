#include "backend/node_operator.h"

#include <algorithm>
#include <limits>

#include "backend/node_paths.h"
#include "data/pixels.h"

namespace fovea {
namespace {

// Tokens that one turn of a loop handles, and the most keys of one partial sum: fixed, so that no
// result depends on the number of threads.
constexpr Index tokens_per_turn = 512;
constexpr std::int32_t keys_per_piece = 1024;
constexpr Index columns_per_turn = 8;

// The tree of a NodePlan.
struct NodeTables {
  std::vector<std::int32_t> key_order;  // [nk] by leaf
  NodeSlots slots;
  NodePaths paths;
  Pieces pieces;  // of the leaves

  explicit NodeTables(const NodePlan& nodes)
      : key_order(leaf_order(nodes)),
        slots(number_slots(nodes, key_order)),
        paths(nodes, slots),
        pieces(cut_pieces(slots, slots.depths() - 1, keys_per_piece)) {}
};

class NodeOperator final : public Operator {
 public:
  NodeOperator(std::shared_ptr<const Plan> plan, const Problem& problem, const isa::Loops& loops,
               std::shared_ptr<Workers> workers, Run& run)
      : Operator(std::move(plan), problem),
        nodes_(std::get<NodePlan>(this->plan().form)),
        loops_(loops),
        workers_(std::move(workers)),
        tables_(make_tables(nodes_, run)),
        depths_(tables_.slots.depths()) {
    const auto stage = run.profile.stage("upload");
    run.check();
    if (this->plan().causal) share_prefixes();
  }

 private:
  static NodeTables make_tables(const NodePlan& nodes, Run& run) {
    const auto stage = run.profile.stage("upload");
    return NodeTables(nodes);
  }
  Index queries() const { return plan().queries(); }
  /// One past the last key that query i may attend.
  Index end_of_keys(Index i) const {
    return plan().causal ? std::max<Index>(0, i + plan().lengths.offset() + 1) : plan().keys();
  }
  Index slots() const { return tables_.slots.size(); }
  const NodePaths& paths() const { return tables_.paths; }
  const std::int32_t* key_slots(Index j) const { return paths().path(nodes_.key_leaf[j]); }
  const std::int32_t* query_slots(Index i) const { return paths().path(nodes_.query_leaf[i]); }
  // alpha / the number of keys of the query's node that the query may attend; 0 if there are none.
  float share(Index i, Index depth) const {
    return plan().causal ? share_[i * depths_ + depth] : paths().share(query_slots(i)[depth]);
  }

  template <class Body>
  void for_tokens(Index count, Run& run, const Body& body) const {
    workers_->loop((count + tokens_per_turn - 1) / tokens_per_turn, run.stop, [&](Index turn, int) {
      for (Index i = turn * tokens_per_turn; i < std::min(count, (turn + 1) * tokens_per_turn); ++i)
        body(i);
    });
  }

  void share_prefixes() {
    share_.assign(queries() * depths_, 0.0f);
    std::vector<std::int32_t> count(slots() + 1, 0);
    Index j = 0;
    for (Index i = 0; i < queries(); ++i) {
      for (; j < end_of_keys(i); ++j)
        for (Index depth = 0; depth < depths_; ++depth) ++count[key_slots(j)[depth]];
      for (Index depth = 0; depth < depths_; ++depth)
        if (const std::int32_t keys = count[query_slots(i)[depth]]; keys > 0)
          share_[i * depths_ + depth] = nodes_.alpha[depth] / static_cast<float>(keys);
    }
  }

  // ---- Z = P V ----------------------------------------------------------------------------------

  Output do_apply(MatrixView v, Run& run) const override {
    Output out{
        v.cols % 16 == 0 ? Matrix::uninitialised(queries(), v.cols) : Matrix(queries(), v.cols),
        {}};
    if (plan().causal)
      look_up_prefixes(v, out.z, run);
    else
      look_up(v, node_sums(v, run), out.z, run);
    return out;
  }

  // [slots + 1, dv], the last row 0.
  std::vector<double> node_sums(MatrixView v, Run& run) const {
    const auto stage = run.profile.stage("node sums");
    const Index dv = v.cols;
    const Pieces& pieces = tables_.pieces;
    std::vector<double> partial(pieces.keys.size() * dv, 0.0), sums((slots() + 1) * dv, 0.0);
    workers_->loop(std::ssize(pieces.keys), run.stop, [&](Index turn, int) {
      const Range32 keys = pieces.keys[turn];
      loops_.add_rows(v.data, v.stride, tables_.key_order.data() + keys.begin, keys.size(),
                      static_cast<int>(dv), partial.data() + turn * dv);
    });
    const auto add = [dv](const double* from, double* to) {
      for (Index c = 0; c < dv; ++c) to[c] += from[c];
    };
    const Index first_leaf = tables_.slots.first[depths_ - 1];
    for (Index leaf = 0; leaf < std::ssize(pieces.of); ++leaf)
      for (Index piece = pieces.of[leaf].begin; piece < pieces.of[leaf].end; ++piece)
        add(partial.data() + piece * dv, sums.data() + (first_leaf + leaf) * dv);
    for (Index slot = slots() - 1; slot > 0; --slot)
      add(sums.data() + slot * dv, sums.data() + tables_.slots.parent[slot] * dv);
    return sums;
  }

  // All queries that follow a path down to the same slot read the same row: the sums along the
  // path, each times its share.
  void look_up(MatrixView v, const std::vector<double>& sums, Matrix& z, Run& run) const {
    const auto stage = run.profile.stage("look-up");
    const Index dv = v.cols;
    std::vector<double> path(slots() * dv);
    Matrix rows(slots(), dv);
    for (Index slot = 0; slot < slots(); ++slot) {
      const double share = static_cast<double>(paths().share(slot));
      for (Index c = 0; c < dv; ++c) {
        const double above = slot == 0 ? 0.0 : path[tables_.slots.parent[slot] * dv + c];
        path[slot * dv + c] = above + share * sums[slot * dv + c];
        rows(slot, c) = static_cast<float>(path[slot * dv + c]);
      }
    }
    for_tokens(queries(), run, [&](Index i) {
      std::copy_n(rows.row(paths().deepest(nodes_.query_leaf[i])), dv, z.row(i));
    });
  }

  // Under a causal mask: running sums of each node, a few columns of V in each turn.
  void look_up_prefixes(MatrixView v, Matrix& z, Run& run) const {
    const auto stage = run.profile.stage("look-up");
    workers_->loop(
        (v.cols + columns_per_turn - 1) / columns_per_turn, run.stop, [&](Index turn, int) {
          const Index first = turn * columns_per_turn,
                      width = std::min(columns_per_turn, v.cols - first);
          std::vector<double> sums((slots() + 1) * columns_per_turn, 0.0);
          const auto add_key = [&](Index j) {
            if (j % tokens_per_turn == 0 && run.stop.stop_requested()) throw Cancelled();
            const float* value = v.row(j) + first;
            for (Index depth = 0; depth < depths_; ++depth) {
              double* sum = sums.data() + key_slots(j)[depth] * columns_per_turn;
              for (Index c = 0; c < width; ++c) sum[c] += static_cast<double>(value[c]);
            }
          };
          Index j = 0;
          for (Index i = 0; i < queries(); ++i) {
            for (; j < end_of_keys(i); ++j) add_key(j);
            double total[columns_per_turn] = {};
            for (Index depth = 0; depth < depths_; ++depth) {
              const double* found = sums.data() + query_slots(i)[depth] * columns_per_turn;
              for (Index c = 0; c < width; ++c)
                total[c] += static_cast<double>(share(i, depth)) * found[c];
            }
            for (Index c = 0; c < width; ++c) z(i, first + c) = static_cast<float>(total[c]);
          }
        });
  }

  // ---- Entries of P -----------------------------------------------------------------------------

  Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const override {
    const auto stage = run.profile.stage("entries");
    const bool rows_alone = pool.one_row || pool.rows == rows.size();
    if (!rows_alone || pool.cols != cols.size()) return pixels(rows, cols, pool, run);
    Matrix out = entries(rows, cols, pool, run);
    if (pool.largest) *pool.largest = Matrix::copy_of(out);
    return out;
  }

  // A pair that shares its nodes down to some depth has the shares of all depths down to that one.
  Matrix entries(IndexRange rows, IndexRange cols, const Pool& pool, Run& run) const {
    Matrix out(pool.rows, cols.size());
    for_tokens(pool.rows, run, [&](Index r) {
      const Index i = pool.one_row ? drawn_row(rows, pool, r) : rows.begin + r;
      const Index end = std::min(cols.end, end_of_keys(i));
      for (Index j = cols.begin; j < end; ++j) {
        double value = 0;
        for (Index depth = 0; depth < depths_ && key_slots(j)[depth] == query_slots(i)[depth];
             ++depth)
          value += static_cast<double>(share(i, depth));
        out(r, j - cols.begin) = static_cast<float>(value);
      }
    });
    return out;
  }

  // One column of pixels in each turn: when the keys of its columns are counted for each node, a
  // query needs only the counts along its path, no pairs.
  Matrix pixels(IndexRange rows, IndexRange cols, Pool pool, Run& run) const {
    Matrix out(pool.rows, pool.cols);
    if (pool.largest) *pool.largest = Matrix(pool.rows, pool.cols);
    std::vector<std::vector<std::int32_t>> counts(workers_->threads(),
                                                  std::vector<std::int32_t>(slots() + 1, 0));
    std::atomic<Index> done = 0;
    workers_->loop(pool.cols, run.stop, [&](Index column, int worker) {
      auto& count = counts[worker];
      const IndexRange keys = pixel_tokens(column, cols, pool.cols);
      pixel_column(rows, keys, column, pool, count, out);
      for (Index j = keys.begin; j < keys.end; ++j)
        for (Index depth = 0; depth < depths_; ++depth) count[key_slots(j)[depth]] = 0;
      ++done;
      if (worker == 0) run.reached(static_cast<double>(done) / static_cast<double>(pool.cols));
    });
    return out;
  }

  void pixel_column(IndexRange rows, IndexRange keys, Index column, Pool pool,
                    std::vector<std::int32_t>& count, Matrix& out) const {
    Index next = keys.begin;  // keys before it are counted; under a mask only those up to the query
    for (Index pixel = 0; pixel < pool.rows; ++pixel) {
      IndexRange queries = pixel_tokens(pixel, rows, pool.rows);
      if (pool.one_row) {
        const Index drawn = drawn_row(rows, pool, pixel);
        queries = {drawn, drawn + 1};
      }
      double sum = 0, largest = -std::numeric_limits<double>::infinity();
      for (Index i = queries.begin; i < queries.end; ++i) {
        const Index end = std::min(keys.end, end_of_keys(i));
        for (; next < end; ++next)
          for (Index depth = 0; depth < depths_; ++depth) ++count[key_slots(next)[depth]];
        if (pool.kind == Pool::Kind::mean) sum += row_sum(i, count);
        if (pool.kind == Pool::Kind::max || pool.largest)
          largest = std::max(largest, row_maximum(i, count, keys.size()));
      }
      if (pool.largest) (*pool.largest)(pixel, column) = static_cast<float>(largest);
      out(pixel, column) = static_cast<float>(
          pool.kind == Pool::Kind::max ? largest
                                       : sum / static_cast<double>(queries.size() * keys.size()));
    }
  }

  // Sum of row i over the counted keys.
  double row_sum(Index i, const std::vector<std::int32_t>& count) const {
    double sum = 0;
    for (Index depth = 0; depth < depths_; ++depth)
      sum += static_cast<double>(share(i, depth)) * count[query_slots(i)[depth]];
    return sum;
  }

  // Largest entry of row i over `keys` keys, of which some are counted and the others are 0. A key
  // that leaves the query's path below some depth has the shares down to that depth.
  double row_maximum(Index i, const std::vector<std::int32_t>& count, Index keys) const {
    double value = 0, largest = -std::numeric_limits<double>::infinity();
    Index here = keys;
    for (Index depth = 0; depth < depths_; ++depth) {
      const Index inside = count[query_slots(i)[depth]];
      if (inside < here) largest = std::max(largest, value);
      value += static_cast<double>(share(i, depth));
      here = inside;
    }
    return here > 0 ? std::max(largest, value) : largest;
  }

  const NodePlan& nodes_;
  const isa::Loops& loops_;
  std::shared_ptr<Workers> workers_;
  const NodeTables tables_;
  const Index depths_;        // h + 1
  std::vector<float> share_;  // [nq, depths] with a causal mask
};

}  // namespace

std::unique_ptr<Operator> make_node_operator(std::shared_ptr<const Plan> plan,
                                             const Problem& problem, const isa::Loops& loops,
                                             std::shared_ptr<Workers> workers, Run& run) {
  return std::make_unique<NodeOperator>(std::move(plan), problem, loops, std::move(workers), run);
}

MemoryNeed operator_need(const NodePlan& plan, const Extents& extents, int threads) {
  double nodes = 1, leaves = 1;
  for (const int branching : plan.branching) nodes += leaves *= branching;
  const double depths = as_double(std::ssize(plan.alpha)), keys = as_double(extents.keys);
  const double slots = std::min(nodes, 1 + keys * (depths - 1));
  const double table = int_size * (depths + 1) + 8 * double_size;
  MemoryNeed need{
      .bound = int_size * 2 * keys + 2 * table * (slots + 1) + int_size * 4 * leaves,
      .applied = float_size * as_double(extents.queries) * as_double(padded_width(extents.dv))};
  if (extents.causal) {
    need.bound += float_size * as_double(extents.queries) * depths + int_size * (slots + 1);
    need.applied += threads * double_size * columns_per_turn * (slots + 1);
  } else {
    const double pieces = std::min(leaves, keys) + keys / keys_per_piece;
    need.applied +=
        as_double(extents.dv) * (double_size * (pieces + 2 * (slots + 1)) + float_size * slots);
  }
  return need;
}

}  // namespace fovea
