// The triage of a head: which pattern of sparse prefill keeps the most of its attention under a
// budget of pairs.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "analysis/estimate.h"
#include "analysis/row_bands.h"
#include "sweep/explorer.h"
#include "sweep/head_patterns.h"

namespace fovea {

struct TriageRule {
  /// The share of the admitted pairs that a pattern keeps at most. The commonest setting of
  /// MInference, 1000 columns and 6096 diagonals, keeps about this share at 131072 tokens.
  double budget = 0.1;
  /// The least recall of a pattern that is worth using, as γ of FlexPrefill and τ of XAttention.
  double keep = 0.9;
  friend bool operator==(const TriageRule&, const TriageRule&) = default;
};

struct PatternRecall {
  PatternSizes sizes;
  double pairs = 0;  // a share of the admitted ones
  Estimate recall;
};

struct TriagedHead {
  Index n = 0;
  Index rows = 0;  // that were read
  bool causal = false;
  std::array<PatternRecall, std::size(sparse_patterns)> patterns;  // in their order
  HeadPattern pattern = HeadPattern::full;
  std::vector<HeadPattern> as_good;  // other patterns whose recall is no different
  bool near_keep = false;  // the error leaves open whether the best pattern is worth using

  const PatternRecall& of(HeadPattern sparse) const {
    return patterns[static_cast<std::size_t>(sparse)];
  }
  /// The recall, the pairs and the sizes of its pattern; 1, 1 and none if the head is full.
  double recall() const;
  double pairs() const;
  PatternSizes sizes() const;
};

/// The recall of a pattern is the sum of exact P over the pairs that it keeps, over all queries,
/// divided by the sum of all P: the mass that it keeps. Of each pattern the division of the budget
/// with the largest recall counts. Two recalls are no different if they are closer than .001, or
/// than two standard errors of their difference. The pattern is the cheapest of those that are no
/// different from the best and keep enough; if none keeps enough, the head stays full. Beyond
/// `max_entries` entries of P a sample of rows is read, drawn from `seed`. `exact` is exact
/// attention of a head with as many queries as keys. Throws what patterns_within does.
TriagedHead triage_head(const Operator& exact, const TriageRule& rule, const Backend& backend,
                        Run& run, double max_entries = most_read_entries, std::uint64_t seed = 0);

/// The heads that have a pattern of sparse prefill: softmax attention with queries and keys of one
/// sequence. Adds to `left_out` how many others there are: "3 heads without softmax attention".
std::vector<ExploredHead> heads_with_patterns(const Source& source,
                                              const std::vector<ExploredHead>& heads,
                                              std::vector<std::string>& left_out);

/// The variant with the pairs of a pattern: window, or vertical_slash. Nothing for blocks, which no
/// variant chooses in the same way, for all pairs, and for lines without a diagonal, or in
/// vertical_slash without a column. `n`: tokens of the head.
std::optional<OwnSetting> variant_of(HeadPattern pattern, const PatternSizes& sizes, Index n);

}  // namespace fovea
