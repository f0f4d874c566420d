#include "device/device_need.h"

#include <algorithm>

#include "backend/operator_need.h"
#include "features/feature_sums.h"
#include "plan/visit_form.h"
#include "tiles/tile_list.h"

namespace fovea::cuda {
namespace {

double matrix_bytes(Index rows, Index cols) {
  return float_size * as_double(rows) * as_double((cols + 3) / 4 * 4);
}

/// In 16 bits, beside fp32.
double bytes_of_16(Index rows, Index cols, Precision precision) {
  const double parts = of_16_bits(precision) ? 1 : precision == Precision::fp32_split ? 2 : 0;
  return 2 * parts * as_double(rows) * as_double((cols + 7) / 8 * 8);
}

/// A tensor of a head with its means up to level `top`, as far as it is not shared.
struct TensorBytes {
  double fp32 = 0, of_16 = 0;
  double all() const { return fp32 + of_16; }
};

class Tensors {
 public:
  Tensors(const Problem& problem, Precision precision, const SharedTensors* shared)
      : owner_(problem.owner), precision_(precision), shared_(shared) {}

  TensorBytes bytes(MatrixView rows, int top = 0) const {
    const Index count = pyramid_rows(rows.rows, top + 1);
    TensorBytes out;
    if (!has(rows, Precision::fp32, top)) out.fp32 = matrix_bytes(count, rows.cols);
    // Means are made beside the tensor itself.
    if (top > 0 && !has(rows, Precision::fp32, top) && !has(rows, Precision::fp32, 0))
      out.fp32 += matrix_bytes(rows.rows, rows.cols);
    if (!has(rows, precision_, top)) out.of_16 = bytes_of_16(count, rows.cols, precision_);
    return out;
  }

 private:
  bool has(MatrixView rows, Precision precision, int top) const {
    return shared_ && shared_->has({rows, owner_}, {precision, top});
  }

