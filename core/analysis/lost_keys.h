// The lost keys of a query are those to which an approximation gives less weight than exact
// attention does; the gained ones are those to which it gives more.
#pragma once

#include <span>
#include <vector>

#include "data/matrix.h"

namespace fovea {

struct ChangedKey {
  Index key = 0;
  float exact = 0, approximate = 0;  // P_ij and P~_ij
};

/// In descending order of the difference; the lower key first among equal differences.
struct LostKeys {
  std::vector<ChangedKey> lost;    // P_ij > P~_ij
  std::vector<ChangedKey> gained;  // P~_ij > P_ij
};

/// The keys of either kind with the largest differences, at most `most` of each, from one row of P
/// and of P~, both [n]. Keys with NaN in either row are of neither kind. O(n log most).
LostKeys lost_keys(std::span<const float> exact, std::span<const float> approximate, Index most);

}  // namespace fovea
