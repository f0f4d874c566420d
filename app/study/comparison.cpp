#include "study/comparison.h"

#include <algorithm>

namespace fovea {

std::string label_of(ComparisonMode mode) {
  switch (mode) {
    case ComparisonMode::split:
      return "Split along the diagonal";
    case ComparisonMode::wipe:
      return "Wipe at the pointer";
    case ComparisonMode::blink:
      return "Blink";
  }
  return {};
}

bool is_useful(ComparisonMode mode, bool causal) {
  return mode != ComparisonMode::split || !causal;
}

std::optional<ComparisonMode> next(std::optional<ComparisonMode> now, bool causal) {
  for (const ComparisonMode mode : all_comparison_modes)
    if ((!now || mode > *now) && is_useful(mode, causal)) return mode;
  return {};
}

ComparisonWords words_of(ComparisonMode mode, const std::string& first, const std::string& second) {
  switch (mode) {
    case ComparisonMode::split:
      return {first, " above", second + " below the diagonal"};
    case ComparisonMode::wipe:
      return {first, " left", second + " right of the border"};
    case ComparisonMode::blink:
      return {first, "", "in turn with " + second};
  }
  return {};
}

std::optional<Comparison> continued_comparison(const std::optional<Comparison>& comparison,
                                               const std::vector<int>& from) {
  if (!comparison) return {};
  const auto place = [&](int column) {
    return static_cast<int>(std::ranges::find(from, column) - from.begin());
  };
  const Comparison next{place(comparison->column), place(comparison->with), comparison->mode};
  if (std::max(next.column, next.with) == std::ssize(from)) return {};
  return next;
}

}  // namespace fovea
