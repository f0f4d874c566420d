// A compared panel shows parts of two panels of one view in one place. Figures use it if the canvas
// draws two columns in the panels of one.
#pragma once

#include <optional>

#include "panels/panel.h"

namespace fovea {

/// The border between two panels that are wiped.
struct WipeBorder {
  double key = 0;      // at this key of a matrix, with fractions
  double share = 0.5;  // at this share of the width of a picture
};

/// Left of the border is the first panel, right of it the second. Without a border the first panel
/// has the pairs on the diagonal and above it. A rank block belongs to one panel as a whole. Both
/// have one range of numbers; title and caption are those of the first. Returns nothing unless both
/// show the same quantity of the same tokens as a matrix or a picture.
std::optional<Panel> compared_panel(const Panel& first, const Panel& second,
                                    const std::optional<WipeBorder>& border);

}  // namespace fovea
