// StripConditions apply the rule and the mask of a head to the logits of a strip of queries.
#pragma once

#include <vector>

#include "backend/isa/attend.h"
#include "data/problem.h"

namespace fovea {

/// How many of some pairs are excluded.
enum class Excluded { none, some, all };

class StripConditions {
 public:
  /// The problem outlives this.
  explicit StripConditions(const Problem& problem)
      : rule_(problem.rule.get()), mask_(problem.mask.get()), keys_(problem.k.rows) {}

  /// The queries of the strip: `count` tokens, and copies of the last of them up to `lanes`.
  void begin(const isa::Loops& loops, const std::int32_t* lane_token, int count, int lanes);

  /// All keys that the mask admits for some query of the strip lie between these.
  IndexRange keys() const { return near_; }
  /// Whether find_attended and next_key apply: the mask has pairs.
  bool skips() const { return mask_ && mask_->has_pairs(); }
  /// Finds which of the keys some query of the strip attends, for next_key.
  void find_attended(IndexRange keys);
  /// The first of the keys that some query of the strip attends; their end if there is none.
  Index next_key(IndexRange keys) const { return next_bit(attended_.data(), true, keys); }
  /// How many pairs of the strip and some keys the documents exclude.
  Excluded excluded(const std::int32_t* key_token, int count) const;

  /// Turns s[key][lane], in log2 units, into the logit of the rule. At levels above 0 only the cap
  /// applies.
  void change(float* s, const std::int32_t* key_token, int count, int level);
  /// s = -inf where the mask excludes a pair.
  void exclude(float* s, const std::int32_t* key_token, int count);

 private:
  void find_bits(int count);
  void add_row(float* s, const float* row) const;

  const LogitRule* rule_;
  const PairMask* mask_;
  Index keys_;
  const isa::Loops* loops_ = nullptr;
  const std::int32_t* lane_token_ = nullptr;
  int lanes_ = 0;
  bool consecutive_ = false;  // the tokens of all lanes
  IndexRange near_;
  alignas(64) std::int32_t lane_document_[isa::max_lanes] = {};
  alignas(64) std::uint32_t word_[isa::max_lanes] = {};
  const std::uint32_t* bits_[isa::max_lanes] = {};  // of the pairs of each lane
  std::vector<std::uint32_t> made_;                 // rows of bits that are not held
  std::vector<std::uint32_t> attended_;             // bits of keys
  std::int32_t least_document_ = 0, greatest_document_ = 0;
};

}  // namespace fovea
