#include "learning/adam.h"

#include <cmath>

namespace fovea {

void Adam::step(std::vector<float>& parameters, const std::vector<float>& gradient, double rate) {
  // Small enough for gradients of any scale, and large enough to be a normal float.
  constexpr double epsilon = 1e-12;
  ++steps_;
  const auto t = static_cast<double>(steps_);
  const double first_bias = 1 - std::pow(first_decay, t),
               second_bias = 1 - std::pow(second_decay, t);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto g = static_cast<double>(gradient[i]);
    const double m = first_decay * static_cast<double>(first_[i]) + (1 - first_decay) * g,
                 v = second_decay * static_cast<double>(second_[i]) + (1 - second_decay) * g * g;
    first_[i] = static_cast<float>(m);
    second_[i] = static_cast<float>(v);
    parameters[i] -=
        static_cast<float>(rate * (m / first_bias) / (std::sqrt(v / second_bias) + epsilon));
  }
}

}  // namespace fovea
