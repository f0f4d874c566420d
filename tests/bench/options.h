// The options of the kernels' benchmark:
//   bench_kernels [--out FILE] [--seconds S] [--lengths N,N..] [--heads H,H..] [--d D,D..]
//                 [--causal no|yes|both] [--what ID,ID..] [--precisions P,P..] [--rounds R]
//                 [--spread SHARE] [--only attention|maps] [--head-start MS] [--sets N]
#pragma once

#include <string>
#include <vector>

#include "data/matrix.h"

namespace fovea::bench {

struct Options {
  std::string out;
  double seconds = 150;
  int rounds = 30;
  /// Rounds end, after five at the least, when the times of every contender spread by no more than
  /// this (relative_spread); those from end to end, which vary more, after five. 0: they go on.
  double spread = 0;
  double head_start = 2;  // ms: more than launching a stage takes
  double sets = 16;       // of inputs, at most
  std::string only;       // empty: everything
  std::vector<Index> lengths{131072, 4096, 16384, 65536}, heads{12, 1}, widths{64};
  std::vector<bool> masks{false, true};       // causal
  std::vector<std::string> what, precisions;  // empty: all

  bool wants(const std::string& id, const std::string& precision) const;
};

/// Throws UsageError for what is no option.
Options options_from(int argc, char** argv);

}  // namespace fovea::bench
