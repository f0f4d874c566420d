// Painting makes figures possible in a command, with or without a display.
#pragma once

#include <QGuiApplication>
#include <array>
#include <optional>
#include <string>

namespace fovea {

/// QPainter needs a QGuiApplication. On the offscreen platform that works without a display. A
/// fatal message of Qt ends the program: with status 4 where Qt cannot start, later with 1, a
/// defect.
class Painting {
 public:
  Painting();

 private:
  int argc_ = 1;
  std::array<char, 6> name_{"fovea"};
  std::array<char*, 2> argv_{name_.data(), nullptr};
  std::optional<QGuiApplication> application_;
};

/// The name of a font that is installed; needs a Painting. Throws UsageError.
std::string installed_font(const std::string& name);

/// Throws UsageError unless the name, given as -o, ends in .png, .svg, .pdf or .pgf.
void check_figure_name(const std::string& output);

}  // namespace fovea
