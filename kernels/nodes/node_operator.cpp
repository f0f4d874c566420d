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

// Limits of the running sums of a launch: bytes, and the share of the free memory. Four columns are
// summed at once even if they need more.
constexpr double most_running_bytes = 0x1p29, most_running_share = 0.5;

// The most keys of one partial sum.
constexpr std::int32_t keys_per_piece = 128;

// Ranges with more rows on average are shared by several threads each.
constexpr Index rows_of_a_thread = 16;

// The slots of some depths, in pieces of positions in the orders of all depths, one after another.
struct PieceList {
  std::vector<Range32> keys;
  std::vector<Range32> of;      // [slots] pieces of each
  std::vector<Range32> summed;  // the same as keys, but empty where a piece is its whole slot
};

void add_depth(const NodeSlots& slots, int depth, Index keys, PieceList& list) {
  const Pieces cut = cut_pieces(slots, depth, keys_per_piece);
  const auto first = static_cast<std::int32_t>(list.keys.size()),
             position = static_cast<std::int32_t>(depth * keys);
  for (const Range32 piece : cut.keys)
    list.keys.push_back({position + piece.begin, position + piece.end});
  for (const Range32 its : cut.of) {
    list.of.push_back({first + its.begin, first + its.end});
    const bool whole = its.end - its.begin == 1;
    for (std::int32_t piece = first + its.begin; piece < first + its.end; ++piece) {
      const Range32 range = list.keys[static_cast<std::size_t>(piece)];
      list.summed.push_back({range.begin, whole ? range.begin : range.end});
    }
  }
}

struct DevicePieces {
  Buffer<Range32> keys, of, summed;

  std::int32_t count() const { return static_cast<std::int32_t>(keys.size()); }
  std::int32_t slots() const { return static_cast<std::int32_t>(of.size()); }
};

class NodeOperator final : public DeviceOperator {
 public:
  NodeOperator(std::shared_ptr<const Plan> plan, const Problem& problem,
               std::shared_ptr<SharedTensors> shared, Run& run)
      : DeviceOperator(std::move(plan), problem, std::move(shared)),
        nodes_(std::get<NodePlan>(this->plan().form)) {
    PieceList cut;  // until it is uploaded
    Timeline timeline(device());
    {
      const auto stage = timeline.stage("upload");
      tables_ = std::make_unique<NodeTables>(device(), this->plan(), run);
      children_ = {device(), std::span<const Range32>(slots().children)};
      alpha_ = {device(), std::span<const float>(nodes_.alpha)};
      // Without a mask only whole nodes are needed, and they are summed from their leaves.
      for (int depth = this->plan().causal ? 0 : depths() - 1; depth < depths(); ++depth)
        if (!this->plan().causal || alpha(depth) != 0) add_depth(slots(), depth, keys(), cut);
      pieces_ = {{device(), std::span<const Range32>(cut.keys)},
                 {device(), std::span<const Range32>(cut.of)},
                 {device(), std::span<const Range32>(cut.summed)}};
    }
    timeline.finish(run.profile);
  }

 private:
  Index queries() const { return plan().queries(); }
  Index keys() const { return plan().keys(); }
  int depths() const { return tables_->depths(); }
  const NodeSlots& slots() const { return tables_->slots(); }
  float alpha(int depth) const { return nodes_.alpha[depth]; }
  Range32 slots_of(int depth) const {
    const auto at = static_cast<std::size_t>(depth);
    return {slots().first[at], slots().first[at + 1]};
  }
  Buffer<double> rows_of_doubles(Index rows, Index columns) const {
    return {device(), static_cast<std::size_t>(rows * columns)};
  }

