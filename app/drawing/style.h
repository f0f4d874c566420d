// A Style is what one drawing looks like on paper and on a screen, light and dark: colours and the
// widths of lines. Colours of data are the same on paper and on the screen.
#pragma once

#include "drawing/shapes.h"

namespace fovea::drawing {

struct Style {
  Rgba paper, text, faint;              // the ground; words, and those that matter less
  Rgba label;                           // words of axes, colour bars and legends
  Rgba frame, grid;                     // lines around plots and within them
  Rgba query, key, exact, approximate;  // data
  double hair = 0.4;                    // width of the thinnest line
  double finest = 0.25;                 // shorter lengths cannot be distinguished
};

/// In points.
Style paper_style(bool dark);
/// In logical pixels.
Style screen_style(bool dark);

}  // namespace fovea::drawing
