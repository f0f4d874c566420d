// The patterns that sparse prefill runs in a head: which pairs of query and key each of them keeps
// within a budget of pairs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "data/problem.h"

namespace fovea {

/// From the cheapest to run to the dearest: the first keys and the nearest ones (StreamingLLM, the
/// A-shape of MInference); columns and diagonals; blocks of keys for each block of queries; all.
enum class HeadPattern { streaming, vertical_slash, block, full };
inline constexpr HeadPattern sparse_patterns[] = {HeadPattern::streaming,
                                                  HeadPattern::vertical_slash, HeadPattern::block};

/// "streaming", "vertical-slash", "block", "full".
std::string pattern_name(HeadPattern pattern);

/// The columns of streaming are the first keys, its diagonals those nearest to the query's own
/// place. The numbers that a pattern does not have are 0.
struct PatternSizes {
  Index columns = 0, diagonals = 0;
  Index block = 0, blocks = 0;  // tokens of a block, and blocks of keys for each block of queries
};

/// "26 sinks, window 391"; "204 columns, 215 diagonals"; "6 blocks of 64".
std::string to_text(HeadPattern pattern, const PatternSizes& sizes);

/// One pattern with its sizes, as it is in one head.
struct FittedPattern {
  HeadPattern pattern = HeadPattern::full;
  PatternSizes sizes;
  double pairs = 0;  // that it keeps
  /// The part of a row of P [n] that it keeps.
  std::function<double(Index query, const float* weights)> mass;
};

/// The pairs that the head's masks admit.
double admitted_pairs(const Problem& problem);

/// How MInference chooses lines in a head of n tokens. Short heads have fewer in proportion.
struct FixedLines {
  Index columns = 0;        // the first keys, which are columns whatever their mass
  Index diagonals = 0;      // the nearest distances, which are diagonals whatever their mass
  Index last_queries = 64;  // their mass chooses all other lines
};
FixedLines fixed_lines(Index n);

/// The patterns that keep at most `pairs` pairs of a head with as many queries as keys. Lines share
/// the pairs in five ways, from nearly all for diagonals to nearly all for columns. As MInference
/// chooses them, columns and diagonals are those of the largest mass in the last queries, the fixed
/// lines before all others, and blocks, of 64 tokens or fewer in short heads, are those of the
/// largest products of mean query and mean key. Throws UnavailableError if the rows of the last
/// queries do not fit into memory, Cancelled.
std::vector<FittedPattern> patterns_within(const Problem& problem, double pairs,
                                           const Backend& backend, Run& run);

}  // namespace fovea
