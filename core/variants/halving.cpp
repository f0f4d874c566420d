#include "variants/halving.h"

#include <algorithm>

namespace fovea {

Halving::Halving(Index n, Index min_length) {
  std::vector<IndexRange> segments{{0, n}};
  while (!segments.empty()) {
    std::vector<IndexRange> next;
    std::vector<SubProblem> cut;
    for (const IndexRange s : segments) {
      if (s.size() <= std::max<Index>(min_length, 1)) {
        leaves.push_back(s);
        continue;
      }
      const Index middle = s.begin + s.size() / 2;
      cut.push_back({{middle, s.end}, {s.begin, middle}});
      next.push_back({s.begin, middle});
      next.push_back({middle, s.end});
    }
    if (!cut.empty()) depths.push_back(std::move(cut));
    segments = std::move(next);
  }
  std::ranges::sort(leaves, {}, &IndexRange::begin);
}

}  // namespace fovea
