// A memory budget for as long as a test needs it.
#pragma once

#include "data/memory.h"

namespace fovea::test {

struct Budget {
  explicit Budget(std::size_t bytes) { set_memory_budget(bytes); }
  ~Budget() { set_memory_budget({}); }
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;
};

}  // namespace fovea::test
