#include "analysis/head_measures.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "analysis/effective_rank.h"
#include "analysis/support.h"
#include "backend/profile.h"
#include "data/number_text.h"

namespace fovea {
namespace {

using Needs = HeadMeasure::Needs;
using RowNumber = std::optional<double>;

constexpr Index most_for_rank = 4096;  // takes some ten seconds
constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

/// The weight on one key; nothing if the query may not attend it.
RowNumber weight_on(const HeadRow& row, Index key) {
  if (key < 0 || key >= std::ssize(row.weights) || !row.admits(key)) return {};
  return double{row.weights[key]};
}

/// The weight on the keys `after` tokens after each earlier place of the token.
RowNumber weight_on_earlier(const HeadRow& row, Index after) {
  RowNumber sum;
  for (const Index place : row.earlier)
    if (const RowNumber weight = weight_on(row, place + after)) sum = sum.value_or(0) + *weight;
  return sum;
}

double weight_within(const HeadRow& row, Index tokens) {
  const Index keys = std::ssize(row.weights);
  const auto begin = std::clamp<Index>(row.place - tokens, 0, keys),
             end = std::clamp<Index>(row.place + tokens + 1, 0, keys);
  return std::accumulate(row.weights.begin() + begin, row.weights.begin() + end, 0.0);
}

/// If a sink takes all of a row, nothing is left to compare.
RowNumber distance_of(const HeadRow& row) {
  if (row.sum == 0) return {};
  double sum = 0;
  for (std::size_t j = 0; j < row.weights.size(); ++j)
    sum += double{row.weights[j]} * static_cast<double>(std::abs(row.place - Index(j)));
  return sum / row.sum;
}

RowNumber entropy_of(const HeadRow& row) {
  if (row.sum == 0) return {};
  double sum = 0;
  for (const float weight : row.weights)
    if (const double p = double{weight} / row.sum; !(p <= 0)) sum -= p * std::log(p);  // NaN stays
  return sum < 0 ? 0 : sum;  // by rounding
}

HeadMeasure share_within(Index tokens) {
  const std::string count = std::to_string(tokens);
  return {
      .id = "within_" + count,
      .label = "within " + count + " tokens",
      .definition = "The weight on keys at most " + count +
                    " tokens away, before or after; the mean over queries.",
      .needs = Needs::places,
      .is_share = true,
      .of_row = [tokens](const HeadRow& row) -> RowNumber { return weight_within(row, tokens); }};
}

std::vector<HeadMeasure> make_head_measures() {
  return {
      {.id = "previous_token",
       .label = "previous token",
       .definition = "The weight on the token before; the mean over queries that may attend it. "
                     "The previous-token heads of TransformerLens.",
       .needs = Needs::places,
       .is_share = true,
       .of_row = [](const HeadRow& row) { return weight_on(row, row.place - 1); }},
      {.id = "same_token",
       .label = "same token before",
       .definition = "The weight on all earlier occurrences of the query's token; the mean over "
                     "queries that may attend one. The duplicate-token heads of TransformerLens, "
                     "whose detector divides by all queries.",
       .needs = Needs::tokens,
       .is_share = true,
       .of_row = [](const HeadRow& row) { return weight_on_earlier(row, 0); }},
      {.id = "induction",
       .label = "induction",
       .definition = "The weight on all tokens that follow an earlier occurrence of the query's "
                     "token; the mean over queries that may attend one (prefix matching, Olsson et "
                     "al. 2022). On random tokens that are repeated this is the usual induction "
                     "score; in ordinary text such tokens are attended for other reasons, too. "
                     "The detector of TransformerLens divides by all queries.",
       .needs = Needs::tokens,
       .is_share = true,
       .of_row = [](const HeadRow& row) { return weight_on_earlier(row, 1); }},
      {.id = "first_token",
       .label = "first token",
       .definition = "The weight on the first key that any query may attend; the mean over "
                     "queries that may attend it. Often an attention sink (Xiao et al. 2023).",
       .is_share = true,
       .of_row = [](const HeadRow& row) { return weight_on(row, row.first); }},
      share_within(16),
      share_within(128),
      {.id = "distance",
       .label = "mean distance, tokens",
       .definition = "Σⱼ Pᵢⱼ |t − j| / Σⱼ Pᵢⱼ, where t is the place of query i; the mean over "
                     "queries (Vig and Belinkov 2019).",
       .needs = Needs::places,
       .of_row = distance_of},
      {.id = "entropy",
       .label = "entropy, nats",
       .definition = "−Σⱼ p ln p with p = Pᵢⱼ / Σⱼ Pᵢⱼ; the mean over queries. 0: each query "
                     "attends a single key; ln n: all n keys evenly.",
       .of_row = entropy_of},
      {.id = "effective_rank",
       .label = "effective rank",
       .definition = "exp(−Σ p ln p) with p = σ / Σσ, over the singular values σ of P (Roy and "
                     "Vetterli 2007). 1: all queries attend alike; n: each has keys of its own. "
                     "Exact up to " +
                     std::to_string(decomposed_side) + " tokens, from Lanczos quadrature up to " +
                     std::to_string(most_for_rank) + ".",
       .of_row = {}},
  };
}

/// Where each token stands, for all keys.
class Occurrences {
 public:
  explicit Occurrences(const std::vector<std::string>& tokens) {
    std::unordered_map<std::string, std::size_t> known;
    for (std::size_t j = 0; j < tokens.size(); ++j) {
      const auto [it, is_new] = known.try_emplace(tokens[j], places_.size());
      if (is_new) places_.emplace_back();
      token_.push_back(it->second);
      rank_.push_back(places_[it->second].size());
      places_[it->second].push_back(j);
    }
  }
  std::span<const Index> before(Index place) const {
    if (place < 0 || place >= std::ssize(token_)) return {};
    const auto at = static_cast<std::size_t>(place);
    return std::span(places_[token_[at]]).first(rank_[at]);
  }

