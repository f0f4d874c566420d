// The largest of some numbers.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <ranges>

#include "data/matrix.h"

namespace fovea::drawing {

/// The largest value in a range that is at most `limit`; nothing if there is none. NaN is left out,
/// and so is infinity if the limit is the largest finite number. The range may reach beyond the
/// values.
template <std::ranges::random_access_range Values, class T = std::ranges::range_value_t<Values>>
std::optional<T> largest_in(const Values& values, IndexRange range,
                            T limit = std::numeric_limits<T>::has_infinity
                                          ? std::numeric_limits<T>::infinity()
                                          : std::numeric_limits<T>::max()) {
  std::optional<T> largest;
  const Index end = std::min(range.end, Index(std::ranges::ssize(values)));
  for (Index i = std::max<Index>(range.begin, 0); i < end; ++i)
    if (values[i] <= limit && (!largest || values[i] > *largest)) largest = values[i];
  return largest;
}

}  // namespace fovea::drawing
