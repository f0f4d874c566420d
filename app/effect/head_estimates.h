// HeadEstimates say quickly which heads a variant changes: from the heads that the model had with
// exact attention, without running the model again.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "data/source.h"
#include "effect/model_effect.h"

namespace fovea {

class HeadEstimates {
 public:
  /// `source` has the heads of the model; those of `chosen` are estimated with the variant of
  /// `part`, whose heads are ignored.
  HeadEstimates(std::shared_ptr<const Source> source, ReplacedPart part, ChosenHeads chosen);

  bool complete() const { return next_ == chosen_.layers(); }
  /// Estimates the next layer, the last one first. Throws what compute() throws, and then can be
  /// called again.
  void step(const Backend& backend, Run& run);
  /// ||Z'_h - Z_h||_F / ||Z||_F, where Z are the outputs of all heads of the layer: how much of
  /// what the layer adds this head alone changes. Nothing if the head is not chosen, or not
  /// estimated yet.
  std::optional<double> of(Index layer, Index head) const;

 private:
  std::shared_ptr<const Source> source_;
  ReplacedPart part_;
  ChosenHeads chosen_;
  Index next_ = 0;                            // layers that are done, counted from the last one
  std::vector<std::optional<double>> found_;  // [layers * heads]
};

}  // namespace fovea