  const std::shared_ptr<const void> owner_;
  const Precision precision_;
  const SharedTensors* const shared_;
};

MatrixView first_columns(MatrixView m, Index cols) {
  return {m.data, m.rows, std::min(m.cols, cols), m.stride};
}

double bytes_of_conditions(const Problem& problem) {
  double bytes = 0;
  if (const LogitRule* rule = problem.rule.get())
    bytes += float_size * as_double(std::ssize(rule->by_distance) + std::ssize(rule->by_key) +
                                    rule->bias.rows() * rule->bias.stride());
  if (const PairMask* mask = problem.mask.get())
    bytes +=
        int_size * as_double(std::ssize(mask->query_document()) + std::ssize(mask->key_document()) +
                             mask->pairs().rows() * mask->pairs().stride());
  return bytes;
}

/// Orders and weights of a pass, its tiles as query tiles and runs of keys.
double bytes_of_lists(const Pass& pass, const Lengths& lengths, Precision precision) {
  constexpr Index least_height = 16;
  double query_tiles = 0, runs = 0;
  IndexRange last{-1, -1};
  for (const Tile& tile : pass.tiles) {
    const Index rows = std::max<Index>(1, tile.rows.size());
    // Each query tile of the rows has a run. If few rows have several runs, these are cut where
    // runs of other rows in the same query tile end: on average into two parts, or into three on
    // tensor cores, whose query tiles are taller. Both numbers were found by trial.
    const double parts = precision == Precision::fp32 ? 2 : 3;
    runs += rows >= least_height ? 1 + as_double(rows / least_height)
            : tile.rows == last  ? parts
                                 : 1;
    if (tile.rows == last) continue;
    last = tile.rows;
    query_tiles += 1 + as_double(rows / least_height);
  }
  const bool weighted = !pass.weight.empty() || pass.key_level > 0;
  const Index cols =
      pass.cols.empty() ? clusters(lengths.keys, pass.key_level) : std::ssize(pass.cols);
  return int_size * as_double(std::ssize(pass.rows) + std::ssize(pass.cols)) +
         (weighted ? 2 * float_size * as_double(cols) : 0) + sizeof(QueryTile) * query_tiles +
         2 * sizeof(ColumnRun) * runs;
}

/// bound_list.cpp, sweep.cpp.
DeviceNeed tiles_need(const TilePlan& plan, const Problem& problem, Precision precision,
                      const Tensors& tensors) {
  const Lengths lengths = problem.lengths();
  DeviceNeed need{.bound = bytes_of_conditions(problem)};
  int query_top = 0, key_top = 0;
  Index rounds = 0;
  for (const Pass& pass : plan.passes) {
    query_top = std::max(query_top, pass.query_level);
    key_top = std::max(key_top, pass.key_level);
    rounds = std::max<Index>(rounds, std::ssize(pass.earlier));
    need.bound += bytes_of_lists(pass, lengths, precision);
  }
  const Index cols = std::min(columns_of_slice, std::max<Index>(problem.dv(), 1)),
              states = pyramid_rows(lengths.queries, query_top + 1);
  const int top_of_queries = plan.coarse_query == CoarseQuery::mean ? query_top : 0;
  need.bound += tensors.bytes(problem.q, top_of_queries).all() +
                tensors.bytes(problem.k, key_top).all() +
                int_size * as_double(rounds * (lengths.queries + lengths.keys));
  // The keys of few query tiles are divided, whose parts have as many states again. Sums stay.
  const double swept = 2 * (matrix_bytes(states, cols) + 2 * float_size * as_double(states)) +
                       3 * float_size * as_double(lengths.queries);
  // What other columns keep of wider values may be parts of another width.
  constexpr Index least_columns_of_pass = 64;
  const TensorBytes values =
      (problem.dv() <= least_columns_of_pass ? tensors : Tensors(problem, precision, nullptr))
          .bytes(first_columns(problem.v, cols), key_top);
  need.applied = precision == Precision::fp32 ? values.fp32 + swept
                                              : values.of_16 + std::max(values.fp32, swept);
  return need;
}

/// node_tables.cpp, node_operator.cpp.
DeviceNeed nodes_need(const NodePlan& plan, bool causal, const Problem& problem,
                      const Tensors& tensors) {
  constexpr double keys_of_a_piece = 128;
  const Lengths lengths = problem.lengths();
  const double keys = as_double(lengths.keys), queries = as_double(lengths.queries),
               depths = as_double(std::ssize(plan.alpha));
  double nodes = 1, leaves = 1;
  for (const int branching : plan.branching) nodes += leaves *= branching;
  const double slots = std::min(nodes, 1 + keys * (depths - 1)),
               pieces = causal ? slots + depths * keys / keys_of_a_piece
                               : std::min(leaves, keys) + keys / keys_of_a_piece;
  const Index cols = std::min(columns_of_slice, std::max<Index>(problem.dv(), 1));
  const double stride = as_double((cols + 3) / 4 * 4);
  const double sorting = 8 * int_size * keys;  // while it is bound
  const double sums = causal ? 4 * (float_size * depths * keys + double_size * pieces)
                             : double_size * stride * (slots + pieces);
  return {.bound = int_size *
                   (5 * slots + (depths + 1) * keys + (3 * depths + 1) * queries + 6 * pieces),
          .applied = std::max(sorting, tensors.bytes(first_columns(problem.v, cols)).fp32 +
                                           matrix_bytes(lengths.queries, cols) + sums)};
}

/// feature_operator.cpp.
DeviceNeed features_need(const FeaturePlan& plan, const Problem& problem, const Tensors& tensors) {
  constexpr double most_together = 0x1p23;
  const Index n = problem.queries(), d = problem.d(), features = plan.features(d),
              chunks = (n + feature_chunk - 1) / feature_chunk,
              cols = std::min(columns_of_slice, std::max<Index>(problem.dv(), 1));
  const double of_chunk = (as_double(features) + 4) * (2 * feature_chunk + as_double(cols) + 4),
               together = std::min(std::max(most_together, of_chunk), of_chunk * as_double(chunks));
  const double values = tensors.bytes(first_columns(problem.v, cols)).fp32;
  return {
      .bound = tensors.bytes(problem.q).fp32 + tensors.bytes(problem.k).fp32 +
               matrix_bytes(plan.directions.rows(), d),
      .applied = 4 * matrix_bytes(chunks + 1, features) + matrix_bytes(n, feature_chunk) +
                 (3 * float_size + double_size) * as_double(n) + values + matrix_bytes(n, cols) +
                 double_size * as_double(features) * (as_double(cols) + 5) + float_size * together};
}

}  // namespace

DeviceNeed device_need(const Plan& plan, const Problem& problem, Precision precision,
                       const SharedTensors* shared) {
  const Tensors tensors(problem, precision, shared);
  return visit_form(
      plan, [&](const TilePlan& tiles) { return tiles_need(tiles, problem, precision, tensors); },
      [&](const NodePlan& nodes) { return nodes_need(nodes, plan.causal, problem, tensors); },
      [&](const FeaturePlan& features) {
        return plan.causal ? features_need(features, problem, tensors) : DeviceNeed{};
      },
      // Their operators bind plans of tiles, which are checked in turn.
      [](const one_of<ProjectedPlan, GatedPlan, ImportedPlan> auto&) { return DeviceNeed{}; },
      [](const RecurrentPlan&) { return DeviceNeed{}; });  // computed on the CPU
}

}  // namespace fovea::cuda
