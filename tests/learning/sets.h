// Small heads to learn from.
#pragma once

#include "harness.h"
#include "learning/learning_set.h"

namespace fovea::test {

inline LearningSet learning_set(const Problem& problem, std::uint64_t seed = 1) {
  Profile profile;
  Run run{profile};
  return make_learning_set(problem, seed, *backends().front(), run);
}

inline LearningSet learning_set(Index n, Index d, Index dv, bool causal = false) {
  return learning_set(make_data(Data::gaussian, n, d, dv, causal));
}

}  // namespace fovea::test
