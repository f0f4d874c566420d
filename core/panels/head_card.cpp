#include "panels/head_card.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/metrics.h"

namespace fovea {
namespace {

constexpr Index card_side = 48;
constexpr Index card_full_pooling = 2048;  // longer heads are sampled: n d work for each row
constexpr Index card_error_limit = 4096;   // a whole exact run of every longer head is too dear

Matrix sampled_picture(const Operator& op, Index down, Index across, Run& run) {
  Matrix picture(down, across);
  for (Index r = 0; r < down; ++r) {
    const Index i = (2 * r + 1) * op.plan().queries() / (2 * down);
    const Matrix row =
        op.tile({i, i + 1}, {0, op.plan().keys()}, {Pool::Kind::max, 1, across}, run);
    std::copy_n(row.row(0), across, picture.row(r));
  }
  return picture;
}

// Entropy, density and mass on later keys over at most 64 evenly spaced rows.
void read_rows(const Operator& op, HeadCard& card, Run& run) {
  if (op.plan().as<RecurrentPlan>()) {  // its weights have signs, and no sum
    card.entropy = card.density = std::numeric_limits<double>::quiet_NaN();
    return;
  }
  const auto [queries, keys] = op.plan().lengths;
  const Index count = std::min<Index>(queries, 64);
  double entropy = 0, dense = 0, future = 0;
  for (Index r = 0; r < count; ++r) {
    const Index i = (2 * r + 1) * queries / (2 * count);
    const Matrix row = op.tile({i, i + 1}, {0, keys}, run);
    for (Index j = 0; j < keys; ++j) {
      const double p = row(0, j);
      if (!(p <= 0)) entropy -= p * std::log(p);  // a NaN stays
      if (p * static_cast<double>(keys) > 1) ++dense;
      if (j > i + keys - queries) future += p;
    }
  }
  card.entropy = entropy / static_cast<double>(count) / std::log(std::max(2.0, double(keys)));
  card.future_mass = future / static_cast<double>(count);
  card.density = std::isnan(entropy) ? entropy : dense / static_cast<double>(count * keys);
}

}  // namespace

HeadCard make_head_card(const Source& source, const HeadChoice& head, const Backend& backend,
                        Run& run) {
  HeadCard card{.layer = head.layer, .head = head.head};
  const Problem problem = problem_of(source, head, run.stop);
  const auto [queries, keys] = problem.lengths();
  const Index down = std::min(card_side, queries), across = std::min(card_side, keys);
  const bool whole = std::max(queries, keys) <= card_full_pooling;
  // Binding is enough: nothing here needs the outputs.
  const Computation exact = prepare(problem, {.variant = &reference_variant()}, backend, run);
  card.sampled = !whole;
  card.picture = whole
                     ? exact.op->tile({0, queries}, {0, keys}, {Pool::Kind::max, down, across}, run)
                     : sampled_picture(*exact.op, down, across, run);
  read_rows(*exact.op, card, run);
  return card;
}

std::optional<double> head_error(const Source& source, const HeadChoice& head, const Column& column,
                                 const Backend& backend, Run& run) {
  const Problem problem = problem_of(source, head, run.stop);
  const auto [queries, keys] = problem.lengths();
  const bool has_form = find_variant(column.variant).refusal(problem).empty();
  if (is_reference(column.variant) || !has_form || !problem.has_values() ||
      std::max(queries, keys) > card_error_limit)
    return {};
  const Computation approximate = compute(problem, request_of(column), backend, run);
  Computation exact = prepare(problem, {.variant = &reference_variant()}, backend, run);
  apply(exact, run);
  return output_rel_fro(approximate.output.z, exact.output.z);
}

}  // namespace fovea
