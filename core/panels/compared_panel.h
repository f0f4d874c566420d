// A compared panel has two panels of one view in one place, each in its part: for paper, where the
// canvas draws two columns in the panels of one.
#pragma once

#include <optional>

#include "panels/panel.h"

namespace fovea {

/// The border of two panels that are wiped.
struct WipeBorder {
  double key = 0;      // of a matrix: this key, with fractions
  double share = 0.5;  // of a picture: this share of its width
};

/// What lies left of the border is of the first panel, the rest of the second. Without a border the
/// first panel has the pairs on the diagonal and above it. A rank block is of one panel as a
/// whole. Both have one range of numbers. Titles and captions are the first's.
/// Nothing: they do not show the same quantity of the same tokens as a matrix or a picture.
std::optional<Panel> compared_panel(const Panel& first, const Panel& second,
                                    const std::optional<WipeBorder>& border);

}  // namespace fovea
