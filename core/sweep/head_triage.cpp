#include "sweep/head_triage.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "data/number_text.h"
#include "session/session.h"

namespace fovea {
namespace {

constexpr double no_difference = 1e-3;
constexpr double errors_of_no_difference =
    2;  // standard errors within which numbers are no different

/// What patterns keep of each row that was read.
struct KeptMass {
  RowBands rows;
  std::vector<double> all;                // [rows]
  std::vector<std::vector<double>> kept;  // [patterns, rows]

  Estimate recall(std::size_t pattern) const { return ratio_of_sums(rows, kept[pattern], all); }
  bool are_no_different(std::size_t a, std::size_t b) const {
    std::vector<double> difference(all.size());
    std::ranges::transform(kept[a], kept[b], difference.begin(), std::minus<>());
    const Estimate mean = ratio_of_sums(rows, difference, all);
    return std::abs(mean.value) <=
           std::max(no_difference, errors_of_no_difference * mean.standard_error);
  }
};

KeptMass kept_mass(const Operator& exact, const std::vector<FittedPattern>& patterns, RowBands rows,
                   Run& run) {
  const Index n = exact.problem().n();
  KeptMass out{.rows = std::move(rows), .all = {}, .kept = {}};
  out.kept.resize(patterns.size());
  Run quiet = run.quiet();  // progress counts rows
  for (const IndexRange& band : out.rows.bands) {
    run.check();
    const Matrix p = exact.tile(band, {0, n}, quiet);
    for (Index i = band.begin; i < band.end; ++i) {
      const float* weights = p.row(i - band.begin);
      out.all.push_back(std::accumulate(weights, weights + n, 0.0));
      for (std::size_t k = 0; k < patterns.size(); ++k)
        out.kept[k].push_back(patterns[k].mass(i, weights));
    }
    run.reached(static_cast<double>(out.all.size()) / static_cast<double>(out.rows.rows));
  }
  return out;
}

bool is_better(const Estimate& a, const Estimate& b) {
  return a.value > b.value || (std::isnan(b.value) && !std::isnan(a.value));
}

/// For each pattern the try with the largest recall, by its place among all.
using BestTries = std::array<std::size_t, std::size(sparse_patterns)>;

BestTries best_tries(const std::vector<FittedPattern>& tried, const KeptMass& mass) {
  BestTries best;
  best.fill(tried.size());
  for (std::size_t k = 0; k < tried.size(); ++k) {
    std::size_t& its = best[static_cast<std::size_t>(tried[k].pattern)];
    if (its == tried.size() || is_better(mass.recall(k), mass.recall(its))) its = k;
  }
  return best;
}

void choose(TriagedHead& head, double keep, const KeptMass& mass, const BestTries& best) {
  const auto top = std::ranges::max_element(
      head.patterns, [](const Estimate& a, const Estimate& b) { return is_better(b, a); },
      &PatternRecall::recall);
  const Estimate most = top->recall;
  head.near_keep = most.standard_error > 0 &&
                   std::abs(most.value - keep) <= errors_of_no_difference * most.standard_error;
  if (!(most.value >= keep)) return;
  const std::size_t top_try = best[top - head.patterns.begin()];
  for (const HeadPattern pattern : sparse_patterns) {
    const std::size_t its = best[static_cast<std::size_t>(pattern)];
    if (head.of(pattern).recall.value < keep || !mass.are_no_different(its, top_try)) continue;
    if (head.pattern == HeadPattern::full)
      head.pattern = pattern;
    else
      head.as_good.push_back(pattern);
  }
}

}  // namespace

double TriagedHead::recall() const {
  return pattern == HeadPattern::full ? 1 : of(pattern).recall.value;
}

double TriagedHead::pairs() const {
  return pattern == HeadPattern::full ? 1 : of(pattern).pairs;
}

PatternSizes TriagedHead::sizes() const {
  return pattern == HeadPattern::full ? PatternSizes{} : of(pattern).sizes;
}

TriagedHead triage_head(const Operator& exact, const TriageRule& rule, const Backend& backend,
                        Run& run, double max_entries, std::uint64_t seed) {
  const Problem& problem = exact.problem();
  const double admitted = admitted_pairs(problem);
  const auto tried = patterns_within(problem, rule.budget * admitted, backend, run);
  const KeptMass mass =
      kept_mass(exact, tried, row_bands(problem.lengths(), max_entries, seed), run);
  const BestTries best = best_tries(tried, mass);
  TriagedHead out{
      .n = problem.n(), .rows = mass.rows.rows, .causal = problem.is_causal(), .patterns = {}};
  for (std::size_t place = 0; place < best.size(); ++place) {
    const FittedPattern& its = tried[best[place]];
    out.patterns[place] = {.sizes = its.sizes,
                           .pairs = its.pairs / std::max(admitted, 1.0),
                           .recall = mass.recall(best[place])};
  }
  choose(out, rule.keep, mass, best);
  return out;
}

std::vector<ExploredHead> heads_with_patterns(const Source& source,
                                              const std::vector<ExploredHead>& heads,
                                              std::vector<std::string>& left_out) {
  std::vector<ExploredHead> out;
  Index without_keys = 0, recurrences = 0, of_two_sequences = 0;
  for (const ExploredHead& head : heads) {
    const Layer& layer = source.layers[head.layer];
    if (!layer.has_qk())
      ++without_keys;
    else if (layer.conditions.recurrence.present())
      ++recurrences;
    else if (has_own_keys(source, head.layer))
      ++of_two_sequences;
    else
      out.push_back(head);
  }
  const auto add = [&](Index count, const char* which) {
    if (count > 0) left_out.push_back(plural(count, "head") + ' ' + which);
  };
  add(without_keys, "without queries and keys");
  add(recurrences, "without softmax attention");
  add(of_two_sequences, "with other keys than the tokens of the queries");
  return out;
}

std::optional<OwnSetting> variant_of(HeadPattern pattern, const PatternSizes& sizes, Index n) {
  const auto with = [n](const char* id, const std::map<std::string, Index>& sizes_of) {
    std::map<std::string, std::string> settings;
    for (const auto& [field, size] : sizes_of) settings[field] = std::to_string(size);
    const Variant& variant = find_variant(id);
    return OwnSetting{
        .variant = &variant, .values = values_for_length(variant, n, settings), .n = n};
  };
  if (sizes.diagonals < 1) return {};  // both variants keep the diagonal
  if (pattern == HeadPattern::streaming)
    return with("window", {{"width", sizes.diagonals - 1}, {"sinks", sizes.columns}});
  if (pattern != HeadPattern::vertical_slash || sizes.columns < 1) return {};
  const FixedLines fixed = fixed_lines(n);
  return with("vertical_slash", {{"vertical", sizes.columns},
                                 {"slash", sizes.diagonals},
                                 {"last", fixed.last_queries},
                                 {"first", fixed.columns},
                                 {"nearest", fixed.diagonals}});
}

}  // namespace fovea
