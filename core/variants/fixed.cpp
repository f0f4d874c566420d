// Factorized attention, fixed pattern: the own block and the summary columns that end every block.
#include <algorithm>

#include "analysis/support.h"
#include "data/error.h"
#include "data/stop.h"
#include "variants/factorized.h"
#include "variants/sinks.h"
#include "variants/variant.h"

namespace fovea {
namespace {

struct FixedParameters {
  Index stride = 128, summary = 8;
  HeadSets heads = HeadSets::merged;
  Index subblocks = 1, sinks = 0;

  static std::vector<TypedField<FixedParameters>> fields() {
    using P = FixedParameters;
    auto stride =
        size_field<P>("stride", "Stride l", "tokens", &P::stride, 1, 131072,
                      "Tokens of a block. With stride >= n the result is exact.", short_stride);
    stride.field.followers = {"summary"};  // which lies inside it
    stride.field.worth_trying = try_sizes(stride.field, 4);
    auto summary = size_field<P>(
        "summary", "Summary c", "tokens", &P::summary, 1, 131072,
        "Columns at the end of each block that all later queries attend; at most stride.",
        [](Index n) { return std::clamp<Index>(short_stride(n) / 8, 1, 8); });
    summary.field.worth_trying = try_sizes(summary.field, 1, 2);
    return {stride, summary,
            choice_field(
                "heads", "Heads", &P::heads, {"merged", "first", "second", "split"},
                "merged: one softmax over the block and the summaries. first: the block "
                "alone. second: the summaries alone. split: even heads first, odd heads second."),
            int_field("subblocks", "Sub-blocks", "groups", &P::subblocks, 1, 1024, Axis::linear,
                      "Groups of summary columns, counted from the end of each block: head h uses "
                      "group h mod sub-blocks. summary x subblocks is at most stride."),
            sinks_field(&P::sinks)};
  }
};

void check(const FixedParameters& p) {
  const std::string found = "summary is " + std::to_string(p.summary);
  const std::string stride = std::to_string(p.stride);
  if (p.summary > p.stride)
    throw UsageError(found + ", stride is " + stride + "; expected summary <= stride");
  if (p.summary * p.subblocks > p.stride)
    throw UsageError(found + ", subblocks is " + std::to_string(p.subblocks) + ", stride is " +
                     stride + "; expected summary x subblocks <= stride");
}

Pass own_block(Index n, Index stride, Band band) {
  Pass pass;
  for (Index begin = 0; begin < n; begin += stride) {
    const IndexRange tokens{begin, std::min(begin + stride, n)};
    pass.tiles.push_back({tokens, tokens, band});
  }
  return pass;
}

struct Summaries {
  std::vector<std::int32_t> columns;
  std::vector<Index> start;  // of the columns of each block, and their end

  Summaries(Index n, Index stride, IndexRange group) : start{0} {
    for (Index begin = 0; begin < n; begin += stride) {
      for (Index j = begin + group.begin; j < std::min(begin + group.end, n); ++j)
        columns.push_back(static_cast<std::int32_t>(j));
      start.push_back(static_cast<Index>(columns.size()));
    }
  }
};

// Columns of other blocks only: those of the own block are in the first set.
Pass other_summaries(Index n, Index stride, Summaries summaries, bool causal) {
  Pass pass;
  const Index count = static_cast<Index>(summaries.columns.size());
  for (Index b = 0; b * stride < n; ++b) {
    const IndexRange rows{b * stride, std::min((b + 1) * stride, n)};
    const Index before = summaries.start[static_cast<std::size_t>(b)];
    const Index after = summaries.start[static_cast<std::size_t>(b) + 1];
    if (before > 0) pass.tiles.push_back({rows, {0, before}, {}});
    if (!causal && after < count) pass.tiles.push_back({rows, {after, count}, {}});
  }
  pass.cols = std::move(summaries.columns);
  return pass;
}

Pass all_summaries(Index n, Index stride, Summaries summaries, bool causal) {
  Pass pass;
  for (Index b = 0; b * stride < n; ++b) {
    const IndexRange rows{b * stride, std::min((b + 1) * stride, n)};
    const Index end = causal ? summaries.start[static_cast<std::size_t>(b) + 1]
                             : static_cast<Index>(summaries.columns.size());
    if (end > 0) pass.tiles.push_back({rows, {0, end}, causal ? Band{.lo = 0} : Band{}});
  }
  pass.cols = std::move(summaries.columns);
  return pass;
}

/// Notes how many queries have none of their keys in the plan of a head.
void note_queries_without_keys(Plan& plan, bool has_sinks, const std::stop_token& stop) {
  const Support support(plan);
  Index none = 0;
  for (Index i = 0; i < plan.queries(); ++i) {
    check_stop(stop);
    none += support.count(i) == 0 && admissible_keys(plan, i) > 0;
  }
  if (none > 0)
    plan.notes.push_back(std::to_string(none) + " of " + std::to_string(plan.queries()) +
                         " queries have no summary column" + (has_sinks ? " or sink" : "") +
                         " to attend: Z = 0");
}

Plan plan_fixed(const Problem& problem, const FixedParameters& p, Planning& planning) {
  check(p);
  const Index n = problem.n(), stride = std::min(p.stride, n), group = problem.head % p.subblocks;
  const bool causal = problem.causal;
  const HeadSets sets = sets_of_head(p.heads, problem.head);
  Summaries summaries(n, p.stride,
                      {p.stride - (group + 1) * p.summary, p.stride - group * p.summary});
  Plan plan{.lengths = {n, n}, .causal = causal, .form = {}};
  TilePlan tiles;
  if (sets != HeadSets::second)
    tiles.passes.push_back(own_block(n, stride, causal ? Band{.lo = 0} : Band{}));
  if (sets == HeadSets::merged)
    tiles.passes.push_back(other_summaries(n, p.stride, std::move(summaries), causal));
  else if (sets == HeadSets::second)
    tiles.passes.push_back(all_summaries(n, p.stride, std::move(summaries), causal));
  std::erase_if(tiles.passes, [](const Pass& pass) { return pass.tiles.empty(); });
  add_sinks(tiles.passes, p.sinks, n, causal);
  plan.form = std::move(tiles);
  if (sets == HeadSets::second)
    planning.finish = [has_sinks = p.sinks > 0, stop = planning.run.stop](Plan& finished) {
      note_queries_without_keys(finished, has_sinks, stop);
    };
  return plan;
}

}  // namespace

Variant fixed_variant() {
  return make_variant<FixedParameters>(
      {.id = "fixed",
       .label = "Fixed",
       .paper = "Child et al. 2019, section 4.3; merged heads: Eq. 7",
       .formula = "Pᵢⱼ = exp(Sᵢⱼ) / Σ exp over Sᵢ,  Sᵢ = {⌊j/l⌋ = ⌊i/l⌋} ∪ {j mod l ≥ l−c},  j ≤ i",
       .summary = "The own block and the last columns of every earlier block.",
       .mask = Mask::causal_in_paper,
       .unequal_lengths = UnequalLengths::last_queries,
       .diagnostics = {key_set_figures}},
      plan_fixed);
}

}  // namespace fovea
