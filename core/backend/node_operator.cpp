#include "backend/node_operator.h"

#include <algorithm>
#include <limits>

#include "backend/key_slots.h"

namespace fovea {
namespace {

// Tokens that one turn of a loop handles, and the most keys of one partial sum: fixed, so that no
// result depends on the number of threads.
constexpr Index tokens_per_turn = 512;
constexpr Index keys_per_piece = 1024;
constexpr Index columns_per_turn = 8;

// Consecutive keys in leaf order that share a leaf.
struct Piece {
  Index slot;
  IndexRange keys;  // positions in leaf order
};

class NodeOperator final : public Operator {
 public:
  NodeOperator(std::shared_ptr<const Plan> plan, const Problem& problem, const isa::Loops& loops,
               std::shared_ptr<Workers> workers, Run& run)
      : Operator(std::move(plan), problem),
        nodes_(std::get<NodePlan>(this->plan().form)),
        depths_(static_cast<Index>(nodes_.branching.size()) + 1),
        loops_(loops),
        workers_(std::move(workers)),
        slots_(number_slots(nodes_, run)) {
    const auto stage = run.profile.stage("upload");
    sort_keys();
    run.check();
    if (this->plan().causal) share_prefixes();
  }

 private:
  static KeySlots number_slots(const NodePlan& nodes, Run& run) {
    const auto stage = run.profile.stage("upload");
    return KeySlots(nodes);
  }
  static std::size_t size(Index i) { return static_cast<std::size_t>(i); }
  Index n() const { return plan().n; }
  Index slots() const { return slots_.count(); }
  const std::int32_t* key_slots(Index j) const { return slots_.path(nodes_.key_leaf[size(j)]); }
  const std::int32_t* query_slots(Index i) const { return slots_.path(nodes_.query_leaf[size(i)]); }
  // alpha / the keys of the query's node that it may attend; 0 if there are none.
  float share(Index i, Index depth) const {
    return plan().causal ? share_[size(i * depths_ + depth)] : slots_.share(query_slots(i)[depth]);
  }

  template <class Body>
  void for_tokens(Index count, Run& run, const Body& body) const {
    workers_->loop((count + tokens_per_turn - 1) / tokens_per_turn, run.stop, [&](Index turn, int) {
      for (Index i = turn * tokens_per_turn; i < std::min(count, (turn + 1) * tokens_per_turn); ++i)
        body(i);
    });
  }

  // Keys by leaf, which is by slot, those of a leaf in sequence order.
  void sort_keys() {
    std::vector<std::int32_t> next(size(slots()) + 1, 0);
    for (const std::int32_t leaf : nodes_.key_leaf) ++next[size(slots_.deepest(leaf)) + 1];
    for (Index slot = 0; slot < slots(); ++slot) {
      const Index begin = next[size(slot)], end = begin + next[size(slot) + 1];
      next[size(slot) + 1] = static_cast<std::int32_t>(end);
      for (Index p = begin; p < end; p += keys_per_piece)
        pieces_.push_back({slot, {p, std::min(end, p + keys_per_piece)}});
    }
    key_order_.resize(size(n()));
    for (Index j = 0; j < n(); ++j)
      key_order_[size(next[size(slots_.deepest(nodes_.key_leaf[size(j)]))]++)] =
          static_cast<std::int32_t>(j);
  }

  void share_prefixes() {
    share_.assign(size(n() * depths_), 0.0f);
    std::vector<std::int32_t> count(size(slots()) + 1, 0);
    for (Index i = 0; i < n(); ++i) {
      for (Index depth = 0; depth < depths_; ++depth) ++count[size(key_slots(i)[depth])];
      for (Index depth = 0; depth < depths_; ++depth)
        if (const std::int32_t keys = count[size(query_slots(i)[depth])]; keys > 0)
          share_[size(i * depths_ + depth)] = nodes_.alpha[size(depth)] / static_cast<float>(keys);
    }
  }

  // ---- Z = P V ----------------------------------------------------------------------------------

