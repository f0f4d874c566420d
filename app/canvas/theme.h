// A Theme is the canvas's colours, dark or light. Data keep their colours in both; what is marked
// has a colour that none of them has.
#pragma once

#include "drawing/style.h"

namespace fovea::canvas {

struct Theme {
  drawing::Style style;
  drawing::Rgba ground, accent, pinned, marked, veil, tip;
};

inline const Theme& theme_for(bool dark) {
  static const Theme dark_theme{.style = drawing::screen_style(true),
                                .ground = {0x15, 0x17, 0x1c},
                                .accent = {0x5a, 0xa9, 0xe6},
                                .pinned = {0xff, 0x8c, 0x42},
                                .marked = {0xff, 0x6a, 0xd5},
                                .veil = {0x15, 0x17, 0x1c, 120},
                                .tip = {0x0c, 0x0d, 0x10, 242}};
  static const Theme light_theme{.style = drawing::screen_style(false),
                                 .ground = {0xf4, 0xf5, 0xf7},
                                 .accent = {0x1d, 0x6f, 0xb8},
                                 .pinned = {0xd9, 0x5f, 0x0e},
                                 .marked = {0xd6, 0x1f, 0xa4},
                                 .veil = {0xf4, 0xf5, 0xf7, 130},
                                 .tip = {0xff, 0xff, 0xff, 247}};
  return dark ? dark_theme : light_theme;
}

}  // namespace fovea::canvas
