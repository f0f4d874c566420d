#include "backend/feature_strip.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fovea {
namespace {

constexpr int chunk = FeatureRows::chunk;

}  // namespace

FeatureStrip::FeatureStrip(const FeatureRows& rows, const isa::Loops& loops)
    : rows_(rows),
      loops_(loops),
      query_(rows.padded() * most),
      key_(rows.padded() * isa::max_keys),
      s_(isa::max_keys * most),
      copy_(chunk * most),
      row_(rows.padded() * isa::max_keys),
      weight_(rows.padded() * most) {}

void FeatureStrip::begin(std::span<const Index> queries) {
  queries_ = queries;
  const int count = static_cast<int>(queries.size());
  lanes_ = (count + isa::range_lanes - 1) / isa::range_lanes * isa::range_lanes;
  for (int c = 0; c < rows_.chunks(); ++c)
    rows_.queries(queries.data(), count, lanes_, c, query_.data() + c * chunk * lanes_);
  std::fill_n(maximum_, lanes_, log2_of_zero);
  std::fill_n(sum_, lanes_, 0.0f);
  std::fill_n(largest_, lanes_, log2_of_zero);
  for (Index r = 0; r < rows_.padded(); ++r)
    for (int i = 0; i < lanes_; ++i) largest_[i] = std::max(largest_[i], query_[r * lanes_ + i]);
  for (Index r = 0; r < rows_.padded(); ++r)
    for (int i = 0; i < lanes_; ++i) query_[r * lanes_ + i] -= largest_[i];
}

// s_ holds the logits of some keys: one step of the streaming softmax.
void FeatureStrip::step(int keys, const float* const* values, Index width, Matrix& z, Index first) {
  loops_.softmax(s_.data(), lanes_, keys, maximum_, sum_, rescale_);
  if (width == 0) return;
  const int count = static_cast<int>(queries_.size());
  float* to[most];
  for (int i = 0; i < count; ++i) to[i] = z.row(first + i);
  loops_.accumulate({.s = s_.data(),
                     .lanes = lanes_,
                     .count = count,
                     .keys = keys,
                     .live = nullptr,
                     .values = values,
                     .rescale = rescale_,
                     .from = to,
                     .z = to},
                    static_cast<int>(width));
}

void FeatureStrip::attend(std::span<const float> log2_sum, const Matrix& mean, Matrix& z,
                          Index first) {
  for (int c = 0; c < rows_.chunks(); ++c) {
    std::copy_n(query_.data() + c * chunk * lanes_, chunk * lanes_, s_.data());
    loops_.add_weights(s_.data(), lanes_, chunk, log2_sum.data() + c * chunk);
    const float* values[chunk];
    for (int r = 0; r < chunk && mean.cols() > 0; ++r) values[r] = mean.row(c * chunk + r);
    step(chunk, values, mean.cols(), z, first);
  }
}

// key_[chunk][key][64].
void FeatureStrip::make_keys(IndexRange tokens) {
  for (int c = 0; c < rows_.chunks(); ++c)
    rows_.keys(tokens, c, key_.data() + static_cast<Index>(c) * tokens.size() * chunk);
}

// s_[key][lane] = log2 phi(q_i) . phi(k_j), summed relative to the largest term of each pair.
void FeatureStrip::pair_logits(IndexRange tokens) {
  alignas(64) float maximum[most], sum[most], rescale[most];
  make_keys(tokens);
  for (Index k = 0; k < tokens.size(); ++k) {
    std::fill_n(maximum, lanes_, log2_of_zero);
    std::fill_n(sum, lanes_, 0.0f);
    for (int c = 0; c < rows_.chunks(); ++c) {
      std::copy_n(query_.data() + c * chunk * lanes_, chunk * lanes_, copy_.data());
      loops_.add_weights(copy_.data(), lanes_, chunk,
                         key_.data() + (static_cast<Index>(c) * tokens.size() + k) * chunk);
      loops_.softmax(copy_.data(), lanes_, chunk, maximum, sum, rescale);
    }
    for (int i = 0; i < lanes_; ++i) {
      const bool past = i < std::ssize(queries_) && tokens.begin + k <= queries_[i];
      s_[k * lanes_ + i] = past ? maximum[i] + std::log2(sum[i]) : log2_of_zero;
    }
  }
}

