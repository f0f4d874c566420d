// ChosenHeads are some heads of a model's layers: "25-29" (all heads of these layers),
// "3.1, 4.*, 5.0-3" (a head, all heads, the first four heads), "*.0" (a head of every layer),
// "all".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/matrix.h"

namespace fovea {

class ChosenHeads {
 public:
  /// Parses the choice for a model of `layers` layers of `heads` heads. Throws UsageError for what
  /// is no choice of heads, and for layers and heads that the model does not have.
  ChosenHeads(std::string_view text, Index layers, Index heads);
  /// No head of such a model.
  ChosenHeads(Index layers, Index heads);

  void choose(Index layer, Index head, bool chosen = true) { chosen_[at(layer, head)] = chosen; }
  bool has(Index layer, Index head) const { return chosen_[at(layer, head)]; }
  Index layers() const { return std::ssize(chosen_) / heads_; }
  Index heads() const { return heads_; }
  /// The first layer with a chosen head; the number of layers if none has one.
  Index first_layer() const;
  Index size() const;
  /// Whether both have a head.
  bool meets(const ChosenHeads& other) const;
  /// The shortest text that parses to this choice: whole layers first, such as "25-29,3.1,4.0-2",
  /// or "all"; empty if no head is chosen.
  std::string text() const;

  bool operator==(const ChosenHeads&) const = default;

 private:
  std::size_t at(Index layer, Index head) const { return layer * heads_ + head; }

  Index heads_;               // of a layer
  std::vector<bool> chosen_;  // [layers * heads]
};

}  // namespace fovea