  Output do_apply(MatrixView v, Run& run) const override {
    Output out{Matrix::unwritten(queries(), v.cols), {}};
    for (Index first = 0; first < v.cols; first += columns_of_slice) {
      const Index cols = std::min(columns_of_slice, v.cols - first);
      Timeline timeline(device());
      const Tensor part = columns(v, {first, first + cols});
      std::shared_ptr<const DeviceMatrix> values;
      {
        const auto stage = timeline.stage("upload");
        values = tensors().uploaded(part);
      }
      keep(part, values);
      const DeviceMatrix z(device(), queries(), cols);
      if (plan().causal)
        sum_prefixes(*values, z, timeline, run);
      else
        look_up_nodes(*values, z, timeline, run);
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
    const Buffer<double> sums = rows_of_doubles(slots().size(), values.stride());
    {
      auto stage = timeline.stage("node sums");
      stage.by("node sums");
      sum_nodes(values, sums, run);
    }
    const auto stage = timeline.stage("look-up");
    for (int depth = 0; depth < depths(); ++depth)
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
    const Buffer<double> partial = rows_of_doubles(pieces_.count(), values.stride());
    run.check();
    sum_pieces(values, {0, values.stride()}, pieces_.keys, keys(), partial);
    for (int depth = depths() - 1; depth >= 0; --depth) {
      const bool is_leaf = depth == depths() - 1;
      const Range32 range = slots_of(depth);
      const Index rows = is_leaf ? pieces_.count() : slots().size(depth + 1);
      sum_ranges(
          SumArgs<double>{.rows = is_leaf ? partial.data() : sums.data(),
                          .stride = values.stride(),
                          .columns = values.stride(),
                          .order = nullptr,
                          .ranges = is_leaf ? pieces_.of.data() : children_.data() + range.begin,
                          .count = range.end - range.begin,
                          .many_rows = rows > rows_of_a_thread * slots().size(depth),
                          .sums = sums.data() + static_cast<Index>(range.begin) * values.stride()},
          device().stream());
      run.check();
    }
  }

  // `rows`: in all ranges, about.
  void sum_pieces(const DeviceMatrix& values, IndexRange columns, const Buffer<Range32>& ranges,
                  Index rows, const Buffer<double>& sums) const {
    const auto count = static_cast<std::int32_t>(ranges.size());
    sum_ranges(SumArgs<float>{.rows = values.data() + columns.begin,
                              .stride = values.stride(),
                              .columns = static_cast<int>(columns.size()),
                              .order = tables_->order(0),
                              .ranges = ranges.data(),
                              .count = count,
                              .many_rows = rows > rows_of_a_thread * count,
                              .sums = sums.data()},
               device().stream());
  }

  // ---- With a causal mask -----------------------------------------------------------------------

  // In the order of a depth (keys by node, those of a node in sequence) the keys that a query may
  // attend are the first of their node, so it needs one row of the running sums of its node. They
  // are found for all depths at once, by a scan in pieces that involves neither later keys nor
  // other nodes.
  void sum_prefixes(const DeviceMatrix& values, const DeviceMatrix& z, Timeline& timeline,
                    Run& run) const {
    auto stage = timeline.stage("look-up");
    stage.by("node sums");
    const Index most = std::min<Index>(columns_of_running_sums(), values.stride());
    const Buffer<float> running(device(), static_cast<std::size_t>(depths() * keys() * most));
    const Buffer<double> before = rows_of_doubles(pieces_.count(), most);
    for (Index first = 0; first < values.stride(); first += most)
      sum_prefixes(values, {first, std::min<Index>(first + most, values.stride())}, running, before,
                   z, run);
  }

  void sum_prefixes(const DeviceMatrix& values, IndexRange columns, const Buffer<float>& running,
                    const Buffer<double>& before, const DeviceMatrix& z, Run& run) const {
    const auto count = static_cast<int>(columns.size());
    run.check();
    sum_pieces(values, columns, pieces_.summed, depths() * keys(), before);
    carry({.sums = before.data(),
           .columns = count,
           .pieces = pieces_.of.data(),
           .slots = pieces_.slots()},
          device().stream());
    run.check();
    run_sums({.values = values.data() + columns.begin,
              .stride = values.stride(),
              .columns = count,
              .order = tables_->order(0),
              .pieces = pieces_.keys.data(),
              .count = pieces_.count(),
              .before = before.data(),
              .running = running.data()},
             device().stream());
    run.check();
    look_up_prefixes({.running = running.data(),
                      .columns = count,
                      .depths = depths(),
                      .queries = static_cast<std::int32_t>(queries()),
                      .keys_in_all = static_cast<std::int32_t>(keys()),
                      .keys = tables_->keys(),
                      .slot = tables_->query_slot(),
                      .count = tables_->query_count(),
                      .alpha = alpha_.data(),
                      .z = z.data() + columns.begin,
                      .z_stride = z.stride()},
                     device().stream());
  }

  // A multiple of four, as strides are.
  Index columns_of_running_sums() const {
    constexpr Index step = 4;
    const double bytes =
        step * (static_cast<double>(sizeof(float)) * static_cast<double>(depths()) *
                    static_cast<double>(keys()) +
                static_cast<double>(sizeof(double)) * static_cast<double>(pieces_.count()));
    const double most = std::min(most_running_bytes, most_running_share * device().free_bytes());
    const auto steps = static_cast<Index>(most / bytes);
    return std::clamp(step * steps, step, columns_of_slice);
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
  Buffer<Range32> children_;  // as in NodeSlots
  Buffer<float> alpha_;       // as in NodePlan
  DevicePieces pieces_;       // causal: of every depth whose alpha is not 0; else of the leaves
};

}  // namespace

std::unique_ptr<Operator> make_node_operator(std::shared_ptr<const Plan> plan,
                                             const Problem& problem,
                                             std::shared_ptr<SharedTensors> tensors, Run& run) {
  return std::make_unique<NodeOperator>(std::move(plan), problem, std::move(tensors), run);
}

}  // namespace fovea::cuda