void FeatureStrip::attend_keys(IndexRange tokens, MatrixView v, Matrix& z, Index first) {
  pair_logits(tokens);
  const float* values[most_causal];
  for (Index k = 0; k < tokens.size() && v.cols > 0; ++k) values[k] = v.row(tokens.begin + k);
  step(static_cast<int>(tokens.size()), values, z.cols(), z, first);
}

void FeatureStrip::divide(Matrix& z, Index first) const {
  for (Index i = 0; i < std::ssize(queries_); ++i) {
    const float share = sum_[i] == 0 ? 0 : 1 / sum_[i];
    for (Index c = 0; c < z.cols(); ++c) z(first + i, c) *= share;
  }
}

float FeatureStrip::log2_sum(int lane) const {
  return sum_[lane] != 0 ? maximum_[lane] + std::log2(sum_[lane]) : log2_of_zero;
}

// phi(q_i) . phi(k_j) / D_i = sum over r of 2^(a_ir + top_r - D_i) 2^(b_jr - top_r), top_r being
// the largest b_jr: neither factor exceeds 1, since D_i is a sum over these keys too.
void FeatureStrip::factored_entries(IndexRange tokens, const float* sums, float* s) {
  const int keys = static_cast<int>(tokens.size()), padded = rows_.padded();
  alignas(64) float top[chunk];
  make_keys(tokens);
  for (int c = 0; c < rows_.chunks(); ++c) {
    float* of_keys = key_.data() + static_cast<Index>(c) * keys * chunk;
    std::fill_n(top, chunk, log2_of_zero);
    for (int k = 0; k < keys; ++k)
      for (int r = 0; r < chunk; ++r) top[r] = std::max(top[r], of_keys[k * chunk + r]);
    loops_.normalise(of_keys, chunk, keys, top, 0);
    for (int k = 0; k < keys; ++k)
      std::copy_n(of_keys + k * chunk, chunk, row_.data() + k * padded + c * chunk);
    float* of_queries = weight_.data() + c * chunk * lanes_;
    std::copy_n(query_.data() + c * chunk * lanes_, chunk * lanes_, of_queries);
    loops_.add_weights(of_queries, lanes_, chunk, top);
    loops_.normalise(of_queries, lanes_, chunk, sums, 0);
  }
  const float* rows[isa::max_keys];
  for (int k = 0; k < keys; ++k) rows[k] = row_.data() + k * padded;
  loops_.logits(weight_.data(), lanes_, padded, rows, keys, nullptr, s);
}

// Makes the entries pair by pair: with features of later keys both factors could be too large.
void FeatureStrip::own_entries(IndexRange tokens, const float* sums, float* s) {
  pair_logits(tokens);
  loops_.normalise(s_.data(), lanes_, static_cast<int>(tokens.size()), sums, 0);
  for (int i = 0; i < lanes_; ++i)
    if (i < std::ssize(queries_) && queries_[i] < tokens.end)
      for (Index k = 0; k < tokens.size(); ++k) s[k * lanes_ + i] = s_[k * lanes_ + i];
}

IndexRange FeatureStrip::block_tokens(Index block) const {
  return {block * chunk, std::min((block + 1) * chunk, rows_.tokens())};
}

void FeatureStrip::entries(Index block, std::span<const float> log2_sums, bool causal, float* s) {
  alignas(64) float sums[most];
  std::fill_n(sums, lanes_, log2_of_zero);
  std::ranges::copy(log2_sums, sums);
  const IndexRange tokens = block_tokens(block);
  const auto [first, last] = std::ranges::minmax(queries_);
  if (!causal || last >= tokens.end) factored_entries(tokens, sums, s);
  if (causal && first < tokens.end) own_entries(tokens, sums, s);
}

}  // namespace fovea
