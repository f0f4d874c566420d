#include "sweep/head_patterns.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "analysis/support.h"
#include "data/number_text.h"
#include "variants/block_map.h"
#include "variants/dot_products.h"
#include "variants/line_masses.h"

namespace fovea {
namespace {

using Lines = std::vector<std::int32_t>;

double admitted_pairs_in(const Problem& problem, IndexRange queries, IndexRange keys,
                         Band band = {}) {
  band = band & problem.band();
  if (!problem.mask) return pairs_in_band(queries, keys, band);
  double pairs = 0;
  for (Index i = queries.begin; i < queries.end; ++i)
    if (const IndexRange near = band.keys(i).intersected(keys); near.size() > 0)
      pairs += static_cast<double>(problem.mask->count(i, near));
  return pairs;
}

/// How many pairs the head admits in columns and diagonals. Each is counted once, when it is
/// wanted.
class LinePairs {
 public:
  LinePairs(const Problem& problem, const Run& run)
      : problem_(problem),
        run_(run),
        columns_(n(), not_counted),
        diagonals_(2 * n(), not_counted) {}

  const Problem& problem() const { return problem_; }
  Index n() const { return problem_.n(); }
  double of_column(Index j) { return counted(columns_, j, {j, j + 1}, {}); }
  /// The pairs with i - j = distance, from -n to n - 1.
  double of_diagonal(Index distance) {
    return counted(diagonals_, distance + n(), {0, n()}, {distance, distance});
  }

 private:
  static constexpr double not_counted = -1;

  double counted(std::vector<double>& known, Index place, IndexRange keys, Band band) {
    double& pairs = known[place];
    if (pairs == not_counted) {
      run_.check();
      pairs = admitted_pairs_in(problem_, {0, n()}, keys, band);
    }
    return pairs;
  }

  const Problem& problem_;
  const Run& run_;
  std::vector<double> columns_, diagonals_;
};

/// Columns, and the pairs of diagonals that lie in no column. Without a causal mask a diagonal is
/// on both sides.
class KeptLines {
 public:
  /// Takes lines in their order while they fit: columns into a share of the pairs, diagonals into
  /// what is left of them.
  KeptLines(LinePairs& lines, const Lines& columns, const Lines& diagonals, double column_share,
            double most_pairs, const Run& run)
      : n_(lines.n()), causal_(lines.problem().causal), is_column_(n_) {
    for (const std::int32_t j : columns) {
      const double more = lines.of_column(j);
      if (pairs_ + more > column_share * most_pairs) break;
      pairs_ += more;
      columns_.push_back(j);
      is_column_[j] = true;
    }
    for (const std::int32_t distance : diagonals) {
      run.check();
      double more = new_pairs_at(lines, distance);
      if (!causal_ && distance > 0) more += new_pairs_at(lines, -distance);
      if (pairs_ + more > most_pairs) break;
      pairs_ += more;
      diagonals_.push_back(distance);
    }
  }

  double pairs() const { return pairs_; }
  PatternSizes sizes() const {
    return {.columns = std::ssize(columns_), .diagonals = std::ssize(diagonals_)};
  }

  double mass(Index query, const float* weights) const {
    double sum = 0;
    for (const std::int32_t j : columns_) sum += double{weights[j]};
    const auto add = [&](Index j) {
      if (j >= 0 && j < n_ && !is_column_[j]) sum += double{weights[j]};
    };
    for (const std::int32_t distance : diagonals_) {
      add(query - distance);
      if (!causal_ && distance > 0) add(query + distance);
    }
    return sum;
  }

 private:
  double new_pairs_at(LinePairs& lines, Index distance) const {
    double pairs = lines.of_diagonal(distance);
    for (const std::int32_t j : columns_)
      if (const Index i = j + distance; i >= 0 && i < n_) pairs -= lines.problem().admits(i, j);
    return pairs;
  }

  Index n_;
  bool causal_;
  double pairs_ = 0;
  Lines columns_, diagonals_;
  std::vector<bool> is_column_;
};

/// The same number of blocks of keys for each block of queries, or all that there are.
class KeptBlocks {
 public:
  KeptBlocks(const Problem& problem, double most_pairs, const Backend& backend, Run& run)
      : blocks_{problem.n(), short_size(problem.n() / 4, 64)}, kept_(blocks_.count()) {
    const Matrix queries = block_means(problem.q, blocks_), keys = block_means(problem.k, blocks_);
    backend.share_out(blocks_.count(), run,
                      [&](Index row) { kept_[row] = by_score(problem, queries, keys, row); });
    std::vector<double> of_rank(blocks_.count());
    for (Index row = 0; row < blocks_.count(); ++row) {
      run.check();
      const Lines& its = kept_[row];
      for (std::size_t rank = 0; rank < its.size(); ++rank)
        of_rank[rank] += admitted_pairs_in(problem, blocks_.tokens(row), blocks_.tokens(its[rank]));
    }
    for (; most_ < blocks_.count(); ++most_) {
      const double more = of_rank[most_];
      if (pairs_ + more > most_pairs) break;
      pairs_ += more;
    }
    for (Lines& its : kept_) {
      its.resize(std::min(its.size(), static_cast<std::size_t>(most_)));
      its.shrink_to_fit();
    }
  }

