// The self-test of a back end: its results for small heads, with every variant and for every kind
// of kernel, are held against those of a trusted back end.
#pragma once

#include <functional>
#include <string>

#include "backend/backend.h"

namespace fovea {

struct SelfTestLengths {
  Index tokens = 500;  // of most heads
  /// Numbers of queries of heads with few keys: this many, and 4 to 24 times fewer, so that the
  /// kernels for tiles of 64 and of more queries are used on GPUs of 20 to 150 multiprocessors. 0
  /// leaves these heads out.
  Index many_queries = 40000;
};

/// Empty, or a sentence about the first head or step of planning on which the two back ends
/// disagree: "Exact, n = 333, d = 40, causal: outputs are off by 0.31 of their size; rounding
/// explains 0.0002." Outputs and log-sum-exp may differ by the rounding of `tested.precision()`,
/// entries by that of fp32. A lost device is a finding, too: it would be lost again. Throws any
/// other exception of `tested`. `began` is called with the name of each head and step before its
/// test.
std::string self_test(const Backend& tested, const Backend& trusted, Run& run,
                      const SelfTestLengths& lengths = {},
                      const std::function<void(const std::string&)>& began = {});

}  // namespace fovea