  Output do_apply(MatrixView v, Run& run) const override {
    Output out{v.cols % 16 == 0 ? Matrix::uninitialised(n(), v.cols) : Matrix(n(), v.cols), {}};
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
    std::vector<double> partial(pieces_.size() * size(dv), 0.0),
        sums(size((slots() + 1) * dv), 0.0);
    workers_->loop(static_cast<Index>(pieces_.size()), run.stop, [&](Index turn, int) {
      const IndexRange keys = pieces_[size(turn)].keys;
      loops_.add_rows(v.data, v.stride, key_order_.data() + keys.begin,
                      static_cast<int>(keys.size()), static_cast<int>(dv),
                      partial.data() + turn * dv);
    });
    const auto add = [dv](const double* from, double* to) {
      for (Index c = 0; c < dv; ++c) to[c] += from[c];
    };
    for (std::size_t piece = 0; piece < pieces_.size(); ++piece)
      add(partial.data() + piece * size(dv), sums.data() + pieces_[piece].slot * dv);
    for (Index slot = slots() - 1; slot > 0; --slot)
      add(sums.data() + slot * dv, sums.data() + slots_.parent(slot) * dv);
    return sums;
  }

  // All queries that follow a path down to the same slot read the same row: that of the sums along
  // the path, each times its share.
  void look_up(MatrixView v, const std::vector<double>& sums, Matrix& z, Run& run) const {
    const auto stage = run.profile.stage("look-up");
    const Index dv = v.cols;
    std::vector<double> path(size(slots() * dv));
    Matrix rows(slots(), dv);
    for (Index slot = 0; slot < slots(); ++slot) {
      const double share = static_cast<double>(slots_.share(slot));
      for (Index c = 0; c < dv; ++c) {
        const double above = slot == 0 ? 0.0 : path[size(slots_.parent(slot) * dv + c)];
        path[size(slot * dv + c)] = above + share * sums[size(slot * dv + c)];
        rows(slot, c) = static_cast<float>(path[size(slot * dv + c)]);
      }
    }
    for_tokens(n(), run, [&](Index i) {
      std::copy_n(rows.row(slots_.deepest(nodes_.query_leaf[size(i)])), dv, z.row(i));
    });
  }

