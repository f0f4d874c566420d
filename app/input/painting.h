// Painting makes figures and letters in images possible in a command, with or without a display.
#pragma once

#include <QGuiApplication>
#include <array>
#include <optional>

namespace fovea {

/// QPainter needs a QGuiApplication. On the offscreen platform that works without a display. A
/// fatal message of Qt ends the program: with status 4 if Qt cannot start, later with status 1, for
/// a defect.
class Painting {
 public:
  Painting();

 private:
  int argc_ = 1;
  std::array<char, 6> name_{"fovea"};
  std::array<char*, 2> argv_{name_.data(), nullptr};
  std::optional<QGuiApplication> application_;
};

}  // namespace fovea
