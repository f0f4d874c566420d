// RecurrentKeys are the keys of a RecurrentPlan as the rows of later queries meet them.
// RecurrentRows are some of these rows on their way back through the chunks: the memory of one
// thread.
#pragma once

#include <span>
#include <vector>

#include "backend/isa/attend.h"
#include "backend/recurrent_chunk.h"
#include "backend/workers.h"
#include "data/blocks.h"

namespace fovea {

class RecurrentKeys {
 public:
  static constexpr Index chunk = RecurrentChunk::most;

  RecurrentKeys(const RecurrentPlan& plan, const Problem& problem, Workers& workers,
                const std::stop_token& stop);

  Index d() const { return d_; }
  Index width() const { return keys_.stride(); }  // floats of a padded row
  Index tokens() const { return keys_.rows(); }
  Index chunks() const { return number_of_blocks(tokens(), chunk); }
  IndexRange tokens_of(Index c) const { return {c * chunk, std::min((c + 1) * chunk, tokens())}; }
  bool erases() const { return !erased_.empty(); }
  /// RecurrentChunk::write.
  const float* key(Index t) const { return keys_.row(t); }
  const float* erased(Index t) const { return erased_.row(t); }
  MatrixView erased_of(Index c) const { return erased_.view().slice(tokens_of(c)); }
  /// What is left of a channel after a whole chunk.
  float decay(Index c, Index channel) const { return decay_(c, decay_.cols() > 1 ? channel : 0); }
  bool decays_evenly() const { return decay_.cols() == 1; }

 private:
  Index d_;
  Matrix keys_, erased_;  // [n, d]
  Matrix decay_;          // [chunks, 1 or d]
};

class RecurrentRows {
 public:
  static constexpr int most = isa::usual_lanes;

  RecurrentRows(const RecurrentKeys& keys, const isa::Loops& loops);

  /// `count` rows of zeros.
  void begin(int count);
  float* row(int lane) { return r_.row(lane); }
  /// Whether any number is not 0: if none is, all entries that follow are 0.
  bool any() const { return any_; }
  /// Says that rows were written.
  void changed() { any_ = true; }
  /// s[key][lane()] = r . keys of the chunk, and the rows go to the beginning of the chunk.
  void pass(Index c);
  /// The rows become rows times `transition`, [d, d].
  void jump(const Matrix& transition);

  int lanes() const { return lanes_; }
  float* s() { return s_.data(); }

 private:
  void pack();
  void flush();

  const RecurrentKeys& keys_;
  const isa::Loops& loops_;
  int count_ = 0, lanes_ = 0;
  bool any_ = false;
  Matrix r_, next_;  // [most, d]
  std::vector<float, AlignedAllocator<float>> packed_, s_;
};

}  // namespace fovea
