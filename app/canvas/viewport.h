// A Viewport moved or scaled: kept within n tokens and at least a few of them.
#pragma once

#include "session/session.h"

namespace fovea::canvas {

/// By so many tokens, as far as there are any.
Viewport panned(const Viewport& v, double rows, double cols, Index n);
/// The place (row, col) stays where it is; the same factor for both axes.
Viewport zoomed(const Viewport& v, double factor, double row, double col, Index n);
Viewport whole(Index n);
/// Moved by the least that brings the pair into it.
Viewport showing(const Viewport& v, Index query, Index key, Index n);

}  // namespace fovea::canvas
