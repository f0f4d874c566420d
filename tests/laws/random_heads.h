// Heads that are drawn at random, and seldom harmless: large logits, denormal numbers, ties,
// constant and one-hot rows, under any mask that models have, with settings from the whole of their
// ranges.
#pragma once

#include <string>

#include "data/random.h"
#include "laws/cases.h"

namespace fovea::test {

struct RandomHead {
  Case c;
  Problem problem;
  std::string text;  // what it is, for messages
};

/// The head of this number, always the same; of at most `longest` tokens.
RandomHead random_head(std::uint64_t number, Index longest);

}  // namespace fovea::test