  double pairs() const { return pairs_; }
  PatternSizes sizes() const { return {.block = blocks_.size, .blocks = most_}; }

  double mass(Index query, const float* weights) const {
    double sum = 0;
    for (const std::int32_t block : kept_[query / blocks_.size]) {
      const IndexRange keys = blocks_.tokens(block);
      sum = std::accumulate(weights + keys.begin, weights + keys.end, sum);
    }
    return sum;
  }

 private:
  // The blocks in which the row may attend a key, those of the largest products of means first.
  Lines by_score(const Problem& problem, const Matrix& queries, const Matrix& keys,
                 Index row) const {
    std::vector<double> scores(blocks_.count());
    dot_products(queries, {row, row + 1}, keys, {0, blocks_.count()}, scores.data());
    const auto score = [&](std::int32_t block) { return problem.scale * scores[block]; };
    Lines its;
    for (std::int32_t block = 0; block < blocks_.count(); ++block)
      if (admits_any(problem, blocks_.tokens(row), blocks_.tokens(block))) its.push_back(block);
    std::ranges::stable_sort(
        its, [&](std::int32_t a, std::int32_t b) { return is_larger(score(a), score(b)); });
    return its;
  }

  KeyBlocks blocks_;
  std::vector<Lines> kept_;  // of each block of queries
  Index most_ = 0;
  double pairs_ = 0;
};

template <class Kept>
FittedPattern fitted_pattern(HeadPattern pattern, Kept fitted) {
  const auto kept = std::make_shared<const Kept>(std::move(fitted));
  return {.pattern = pattern,
          .sizes = kept->sizes(),
          .pairs = kept->pairs(),
          .mass = [kept](Index query, const float* weights) { return kept->mass(query, weights); }};
}

}  // namespace

std::string pattern_name(HeadPattern pattern) {
  static const char* const names[] = {"streaming", "vertical-slash", "block", "full"};
  return names[static_cast<std::size_t>(pattern)];
}

std::string to_text(HeadPattern pattern, const PatternSizes& sizes) {
  switch (pattern) {
    case HeadPattern::streaming:
      return plural(sizes.columns, "sink") + ", window " + std::to_string(sizes.diagonals);
    case HeadPattern::vertical_slash:
      return plural(sizes.columns, "column") + ", " + plural(sizes.diagonals, "diagonal");
    case HeadPattern::block:
      return plural(sizes.blocks, "block") + " of " + std::to_string(sizes.block);
    case HeadPattern::full:
      break;
  }
  return "all pairs";
}

FixedLines fixed_lines(Index n) {
  constexpr Index from = 8192;
  const auto in_proportion = [n](Index lines) { return std::min(lines, lines * n / from); };
  return {.columns = in_proportion(30), .diagonals = in_proportion(100)};
}

double admitted_pairs(const Problem& problem) {
  return admitted_pairs_in(problem, {0, problem.queries()}, {0, problem.keys()});
}

std::vector<FittedPattern> patterns_within(const Problem& problem, double pairs,
                                           const Backend& backend, Run& run) {
  constexpr double column_shares[] = {1.0 / 16, 0.25, 0.5, 0.75, 15.0 / 16};
  const Index n = problem.n();
  const FixedLines fixed = fixed_lines(n);
  const LineMasses masses = line_masses(problem, fixed.last_queries, backend, run);
  Lines in_sequence(n);
  std::iota(in_sequence.begin(), in_sequence.end(), 0);
  const Lines columns = lines_by_mass(masses.of_keys, fixed.columns),
              diagonals = lines_by_mass(masses.of_distances, fixed.diagonals);
  LinePairs line_pairs(problem, run);
  std::vector<FittedPattern> patterns;
  for (const double share : column_shares) {
    patterns.push_back(
        fitted_pattern(HeadPattern::streaming,
                       KeptLines(line_pairs, in_sequence, in_sequence, share, pairs, run)));
    patterns.push_back(fitted_pattern(
        HeadPattern::vertical_slash, KeptLines(line_pairs, columns, diagonals, share, pairs, run)));
  }
  patterns.push_back(fitted_pattern(HeadPattern::block, KeptBlocks(problem, pairs, backend, run)));
  return patterns;
}

}  // namespace fovea
