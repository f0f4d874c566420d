#include "window/docks/effect_plot.h"

#include "effect/effect_panels.h"

namespace fovea {

EffectPlot::EffectPlot(EffectRun& run)
    : FigureWidget("Drift over layers, loss over replaced layers, policies"), run_(run) {
  setObjectName("effect_plot");
  connect(&run, &EffectRun::changed, this, &EffectPlot::lay_out);
}

void EffectPlot::show_curve(Shown shown) {
  shown_ = shown;
  lay_out();
}

Panel EffectPlot::panel() const {
  const EffectRun::Found& found = run_.found();
  if (shown_ == Shown::policies)
    return found.search ? trials_panel(*found.search)
                        : Panel{.title = {},
                                .subtitle = {},
                                .caption = {},
                                .body = Message{"“Find a policy” tries the columns of the canvas "
                                                "in the chosen heads."}};
  if (shown_ == Shown::curve) return layer_curve_panel(found.curve, found.title_of);
  if (found.effect) return drift_panel(*found.effect);
  return {.title = {},
          .subtitle = {},
          .caption = {},
          .body = Message{run_.running() ? "Measuring…" : "Nothing is measured yet."}};
}

void EffectPlot::lay_out() {
  put_screen_into(figure_.style);
  figure_.rows = {{panel()}};
  update();
}

}  // namespace fovea
