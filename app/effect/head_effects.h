// HeadEffects replace one unit of a model at a time, a head or a layer, by each of some variants,
// and keep what that changes in the model's output.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "effect/model_effect.h"

namespace fovea {

/// What replacing one unit alone does.
struct UnitEffect {
  std::size_t variant = 0;  // in the list of candidates
  Index layer = 0;
  std::optional<Index> head;               // nothing for all chosen heads of the layer
  std::string heads;                       // the unit as ChosenHeads reads it
  double change = 0;                       // ModelEffect::change()
  std::optional<double> change_half = {};  // of its interval over several inputs
  std::optional<double> kl_mean;
  Drift drift;      // of the last hidden states
  double cost = 0;  // of the unit's attention, as a share of exact attention's
  Index size = 0;   // heads of the unit
};

enum class UnitKind { head, layer };

class HeadEffects {
 public:
  /// `candidates`: the variants; their own heads are ignored. Units are the chosen heads, or the
  /// chosen heads of each layer.
  HeadEffects(std::vector<ReplacedPart> candidates, const ChosenHeads& chosen, UnitKind units);

  bool complete() const { return found_.size() == count(); }
  std::size_t count() const { return units_.size() * candidates_.size(); }
  /// Measures the next one; the last layers first, as they cost least. Throws what measure()
  /// throws; then it can be called again.
  void step(EffectMeter& meter, Run& run);

  /// Layers of the model, and heads of a layer.
  Index layers() const { return layers_; }
  Index heads() const { return heads_; }

  const std::vector<ReplacedPart>& candidates() const { return candidates_; }
  const std::vector<UnitEffect>& found() const { return found_; }

 private:
  struct Unit {
    Index layer = 0;
    std::optional<Index> head;
    ChosenHeads heads;
  };

  Index layers_, heads_;
  std::vector<ReplacedPart> candidates_;
  std::vector<Unit> units_;
  std::vector<UnitEffect> found_;
};

}  // namespace fovea
