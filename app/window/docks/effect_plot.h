// The EffectPlot draws what an EffectRun has found: drift over layers, the curve over replaced
// layers, or the measured policies.
#pragma once

#include "study/effect_run.h"
#include "window/widgets/figure_widget.h"

namespace fovea {

class EffectPlot : public FigureWidget {
 public:
  enum class Shown { drift, curve, policies };

  explicit EffectPlot(EffectRun& run);
  void show_curve(Shown shown);

  QSize sizeHint() const override { return {300, 190}; }
  QSize minimumSizeHint() const override { return {160, 96}; }

 protected:
  Figure shown_figure() const override { return figure_; }
  void lay_out() override;

 private:
  Panel panel() const;

  EffectRun& run_;
  Shown shown_ = Shown::drift;
  Figure figure_;
};

}  // namespace fovea
