#include "backend/strip_conditions.h"

#include <algorithm>
#include <numbers>

namespace fovea {
namespace {

constexpr float log2e = std::numbers::log2e_v<float>;

}  // namespace

void StripConditions::begin(const isa::Loops& loops, const std::int32_t* lane_token, int count,
                            int lanes) {
  near_ = {0, keys_};
  if (!rule_ && !mask_) return;
  loops_ = &loops;
  lane_token_ = lane_token;
  lanes_ = lanes;
  // Lanes beyond the last query would read beyond its row.
  consecutive_ = count == lanes;
  for (int lane = 1; lane < count && consecutive_; ++lane)
    consecutive_ = lane_token[lane] == lane_token[lane - 1] + 1;
  if (skips()) find_bits(count);
  if (!mask_ || !mask_->has_documents()) return;
  for (int lane = 0; lane < lanes; ++lane)
    lane_document_[lane] = mask_->query_document()[lane_token[lane]];
  const auto [least, greatest] = std::minmax_element(lane_document_, lane_document_ + count);
  least_document_ = *least;
  greatest_document_ = *greatest;
  near_ = mask_->keys_of_documents(least_document_, greatest_document_);
}

void StripConditions::find_bits(int count) {
  const BitRows& pairs = mask_->pairs();
  const Index stride = pairs.stride();
  if (!pairs.held()) made_.resize(count * stride);
  for (int lane = 0; lane < lanes_; ++lane) {
    const Index query = lane_token_[lane];
    if (lane >= count) {
      bits_[lane] = bits_[count - 1];
    } else if (pairs.held()) {
      bits_[lane] = pairs.row(query);
    } else {
      std::uint32_t* words = made_.data() + lane * stride;
      pairs.copy_row(query, words);
      bits_[lane] = words;
    }
  }
  attended_.resize(stride);
}

void StripConditions::find_attended(IndexRange keys) {
  if (keys.size() <= 0) return;
  const Index first = keys.begin / BitMatrix::word_bits,
              last = (keys.end - 1) / BitMatrix::word_bits;
  std::fill(attended_.begin() + first, attended_.begin() + last + 1, 0u);
  for (int lane = 0; lane < lanes_; ++lane)
    for (Index w = first; w <= last; ++w) attended_[w] |= bits_[lane][w];
}

Excluded StripConditions::excluded(const std::int32_t* key_token, int count) const {
  if (!mask_) return Excluded::none;
  if (!mask_->has_documents()) return Excluded::some;
  bool any = false, same = true;
  for (int k = 0; k < count; ++k) {
    const std::int32_t document = mask_->key_document()[key_token[k]];
    any |= least_document_ <= document && document <= greatest_document_;
    same &= document == least_document_;
  }
  if (!any) return Excluded::all;
  return same && least_document_ == greatest_document_ && !mask_->has_pairs() ? Excluded::none
                                                                              : Excluded::some;
}

void StripConditions::add_row(float* s, const float* row) const {
  if (consecutive_) return loops_->add_row(s, lanes_, row + lane_token_[0], log2e);
  alignas(64) float gathered[isa::max_lanes];
  for (int lane = 0; lane < lanes_; ++lane) gathered[lane] = row[lane_token_[lane]];
  loops_->add_row(s, lanes_, gathered, log2e);
}

void StripConditions::change(float* s, const std::int32_t* key_token, int count, int level) {
  if (!rule_) return;
  if (rule_->soft_cap > 0)
    loops_->soft_cap(s, count * lanes_, static_cast<float>(rule_->soft_cap) * log2e);
  if (level > 0) return;
  for (int k = 0; k < count; ++k) {
    const Index key = key_token[k];
    float* its = s + k * lanes_;
    if (!rule_->by_distance.empty()) add_row(its, rule_->by_distance.data() + keys_ - 1 - key);
    if (!rule_->bias.empty()) add_row(its, rule_->bias.row(key));
    const float weight = rule_->by_key.empty() ? 0 : log2e * rule_->by_key[key];
    if (weight != 0) loops_->add_weights(its, lanes_, 1, &weight);
  }
}

void StripConditions::exclude(float* s, const std::int32_t* key_token, int count) {
  if (!mask_) return;
  if (mask_->has_documents()) {
    std::int32_t document[isa::max_keys];
    for (int k = 0; k < count; ++k) document[k] = mask_->key_document()[key_token[k]];
    loops_->keep_documents(s, lanes_, count, lane_document_, document);
  }
  if (!mask_->has_pairs()) return;
  Index group = -1;  // of 32 keys, whose bits the words hold
  for (int k = 0; k < count; ++k) {
    const Index key = key_token[k];
    if (key / BitMatrix::word_bits != group) {
      group = key / BitMatrix::word_bits;
      for (int lane = 0; lane < lanes_; ++lane) word_[lane] = bits_[lane][group];
    }
    loops_->keep_bits(s + k * lanes_, lanes_, word_, static_cast<int>(key % BitMatrix::word_bits));
  }
}

}  // namespace fovea
