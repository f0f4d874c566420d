#include "window/widgets/weight_picture.h"

#include <algorithm>
#include <cmath>

namespace fovea {

QImage weight_picture(const Matrix& p, const Colormap& map) {
  float top = 0;
  for (Index r = 0; r < p.rows(); ++r)
    // NaN is never the larger one.
    for (Index c = 0; c < p.cols(); ++c) top = std::max(top, p(r, c));
  QImage image(int(p.cols()), int(p.rows()), QImage::Format_RGB32);
  for (Index r = 0; r < p.rows(); ++r)
    for (Index c = 0; c < p.cols(); ++c) {
      const double t = std::clamp(normalised(p(r, c), 0, top, Norm::log, 1e-3), 0.0, 1.0);
      const Rgb rgb = std::isnan(t) ? map.not_a_number : map.steps[std::lround(t * 255)];
      image.setPixel(int(c), int(r), qRgb(rgb[0], rgb[1], rgb[2]));
    }
  return image;
}

}  // namespace fovea