  // Causal: running sums of every node, a few columns of V a turn.
  void look_up_prefixes(MatrixView v, Matrix& z, Run& run) const {
    const auto stage = run.profile.stage("look-up");
    workers_->loop(
        (v.cols + columns_per_turn - 1) / columns_per_turn, run.stop, [&](Index turn, int) {
          const Index first = turn * columns_per_turn,
                      width = std::min(columns_per_turn, v.cols - first);
          std::vector<double> sums(size((slots() + 1) * columns_per_turn), 0.0);
          for (Index i = 0; i < n(); ++i) {
            if (i % tokens_per_turn == 0 && run.stop.stop_requested()) throw Cancelled();
            const float* value = v.row(i) + first;
            double total[columns_per_turn] = {};
            for (Index depth = 0; depth < depths_; ++depth) {
              double* sum = sums.data() + key_slots(i)[depth] * columns_per_turn;
              for (Index c = 0; c < width; ++c) sum[c] += static_cast<double>(value[c]);
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
    return rows_alone && pool.cols == cols.size() ? entries(rows, cols, pool, run)
                                                  : pixels(rows, cols, pool, run);
  }

  // A pair that shares its nodes down to a depth has the shares of all depths down to there.
  Matrix entries(IndexRange rows, IndexRange cols, const Pool& pool, Run& run) const {
    Matrix out(pool.rows, cols.size());
    for_tokens(pool.rows, run, [&](Index r) {
      const Index i = pool.one_row ? drawn_row(rows, pool, r) : rows.begin + r;
      const Index end = plan().causal ? std::min(cols.end, i + 1) : cols.end;
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

  // One column of pixels a turn: with the keys of its columns counted per node, a query needs only
  // the counts along its path, never the pairs.
  Matrix pixels(IndexRange rows, IndexRange cols, Pool pool, Run& run) const {
    Matrix out(pool.rows, pool.cols);
    std::vector<std::vector<std::int32_t>> counts(size(workers_->threads()),
                                                  std::vector<std::int32_t>(size(slots()) + 1, 0));
    std::atomic<Index> done = 0;
    workers_->loop(pool.cols, run.stop, [&](Index column, int worker) {
      auto& count = counts[size(worker)];
      const IndexRange keys{cols.begin + column * cols.size() / pool.cols,
                            cols.begin + (column + 1) * cols.size() / pool.cols};
      pixel_column(rows, keys, column, pool, count, out);
      for (Index j = keys.begin; j < keys.end; ++j)
        for (Index depth = 0; depth < depths_; ++depth) count[size(key_slots(j)[depth])] = 0;
      if (run.progress)
        run.progress->fraction = static_cast<double>(++done) / static_cast<double>(pool.cols);
    });
    return out;
  }

  void pixel_column(IndexRange rows, IndexRange keys, Index column, Pool pool,
                    std::vector<std::int32_t>& count, Matrix& out) const {
    Index next = keys.begin;  // keys before it are counted: under a mask only those up to the query
    for (Index pixel = 0; pixel < pool.rows; ++pixel) {
      IndexRange queries{rows.begin + pixel * rows.size() / pool.rows,
                         rows.begin + (pixel + 1) * rows.size() / pool.rows};
      if (pool.one_row) {
        const Index drawn = drawn_row(rows, pool, pixel);
        queries = {drawn, drawn + 1};
      }
      double sum = 0, largest = -std::numeric_limits<double>::infinity();
      for (Index i = queries.begin; i < queries.end; ++i) {
        const Index end = plan().causal ? std::min(keys.end, i + 1) : keys.end;
        for (; next < end; ++next)
          for (Index depth = 0; depth < depths_; ++depth) ++count[size(key_slots(next)[depth])];
        if (pool.kind == Pool::Kind::mean)
          sum += row_sum(i, count);
        else
          largest = std::max(largest, row_maximum(i, count, keys.size()));
      }
      out(pixel, column) = static_cast<float>(
          pool.kind == Pool::Kind::max ? largest
                                       : sum / static_cast<double>(queries.size() * keys.size()));
    }
  }

  // Sum of row i over the counted keys.
  double row_sum(Index i, const std::vector<std::int32_t>& count) const {
    double sum = 0;
    for (Index depth = 0; depth < depths_; ++depth)
      sum += static_cast<double>(share(i, depth)) * count[size(query_slots(i)[depth])];
    return sum;
  }

  // Largest entry of row i over `keys` keys, of which some are counted and the others are 0. A key
  // that leaves the query's path below a depth has the shares down to it.
  double row_maximum(Index i, const std::vector<std::int32_t>& count, Index keys) const {
    double value = 0, largest = -std::numeric_limits<double>::infinity();
    Index here = keys;
    for (Index depth = 0; depth < depths_; ++depth) {
      const Index inside = count[size(query_slots(i)[depth])];
      if (inside < here) largest = std::max(largest, value);
      value += static_cast<double>(share(i, depth));
      here = inside;
    }
    return here > 0 ? std::max(largest, value) : largest;
  }

  const NodePlan& nodes_;
  Index depths_;  // h + 1
  const isa::Loops& loops_;
  std::shared_ptr<Workers> workers_;
  KeySlots slots_;
  std::vector<std::int32_t> key_order_;  // [n] by leaf
  std::vector<Piece> pieces_;
  std::vector<float> share_;  // [n, depths] with a causal mask
};

}  // namespace

std::unique_ptr<Operator> make_node_operator(std::shared_ptr<const Plan> plan,
                                             const Problem& problem, const isa::Loops& loops,
                                             std::shared_ptr<Workers> workers, Run& run) {
  return std::make_unique<NodeOperator>(std::move(plan), problem, loops, std::move(workers), run);
}

}  // namespace fovea
