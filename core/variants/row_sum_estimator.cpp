#include "variants/row_sum_estimator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace fovea {
namespace {

constexpr double none = -std::numeric_limits<double>::infinity();
constexpr Index rows_at_once = 256, keys_at_once = 1024;  // of logits in memory together

// log of a sum of exponentials that come one by one.
class LogSum {
 public:
  void add(double log_term) {
    if (log_term <= top_) {
      if (log_term != none) sum_ += std::exp(log_term - top_);
      return;
    }
    sum_ = sum_ * std::exp(top_ - log_term) + 1;
    top_ = log_term;
  }
  double log() const { return sum_ == 0 ? none : top_ + std::log(sum_); }

 private:
  double top_ = none, sum_ = 0;
};

double log_add(double a, double b) {
  const double top = std::max(a, b);
  return top == none ? none : top + std::log1p(std::exp(-std::abs(a - b)));
}

struct Draw {
  std::int32_t key;
  double log_weight;  // of all its draws: log(n c_j / m)
};

class Estimator {
 public:
  Estimator(const Problem& problem, const RowSumSamples& samples, Planning& planning)
      : problem_(problem),
        samples_(samples),
        planning_(planning),
        query_block_(blocks_of(samples.query_order)),
        key_block_(blocks_of(samples.key_order)) {}

  EstimatedSums estimate() {
    const std::vector<double> inside = block_sums();
    const double log_floor = largest_outside() - std::log(samples_.kappa);
    EstimatedSums out;
    Index sampled = 0;
    out.estimates.log_sums = estimated_sums(inside, log_floor, out.estimates, sampled);
    out.multiply_adds =
        static_cast<double>((pairs_inside() + pairs_outside_of_rows() + sampled) * problem_.d());
    return out;
  }

 private:
  Index n() const { return problem_.n(); }

  std::vector<Index> blocks_of(std::span<const std::int32_t> order) const {
    std::vector<Index> block(order.size());
    for (std::size_t p = 0; p < order.size(); ++p)
      block[static_cast<std::size_t>(order[p])] = static_cast<Index>(p) / samples_.block;
    return block;
  }
  bool meet(std::int32_t query, std::int32_t key) const {
    return query_block_[static_cast<std::size_t>(query)] ==
           key_block_[static_cast<std::size_t>(key)];
  }

  Index size_of_block(Index block) const {
    return std::min(samples_.block, n() - block * samples_.block);
  }
  Index pairs_inside() const {
    Index pairs = 0;
    for (Index b = 0; b * samples_.block < n(); ++b) pairs += size_of_block(b) * size_of_block(b);
    return pairs;
  }
  Index pairs_outside_of_rows() const {
    Index pairs = 0;
    for (const std::int32_t row : samples_.rows)
      pairs += n() - size_of_block(query_block_[static_cast<std::size_t>(row)]);
    return pairs;
  }

  // [n] log <M_i, A_i>. Small blocks are evaluated together with their neighbours.
  std::vector<double> block_sums() {
    const auto stage = planning_.run.profile.stage("row sums");
    std::vector<LogSum> sums(static_cast<std::size_t>(n()));
    const Index span = std::max(samples_.block, rows_at_once / samples_.block * samples_.block);
    for (Index p = 0; p < n(); p += span) {
      const auto begin = static_cast<std::size_t>(p),
                 count = static_cast<std::size_t>(std::min(span, n() - p));
      const auto queries = samples_.query_order.subspan(begin, count),
                 keys = samples_.key_order.subspan(begin, count);
      for_rows(queries, keys, [&](std::size_t at, std::size_t first, std::span<const float> dots) {
        const std::int32_t query = queries[at];
        for (std::size_t j = 0; j < dots.size(); ++j)
          if (meet(query, keys[first + j]))
            sums[static_cast<std::size_t>(query)].add(logit(dots[j]));
      });
    }
    return logs_of(sums);
  }

  // log tau.
  double largest_outside() {
    const auto stage = planning_.run.profile.stage("tau");
    std::vector<std::int32_t> keys(static_cast<std::size_t>(n()));
    std::iota(keys.begin(), keys.end(), 0);
    std::vector<LogSum> sums(samples_.rows.size());
    for_rows(samples_.rows, keys,
             [&](std::size_t at, std::size_t first, std::span<const float> dots) {
               for (std::size_t j = 0; j < dots.size(); ++j)
                 if (!meet(samples_.rows[at], keys[first + j])) sums[at].add(logit(dots[j]));
             });
    return std::ranges::max(logs_of(sums));
  }

