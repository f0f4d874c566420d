#include "analysis/block_spread.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/support.h"
#include "data/error.h"
#include "data/pixels.h"
#include "data/random.h"

namespace fovea {
namespace {

constexpr Index most_tokens = 32;  // of a side of a block; longer sides are thinned out evenly
constexpr std::uint32_t spread_purpose = 0x73707264;  // "sprd"

std::vector<Index> some_of(IndexRange tokens) {
  const Index count = std::min(tokens.size(), most_tokens);
  std::vector<Index> out;
  for (Index t = 0; t < count; ++t)
    out.push_back(tokens.begin + pixel_begin(t, tokens.size(), count));
  return out;
}

double logit_variance(const Problem& p, IndexRange rows, IndexRange cols) {
  std::vector<double> logits;
  for (const Index i : some_of(rows))
    for (const Index j : some_of(cols)) logits.push_back(p.logit(i, j));
  double mean = 0, squares = 0;
  for (const double s : logits) mean += s / static_cast<double>(logits.size());
  for (const double s : logits) squares += (s - mean) * (s - mean);
  return squares / static_cast<double>(logits.size());
}

// A pair of clusters of the pass, all pairs equally likely.
class PairSampler {
 public:
  explicit PairSampler(const Pass& pass) : pass_(&pass) {
    for (const Tile& tile : pass.tiles) {
      total_ += tile.rows.size() * tile.cols.size();
      ends_.push_back(total_);
    }
  }
  Index total() const { return total_; }
  std::pair<Index, Index> draw(Random& random) const {
    return at(static_cast<Index>(random.below(static_cast<std::uint64_t>(total_))));
  }
  std::pair<Index, Index> at(Index pair) const {
    const auto t = static_cast<std::size_t>(std::ranges::upper_bound(ends_, pair) - ends_.begin());
    const Tile& tile = pass_->tiles[t];
    pair -= ends_[t] - tile.rows.size() * tile.cols.size();
    return {tile.rows.begin + pair / tile.cols.size(), tile.cols.begin + pair % tile.cols.size()};
  }

 private:
  const Pass* pass_;
  std::vector<Index> ends_;
  Index total_ = 0;
};

}  // namespace

std::vector<BlockSpread> block_spread(const Plan& plan, const Problem& problem,
                                      std::stop_token stop, int blocks, std::uint64_t seed) {
  std::map<int, std::pair<double, int>> variance;  // level -> sum, count
  const auto* tiles = std::get_if<TilePlan>(&plan.form);
  if (!tiles) return {};
  Random random(seed, stream_of(spread_purpose, problem.head));
  for (const Pass& pass : tiles->passes) {
    if (pass.key_level == 0) continue;
    const PairSampler sampler(pass);
    const Side rows(pass.rows, pass.query_level, plan.queries()),
        cols(pass.cols, pass.key_level, plan.keys());
    const bool all = sampler.total() <= blocks;
    for (Index b = 0; b < (all ? sampler.total() : blocks); ++b) {
      if (stop.stop_requested()) throw Cancelled();
      const auto [r, c] = all ? sampler.at(b) : sampler.draw(random);
      auto& [sum, count] = variance[pass.key_level];
      sum += logit_variance(problem, rows.tokens(r), cols.tokens(c));
      ++count;
    }
  }
  std::vector<BlockSpread> out;
  for (const auto& [level, v] : variance)
    out.push_back({level, std::sqrt(v.first / static_cast<double>(v.second))});
  return out;
}

std::vector<Diagnostic> block_spread_figures(const Diagnosis& of, Run& run) {
  std::vector<Diagnostic> figures;
  for (const BlockSpread& s : block_spread(of.approximate.plan(), of.exact.problem(), run.stop))
    figures.push_back({"block_spread_" + std::to_string(s.level),
                       "Logit spread σ, level " + std::to_string(s.level), s.deviation,
                       "Standard deviation of the fine logits in a coarse block: its mass is "
                       "under-estimated by about e^(σ²/2).",
                       true});
  return figures;
}

}  // namespace fovea
