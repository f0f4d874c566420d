#include "nodes/node_operator.h"

#include <algorithm>

#include "device/buffer.h"
#include "device/device_operator.h"
#include "device/timeline.h"
#include "nodes/node_entries.h"
#include "nodes/node_pixels.h"
#include "nodes/node_sums.h"
#include "nodes/node_tables.h"

namespace fovea::cuda {
namespace {

// Columns of V that are on the device at a time.
constexpr Index columns_a_launch = 256;

// The most keys of one partial sum.
constexpr std::int32_t keys_per_piece = 128;

// Ranges with more rows on average are shared by several threads each.
constexpr Index rows_of_a_thread = 16;

struct DevicePieces {
  Buffer<Range32> keys, of;
  bool whole = false;  // every slot is one piece

  std::int32_t count() const { return static_cast<std::int32_t>(keys.size()); }
  std::int32_t slots() const { return static_cast<std::int32_t>(of.size()); }
};

class NodeOperator final : public DeviceOperator {
 public:
  NodeOperator(std::shared_ptr<const Plan> plan, const Problem& problem,
               std::shared_ptr<const Device> on, Run& run)
      : DeviceOperator(std::move(plan), problem, std::move(on)),
        nodes_(std::get<NodePlan>(this->plan().form)) {
    std::vector<Pieces> cut;  // until they are uploaded
    Timeline timeline(device());
    {
      const auto stage = timeline.stage("upload");
      tables_ = std::make_unique<NodeTables>(device(), this->plan(), run);
      children_ = {device(), std::span<const Range32>(slots().children)};
      // Without a mask only whole nodes are needed, and they are summed from their leaves.
      for (int depth = this->plan().causal ? 0 : tables_->depths() - 1; depth < tables_->depths();
           ++depth) {
        const Pieces& pieces = cut.emplace_back(cut_pieces(slots(), depth, keys_per_piece));
        pieces_.push_back({{device(), std::span<const Range32>(pieces.keys)},
                           {device(), std::span<const Range32>(pieces.of)},
                           pieces.keys.size() == pieces.of.size()});
      }
    }
    timeline.finish(run.profile);
  }

 private:
  Index queries() const { return plan().queries(); }
  Index keys() const { return plan().keys(); }
  const NodeSlots& slots() const { return tables_->slots(); }
  float alpha(int depth) const { return nodes_.alpha[depth]; }
  Range32 slots_of(int depth) const {
    const auto at = static_cast<std::size_t>(depth);
    return {slots().first[at], slots().first[at + 1]};
  }
  Buffer<double> rows_of_doubles(Index rows, const DeviceMatrix& like) const {
    return {device(), static_cast<std::size_t>(rows * like.stride())};
  }

  Output do_apply(MatrixView v, Run& run) const override {
    Output out{Matrix(queries(), v.cols), {}};
    for (Index first = 0; first < v.cols; first += columns_a_launch) {
      const Index cols = std::min(columns_a_launch, v.cols - first);
      Timeline timeline(device());
      DeviceMatrix values(device(), keys(), cols), z(device(), queries(), cols);
      {
        const auto stage = timeline.stage("upload");
        values.upload(device(), {v.data + first, v.rows, cols, v.stride});
      }
      if (plan().causal)
        look_up_prefixes(values, z, timeline, run);
      else
        look_up_nodes(values, z, timeline, run);
      {
        const auto stage = timeline.stage("download");
        z.download(device(), out.z.data() + first, out.z.stride(), queries());
      }
      timeline.finish(run.profile);
    }
    return out;
  }

  // ---- Without a mask: sums of nodes from the leaves up, then along paths from the root down ----

  void look_up_nodes(const DeviceMatrix& values, const DeviceMatrix& z, Timeline& timeline,
                     Run& run) const {
    const Buffer<double> sums = rows_of_doubles(slots().size(), values);
    {
      const auto stage = timeline.stage("node sums");
      sum_nodes(values, sums, run);
    }
    const auto stage = timeline.stage("look-up");
    for (int depth = 0; depth < tables_->depths(); ++depth)
      descend({.sums = sums.data(),
               .stride = values.stride(),
               .slots = slots_of(depth),
               .keys = tables_->keys(),
               .parent = tables_->parent(),
               .alpha = alpha(depth)},
              device().stream());
    run.check();
    look_up({.rows = sums.data(),
             .stride = values.stride(),
             .row = tables_->deepest(),
             .n = static_cast<std::int32_t>(queries()),
             .z = z.data()},
            device().stream());
  }

  void sum_nodes(const DeviceMatrix& values, const Buffer<double>& sums, Run& run) const {
    const DevicePieces& leaves = pieces_.back();
    const Buffer<double> partial = rows_of_doubles(leaves.count(), values);
    run.check();
    sum_pieces(values, tables_->depths() - 1, leaves, partial);
    for (int depth = tables_->depths() - 1; depth >= 0; --depth) {
      const bool is_leaf = depth == tables_->depths() - 1;
      const Range32 range = slots_of(depth);
      const Index rows = is_leaf ? leaves.count() : slots().size(depth + 1);
      sum_ranges(
          SumArgs<double>{.rows = is_leaf ? partial.data() : sums.data(),
                          .stride = values.stride(),
                          .order = nullptr,
                          .ranges = is_leaf ? leaves.of.data() : children_.data() + range.begin,
                          .count = range.end - range.begin,
                          .many_rows = rows > rows_of_a_thread * slots().size(depth),
                          .sums = sums.data() + static_cast<Index>(range.begin) * values.stride()},
          device().stream());
      run.check();
    }
  }