  // [n] log(<M_i, A_i> + max(d_i, floor)); `sampled`: the entries outside M that were sampled.
  std::vector<double> estimated_sums(const std::vector<double>& inside, double log_floor,
                                     RowEstimates& out, Index& sampled) {
    const auto stage = planning_.run.profile.stage("row sums");
    const double tokens = static_cast<double>(n()),
                 draws = static_cast<double>(samples_.keys.size());
    const double log_share =
        std::log(samples_.epsilon * samples_.epsilon * draws / (tokens * std::log(tokens)));
    const std::vector<Draw> drawn = distinct_draws();
    std::vector<std::int32_t> keys;
    for (const Draw& draw : drawn) keys.push_back(draw.key);
    std::vector<LogSum> outside(inside.size());
    std::vector<Index> met(inside.size()), capped(inside.size());
    for_rows(samples_.query_order, keys,
             [&](std::size_t at, std::size_t first, std::span<const float> dots) {
               const std::int32_t query = samples_.query_order[at];
               const auto i = static_cast<std::size_t>(query);
               const double log_cap = log_share + log_add(inside[i], log_floor);
               for (std::size_t j = 0; j < dots.size(); ++j) {
                 const Draw& draw = drawn[first + j];
                 if (meet(query, draw.key)) continue;
                 const double log_entry = logit(dots[j]);
                 ++met[i];
                 capped[i] += log_entry > log_cap;
                 outside[i].add(draw.log_weight + std::min(log_entry, log_cap));
               }
             });
    std::vector<double> sums = logs_of(outside);
    Index floored = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      floored += sums[i] < log_floor;
      sums[i] = log_add(inside[i], std::max(sums[i], log_floor));
    }
    out.floored = static_cast<double>(floored) / static_cast<double>(n());
    sampled = std::reduce(met.begin(), met.end());
    if (sampled > 0)
      out.capped = static_cast<double>(std::reduce(capped.begin(), capped.end())) /
                   static_cast<double>(sampled);
    return sums;
  }

  std::vector<Draw> distinct_draws() const {
    std::vector<std::int32_t> sorted(samples_.keys.begin(), samples_.keys.end());
    std::ranges::sort(sorted);
    std::vector<Draw> draws;
    for (std::size_t at = 0; at < sorted.size();) {
      const std::size_t begin = at;
      while (at < sorted.size() && sorted[at] == sorted[begin]) ++at;
      draws.push_back(
          {sorted[begin], std::log(static_cast<double>(n()) * static_cast<double>(at - begin) /
                                   static_cast<double>(sorted.size()))});
    }
    return draws;
  }

  double logit(float dot) const { return problem_.scale * static_cast<double>(dot); }

  static std::vector<double> logs_of(const std::vector<LogSum>& sums) {
    std::vector<double> logs;
    for (const LogSum& sum : sums) logs.push_back(sum.log());
    return logs;
  }

  // use(at, first, dots): dots of queries[at] with keys[first], keys[first + 1], ... Each query is
  // used by one thread at a time, with its keys in order.
  template <class Use>
  void for_rows(std::span<const std::int32_t> queries, std::span<const std::int32_t> keys,
                Use use) {
    const Index count = std::ssize(queries), width = std::ssize(keys);
    for (Index k = 0; k < width; k += keys_at_once) {
      const auto some = keys.subspan(static_cast<std::size_t>(k),
                                     static_cast<std::size_t>(std::min(keys_at_once, width - k)));
      const Matrix columns = columns_of(problem_.k, some);
      for (Index q = 0; q < count; q += rows_at_once) {
        planning_.run.check();
        const Index rows = std::min(rows_at_once, count - q);
        const Matrix strip = rows_of(problem_.q, queries.subspan(static_cast<std::size_t>(q),
                                                                 static_cast<std::size_t>(rows)));
        Run quiet = planning_.run.quiet();
        const Matrix dots = planning_.backend.product(strip, columns, quiet);
        planning_.backend.share_out(rows, quiet, [&](Index r) {
          use(static_cast<std::size_t>(q + r), static_cast<std::size_t>(k),
              std::span<const float>(dots.row(r), some.size()));
        });
      }
    }
  }

  static Matrix rows_of(MatrixView m, std::span<const std::int32_t> tokens) {
    Matrix out = Matrix::padded(std::ssize(tokens), m.cols);
    for (Index r = 0; r < out.rows(); ++r)
      std::copy_n(m.row(tokens[static_cast<std::size_t>(r)]), m.cols, out.row(r));
    return out;
  }

  static Matrix columns_of(MatrixView m, std::span<const std::int32_t> tokens) {
    Matrix out = Matrix::padded(m.cols, std::ssize(tokens));
    for (Index c = 0; c < out.cols(); ++c)
      for (Index e = 0; e < m.cols; ++e) out(e, c) = m(tokens[static_cast<std::size_t>(c)], e);
    return out;
  }

  const Problem& problem_;
  const RowSumSamples& samples_;
  Planning& planning_;
  std::vector<Index> query_block_, key_block_;  // [n]
};

}  // namespace

EstimatedSums estimate_row_sums(const Problem& problem, const RowSumSamples& samples,
                                Planning& planning) {
  return Estimator(problem, samples, planning).estimate();
}

}  // namespace fovea
