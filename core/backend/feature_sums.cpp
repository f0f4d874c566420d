#include "backend/feature_sums.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fovea {
FeatureSums::FeatureSums(int features, Index dv)
    : maximum(features, log2_of_zero), sum(features, 0.0f), values(features, dv) {}

void FeatureSums::add(const FeatureRows& rows, IndexRange tokens, int chunk, MatrixView v,
                      const isa::Loops& loops, float* s) {
  constexpr int lanes = FeatureRows::chunk;
  const int first = chunk * lanes;
  alignas(64) float rescale[lanes];
  float* to[lanes];
  const float* from[isa::max_keys];
  for (int r = 0; r < lanes && !values.empty(); ++r) to[r] = values.row(first + r);
  for (Index begin = tokens.begin; begin < tokens.end; begin += isa::max_keys) {
    const IndexRange step{begin, std::min<Index>(begin + isa::max_keys, tokens.end)};
    const int keys = static_cast<int>(step.size());
    rows.keys(step, chunk, s);
    loops.softmax(s, lanes, keys, maximum.data() + first, sum.data() + first, rescale);
    if (values.empty()) continue;
    for (int k = 0; k < keys; ++k) from[k] = v.row(begin + k);
    loops.accumulate({.s = s,
                      .lanes = lanes,
                      .count = lanes,
                      .keys = keys,
                      .live = nullptr,
                      .values = from,
                      .rescale = rescale,
                      .from = to,
                      .z = to},
                     static_cast<int>(values.cols()));
  }
}

void FeatureSums::add(const FeatureSums& other) {
  for (std::size_t r = 0; r < sum.size(); ++r) {
    if (other.maximum[r] == log2_of_zero) continue;
    const float top = std::max(maximum[r], other.maximum[r]);
    const double ours = std::exp2(static_cast<double>(maximum[r]) - static_cast<double>(top)),
                 theirs =
                     std::exp2(static_cast<double>(other.maximum[r]) - static_cast<double>(top));
    const auto merged = [&](float a, float b) {
      return static_cast<float>(ours * static_cast<double>(a) + theirs * static_cast<double>(b));
    };
    maximum[r] = top;
    sum[r] = merged(sum[r], other.sum[r]);
    for (Index c = 0; c < values.cols(); ++c)
      values(static_cast<Index>(r), c) =
          merged(values(static_cast<Index>(r), c), other.values(static_cast<Index>(r), c));
  }
}

void FeatureSums::means(std::vector<float>& log2_sum, Matrix& mean) const {
  log2_sum.resize(sum.size());
  for (std::size_t r = 0; r < sum.size(); ++r) {
    const bool any = sum[r] != 0;
    log2_sum[r] = any ? maximum[r] + std::log2(sum[r]) : log2_of_zero;
    const float share = any ? 1 / sum[r] : 0;
    for (Index c = 0; c < values.cols(); ++c)
      mean(static_cast<Index>(r), c) = share * values(static_cast<Index>(r), c);
  }
}

}  // namespace fovea
