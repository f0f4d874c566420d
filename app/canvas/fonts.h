// Fonts are the faces of the canvas, rasterised at the screen's pixel ratio. Sizes are in logical
// pixels, from the highest ascent to the lowest descent of a face.
#pragma once

#include <imgui.h>

#include <string>

#include "drawing/ink.h"

namespace fovea::canvas {

inline constexpr drawing::Letters title_face{14, true}, narrow_title_face{11, true},
    figure_face{17, true},  // numbers only
    body_face{12}, small_face{11};

class Fonts : public drawing::Lettering {
 public:
  Fonts() : Lettering(small_face.size) {}

  /// Fills the current ImGui context's atlas; call again when the ratio changes.
  void load(double pixel_ratio);

  /// The face that looks best at a size.
  ImFont* face(drawing::Letters letters) const;
  double width(const std::string& text, drawing::Letters letters = {}) const override;

 protected:
  bool has_glyph(char32_t character) const override;

 private:
  ImFont* faces_[5] = {};  // in the order of `kept` in fonts.cpp
};

}  // namespace fovea::canvas
