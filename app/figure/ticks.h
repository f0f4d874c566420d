// A Tick is a place on an axis that carries a number; ticks sit on numbers a person would choose.
#pragma once

#include <QString>
#include <vector>

#include "data/matrix.h"

namespace fovea {

struct Tick {
  double at = 0;
  QString label;
};

/// Multiples of 1, 2 or 5 times a power of ten within [low, high], at most about `most`.
std::vector<Tick> linear_ticks(double low, double high, int most);

/// The same, of whole numbers only.
std::vector<Tick> whole_ticks(double low, double high, int most);

/// Powers of ten within [low, high]; the ends when there are fewer than two.
std::vector<Tick> log_ticks(double low, double high, int most);

/// 0 and powers of ten to both sides, the least of them at `least` or above.
std::vector<Tick> signed_log_ticks(double high, double least, int most);

/// Token indices within the range: powers of two apart when they divide the range evenly.
std::vector<Tick> token_ticks(IndexRange tokens, int most);

/// Short, with a true minus and powers of ten: "0.25", "−3", "4×10⁻⁵".
QString number_text(double value, int digits = 3);

}  // namespace fovea
