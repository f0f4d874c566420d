// The self-test of a back end: what it computes for small heads, with every variant and for every
// kind of kernel, is held against what another computes that is trusted.
#pragma once

#include <functional>
#include <string>

#include "backend/backend.h"

namespace fovea {

struct SelfTestLengths {
  Index tokens = 500;  // of most heads
  /// Queries of heads with few keys: so many, and 4 to 24 times fewer, that the kernels for tiles
  /// of 64 and of more queries are used on GPUs of 20 to 150 multiprocessors. 0: without these
  /// heads.
  Index many_queries = 40000;
};

/// Empty, or a sentence about the first head or step of planning that the two back ends do not
/// agree on: "Exact, n = 333, d = 40, causal: outputs are off by 0.31 of their size; rounding
/// explains 0.0002." Outputs and log-sum-exp may differ by the rounding of `tested.precision()`,
/// entries by that of fp32. A device that is lost is a finding, too: it would be lost again. Throws
/// what else `tested` throws. `began` is called with the name of each head and step before its
/// test.
std::string self_test(const Backend& tested, const Backend& trusted, Run& run,
                      const SelfTestLengths& lengths = {},
                      const std::function<void(const std::string&)>& began = {});

}  // namespace fovea
