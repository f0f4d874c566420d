#include "analysis/rank_map.h"

#include <algorithm>
#include <functional>
#include <span>
#include <string>

#include "analysis/support.h"
#include "backend/singular_values.h"

namespace fovea {
namespace {

void add_block(RankMap& map, IndexRange rows, IndexRange cols, int level) {
  rows.end = std::min(rows.end, map.lengths.queries);
  cols.end = std::min(cols.end, map.lengths.keys);
  if (rows.size() > 0 && cols.size() > 0) map.blocks.push_back({rows, cols, level, 0, {}, 0});
}

// Diagonal leaves, then the two off-diagonal blocks between siblings of 2^(level - 1) leaves each.
void add_hierarchy(RankMap& map, Index leaf) {
  const Index n = map.lengths.n();
  for (Index i = 0; i < n; i += leaf) add_block(map, {i, i + leaf}, {i, i + leaf}, 0);
  int level = 1;
  for (Index side = leaf; side < n; side *= 2, ++level)
    for (Index i = 0; i + side < n; i += 2 * side) {
      const IndexRange first{i, i + side}, second{i + side, i + 2 * side};
      add_block(map, first, second, level);
      add_block(map, second, first, level);
    }
}

void add_grid(RankMap& map, Index leaf) {
  for (Index i = 0; i < map.lengths.queries; i += leaf)
    for (Index j = 0; j < map.lengths.keys; j += leaf)
      add_block(map, {i, i + leaf}, {j, j + leaf}, 0);
}

// Memory of the blocks that the back end decomposes at once: eight of the largest.
constexpr Index batch_bytes = 8 * largest_rank_block * largest_rank_block * Index{sizeof(float)};

// Reads and decomposes order[first, last).
void decompose_batch(std::span<RankBlock* const> order, const Entries& entries,
                     const Backend& backend, RankMap& map, Run& run) {
  std::vector<Matrix> blocks;
  std::vector<MatrixView> views;
  for (const RankBlock* b : order) {
    run.check();
    blocks.push_back(entries(b->rows, b->cols));
  }
  for (const Matrix& block : blocks) views.push_back(block);
  Spectra spectra = backend.singular_values(views, run);
  for (std::size_t b = 0; b < order.size(); ++b) {
    order[b]->singular_values = std::move(spectra.values[b]);
    order[b]->resolved = spectra.resolved[b];
  }
  map.left_to_cpu += spectra.left_to_cpu;
}

void decompose(RankMap& map, const Entries& entries, const Backend& backend, Run& run) {
  const auto effort = [](const RankBlock* b) {
    return decomposition_effort(b->rows.size(), b->cols.size());
  };
  double total = 0, done = 0;
  std::vector<RankBlock*> order;  // the largest first
  for (RankBlock& b : map.blocks) order.push_back(&b), total += effort(&b);
  std::ranges::stable_sort(order, std::greater{}, effort);
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    Index bytes = 0;
    double batch = 0;
    for (; last < order.size() && (last == first || bytes < batch_bytes); ++last) {
      bytes += order[last]->rows.size() * order[last]->cols.size() * Index{sizeof(float)};
      batch += effort(order[last]);
    }
    Run part = run.part(done / total, (done + batch) / total);
    decompose_batch(std::span(order).subspan(first, last - first), entries, backend, map, part);
    done += batch;
  }
}

}  // namespace

std::string to_text(RankSubject subject) {
  switch (subject) {
    case RankSubject::attention:
      return "attention";
    case RankSubject::unnormalised:
      return "unnormalised";
    case RankSubject::logits:
      return "logits";
    case RankSubject::error:
      return "error";
  }
  return "";
}

void require_decomposable(Lengths lengths, const RankOptions& options) {
  if (options.leaf < 1)
    throw UsageError("rank map: leaf is " + std::to_string(options.leaf) + "; expected at least 1");
  if (options.partition == Partition::hierarchy && !lengths.equal())
    throw UsageError("rank map: a hierarchy of " + lengths.text() +
                     "; expected as many queries as keys, or the uniform partition");
  const Index n = std::max(lengths.queries, lengths.keys);
  Index side = std::min(options.leaf, n);
  if (options.partition == Partition::hierarchy)
    while (2 * side < n) side *= 2;
  if (side > largest_rank_block)
    throw UnavailableError("rank map of " + std::to_string(n) + " tokens: a block of " +
                           std::to_string(side) + " a side is too large to decompose; at most " +
                           std::to_string(largest_rank_block) + " a side");
}

RankMap map_ranks(Lengths lengths, const Entries& entries, const RankOptions& options,
                  const Backend& backend, Run& run) {
  require_decomposable(lengths, options);
  RankMap map{.lengths = lengths, .partition = options.partition, .causal = options.causal};
  if (options.partition == Partition::hierarchy)
    add_hierarchy(map, options.leaf);
  else
    add_grid(map, options.leaf);
  decompose(map, entries, backend, run);
  set_tolerance(map, options.tolerance, options.relative);
  return map;
}

std::string note_of(const RankMap& map) {
  if (map.left_to_cpu == 0) return "";
  return std::to_string(map.left_to_cpu) + " of " + std::to_string(map.blocks.size()) +
         " blocks were decomposed by the CPU: their rank is too high for the method of the device";
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
  // Starts from the smallest value, so that the tail is summed without loss.
  double tail = 0;
  std::size_t rank = values.size();
  while (rank > 0 && tail + static_cast<double>(values[rank - 1]) < tolerance)
    tail += static_cast<double>(values[--rank]);
  return static_cast<int>(rank);
}

double dense_entries(const RankMap& map, const RankBlock& block) {
  return pairs_in_band(block.rows, block.cols, band_of(map.causal, 0, map.lengths.offset()));
}

double dense_entries(const RankMap& map) {
  double sum = 0;
  for (const RankBlock& block : map.blocks) sum += dense_entries(map, block);
  return sum;
}

double stored_entries(const RankMap& map, const RankBlock& block) {
  const double dense = dense_entries(map, block);
  const bool leaf = map.partition == Partition::hierarchy && block.level == 0;
  return leaf ? dense
              : std::min(dense, static_cast<double>(block.rank) *
                                    static_cast<double>(block.rows.size() + block.cols.size()));
}

double stored_entries(const RankMap& map) {
  double sum = 0;
  for (const RankBlock& block : map.blocks) sum += stored_entries(map, block);
  return sum;
}

double compression(const RankMap& map) {
  return dense_entries(map) / stored_entries(map);
}

}  // namespace fovea