  void sum_pieces(const DeviceMatrix& values, int depth, const DevicePieces& pieces,
                  const Buffer<double>& sums) const {
    sum_ranges(SumArgs<float>{.rows = values.data(),
                              .stride = values.stride(),
                              .order = tables_->order(depth),
                              .ranges = pieces.keys.data(),
                              .count = pieces.count(),
                              .many_rows = keys() > rows_of_a_thread * pieces.count(),
                              .sums = sums.data()},
               device().stream());
  }

  // ---- With a causal mask -----------------------------------------------------------------------

  // One depth after the other. In the order of a depth (keys by node, those of a node in sequence)
  // the keys that a query may attend are the first of their node, so it needs one row of the
  // running sums of its node. They are found by a scan in pieces, which involves neither later keys
  // nor other nodes.
  void look_up_prefixes(const DeviceMatrix& values, const DeviceMatrix& z, Timeline& timeline,
                        Run& run) const {
    const auto stage = timeline.stage("look-up");
    const DeviceMatrix running(device(), keys(), values.cols());
    const Buffer<double> total = rows_of_doubles(queries(), values);
    for (int depth = 0; depth < tables_->depths(); ++depth) {
      run.check();
      find_running_sums(values, depth, running);
      add_depth({.running = running.data(),
                 .stride = values.stride(),
                 .n = static_cast<std::int32_t>(queries()),
                 .keys = tables_->keys(),
                 .slot = tables_->query_slot(depth),
                 .count = tables_->query_count(depth),
                 .alpha = alpha(depth),
                 .first = depth == 0,
                 .last = depth + 1 == tables_->depths(),
                 .total = total.data(),
                 .z = z.data()},
                device().stream());
    }
  }

  void find_running_sums(const DeviceMatrix& values, int depth, const DeviceMatrix& running) const {
    const DevicePieces& pieces = pieces_[depth];
    const Buffer<double> before = rows_of_doubles(pieces.whole ? 0 : pieces.count(), values);
    if (!pieces.whole) {
      sum_pieces(values, depth, pieces, before);
      carry({.sums = before.data(),
             .stride = values.stride(),
             .pieces = pieces.of.data(),
             .slots = pieces.slots()},
            device().stream());
    }
    run_sums({.values = values.data(),
              .stride = values.stride(),
              .order = tables_->order(depth),
              .pieces = pieces.keys.data(),
              .count = pieces.count(),
              .before = before.data(),
              .running = running.data()},
             device().stream());
  }

  // ---- Entries of P -----------------------------------------------------------------------------

  Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const override {
    if (pool.kind == Pool::Kind::none) return entries(rows, cols, run);
    const DeviceMatrix pixels = device_pixels(rows, cols, pool, run);
    Matrix out(pool.rows, pool.cols);
    pixels.download(device(), out.data(), out.stride(), pool.rows);
    device().wait();
    return out;
  }

  DeviceMatrix device_tile(const EntryRows& rows, IndexRange cols, float elsewhere,
                           Run& run) const override {
    DeviceMatrix tile(device(), rows.size(), cols.size());
    Timeline timeline(device());
    {
      const auto stage = timeline.stage("entries");
      const Buffer<std::int32_t> drawn(device(), std::span<const std::int32_t>(rows.drawn));
      const auto weighted = std::ranges::find_if(nodes_.alpha, [](float a) { return a != 0; });
      node_entries({.pairs = tables_->pairs(),
                    .rows = narrow(rows.drawn.empty() ? rows.range : IndexRange{0, rows.size()}),
                    .cols = narrow(cols),
                    .drawn = drawn.data(),
                    .weighted = static_cast<int>(weighted - nodes_.alpha.begin()),
                    .elsewhere = elsewhere,
                    .out = tile.data(),
                    .stride = tile.stride()},
                   device().stream());
    }
    timeline.finish(run.profile);
    return tile;
  }

  DeviceMatrix device_pixels(IndexRange rows, IndexRange cols, Pool pool, Run& run) const {
    DeviceMatrix pixels(device(), pool.rows, pool.cols);
    Timeline timeline(device());
    {
      const auto stage = timeline.stage("entries");
      pool_nodes(device(), *tables_, rows, narrow(cols), pool, pixels, run);
    }
    timeline.finish(run.profile);
    return pixels;
  }

  static Range32 narrow(IndexRange range) {
    return {static_cast<std::int32_t>(range.begin), static_cast<std::int32_t>(range.end)};
  }

  const NodePlan& nodes_;
  std::unique_ptr<const NodeTables> tables_;
  Buffer<Range32> children_;          // as in NodeSlots
  std::vector<DevicePieces> pieces_;  // causal: of every depth; else of the leaves
};

}  // namespace

std::unique_ptr<Operator> make_node_operator(std::shared_ptr<const Plan> plan,
                                             const Problem& problem,
                                             std::shared_ptr<const Device> device, Run& run) {
  return std::make_unique<NodeOperator>(std::move(plan), problem, std::move(device), run);
}

}  // namespace fovea::cuda
