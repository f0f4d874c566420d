#include "analysis/block_spread.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "analysis/support.h"
#include "data/draw_purpose.h"
#include "data/error.h"
#include "data/random.h"

namespace fovea {
namespace {

constexpr Index most_tokens = 32;  // a longer side has both sides sampled

/// The logits of a block, with the sums that their variance needs.
class BlockSums {
 public:
  template <class Tokens>
  BlockSums(const Problem& p, const Tokens& rows, const Tokens& cols)
      : rows_(std::ssize(rows)), cols_(std::ssize(cols)) {
    std::vector<double> of_columns(cols_);
    for (const Index i : rows) {
      double of_row = 0;
      for (std::size_t c = 0; c < of_columns.size(); ++c) {
        const double s = p.logit(i, cols[c]);
        of_row += s;
        of_columns[c] += s;
        squares_ += s * s;
      }
      all_ += of_row;
      row_squares_ += of_row * of_row;
    }
    for (const double sum : of_columns) column_squares_ += sum * sum;
  }

  double variance() const {
    const double mean = all_ / count();
    return squares_ / count() - mean * mean;
  }
  /// The unbiased variance over all tokens if rows and columns were drawn one by one, with
  /// replacement. The squared mean is taken from pairs of logits that share neither a row nor a
  /// column.
  double variance_of_drawn() const {
    const double pairs = count() * static_cast<double>((rows_ - 1) * (cols_ - 1));
    return squares_ / count() - (all_ * all_ - row_squares_ - column_squares_ + squares_) / pairs;
  }

 private:
  double count() const { return rows_ * cols_; }

  Index rows_, cols_;
  double all_ = 0, squares_ = 0, row_squares_ = 0, column_squares_ = 0;
};

std::vector<Index> all_of(IndexRange tokens) {
  std::vector<Index> out(tokens.size());
  std::iota(out.begin(), out.end(), tokens.begin);
  return out;
}

std::vector<Index> some_of(IndexRange tokens, Random& random) {
  std::vector<Index> out;
  for (Index t = 0; t < most_tokens; ++t)
    out.push_back(tokens.begin + static_cast<Index>(random.below(tokens.size())));
  return out;
}

double variance_of(const Problem& p, IndexRange rows, IndexRange cols) {
  return BlockSums(p, all_of(rows), all_of(cols)).variance();
}

double sampled_variance(const Problem& p, IndexRange rows, IndexRange cols, Random& random) {
  if (std::max(rows.size(), cols.size()) <= most_tokens) return variance_of(p, rows, cols);
  const auto some_rows = some_of(rows, random), some_cols = some_of(cols, random);
  return BlockSums(p, some_rows, some_cols).variance_of_drawn();
}

// The pairs of clusters of a pass, numbered: the tokens of both.
class ClusterPairs {
 public:
  ClusterPairs(const Pass& pass, Lengths lengths)
      : pass_(&pass),
        rows_(pass.rows, pass.query_level, lengths.queries),
        cols_(pass.cols, pass.key_level, lengths.keys) {
    for (const Tile& tile : pass.tiles) {
      total_ += tile.rows.size() * tile.cols.size();
      ends_.push_back(total_);
      logits_ += static_cast<double>(rows_.token_count(tile.rows)) *
                 static_cast<double>(cols_.token_count(tile.cols));
    }
  }
  Index total() const { return total_; }
  double logits() const { return logits_; }  // of all pairs
  std::pair<IndexRange, IndexRange> at(Index pair) const {
    const auto t = static_cast<std::size_t>(std::ranges::upper_bound(ends_, pair) - ends_.begin());
    const Tile& tile = pass_->tiles[t];
    pair -= ends_[t] - tile.rows.size() * tile.cols.size();
    return {rows_.tokens(tile.rows.begin + pair / tile.cols.size()),
            cols_.tokens(tile.cols.begin + pair % tile.cols.size())};
  }

 private:
  const Pass* pass_;
  Side rows_, cols_;
  std::vector<Index> ends_;
  Index total_ = 0;
  double logits_ = 0;
};

// The passes of one level.
struct LevelPasses {
  std::vector<ClusterPairs> passes;
  double blocks = 0, logits = 0;
};

std::map<int, LevelPasses> levels_of(const TilePlan& tiles, const Plan& plan) {
  std::map<int, LevelPasses> levels;
  for (const Pass& pass : tiles.passes) {
    if (pass.key_level == 0) continue;
    LevelPasses& level = levels[pass.key_level];
    level.passes.emplace_back(pass, plan.lengths);
    level.blocks += static_cast<double>(level.passes.back().total());
    level.logits += level.passes.back().logits();
  }
  return levels;
}

/// Estimates the square of the deviation.
Estimate mean_variance(const LevelPasses& level, const Problem& problem, bool all, Index logits,
                       Random random, const std::stop_token& stop) {
  std::vector<double> variances;
  const auto take = [&](double variance) {
    if (stop.stop_requested()) throw Cancelled();
    variances.push_back(variance);
  };
  if (all) {
    for (const ClusterPairs& pass : level.passes)
      for (Index b = 0; b < pass.total(); ++b) {
        const auto [rows, cols] = pass.at(b);
        take(variance_of(problem, rows, cols));
      }
  } else {
    const double of_block =
        std::min<double>(level.logits / level.blocks, most_tokens * most_tokens);
    const auto draws =
        std::max<Index>(64, static_cast<Index>(static_cast<double>(logits) / of_block));
    for (Index draw = 0; draw < draws; ++draw) {
      auto block = static_cast<Index>(random.below(static_cast<std::uint64_t>(level.blocks)));
      auto pass = level.passes.begin();
      for (; block >= pass->total(); ++pass) block -= pass->total();
      const auto [rows, cols] = pass->at(block);
      take(sampled_variance(problem, rows, cols, random));
    }
  }
  const auto count = static_cast<double>(variances.size());
  double mean = 0, squares = 0;
  for (const double variance : variances) mean += variance / count;
  for (const double variance : variances) squares += (variance - mean) * (variance - mean);
  return {std::max(0.0, mean), all ? 0 : std::sqrt(squares / (count - 1) / count)};
}

}  // namespace

std::vector<BlockSpread> block_spread(const Plan& plan, const Problem& problem,
                                      std::stop_token stop, Index logits, std::uint64_t seed) {
  const auto* tiles = plan.as<TilePlan>();
  if (!tiles) return {};
  std::vector<BlockSpread> out;
  for (const auto& [level, passes] : levels_of(*tiles, plan)) {
    const bool all = passes.logits <= static_cast<double>(logits);
    const Random random(seed, stream_of(DrawPurpose::block_spread, problem.head, level));
    out.push_back(
        {level, root_of(mean_variance(passes, problem, all, logits, random, stop)), !all});
  }
  return out;
}

std::vector<Diagnostic> block_spread_figures(const Diagnosis& of, Run& run) {
  std::vector<Diagnostic> figures;
  for (const BlockSpread& s : block_spread(of.approximate.plan(), of.exact.problem(), run.stop))
    figures.push_back({"block_spread_" + std::to_string(s.level),
                       "Logit spread σ, level " + std::to_string(s.level), s.deviation.value,
                       "Standard deviation of the fine logits in a coarse block: its mass is "
                       "under-estimated by about e^(σ²/2).",
                       s.sampled, false, s.deviation.standard_error});
  return figures;
}

}  // namespace fovea
