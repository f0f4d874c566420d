// A Comparison shows two columns in the panels of one, in the same place.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace fovea {

enum class ComparisonMode {
  split,  // the first column above the diagonal, the other below
  wipe,   // the first left of a border that follows the pointer, the other right of it
  blink,  // the two in turn
};

/// In the order of menus.
inline constexpr ComparisonMode all_comparison_modes[] = {
    ComparisonMode::split, ComparisonMode::wipe, ComparisonMode::blink};
/// What menus call them: "Split along the diagonal".
std::string label_of(ComparisonMode mode);

struct Comparison {
  int column = 0, with = 0;  // in the panels of `column`; two different ones
  ComparisonMode mode = ComparisonMode::split;
  friend bool operator==(const Comparison&, const Comparison&) = default;
};

/// Whether a mode shows both columns: above the diagonal a causal head has nothing.
bool is_useful(ComparisonMode mode, bool causal);
/// The mode that follows `now`: the first if there is none yet, and none after the last.
std::optional<ComparisonMode> next(std::optional<ComparisonMode> now, bool causal);

/// What is seen where. Of two that blink the first is what is seen now.
struct ComparisonWords {
  std::string first, place;  // "HyperAttention", " above"
  std::string second;        // "Exact below the diagonal"
};
ComparisonWords words_of(ComparisonMode mode, const std::string& first, const std::string& second);

/// For the next columns; `from` as of continued_columns. It ends with either of its columns.
std::optional<Comparison> continued_comparison(const std::optional<Comparison>& comparison,
                                               const std::vector<int>& from);

}  // namespace fovea
