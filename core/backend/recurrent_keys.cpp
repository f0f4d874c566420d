#include "backend/recurrent_keys.h"

#include <algorithm>
#include <cmath>

namespace fovea {

RecurrentKeys::RecurrentKeys(const RecurrentPlan& plan, const Problem& problem, Workers& workers,
                             const std::stop_token& stop)
    : d_(problem.d()), keys_(Matrix::padded(problem.keys(), d_)) {
  const Recurrence& recurrence = *plan.recurrence;
  if (recurrence.erases) erased_ = Matrix::padded(tokens(), d_);
  decay_ = Matrix(chunks(), std::max<Index>(1, recurrence.log_decay.cols()));
  workers.loop(chunks(), stop, [&](Index c, int) {
    RecurrentChunk(plan, problem, tokens_of(c)).write(keys_, erased_, decay_.row(c));
  });
}

RecurrentRows::RecurrentRows(const RecurrentKeys& keys, const isa::Loops& loops)
    : keys_(keys),
      loops_(loops),
      r_(Matrix::padded(most, keys.d())),
      next_(Matrix::padded(most, keys.d())),
      packed_(std::max<Index>(keys.width(), isa::max_keys) * most),
      s_(RecurrentKeys::chunk * most) {}

void RecurrentRows::begin(int count) {
  count_ = count;
  lanes_ = (count + isa::range_lanes - 1) / isa::range_lanes * isa::range_lanes;
  std::fill_n(r_.data(), count * r_.stride(), 0.0f);
  any_ = false;
}

void RecurrentRows::pack() {
  const float* rows[most];
  for (int lane = 0; lane < count_; ++lane) rows[lane] = r_.row(lane);
  loops_.pack(rows, count_, lanes_, static_cast<int>(keys_.width()), 1.0f, packed_.data());
}

// Numbers so small that they are as good as 0 would slow down all sums that follow.
void RecurrentRows::flush() {
  constexpr float least = 1e-37f;
  bool any = false;
  for (int lane = 0; lane < count_; ++lane) {
    float* const row = r_.row(lane);
    for (Index c = 0; c < keys_.width(); ++c) {
      row[c] = std::abs(row[c]) < least ? 0.0f : row[c];  // NaN stays
      any |= row[c] != 0;
    }
  }
  any_ = any;
}

void RecurrentRows::pass(Index c) {
  const IndexRange tokens = keys_.tokens_of(c);
  const int size = static_cast<int>(tokens.size());
  const float *keys[RecurrentKeys::chunk], *erased[RecurrentKeys::chunk];
  for (int t = 0; t < size; ++t) keys[t] = keys_.key(tokens.begin + t);
  pack();
  loops_.logits(packed_.data(), lanes_, static_cast<int>(keys_.width()), keys, size, nullptr,
                s_.data());
  const float all = keys_.decays_evenly() ? keys_.decay(c, 0) : 1;
  for (int lane = 0; lane < count_ && !keys_.decays_evenly(); ++lane)
    for (Index channel = 0; channel < keys_.d(); ++channel)
      r_(lane, channel) *= keys_.decay(c, channel);
  if (keys_.erases()) {
    for (int t = 0; t < size; ++t) erased[t] = keys_.erased(tokens.begin + t);
    alignas(64) float rescale[most];
    float* rows[most];
    std::fill_n(rescale, most, all);
    for (int lane = 0; lane < count_; ++lane) rows[lane] = r_.row(lane);
    loops_.accumulate({.s = s_.data(),
                       .lanes = lanes_,
                       .count = count_,
                       .keys = size,
                       .live = nullptr,
                       .values = erased,
                       .rescale = rescale,
                       .from = rows,
                       .z = rows},
                      static_cast<int>(keys_.width()));
  } else {
    for (int lane = 0; lane < count_; ++lane)
      loops_.scale(r_.row(lane), static_cast<int>(keys_.width()), all);
  }
  flush();
}

void RecurrentRows::jump(const Matrix& transition) {
  pack();  // channels take the place of keys, in steps of isa::max_keys
  alignas(64) float ones[most];
  std::fill_n(ones, most, 1.0f);
  float* rows[most];
  for (int lane = 0; lane < count_; ++lane) rows[lane] = next_.row(lane);
  std::fill_n(next_.data(), count_ * next_.stride(), 0.0f);
  for (Index begin = 0; begin < keys_.d(); begin += isa::max_keys) {
    const int channels = static_cast<int>(std::min<Index>(isa::max_keys, keys_.d() - begin));
    const float* values[isa::max_keys];
    for (int c = 0; c < channels; ++c) values[c] = transition.row(begin + c);
    loops_.accumulate({.s = packed_.data() + begin * lanes_,
                       .lanes = lanes_,
                       .count = count_,
                       .keys = channels,
                       .live = nullptr,
                       .values = values,
                       .rescale = ones,
                       .from = rows,
                       .z = rows},
                      static_cast<int>(keys_.width()));
  }
  std::swap(r_, next_);
  flush();
}

}  // namespace fovea
