#include "analysis/block_side.h"

namespace fovea {

BlockSide::BlockSide(const Side& side, IndexRange view, Index block)
    : side_(side), view_(view), block_(block) {
  if (side.identity() || side.level() > 0 || !side.ascending({0, side.size()})) return;
  const std::int32_t* order = side.order();
  for (Index begin = view.begin; begin < view.end + block; begin += block)
    edges_.push_back(std::lower_bound(order, order + side.size(), std::min(begin, view.end)) -
                     order);
}

const std::vector<BlockSide::Piece>& BlockSide::split(IndexRange positions) {
  pieces_.clear();
  tokens_ = nullptr;
  if (positions.size() <= 0) return pieces_;
  if (side_.identity()) {
    split_range({side_.tokens(positions.begin).begin, side_.tokens(positions.end - 1).end});
  } else if (side_.level() == 0 && side_.ascending(positions)) {
    tokens_ = side_.order();
    if (edges_.empty())
      walk(side_.near(positions, view_));
    else
      split_by_edges(positions);
  } else {
    sort_tokens(positions);
    tokens_ = sorted_.data();
    walk({0, std::ssize(sorted_)});
  }
  return pieces_;
}

void BlockSide::split_range(IndexRange tokens) {
  tokens = tokens.intersected(view_);
  while (tokens.size() > 0) {
    const Index block = block_of(tokens.begin);
    const Index end = std::min(tokens.end, view_.begin + (block + 1) * block_);
    pieces_.push_back({block, {tokens.begin, end}});
    tokens.begin = end;
  }
}

void BlockSide::split_by_edges(IndexRange positions) {
  positions = positions.intersected({edges_.front(), edges_.back()});
  while (positions.size() > 0) {
    const Index block = block_of(tokens_[positions.begin]);
    const Index end = std::min(positions.end, edges_[block + 1]);
    pieces_.push_back({block, {positions.begin, end}});
    positions.begin = end;
  }
}

void BlockSide::walk(IndexRange at) {
  for (Index a = at.begin; a < at.end; ++a) {
    const Index block = block_of(tokens_[a]);
    if (pieces_.empty() || pieces_.back().block != block) pieces_.push_back({block, {a, a}});
    ++pieces_.back().at.end;
  }
}

void BlockSide::sort_tokens(IndexRange positions) {
  sorted_.clear();
  for (Index p = positions.begin; p < positions.end; ++p) {
    const IndexRange its = side_.tokens(p).intersected(view_);
    for (Index t = its.begin; t < its.end; ++t) sorted_.push_back(static_cast<std::int32_t>(t));
  }
  std::ranges::sort(sorted_);
}

}  // namespace fovea
