// Fonts are the faces the canvas writes with, rasterised at the screen's pixel ratio.
#pragma once

#include <imgui.h>

#include <string>
#include <vector>

namespace fovea::canvas {

enum class Face { title, body, small };

class Fonts {
 public:
  /// Fills the current ImGui context's atlas; call again when the ratio changes.
  void load(float pixel_ratio);

  ImFont* operator[](Face face) const;
  float size(Face face) const;  // logical pixels
  float width(Face face, const std::string& text) const;

  /// Broken at spaces into at most `lines` of `room`, each paragraph anew; the last may be longer.
  std::vector<std::string> wrapped(Face face, const std::string& text, float room, int lines) const;

  /// `text` fit to be drawn: white space named, signs without a glyph as U+XXXX.
  std::string readable(const std::string& text) const;

 private:
  ImFont* faces_[3] = {};
  float ratio_ = 1;
};

}  // namespace fovea::canvas
