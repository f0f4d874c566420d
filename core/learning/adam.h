// Adam is the optimiser that learns the weights of a tree (Kingma & Ba, ICLR 2015, Algorithm 1).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace fovea {

class Adam {
 public:
  static constexpr double first_decay = 0.9, second_decay = 0.999;

  /// Begins with `parameters` parameters, whose moments are 0.
  explicit Adam(std::size_t parameters = 0) : first_(parameters), second_(parameters) {}
  /// Goes on where another one was. Both vectors have the same size.
  Adam(std::vector<float> first, std::vector<float> second, std::int64_t steps)
      : first_(std::move(first)), second_(std::move(second)), steps_(steps) {}

  /// parameters -= rate m^ / (sqrt(v^) + epsilon), with m^ and v^ the moments corrected for their
  /// bias.
  void step(std::vector<float>& parameters, const std::vector<float>& gradient, double rate);

  std::int64_t steps() const { return steps_; }
  const std::vector<float>& first() const { return first_; }
  const std::vector<float>& second() const { return second_; }

 private:
  std::vector<float> first_, second_;  // running means of the gradient and of its square
  std::int64_t steps_ = 0;
};

}  // namespace fovea
