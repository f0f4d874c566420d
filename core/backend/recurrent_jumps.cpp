#include "backend/recurrent_jumps.h"

#include <algorithm>
#include <utility>

#include "backend/operator_need.h"
#include "data/stop.h"

namespace fovea {

void RecurrentJumps::make(IndexRange chunks, const isa::Loops& loops, Workers& workers,
                          const std::stop_token& stop) {
  if (!keys_.erases()) return;
  Index begin = number_of_blocks(chunks.begin, block), end = chunks.end / block;
  for (std::size_t level = 0; begin < end; ++level, begin = (begin + 1) / 2, end /= 2) {
    if (level == levels_.size())
      levels_.emplace_back(static_cast<std::size_t>((keys_.chunks() / block) >> level));
    std::vector<Matrix>& its = levels_[level];
    workers.loop(end - begin, stop, [&](Index turn, int) {
      Matrix& jump = its[begin + turn];
      if (!jump.empty()) return;
      if (level == 0) {
        jump = leaf(begin + turn, loops, stop);
        return;
      }
      const auto& halves = levels_[level - 1];
      const auto early = static_cast<std::size_t>(2 * (begin + turn));
      const Matrix& late = halves[early + 1];
      Matrix product = Matrix::padded(keys_.d(), keys_.d());
      RecurrentRows rows(keys_, loops);
      for (Index first = 0; first < keys_.d(); first += RecurrentRows::most) {
        const Index count = std::min<Index>(RecurrentRows::most, keys_.d() - first);
        rows.begin(static_cast<int>(count));
        for (Index r = 0; r < count; ++r)
          std::copy_n(late.row(first + r), keys_.d(), rows.row(static_cast<int>(r)));
        rows.jump(halves[early]);
        for (Index r = 0; r < count; ++r)
          std::copy_n(rows.row(static_cast<int>(r)), keys_.d(), product.row(first + r));
      }
      jump = std::move(product);
    });
  }
}

Matrix RecurrentJumps::leaf(Index number, const isa::Loops& loops,
                            const std::stop_token& stop) const {
  Matrix transition = Matrix::padded(keys_.d(), keys_.d());
  RecurrentRows rows(keys_, loops);
  for (Index first = 0; first < keys_.d(); first += RecurrentRows::most) {
    const Index count = std::min<Index>(RecurrentRows::most, keys_.d() - first);
    rows.begin(static_cast<int>(count));
    for (Index r = 0; r < count; ++r) rows.row(static_cast<int>(r))[first + r] = 1;
    rows.changed();
    for (Index c = (number + 1) * block; c-- > number * block;) {
      check_stop(stop);
      rows.pass(c);
    }
    for (Index r = 0; r < count; ++r)
      std::copy_n(rows.row(static_cast<int>(r)), keys_.d(), transition.row(first + r));
  }
  return transition;
}

int RecurrentJumps::level_at(Index begin, Index end) const {
  int found = -1;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    const Index size = block << level;
    if (end % size != 0 || end - size < begin) break;
    const auto place = static_cast<std::size_t>(end / size - 1);
    if (place >= levels_[level].size() || levels_[level][place].empty()) break;
    found = static_cast<int>(level);
  }
  return found;
}

void RecurrentJumps::take(RecurrentRows& rows, IndexRange chunks,
                          const std::stop_token& stop) const {
  for (Index end = chunks.end; end > chunks.begin && rows.any();) {
    check_stop(stop);
    const int level = level_at(chunks.begin, end);
    if (level < 0) {
      rows.pass(--end);
      continue;
    }
    const Index size = block << level;
    rows.jump(levels_[level][end / size - 1]);
    end -= size;
  }
}

double RecurrentJumps::size_of(Index tokens, Index d) {
  const Index leaves = tokens / (block * RecurrentKeys::chunk);
  return 2 * as_double(leaves) * as_double(d) * as_double(padded_width(d));
}

}  // namespace fovea
