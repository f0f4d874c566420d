// A Tick is a place on an axis that carries a number; ticks sit on numbers a person would choose.
#pragma once

#include <string>
#include <vector>

#include "data/matrix.h"

namespace fovea::drawing {

struct Tick {
  double at = 0;
  std::string label;
};

/// Multiples of 1, 2 or 5 times a power of ten within [low, high], at most about `most`.
std::vector<Tick> linear_ticks(double low, double high, int most);

/// The same multiples, but only whole numbers.
std::vector<Tick> whole_ticks(double low, double high, int most);

/// Powers of ten within [low, high]; the ends if there are fewer than two.
std::vector<Tick> log_ticks(double low, double high, int most);

/// 0 and powers of ten to both sides, the least of them at `least` or above.
std::vector<Tick> signed_log_ticks(double high, double least, int most);

/// Token indices within [low, high), multiples of a power of two since the borders of blocks fall
/// on them, at least `spacing` apart where a token is `cell` wide. A tick stands in the middle of a
/// wide token, at the beginning of a narrow one (`cell` below `wide`).
struct TokenSpacing {
  double cell = 1, spacing = 1, wide = 1;
};
std::vector<Index> token_places(double low, double high, const TokenSpacing& where);

}  // namespace fovea::drawing
