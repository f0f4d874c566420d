#include "backend/query_strip.h"

namespace fovea {
namespace {

IndexRange extremes(const std::int32_t* tokens, int count) {
  const auto [low, high] = std::minmax_element(tokens, tokens + count);
  return {*low, *high};
}

}  // namespace

QueryStrip::QueryStrip(const BoundTiles& tiles)
    : s(static_cast<std::size_t>(isa::max_keys) * isa::max_lanes),
      tiles_(tiles),
      packed_(static_cast<std::size_t>(tiles.d()) * isa::max_lanes),
      copies_(static_cast<std::size_t>(tiles.d()) * isa::max_keys),
      conditions_(tiles.problem()) {}

void QueryStrip::pack() {
  loops_ = &tiles_.loops_for(count);
  lanes_ = (count + loops_->width - 1) / loops_->width * loops_->width;
  for (int lane = count; lane < lanes_; ++lane) lane_token[lane] = lane_token[count - 1];
  loops_->pack(row, count, lanes_, tiles_.d(), tiles_.log2_scale(), packed_.data());
  lane_tokens_ = extremes(lane_token, count);
}

IndexRange QueryStrip::columns_of(const BoundPass& bound, std::size_t t, IndexRange tokens) const {
  const KeyRun& run = bound.runs[t];
  IndexRange cols = run.cols;
  const IndexRange banded = {lane_tokens_.begin - run.band.hi, lane_tokens_.end - run.band.lo + 1};
  if (!bound.pass->cols.empty()) {
    if (!bound.ascending[t]) return cols;
    const auto first = bound.pass->cols.begin();
    const auto position = [&](Index token) {
      return std::lower_bound(first + cols.begin, first + cols.end, token) - first;
    };
    return {position(banded.begin), position(banded.end)};
  }
  const int level = bound.pass->key_level;
  cols = cols.intersected({tokens.begin >> level, ((tokens.end - 1) >> level) + 1});
  IndexRange near = level == 0 && bound.pass->query_level == 0 ? conditions_.keys() : cols;
  if (!run.band.everything())  // a band is on tokens, so this is level 0
    near = near.intersected(banded);
  // Aligns the steps, so that a query alone sees the same keys in each step as with others.
  if (tiles_.dense() && near.size() > 0 && near.begin > cols.begin)
    near.begin -= (near.begin - cols.begin) % isa::max_keys;
  return cols.intersected(near);
}

Index QueryStrip::fill(const BoundPass& bound, IndexRange cols, const ClusterRows& rows,
                       IndexRange tokens, const std::vector<float>& log2_weight) {
  const int level = bound.pass->key_level;
  const bool everything = tokens.begin == 0 && tokens.end == tiles_.lengths().keys;
  const bool copies = tiles_.copies_rows(bound, count);
  Index p = cols.begin;
  for (; p < cols.end && keys < isa::max_keys; ++p) {
    if (skips_) p = conditions_.next_key({p, cols.end});
    if (p == cols.end) break;
    const Index cluster = bound.col(p);
    if (!everything) {
      const IndexRange its = cluster_tokens(cluster, level, tiles_.lengths().keys);
      if (its.end <= tokens.begin || its.begin >= tokens.end) continue;
    }
    column[keys] = cluster;
    key_token_[keys] = static_cast<std::int32_t>(cluster);
    key_[keys] = rows.row(cluster);
    if (copies) {
      float* copy = copies_.data() + keys * tiles_.d();
      std::copy_n(key_[keys], tiles_.d(), copy);
      key_[keys] = copy;
    }
    if (!log2_weight.empty()) weight_[keys] = log2_weight[p];
    ++keys;
  }
  return p;
}

Excluded QueryStrip::excluded_by_mask() const {
  return pass_->key_level == 0 ? conditions_.excluded(key_token_, keys) : Excluded::none;
}

Excluded QueryStrip::excluded_by_band() const {
  if (band_.everything()) return Excluded::none;
  const IndexRange key_tokens = extremes(key_token_, keys);
  const Index least = lane_tokens_.begin - key_tokens.end,
              most = lane_tokens_.end - key_tokens.begin;
  if (most < band_.lo || least > band_.hi) return Excluded::all;
  return least >= band_.lo && most <= band_.hi ? Excluded::none : Excluded::some;
}

// The keys from the first to the last that some lane may attend, whether they are in order or not.
void QueryStrip::find_live_keys() {
  for (int lane = 0; lane < lanes_; lane += isa::range_lanes) {
    const IndexRange tokens =
        extremes(lane_token + lane, std::min(isa::range_lanes, lanes_ - lane));
    const auto counts = [&](int k) {
      return tokens.begin - band_.hi <= key_token_[k] && key_token_[k] <= tokens.end - band_.lo;
    };
    isa::KeyRange range{0, keys};
    while (range.begin < range.end && !counts(range.begin)) ++range.begin;
    while (range.begin < range.end && !counts(range.end - 1)) --range.end;
    live_[lane / isa::range_lanes] = range;
  }
}

void QueryStrip::make_logits(bool weighted, bool banded, bool masked) {
  if (banded) find_live_keys();
  live = banded ? live_ : nullptr;
  loops_->logits(packed_.data(), lanes_, tiles_.d(), key_, keys, live, s.data());
  conditions_.change(s.data(), key_token_, keys, std::max(pass_->query_level, pass_->key_level));
  if (weighted) loops_->add_weights(s.data(), lanes_, keys, weight_);
  if (banded)
    loops_->mask(s.data(), lanes_, keys, lane_token, key_token_,
                 static_cast<std::int32_t>(band_.lo), static_cast<std::int32_t>(band_.hi));
  if (masked) conditions_.exclude(s.data(), key_token_, keys);
  if (!pass_->earlier.empty()) leave_out();
}

void QueryStrip::find_lane_chunks(const Pass& pass) {
  pass_ = &pass;
  const std::size_t rounds = pass.earlier.size();
  lane_chunk_.resize(std::max(lane_chunk_.size(), rounds * isa::max_lanes));
  key_chunk_.resize(std::max(key_chunk_.size(), rounds * isa::max_keys));
  lane_chunks_of_.resize(rounds);
  key_chunks_of_.resize(rounds);
  for (std::size_t r = 0; r < rounds; ++r) {
    std::int32_t* chunk = lane_chunk_.data() + r * isa::max_lanes;
    for (int lane = 0; lane < lanes_; ++lane)
      chunk[lane] = pass.earlier[r]->query[lane_token[lane]];
    lane_chunks_of_[r] = chunk;
    key_chunks_of_[r] = key_chunk_.data() + r * isa::max_keys;
  }
}

void QueryStrip::leave_out() {
  const std::size_t rounds = pass_->earlier.size();
  for (std::size_t r = 0; r < rounds; ++r)
    for (int k = 0; k < keys; ++k)
      key_chunk_[r * isa::max_keys + static_cast<std::size_t>(k)] =
          pass_->earlier[r]->key[key_token_[k]];
  loops_->leave_out(s.data(), lanes_, keys, static_cast<int>(rounds), lane_chunks_of_.data(),
                    key_chunks_of_.data());
}

}  // namespace fovea
