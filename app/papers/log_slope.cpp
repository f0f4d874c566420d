#include "papers/log_slope.h"

#include <cmath>

namespace fovea {

double log_slope(const std::vector<std::pair<double, double>>& points) {
  double mx = 0, my = 0, above = 0, below = 0;
  for (const auto& [x, y] : points) mx += std::log(x), my += std::log(y);
  mx /= double(points.size()), my /= double(points.size());
  for (const auto& [x, y] : points) {
    above += (std::log(x) - mx) * (std::log(y) - my);
    below += std::pow(std::log(x) - mx, 2);
  }
  return above / below;
}

}  // namespace fovea
