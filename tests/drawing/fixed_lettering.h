// Letters that are all as wide.
#pragma once

#include "drawing/lettering.h"

namespace fovea::drawing {

struct FixedLettering : Lettering {
  FixedLettering() : Lettering(11) {}
  double width(const std::string& text, Letters face = {}) const override {
    return 0.6 * size(face) * static_cast<double>(text.size());
  }
  bool has_glyph(char32_t) const override { return true; }
};

}  // namespace fovea::drawing
