// The caption of a figure for a paper, as LaTeX.
#pragma once

#include <string>

#include "figure/figure.h"

namespace fovea {

/// What the rows and columns are, with parameters and errors, which head they are of, and what is
/// framed. For \caption{}. A character that few fonts have is written as its number, "U+4E2D".
std::string latex_caption(const Figure& figure);

}  // namespace fovea
