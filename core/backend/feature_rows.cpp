#include "backend/feature_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace fovea {
namespace {

// log2 e |x^|^2 / 2.
double half_norm(const float* x, Index d, double scale) {
  double squares = 0;
  for (Index c = 0; c < d; ++c) squares += static_cast<double>(x[c]) * static_cast<double>(x[c]);
  return std::numbers::log2e * scale * squares / 2;
}

}  // namespace

FeatureRows::FeatureRows(const FeaturePlan& plan, const Problem& problem, const isa::Loops& loops)
    : plan_(plan),
      problem_(problem),
      loops_(loops),
      features_(static_cast<int>(plan.features(problem.d()))),
      chunks_((features_ + chunk - 1) / chunk),
      unit_(static_cast<float>(std::sqrt(problem.scale) * std::numbers::log2e)) {
  if (plan.map == FeatureMap::elu) return;
  const Index d = problem.d();
  packed_.resize(padded() * d);
  for (int c = 0; c < chunks_; ++c) {
    const float* rows[chunk];
    for (int r = 0; r < in_chunk(c); ++r) rows[r] = plan.directions.row(c * chunk + r);
    loops.pack(rows, in_chunk(c), chunk, static_cast<int>(d), unit_,
               packed_.data() + c * chunk * d);
  }
  for (Index j = 0; j < problem.n(); ++j)
    half_norm_.push_back(static_cast<float>(half_norm(problem.k.row(j), d, problem.scale)));
}

int FeatureRows::in_chunk(int which) const {
  return std::min(chunk, features_ - which * chunk);
}

void FeatureRows::keys(IndexRange tokens, int which, float* s) const {
  const int count = static_cast<int>(tokens.size()), features = in_chunk(which);
  const float* rows[isa::max_keys];
  for (int k = 0; k < count; ++k) rows[k] = problem_.k.row(tokens.begin + k);
  if (plan_.map == FeatureMap::exponential) {
    loops_.logits(packed_.data() + which * chunk * problem_.d(), chunk,
                  static_cast<int>(problem_.d()), rows, count, nullptr, s);
    for (int k = 0; k < count; ++k)
      for (int r = 0; r < chunk; ++r) s[k * chunk + r] -= half_norm_[tokens.begin + k];
  } else {
    for (int k = 0; k < count; ++k) {
      std::copy_n(rows[k] + which * chunk, features, s + k * chunk);
      loops_.log2_elu(s + k * chunk, features);
    }
  }
  for (int k = 0; k < count; ++k)
    std::fill(s + k * chunk + features, s + (k + 1) * chunk, log2_of_zero);
}

void FeatureRows::queries(const Index* queries, int count, int lanes, int which, float* s) const {
  const int features = in_chunk(which), d = static_cast<int>(problem_.d());
  if (plan_.map == FeatureMap::exponential) {
    const float* rows[isa::max_lanes];
    const float* directions[chunk];
    for (int i = 0; i < count; ++i) rows[i] = problem_.q.row(queries[i]);
    for (int r = 0; r < features; ++r) directions[r] = plan_.directions.row(which * chunk + r);
    std::vector<float, AlignedAllocator<float>> packed(d * lanes);
    loops_.pack(rows, count, lanes, d, unit_, packed.data());
    loops_.logits(packed.data(), lanes, d, directions, features, nullptr, s);
  } else {
    const float* rows[isa::max_lanes];
    for (int i = 0; i < count; ++i) rows[i] = problem_.q.row(queries[i]) + which * chunk;
    loops_.pack(rows, count, lanes, features, 1.0f, s);  // zeros beyond the count stay zeros
    loops_.log2_elu(s, features * lanes);
  }
  std::fill(s + features * lanes, s + chunk * lanes, log2_of_zero);
}

double FeatureRows::log2_factor(Index query) const {
  if (plan_.map == FeatureMap::elu) return 0;
  return -half_norm(problem_.q.row(query), problem_.d(), problem_.scale) - std::log2(features_);
}

}  // namespace fovea
