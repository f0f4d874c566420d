// LeafMarks are the tokens of chosen leaves or buckets of a column, which are marked in every
// panel.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "study/results.h"

namespace fovea {

struct ChosenLeaves {
  int column = 0;
  IndexRange leaves{0, 0};
  friend bool operator==(const ChosenLeaves&, const ChosenLeaves&) = default;
};

class LeafMarks {
 public:
  explicit LeafMarks(const Results& results) : results_(results) {}

  /// The same leaves again, or none: nothing is chosen.
  void choose(const ChosenLeaves& leaves);
  /// The chosen leaves stay with their column, wherever it is now, and end with it. `from`: as of
  /// continued_columns.
  void continue_columns(const std::vector<int>& from);
  /// Marks the tokens of the computation that is shown.
  void update();

  const std::optional<ChosenLeaves>& chosen() const { return chosen_; }
  const std::vector<Index>& queries() const { return queries_; }  // ascending
  const std::vector<Index>& keys() const { return keys_; }
  /// All leaves or buckets of a column, whether a token is in them or not; 0 if it has none.
  Index leaf_count(int column) const;

 private:
  std::shared_ptr<const Computation> computation_of(int column) const;

  const Results& results_;
  std::optional<ChosenLeaves> chosen_;
  std::shared_ptr<const Computation> marked_;  // whose leaves are marked
  std::vector<Index> queries_, keys_;
};

}  // namespace fovea
