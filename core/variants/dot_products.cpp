#include "variants/dot_products.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "backend/loops_named.h"

namespace fovea {
namespace {

constexpr double no_score = -std::numeric_limits<double>::infinity();

/// Numbers in the order of floats; equal for scores that are nearly equal.
std::uint32_t rounded_order(double score) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(score));
  const std::uint32_t negative = 0u - (bits >> 31);  // all bits, or none
  return bits ^ (negative | 0x80000000u);
}

}  // namespace

void dot_products(MatrixView q, IndexRange queries, MatrixView k, IndexRange keys, double* out) {
  static const isa::Loops& loops = loops_named("auto");
  constexpr Index side = isa::wide_keys;
  const Index d = q.cols, width = keys.size(), count = queries.size();
  std::vector<double> transposed(static_cast<std::size_t>(d * side)),
      products(static_cast<std::size_t>(count * side));
  std::vector<const float*> rows;
  std::vector<double*> sums;
  for (Index i = 0; i < count; ++i) {
    rows.push_back(q.row(queries.begin + i));
    sums.push_back(products.data() + i * side);
  }
  for (Index first = 0; first < width; first += side) {
    const Index some = std::min(side, width - first);
    for (Index l = 0; l < some; ++l)
      for (Index c = 0; c < d; ++c)
        transposed[static_cast<std::size_t>(c * side + l)] =
            static_cast<double>(k(keys.begin + first + l, c));
    loops.wide_products(rows.data(), static_cast<int>(count), static_cast<int>(d),
                        transposed.data(), sums.data());
    for (Index i = 0; i < count; ++i)
      std::copy_n(products.data() + i * side, some, out + i * width + first);
  }
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
void keep_largest(std::vector<std::int32_t>& items, const double* scores, Index count) {
  if (std::ssize(items) <= count) return;
  const auto score = [&](std::int32_t item) {
    return std::isnan(scores[item]) ? no_score : scores[item];
  };
  std::vector<std::uint32_t> order(items.size());
  std::uint32_t least = std::numeric_limits<std::uint32_t>::max(), most = 0;
  for (std::size_t at = 0; at < items.size(); ++at) {
    const std::uint32_t x = order[at] = rounded_order(score(items[at]));
    least = std::min(least, x);
    most = std::max(most, x);
  }
  constexpr int bins_bits = 11;
  const int shift = std::max(0, static_cast<int>(std::bit_width(most - least)) - bins_bits);
  std::array<Index, std::size_t{1} << bins_bits> size{};
  for (std::uint32_t& x : order) ++size[x = (x - least) >> shift];
  std::uint32_t bound = static_cast<std::uint32_t>(size.size()) - 1;
  Index above = 0;
  while (above + size[bound] < count) above += size[bound--];
  std::vector<std::size_t> on_bound;  // places among the items
  for (std::size_t at = 0; at < items.size(); ++at)
    if (order[at] == bound) on_bound.push_back(at);
  const auto wanted = on_bound.begin() + (count - above);
  const auto score_at = [&](std::size_t at) { return score(items[at]); };
  const auto alike = [&](std::size_t at) { return score_at(at) == score_at(on_bound.front()); };
  if (wanted != on_bound.end() && !std::ranges::all_of(on_bound, alike))
    std::nth_element(on_bound.begin(), wanted, on_bound.end(), [&](std::size_t a, std::size_t b) {
      return score_at(a) != score_at(b) ? score_at(a) > score_at(b) : a < b;
    });
  for (auto at = on_bound.begin(); at != wanted; ++at) order[*at] = bound + 1;
  std::size_t kept = 0;
  for (std::size_t at = 0; at < items.size(); ++at) {  // without a branch
    items[kept] = items[at];
    kept += order[at] > bound;
  }
  items.resize(kept);
}

}  // namespace fovea
