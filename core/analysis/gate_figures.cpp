#include "analysis/gate_figures.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "analysis/estimate.h"
#include "analysis/row_bands.h"

namespace fovea {
namespace {

/// Tokens after which each token's decay, if all had it, would halve the state; infinite without a
/// decay. From the mean over channels where each has its own.
std::vector<float> half_lives(const Recurrence& recurrence, Index n) {
  std::vector<float> lives;
  for (Index t = 0; t < n; ++t) {
    double decay = 0;
    for (Index c = 0; c < recurrence.log_decay.cols(); ++c)
      decay -= double{recurrence.log_decay(t, c)};
    const auto channels = static_cast<double>(std::max<Index>(1, recurrence.log_decay.cols()));
    lives.push_back(static_cast<float>(std::numbers::ln2 * channels / decay));
  }
  return lives;
}

double median_of(std::vector<float> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return double{*middle};
}

/// The share of what the state holds under a token's key that the token erases.
std::vector<float> erased_shares(const RecurrentPlan& plan, MatrixView k) {
  std::vector<float> shares;
  for (Index t = 0; t < k.rows; ++t) {
    double square = 0;
    for (Index c = 0; c < k.cols; ++c) square += double{k(t, c)} * double{k(t, c)};
    if (plan.unit_vectors && square > 0) square = 1;
    shares.push_back(static_cast<float>(double{plan.recurrence->beta_of(t)} * square));
  }
  return shares;
}

double mean_value(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += double{value};
  return sum / static_cast<double>(values.size());
}

std::vector<Diagnostic> level_shares(const Operator& op, Run& run) {
  const Index n = op.plan().keys();
  const RowBands sample = row_bands(op.plan().lengths, most_read_entries, 0);
  std::vector<std::vector<double>> of_level(fenwick_levels(n));
  std::vector<double> all;  // a number a row, as those of each level
  Run quiet = run.quiet();
  for (const IndexRange& band : sample.bands) {
    run.check();
    const Matrix p = op.tile(band, {0, n}, quiet);
    for (Index i = band.begin; i < band.end; ++i) {
      for (auto& level : of_level) level.push_back(0);
      all.push_back(0);
      for (Index j = 0; j <= i; ++j) {
        const double weight = std::abs(double{p(i - band.begin, j)});
        of_level[fenwick_level(i, j)].back() += weight;
        all.back() += weight;
      }
    }
    run.reached(static_cast<double>(all.size()) / static_cast<double>(sample.rows));
  }
  std::vector<Diagnostic> figures;
  for (std::size_t l = 0; l < of_level.size(); ++l) {
    const Estimate share = ratio_of_sums(sample, of_level[l], all);
    figures.push_back({.id = "level_share_" + std::to_string(l),
                       .label = "Level " + std::to_string(l) + ", share of |P|",
                       .value = share.value,
                       .meaning = "The share of Σ|P| that lies on the pairs of this Fenwick "
                                  "level: level 0 is the diagonal, and a query has up to 2^(l-1) "
                                  "keys on level l.",
                       .sampled = sample.sampled(),
                       .standard_error = share.standard_error});
  }
  return figures;
}

}  // namespace

std::vector<Diagnostic> gate_figures(const Diagnosis& of, Run& run) {
  const auto* plan = of.approximate.plan().as<RecurrentPlan>();
  if (!plan) return {};
  const Recurrence& recurrence = *plan->recurrence;
  const Problem& head = of.approximate.problem();
  std::vector<Diagnostic> figures{
      {.id = "half_life",
       .label = "Half-life, tokens",
       .value = median_of(half_lives(recurrence, head.n())),
       .meaning = "ln 2 / −log decay: after how many tokens with the decay of this one half of the "
                  "state is left. The median over tokens."}};
  if (recurrence.erases) {
    std::vector<float> shares = erased_shares(*plan, head.k);
    figures.push_back({.id = "erased_share",
                       .label = "Erased share β|k|²",
                       .value = mean_value(shares),
                       .meaning = "The share of what the state holds under the key of a token that "
                                  "the token erases. The mean over tokens.",
                       .rows = std::move(shares)});
  }
  if (recurrence.level_weights.empty()) return figures;
  for (Diagnostic& share : level_shares(of.approximate, run)) figures.push_back(std::move(share));
  return figures;
}

}  // namespace fovea
