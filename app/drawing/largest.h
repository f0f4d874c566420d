// The largest of some numbers.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <ranges>

#include "data/matrix.h"

namespace fovea::drawing {

/// The largest value in a range, as far as there are values, that is at most `limit`. NaN
/// never is, and the largest finite number as the limit leaves out infinity. Nothing where no value
/// is left.
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
