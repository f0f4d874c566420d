// ChosenHeads are some heads of a model's layers: "25-29" (all heads of these layers),
// "3.1, 4.*, 5.0-3" (a head, all heads, the first four heads), "*.0" (a head of every layer),
// "all".
#pragma once

#include <string_view>
#include <vector>

#include "data/matrix.h"

namespace fovea {

class ChosenHeads {
 public:
  /// Parses the choice for a model of `layers` layers of `heads` heads. Throws UsageError for what
  /// is no choice of heads, and for layers and heads that the model does not have.
  ChosenHeads(std::string_view text, Index layers, Index heads);

  bool has(Index layer, Index head) const {
    return chosen_[static_cast<std::size_t>(layer * heads_ + head)];
  }
  /// The first layer with a chosen head.
  Index first_layer() const;
  Index size() const;

 private:
  Index heads_;
  std::vector<bool> chosen_;  // [layers * heads]; at least one is
};

}  // namespace fovea
