// A compared panel has two panels of one view in one place, each in its part: for paper, where the
// canvas draws two columns in the panels of one.
#pragma once

#include <optional>

#include "panels/panel.h"

namespace fovea {

/// `border` is a share of the width: pixels left of it are of the first panel, the others of the
/// second. Without one the first panel has the pairs on the diagonal and above it. A rank block is
/// of one panel as a whole. Both have one range of numbers. Titles and captions are the first's.
/// Nothing: they do not show the same quantity of the same tokens as a matrix or a picture.
std::optional<Panel> compared_panel(const Panel& first, const Panel& second,
                                    std::optional<double> border);

}  // namespace fovea
