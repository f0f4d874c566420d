#include "study/head_cards.h"

#include <algorithm>
#include <cmath>
#include <tuple>

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

// Entropy and density over at most 64 evenly spaced rows.
void read_rows(const Operator& op, Index n, HeadCard& card, Run& run) {
  const Index count = std::min<Index>(n, 64);
  double entropy = 0, dense = 0;
  for (Index r = 0; r < count; ++r) {
    const Index i = (2 * r + 1) * n / (2 * count);
    const Matrix row = op.tile({i, i + 1}, {0, n}, run);
    for (Index j = 0; j < n; ++j) {
      const double p = row(0, j);
      if (p > 0) entropy -= p * std::log(p);
      if (p * static_cast<double>(n) > 1) ++dense;
    }
  }
  card.entropy = entropy / static_cast<double>(count) / std::log(std::max(2.0, double(n)));
  card.density = dense / static_cast<double>(count) / static_cast<double>(n);
}

HeadCard look_at_head(const Source& source, const HeadCardKey& key, const Backend& backend,
                      Run& run) {
  const auto [layer, head] = std::pair(key.head.layer, key.head.head);
  HeadCard card{.layer = layer, .head = head};
  const Problem problem = problem_of(source, {layer, head, key.head.scale, key.head.causal});
  const Index n = problem.n(), side = std::min(card_side, n);
  const bool whole = n <= card_full_pooling;
  // Binding is enough for the picture; a run is only needed for the output error.
  const auto op = plan_and_bind(problem, {.variant = &reference_variant()}, backend, run).op;
  card.sampled = !whole;
  card.picture = whole ? op->tile({0, n}, {0, n}, {Pool::Kind::max, side, side}, run)
                       : sampled_picture(*op, n, side, run);
  read_rows(*op, n, card, run);
  if (n <= card_error_limit && !key.column.variant.empty() && !is_reference(key.column.variant)) {
    const Computation approximate = compute(problem,
                                            {.variant = &find_variant(key.column.variant),
                                             .values = key.column.values,
                                             .seed = key.column.seed,
                                             .repeats = 0},
                                            backend, run);
    card.error = output_rel_fro(approximate.output.z, op->apply(problem.v, run).z);
  }
  return card;
}

}  // namespace

bool HeadCards::want(Heads heads) {
  if (heads == wanted_) return false;
  wanted_ = std::move(heads);
  return true;
}

HeadCardKey HeadCards::key_of(Index layer, Index head) const {
  HeadCardKey key{.head = subject_.head(), .column = {}};
  std::tie(key.head.layer, key.head.head) = std::pair(layer, head);
  const auto& columns = subject_.session.columns;
  if (subject_.selected_column < static_cast<int>(columns.size()))
    key.column = columns[static_cast<std::size_t>(subject_.selected_column)];
  return key;
}

std::shared_ptr<const HeadCard> HeadCards::card(Index layer, Index head) {
  return cards_.result(key_of(layer, head));
}

// One at a time: the next is requested when it arrives.
bool HeadCards::update(bool idle) {
  bool missing = false;
  for (const auto& [layer, head] : wanted_) {
    const HeadCardKey key = key_of(layer, head);
    if (cards_.find(key)) continue;
    missing = true;
    if (idle)
      requests_.ask(cards_, {RequestKind::card}, key,
                    [key, source = subject_.source](const Backend& backend, Run& run) {
                      return look_at_head(*source, key, backend, run);
                    });
    break;
  }
  const bool changed = missing || shown_ != wanted_.size();
  shown_ = missing ? 0 : wanted_.size();
  return changed;
}

void HeadCards::clear() {
  cards_.clear();
  shown_ = 0;
}

}  // namespace fovea
