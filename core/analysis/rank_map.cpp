#include "analysis/rank_map.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

#include "analysis/singular_values.h"

namespace fovea {
namespace {

void add_block(RankMap& map, IndexRange rows, IndexRange cols, int level) {
  const auto cut = [&](IndexRange r) { return IndexRange{r.begin, std::min(r.end, map.n)}; };
  if (rows.begin < map.n && cols.begin < map.n)
    map.blocks.push_back({cut(rows), cut(cols), level, 0, {}});
}

// Diagonal leaves, then the two off-diagonal blocks between siblings of 2^(level - 1) leaves each.
void add_hierarchy(RankMap& map, Index leaf) {
  for (Index i = 0; i < map.n; i += leaf) add_block(map, {i, i + leaf}, {i, i + leaf}, 0);
  int level = 1;
  for (Index side = leaf; side < map.n; side *= 2, ++level)
    for (Index i = 0; i + side < map.n; i += 2 * side) {
      const IndexRange first{i, i + side}, second{i + side, i + 2 * side};
      add_block(map, first, second, level);
      add_block(map, second, first, level);
    }
}

void add_grid(RankMap& map, Index leaf) {
  for (Index i = 0; i < map.n; i += leaf)
    for (Index j = 0; j < map.n; j += leaf) add_block(map, {i, i + leaf}, {j, j + leaf}, 0);
}

std::vector<float> values_of(const Matrix& block, const std::stop_token& stop) {
  std::vector<double> entries;
  entries.reserve(static_cast<std::size_t>(block.rows() * block.cols()));
  for (Index i = 0; i < block.rows(); ++i)
    entries.insert(entries.end(), block.row(i), block.row(i) + block.cols());
  const auto values = singular_values(entries.data(), block.rows(), block.cols(), stop);
  return {values.begin(), values.end()};
}

// Decomposes blocks on a few threads; entries are asked for by one at a time.
void decompose(RankMap& map, const Entries& entries, Run& run) {
  std::mutex one_reader;
  std::exception_ptr error;
  std::atomic<std::size_t> next = 0;
  std::atomic<double> done = 0;
  double total = 0;
  const auto effort = [](const RankBlock& b) {
    const double rows = static_cast<double>(b.rows.size()),
                 cols = static_cast<double>(b.cols.size());
    return rows * cols * std::min(rows, cols);
  };
  std::vector<RankBlock*> order;  // the largest first: the threads end together
  for (RankBlock& b : map.blocks) order.push_back(&b), total += effort(b);
  std::ranges::stable_sort(order, std::greater{}, [&](const RankBlock* b) { return effort(*b); });
  const auto work = [&] {
    try {
      for (std::size_t b = next++; b < order.size(); b = next++) {
        run.check();
        Matrix block;
        {
          const std::scoped_lock lock(one_reader);
          block = entries(order[b]->rows, order[b]->cols);
        }
        order[b]->singular_values = values_of(block, run.stop);
        const double so_far = done += effort(*order[b]);
        if (run.progress) run.progress->fraction = so_far / total;
      }
    } catch (...) {
      next = order.size();
      const std::scoped_lock lock(one_reader);
      if (!error) error = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    const std::size_t wanted = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 8);
    for (std::size_t t = 1; t < std::min(wanted, order.size()); ++t) threads.emplace_back(work);
    work();
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace

RankMap map_ranks(Index n, const Entries& entries, const RankOptions& options, Run& run) {
  if (options.leaf < 1)
    throw UsageError("rank map: leaf is " + std::to_string(options.leaf) + ", at least 1 expected");
  RankMap map{.n = n, .partition = options.partition, .blocks = {}};
  if (options.partition == Partition::hierarchy)
    add_hierarchy(map, options.leaf);
  else
    add_grid(map, options.leaf);
  for (const RankBlock& b : map.blocks)
    if (std::max(b.rows.size(), b.cols.size()) > largest_rank_block)
      throw UnavailableError("rank map: a block of " + std::to_string(b.rows.size()) + " x " +
                             std::to_string(b.cols.size()) +
                             " is too large to decompose; at most " +
                             std::to_string(largest_rank_block) + " a side");
  decompose(map, entries, run);
  set_tolerance(map, options.tolerance, options.relative);
  return map;
}

void set_tolerance(RankMap& map, double tolerance, bool relative) {
  for (RankBlock& b : map.blocks) b.rank = numerical_rank(b.singular_values, tolerance, relative);
}

int numerical_rank(const std::vector<float>& values, double tolerance, bool relative) {
  if (relative) {
    const double limit = values.empty() ? 0 : tolerance * static_cast<double>(values.front());
    return static_cast<int>(std::ranges::count_if(
        values, [&](float sigma) { return static_cast<double>(sigma) > limit; }));
  }
  // From the small end, so that the tail is summed without loss.
  double tail = 0;
  std::size_t rank = values.size();
  while (rank > 0 && tail + static_cast<double>(values[rank - 1]) < tolerance)
    tail += static_cast<double>(values[--rank]);
  return static_cast<int>(rank);
}

Index bounded_values(const RankBlock& block) {
  double squares = 0;
  for (const float sigma : block.singular_values)
    squares += static_cast<double>(sigma) * static_cast<double>(sigma);
  const auto& values = block.singular_values;
  if (std::min(block.rows.size(), block.cols.size()) <= direct_side) return 0;
  const auto first = std::ranges::find_if(values, [&](float sigma) {
    return static_cast<double>(sigma) <= negligible_share * std::sqrt(squares);
  });
  Index longest = 0;
  for (auto begin = first; begin != values.end() && *begin > 0;) {
    const auto end = std::find_if(begin, values.end(), [&](float s) { return s != *begin; });
    longest = std::max<Index>(longest, end - begin);
    begin = end;
  }
  return longest > 1 ? longest : 0;
}

double stored_entries(const RankMap& map) {
  double sum = 0;
  for (const RankBlock& b : map.blocks) {
    const double rows = static_cast<double>(b.rows.size()),
                 cols = static_cast<double>(b.cols.size());
    const double factors = b.rank * (rows + cols);
    const bool leaf = map.partition == Partition::hierarchy && b.level == 0;
    sum += leaf ? rows * cols : std::min(rows * cols, factors);
  }
  return sum;
}

}  // namespace fovea
