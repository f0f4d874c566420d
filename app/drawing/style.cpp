#include "drawing/style.h"

namespace fovea::drawing {

Style paper_style(bool dark) {
  if (dark)
    return {.paper = {24, 26, 31},
            .text = {232, 234, 237},
            .faint = {154, 160, 168},
            .label = {232, 234, 237},
            .frame = {96, 102, 112},
            .grid = {52, 56, 64},
            .query = {92, 168, 232},
            .key = {240, 178, 42},
            .exact = {72, 124, 176},
            .approximate = {240, 178, 42}};
  return {.paper = {255, 255, 255},
          .text = {20, 22, 26},
          .faint = {92, 97, 104},
          .label = {20, 22, 26},
          .frame = {110, 114, 120},
          .grid = {222, 225, 228},
          .query = {38, 116, 190},
          .key = {236, 164, 30},
          .exact = {92, 150, 208},
          .approximate = {204, 72, 28}};
}

Style screen_style(bool dark) {
  Style style = paper_style(dark);
  if (dark) {
    style.paper = {0x1e, 0x21, 0x28};
    style.text = {0xe2, 0xe5, 0xea};
    style.faint = {0x97, 0x9e, 0xaa};
    style.frame = {0x3a, 0x3f, 0x4a};
    style.grid = {0x2b, 0x2f, 0x38};
  } else {
    style.text = {0x1c, 0x20, 0x26};
    style.faint = {0x5f, 0x67, 0x73};
    style.frame = {0xc3, 0xc8, 0xd0};
    style.grid = {0xe6, 0xe9, 0xed};
  }
  style.label = style.faint;
  style.hair = style.finest = 1;
  return style;
}

}  // namespace fovea::drawing
