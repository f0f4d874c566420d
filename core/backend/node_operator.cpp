#include "backend/node_operator.h"

#include <algorithm>
#include <limits>
#include <numeric>

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
  NodeOperator(std::shared_ptr<const Plan> plan, const Problem& problem,
               std::shared_ptr<Workers> workers, Run& run)
      : Operator(std::move(plan), problem),
        nodes_(std::get<NodePlan>(this->plan().form)),
        depths_(static_cast<Index>(nodes_.branching.size()) + 1),
        workers_(std::move(workers)) {
    const auto stage = run.profile.stage("upload");
    leaves_below_.assign(size(depths_), 1);
    for (Index depth = depths_ - 2; depth >= 0; --depth)
      leaves_below_[size(depth)] = leaves_below_[size(depth) + 1] * nodes_.branching[size(depth)];
    number_key_nodes();
    find_query_nodes(run);
    share_out();
  }

 private:
  static std::size_t size(Index i) { return static_cast<std::size_t>(i); }
  Index n() const { return plan().n; }
  Index slots() const { return static_cast<Index>(parent_.size()); }
  const std::int32_t* key_slots(Index j) const { return key_slot_.data() + j * depths_; }
  const std::int32_t* query_slots(Index i) const { return query_slot_.data() + i * depths_; }
  const float* shares(Index i) const { return share_.data() + i * depths_; }

  template <class Body>
  void for_tokens(Index count, Run& run, const Body& body) const {
    workers_->loop((count + tokens_per_turn - 1) / tokens_per_turn, run.stop, [&](Index turn, int) {
      for (Index i = turn * tokens_per_turn; i < std::min(count, (turn + 1) * tokens_per_turn); ++i)
        body(i);
    });
  }

  // ---- The nodes that hold keys, numbered as slots: root first, left to right -------------------

  void number_key_nodes() {
    key_order_.resize(size(n()));
    std::iota(key_order_.begin(), key_order_.end(), 0);
    std::ranges::stable_sort(key_order_, {},
                             [&](std::int32_t j) { return nodes_.key_leaf[size(j)]; });
    key_slot_.resize(size(n() * depths_));
    for (Index depth = 0; depth < depths_; ++depth) {
      first_slot_.push_back(slots());
      std::int64_t node = -1;
      for (const std::int32_t j : key_order_) {
        const std::int64_t its = nodes_.key_leaf[size(j)] / leaves_below_[size(depth)];
        if (its != node) {
          parent_.push_back(depth == 0 ? -1 : key_slots(j)[depth - 1]);
          node_.push_back(its);
          node = its;
        }
        key_slot_[size(j * depths_ + depth)] = static_cast<std::int32_t>(slots() - 1);
      }
    }
    first_slot_.push_back(slots());
    for (Index p = 0; p < n(); ++p) {
      const Index slot = key_slots(key_order_[size(p)])[depths_ - 1];
      if (pieces_.empty() || pieces_.back().slot != slot ||
          pieces_.back().keys.size() == keys_per_piece)
        pieces_.push_back({slot, {p, p}});
      pieces_.back().keys.end = p + 1;
    }
  }

  // A node without keys is the slot after the last: its sums and counts stay 0.
  void find_query_nodes(Run& run) {
    query_slot_.assign(size(n() * depths_), static_cast<std::int32_t>(slots()));
    last_slot_.assign(size(n()), 0);  // the root holds every key
    for_tokens(n(), run, [&](Index i) {
      for (Index depth = 0; depth < depths_; ++depth) {
        const std::int64_t node = nodes_.query_leaf[size(i)] / leaves_below_[size(depth)];
        const auto begin = node_.begin() + first_slot_[size(depth)],
                   end = node_.begin() + first_slot_[size(depth) + 1];
        const auto at = std::lower_bound(begin, end, node);
        if (at == end || *at != node) break;  // nor has any node below
        last_slot_[size(i)] = static_cast<std::int32_t>(at - node_.begin());
        query_slot_[size(i * depths_ + depth)] = last_slot_[size(i)];
      }
    });
  }

  // share[i][depth] = alpha / the keys of the query's node that it may attend; 0 if there are none.
  void share_out() {
    share_.assign(size(n() * depths_), 0.0f);
    std::vector<std::int32_t> count(size(slots()) + 1, 0);
    const auto add = [&](Index j) {
      for (Index depth = 0; depth < depths_; ++depth) ++count[size(key_slots(j)[depth])];
    };
    if (!plan().causal)
      for (Index j = 0; j < n(); ++j) add(j);
    slot_share_.assign(size(slots()), 0.0f);
    for (Index depth = 0; depth < depths_; ++depth)
      for (Index slot = first_slot_[size(depth)]; slot < first_slot_[size(depth) + 1]; ++slot)
        if (count[size(slot)] > 0)
          slot_share_[size(slot)] =
              nodes_.alpha[size(depth)] / static_cast<float>(count[size(slot)]);
    for (Index i = 0; i < n(); ++i) {
      if (plan().causal) add(i);
      for (Index depth = 0; depth < depths_; ++depth)
        if (const std::int32_t keys = count[size(query_slots(i)[depth])]; keys > 0)
          share_[size(i * depths_ + depth)] = nodes_.alpha[size(depth)] / static_cast<float>(keys);
    }
  }

  // ---- Z = P V ----------------------------------------------------------------------------------

  Output do_apply(MatrixView v, Run& run) const override {
    Output out{Matrix(n(), v.cols), {}};
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
      double* sum = partial.data() + turn * dv;
      const IndexRange keys = pieces_[size(turn)].keys;
      for (Index p = keys.begin; p < keys.end; ++p) {
        const float* value = v.row(key_order_[size(p)]);
        for (Index c = 0; c < dv; ++c) sum[c] += static_cast<double>(value[c]);
      }
    });
    const auto add = [dv](const double* from, double* to) {
      for (Index c = 0; c < dv; ++c) to[c] += from[c];
    };
    for (std::size_t piece = 0; piece < pieces_.size(); ++piece)
      add(partial.data() + piece * size(dv), sums.data() + pieces_[piece].slot * dv);
    for (Index slot = slots() - 1; slot > 0; --slot)
      add(sums.data() + slot * dv, sums.data() + parent_[size(slot)] * dv);
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
      const double share = static_cast<double>(slot_share_[size(slot)]);
      for (Index c = 0; c < dv; ++c) {
        const double above = slot == 0 ? 0.0 : path[size(parent_[size(slot)] * dv + c)];
        path[size(slot * dv + c)] = above + share * sums[size(slot * dv + c)];
        rows(slot, c) = static_cast<float>(path[size(slot * dv + c)]);
      }
    }
    for_tokens(n(), run,
               [&](Index i) { std::copy_n(rows.row(last_slot_[size(i)]), dv, z.row(i)); });
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
                total[c] += static_cast<double>(shares(i)[depth]) * found[c];
            }
            for (Index c = 0; c < width; ++c) z(i, first + c) = static_cast<float>(total[c]);
          }
        });
  }

  // ---- Entries of P -----------------------------------------------------------------------------

  Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const override {
    const auto stage = run.profile.stage("entries");
    return pool.kind == Pool::Kind::none ? entries(rows, cols, run) : pixels(rows, cols, pool, run);
  }

  // A pair that shares its nodes down to a depth has the shares of all depths down to there.
  Matrix entries(IndexRange rows, IndexRange cols, Run& run) const {
    Matrix out(rows.size(), cols.size());
    for_tokens(rows.size(), run, [&](Index r) {
      const Index i = rows.begin + r, end = plan().causal ? std::min(cols.end, i + 1) : cols.end;
      for (Index j = cols.begin; j < end; ++j) {
        double value = 0;
        for (Index depth = 0; depth < depths_ && key_slots(j)[depth] == query_slots(i)[depth];
             ++depth)
          value += static_cast<double>(shares(i)[depth]);
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
      const IndexRange queries{rows.begin + pixel * rows.size() / pool.rows,
                               rows.begin + (pixel + 1) * rows.size() / pool.rows};
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
      sum += static_cast<double>(shares(i)[depth]) * count[size(query_slots(i)[depth])];
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
      value += static_cast<double>(shares(i)[depth]);
      here = inside;
    }
    return here > 0 ? std::max(largest, value) : largest;
  }

  const NodePlan& nodes_;
  Index depths_;  // h + 1
  std::shared_ptr<Workers> workers_;
  std::vector<std::int64_t> leaves_below_;  // [depths]
  std::vector<std::int32_t> key_order_;     // [n] by leaf
  std::vector<std::int32_t> parent_;        // [slots]
  std::vector<std::int64_t> node_;          // [slots] index within its depth
  std::vector<Index> first_slot_;           // [depths + 1]
  std::vector<Piece> pieces_;
  std::vector<std::int32_t> key_slot_, query_slot_;  // [n, depths]
  std::vector<std::int32_t> last_slot_;              // [n] deepest slot on the query's path
  std::vector<float> slot_share_;                    // [slots] alpha / keys, without a mask
  std::vector<float> share_;                         // [n, depths]
};

}  // namespace

std::unique_ptr<Operator> make_node_operator(std::shared_ptr<const Plan> plan,
                                             const Problem& problem,
                                             std::shared_ptr<Workers> workers, Run& run) {
  return std::make_unique<NodeOperator>(std::move(plan), problem, std::move(workers), run);
}

}  // namespace fovea
