#include "variants/dot_products.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "backend/loops_named.h"
#include "data/blocks.h"
#include "data/memory.h"
#include "data/number_text.h"

namespace fovea {
namespace {

constexpr double no_score = -std::numeric_limits<double>::infinity();

const isa::Loops& loops() {
  static const isa::Loops& found = loops_named("auto");
  return found;
}

constexpr Index group = isa::wide_queries, side = isa::wide_keys;

/// Queries in groups, as the loops read them: [group][feature][query]; 0 beyond the last query.
std::vector<double> in_groups(MatrixView q, IndexRange queries) {
  std::vector<double> packed(number_of_blocks(queries.size(), group) * q.cols * group);
  for (Index i = 0; i < queries.size(); ++i) {
    double* const out = packed.data() + i / group * q.cols * group + i % group;
    for (Index c = 0; c < q.cols; ++c) out[c * group] = double{q(queries.begin + i, c)};
  }
  return packed;
}

}  // namespace

DoubleKeys::DoubleKeys(MatrixView keys) : count_(keys.rows), d_(keys.cols) {
  blocks_.resize(number_of_blocks(count_, side) * d_ * side);
  for (Index j = 0; j < count_; ++j)
    for (Index c = 0; c < d_; ++c) block(j / side)[c * side + j % side] = double{keys(j, c)};
}

void DoubleKeys::require_room(MatrixView keys) {
  require_memory(static_cast<double>(sizeof(double)) *
                     static_cast<double>(number_of_blocks(keys.rows, side) * side * keys.cols),
                 "a copy of " + plural(keys.rows, "key") + " in double precision", fewer_tokens);
}

void DoubleKeys::products(MatrixView q, IndexRange queries, IndexRange keys, double* out,
                          Index stride) const {
  const Index rows = queries.size();
  const std::vector<double> packed = in_groups(q, queries);
  std::array<double, group * side> beside;  // products of a block that is not wanted whole
  for (Index b = keys.begin / side; b * side < keys.end; ++b) {
    const IndexRange wanted = keys.intersected({b * side, (b + 1) * side});
    for (Index i = 0; i < rows; i += group) {
      double* to[group];
      const Index some = std::min(group, rows - i);
      const auto place = [&](Index r) {
        return out + (i + r) * stride + wanted.begin - keys.begin;
      };
      for (Index r = 0; r < group; ++r)
        to[r] = wanted.size() == side && r < some ? place(r) : beside.data() + r * side;
      loops().wide_products(packed.data() + i * d_, static_cast<int>(d_), block(b), to);
      for (Index r = 0; wanted.size() < side && r < some; ++r)
        std::copy_n(to[r] + wanted.begin - b * side, wanted.size(), place(r));
    }
  }
}

// Keys of a few blocks at a time stay in a cache.
void dot_products(MatrixView q, IndexRange queries, MatrixView k, IndexRange keys, double* out) {
  constexpr Index together = 8 * side;
  for (Index first = 0; first < keys.size(); first += together) {
    const Index some = std::min(together, keys.size() - first);
    DoubleKeys(k.slice({keys.begin + first, keys.begin + first + some}))
        .products(q, queries, {0, some}, out + first, keys.size());
  }
}

double largest_product(const double* products, Index count) {
  return loops().largest(products, count);
}

void to_weights(double* row, Index count) {
  const double top = *std::max_element(row, row + count);
  if (top == no_score) {
    std::fill_n(row, count, 0.0);
    return;
  }
  double sum = 0;
  for (Index j = 0; j < count; ++j) sum += row[j] = std::exp(row[j] - top);
  for (Index j = 0; j < count; ++j) row[j] /= sum;
}

void exact_weights(const Problem& problem, IndexRange queries, IndexRange keys, double* out) {
  dot_products(problem.q, queries, problem.k, keys, out);
  for (Index i = queries.begin; i < queries.end; ++i, out += keys.size()) {
    const IndexRange near = problem.band().keys(i);
    for (Index j = keys.begin; j < keys.end; ++j) {
      double& s = out[j - keys.begin];
      s *= problem.scale;
      if (problem.rule) s = problem.rule->capped(s) + problem.rule->bias_of(i, j, problem.keys());
      if (!near.contains(j) || (problem.mask && !problem.mask->admits(i, j))) s = no_score;
    }
    to_weights(out, keys.size());
  }
}

// A histogram of rounded scores finds those above the bound, and the few on it are sorted.
void keep_largest(std::vector<std::int32_t>& items, const double* scores, Index count,
                  double least) {
  if (std::ssize(items) <= count) return;
  const double* its = scores + items.front();  // the score of each item
  std::vector<double> gathered;
  if (items.back() - items.front() + 1 != std::ssize(items)) {
    for (const std::int32_t item : items) gathered.push_back(scores[item]);
    its = gathered.data();
  }
  std::vector<std::uint32_t> orders(items.size());
  // Without the checks of a vector, these loops take half as long.
  std::uint32_t* const order = orders.data();
  const Index all = std::ssize(items);
  const auto [lowest, highest] = loops().orders(its, all, least, order);
  constexpr int bins_bits = 11;
  const int shift = std::max(0, static_cast<int>(std::bit_width(highest - lowest)) - bins_bits);
  std::array<std::uint32_t, std::size_t{1} << bins_bits> size{}, others{};
  for (Index at = 0; at < all; ++at) {  // in turn, as an addition waits for the one before
    order[at] = (order[at] - lowest) >> shift;
    ++(at % 2 == 0 ? size : others).data()[order[at]];
  }
  for (std::size_t bin = 0; bin < size.size(); ++bin) size[bin] += others[bin];
  std::uint32_t bound = static_cast<std::uint32_t>(size.size()) - 1;
  Index above = 0;
  while (above + size[bound] < count) above += size[bound--];
  std::vector<Index> on_bound;  // places among the items
  for (Index at = 0; at < all; ++at)
    if (order[at] == bound) on_bound.push_back(at);
  const auto wanted = on_bound.begin() + (count - above);
  const auto score_at = [&](Index at) {
    return std::isnan(its[at]) ? no_score : std::max(its[at], least);
  };
  const auto alike = [&](Index at) { return score_at(at) == score_at(on_bound.front()); };
  if (wanted != on_bound.end() && !std::ranges::all_of(on_bound, alike))
    std::nth_element(on_bound.begin(), wanted, on_bound.end(), [&](Index a, Index b) {
      return score_at(a) != score_at(b) ? score_at(a) > score_at(b) : a < b;
    });
  for (auto at = on_bound.begin(); at != wanted; ++at) order[*at] = bound + 1;
  std::int32_t* const item = items.data();
  Index kept = 0;
  for (Index at = 0; at < all; ++at) {  // without a branch
    item[kept] = item[at];
    kept += order[at] > bound;
  }
  items.resize(kept);
}

}  // namespace fovea
