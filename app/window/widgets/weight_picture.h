// A small picture of attention weights, coloured by their logarithm.
#pragma once

#include <QImage>

#include "data/matrix.h"
#include "drawing/colormap.h"

namespace fovea {

/// A pixel for each entry; the largest has the last colour.
QImage weight_picture(const Matrix& p, const Colormap& map);

}  // namespace fovea
