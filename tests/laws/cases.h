// The cases of the laws: every variant of the table in several settings, small enough that short
// sequences have many blocks. Each variant's file in laws/variants lists its own.
#pragma once

#include <string>
#include <vector>

#include "harness.h"

namespace fovea::test {

struct Case {
  std::string id = {};  // of the variant; filled in by laws_from
  Settings settings;
  Index head = 0;
  bool leaks_the_future = false;  // under a causal mask, and says so
  bool rows_sum_to_one = true;    // or to 0 where no key is attended
  bool random = false;            // another seed, another structure
  bool has_causal_form = true;    // with these settings, where the variant has one
};

/// In the order of the table.
const std::vector<Case>& all_cases();

std::string describe(const Case& c);

/// Whether the mask is causal: false where the variant has a form without one, and true where the
/// variant, or the case, has a causal form.
std::vector<bool> masks_of(const std::string& id);
std::vector<bool> masks_of(const Case& c);
/// The mask that is asked for if the case has it, else the other.
bool mask_of(const Case& c, bool causal);

struct Shape {
  Index n, d, dv;
};

/// Around the sizes of vectors, strips and steps of the back ends.
const std::vector<Shape>& all_shapes();

/// What a program tests, of its back ends: all of it, or less where they are slow.
const std::vector<Case>& cases();
const std::vector<Shape>& shapes();
/// How many heads a program draws at random, and the most tokens they have.
struct RandomHeads {
  std::uint64_t count;
  Index longest;
};
RandomHeads random_heads();

}  // namespace fovea::test