 private:
  std::vector<std::size_t> token_, rank_;  // of each key: its token, and how many there were before
  std::vector<std::vector<Index>> places_;  // of each token, ascending
};

/// The first key that any query may attend: behind padding, say.
Index first_key(const HeadToMeasure& head) {
  if (!head.plan) return 0;
  Index first = head.lengths.keys;
  for (Index i = 0; i < head.lengths.queries && first > 0; ++i)
    if (admissible_keys(*head.plan, i, {0, first}) > 0)
      for (first = 0; !is_admissible(*head.plan, i, first);) ++first;
  return first;
}

std::string lack_of(const HeadToMeasure& head, Needs needs, bool of_rows) {
  if (of_rows && head.plan && head.plan->as<RecurrentPlan>())
    return "The weights of a recurrence have signs, and rows no sum to compare them with.";
  if (needs == Needs::nothing) return "";
  if (!head.places_known) return "The keys are not the tokens of the queries.";
  if (needs == Needs::tokens && head.tokens.empty()) return "The source does not name its tokens.";
  return "";
}

/// What the rows that were read say of one measure: a value, and whether the row counts.
struct RowValues {
  std::vector<double> values, counts;  // [rows]

  void add(const RowNumber& value) {
    values.push_back(value.value_or(0));
    counts.push_back(value ? 1 : 0);
  }
  HeadValue mean(const RowBands& rows) const {
    HeadValue out{.queries = std::ssize(counts) - std::ranges::count(counts, 0.0)};
    if (out.queries > 0)
      out.estimate = ratio_of_sums(rows, values, counts);
    else
      out = {.estimate = {not_known, 0}, .missing = "No query may attend such a key."};
    if (out.missing.empty() && std::isnan(out.estimate.value))
      out.missing = "A weight is not a finite number.";
    return out;
  }
};

HeadValue rank_value(const HeadToMeasure& head, Run& run, std::uint64_t seed) {
  if (std::max(head.lengths.queries, head.lengths.keys) > most_for_rank)
    return {.estimate = {not_known, 0},
            .missing = "It is found up to " + std::to_string(most_for_rank) + " tokens."};
  const Estimate rank = effective_rank(head.lengths, head.read, run, seed);
  return {.estimate = rank,
          .missing = std::isnan(rank.value) ? "A weight is not a finite number." : "",
          .queries = head.lengths.queries};
}

/// Shares have as many decimals as are worth comparing.
std::string number_of(const HeadMeasure& measure, double number, int digits) {
  return measure.is_share ? format_fixed(number, 3) : format_number(number, digits);
}

}  // namespace

bool HeadRow::admits(Index key) const {
  return !plan || is_admissible(*plan, query, key);
}

const std::vector<HeadMeasure>& head_measures() {
  static const std::vector<HeadMeasure> table = make_head_measures();
  return table;
}

std::optional<std::size_t> head_measure_with(const std::string& id) {
  const auto& all = head_measures();
  const auto it = std::ranges::find(all, id, &HeadMeasure::id);
  if (it == all.end()) return {};
  return static_cast<std::size_t>(it - all.begin());
}

MeasuredHead measure_head(const HeadToMeasure& head, Run& run, double max_entries,
                          std::uint64_t seed) {
  const auto& measures = head_measures();
  const auto [queries, keys] = head.lengths;
  const RowBands sample = row_bands(head.lengths, max_entries, seed);
  const Occurrences tokens(head.tokens);
  const Index first = first_key(head);
  std::vector<RowValues> rows(measures.size());
  MeasuredHead out{.values = {}, .lengths = head.lengths, .rows = sample.rows};
  constexpr double of_rows = 0.5;  // of the progress; the rest is that of P as a whole
  Run quiet = run.quiet();
  Index done = 0;
  for (const IndexRange& band : sample.bands) {
    run.check();
    const Matrix p = head.read(band, quiet);
    for (Index i = band.begin; i < band.end; ++i) {
      HeadRow row{.weights = {p.row(i - band.begin), static_cast<std::size_t>(keys)},
                  .query = i,
                  .place = i + head.lengths.offset(),
                  .first = first,
                  .plan = head.plan};
      row.sum = std::accumulate(row.weights.begin(), row.weights.end(), 0.0);
      row.earlier = tokens.before(row.place);
      const bool has_keys = head.plan ? admissible_keys(*head.plan, i) > 0 : row.sum != 0;
      out.rows_without_keys += !has_keys;
      for (std::size_t m = 0; m < measures.size(); ++m)
        if (measures[m].of_row) rows[m].add(has_keys ? measures[m].of_row(row) : RowNumber());
    }
    done += band.size();
    run.reached(of_rows * static_cast<double>(done) / static_cast<double>(sample.rows));
  }
  for (std::size_t m = 0; m < measures.size(); ++m) {
    Run rest = run.part(of_rows, 1);
    if (const std::string lack = lack_of(head, measures[m].needs, measures[m].of_row != nullptr);
        !lack.empty())
      out.values.push_back({.estimate = {not_known, 0}, .missing = lack});
    else
      out.values.push_back(measures[m].of_row ? rows[m].mean(sample)
                                              : rank_value(head, rest, seed));
  }
  return out;
}

OverInputs over_inputs(std::span<const MeasuredHead> inputs, std::size_t measure) {
  OverInputs out;
  double squares = 0;  // of deviations (Welford 1962)
  for (const MeasuredHead& head : inputs) {
    const double value = head.values[measure].estimate.value;
    if (std::isnan(value)) continue;
    const double before = value - out.mean;
    out.mean += before / static_cast<double>(++out.inputs);
    squares += before * (value - out.mean);
  }
  if (out.inputs == 0) out.mean = not_known;
  if (out.inputs > 1) out.deviation = std::sqrt(squares / static_cast<double>(out.inputs - 1));
  return out;
}

std::string to_text(const HeadMeasure& measure, const Estimate& estimate) {
  const std::string text = number_of(measure, estimate.value, 3);
  if (!(estimate.standard_error > 0)) return text;
  return "≈ " + text + " ± " + number_of(measure, estimate.standard_error, 2);
}

std::string to_text(const HeadMeasure& measure, const OverInputs& inputs) {
  const std::string text = number_of(measure, inputs.mean, 3);
  return inputs.inputs > 1 ? text + " ± " + number_of(measure, inputs.deviation, 2) : text;
}

}  // namespace fovea
