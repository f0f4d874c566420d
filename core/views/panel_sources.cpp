#include "views/panel_sources.h"

namespace fovea {

Panel make_panel(const PanelSources& from, const Backend& backend, Run& run,
                 const MapPyramid* map) {
  if (from.attention) {
    Panel panel = make_matrix_panel(from.view, *from.attention, from.settings, from.rows, from.cols,
                                    from.max_pixels, backend, run);
    panel.title = "Attention matrix";
    return panel;
  }
  return make_panel(from.view,
                    {.computation = *from.computation,
                     .exact = *from.exact,
                     .backend = backend,
                     .metrics = from.metrics.get(),
                     .diagnostics = from.diagnostics.get(),
                     .sequence = sequence_of(*from.source, from.layer),
                     .settings = from.settings,
                     .rows = from.rows,
                     .cols = from.cols,
                     .max_pixels = from.max_pixels,
                     .query = from.query,
                     .exact_row = from.exact_row ? &from.exact_row->values : nullptr,
                     .approximate_row = from.row ? &from.row->values : nullptr,
                     .map = map},
                    run);
}

}  // namespace fovea
