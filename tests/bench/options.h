// The options of the kernels' benchmark:
//   bench_kernels [--out FILE] [--seconds S] [--lengths N,N..] [--heads H,H..] [--rounds R]
//                 [--only attention|maps] [--head-start MS] [--sets N]
#pragma once

#include <string>
#include <vector>

#include "data/matrix.h"

namespace fovea::bench {

struct Options {
  std::string out;
  double seconds = 150;
  int rounds = 30;
  double head_start = 2;  // ms: more than launching a stage takes
  double sets = 16;       // of inputs, at most
  std::string only;       // empty: everything
  std::vector<Index> lengths{131072, 4096, 16384, 65536}, heads{12, 1};
};

/// Throws UsageError for what is no option.
Options options_from(int argc, char** argv);

}  // namespace fovea::bench
