#include "panels/head_card.h"

#include <algorithm>
#include <cmath>

#include "analysis/metrics.h"

namespace fovea {
namespace {

constexpr Index card_side = 48;
constexpr Index card_full_pooling = 2048;  // beyond, a card looks at sampled rows: n d work each
constexpr Index card_error_limit = 4096;   // beyond, a whole exact run for every head is too dear

Matrix sampled_picture(const Operator& op, Index n, Index side, Run& run) {
  Matrix picture(side, side);
  for (Index r = 0; r < side; ++r) {
    const Index i = (2 * r + 1) * n / (2 * side);
    const Matrix row = op.tile({i, i + 1}, {0, n}, {Pool::Kind::max, 1, side}, run);
    std::copy_n(row.row(0), side, picture.row(r));
  }
  return picture;
}

// Entropy, density and mass on later keys over at most 64 evenly spaced rows.
void read_rows(const Operator& op, Index n, HeadCard& card, Run& run) {
  const Index count = std::min<Index>(n, 64);
  double entropy = 0, dense = 0, future = 0;
  for (Index r = 0; r < count; ++r) {
    const Index i = (2 * r + 1) * n / (2 * count);
    const Matrix row = op.tile({i, i + 1}, {0, n}, run);
    for (Index j = 0; j < n; ++j) {
      const double p = row(0, j);
      if (p > 0) entropy -= p * std::log(p);
      if (p * static_cast<double>(n) > 1) ++dense;
      if (j > i) future += p;
    }
  }
  card.entropy = entropy / static_cast<double>(count) / std::log(std::max(2.0, double(n)));
  card.future_mass = future / static_cast<double>(count);
  card.density = dense / static_cast<double>(count) / static_cast<double>(n);
}

}  // namespace

HeadCard make_head_card(const Source& source, const HeadChoice& head, const Column& column,
                        const Backend& backend, Run& run) {
  HeadCard card{.layer = head.layer, .head = head.head};
  const Problem problem = problem_of(source, head);
  const Index n = problem.n(), side = std::min(card_side, n);
  const bool whole = n <= card_full_pooling;
  // Binding is enough for the picture; a run is only needed for the output error.
  const auto op = prepare(problem, {.variant = &reference_variant()}, backend, run).op;
  card.sampled = !whole;
  card.picture = whole ? op->tile({0, n}, {0, n}, {Pool::Kind::max, side, side}, run)
                       : sampled_picture(*op, n, side, run);
  read_rows(*op, n, card, run);
  const bool has_form = find_variant(column.variant).refusal(problem).empty();
  if (n <= card_error_limit && !is_reference(column.variant) && has_form) {
    const Computation approximate = compute(problem, request_of(column), backend, run);
    card.error = output_rel_fro(approximate.output.z, op->apply(problem.v, run).z);
  }
  return card;
}

}  // namespace fovea
