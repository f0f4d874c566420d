// A Theme is the canvas's colours, dark or light. Data keep their colormaps in both; what is marked
// has a colour that none of them has.
#pragma once

#include <imgui.h>

namespace fovea::canvas {

struct Theme {
  ImU32 ground, panel, border, text, muted, faint, accent, queries, keys, pinned, marked, veil, tip;
};

inline constexpr Theme dark_theme{
    .ground = IM_COL32(0x15, 0x17, 0x1c, 255),
    .panel = IM_COL32(0x1e, 0x21, 0x28, 255),
    .border = IM_COL32(0x3a, 0x3f, 0x4a, 255),
    .text = IM_COL32(0xe2, 0xe5, 0xea, 255),
    .muted = IM_COL32(0x97, 0x9e, 0xaa, 255),
    .faint = IM_COL32(0x2b, 0x2f, 0x38, 255),
    .accent = IM_COL32(0x5a, 0xa9, 0xe6, 255),
    .queries = IM_COL32(0x5a, 0xa9, 0xe6, 255),
    .keys = IM_COL32(0xf0, 0xb4, 0x29, 255),
    .pinned = IM_COL32(0xff, 0x8c, 0x42, 255),
    .marked = IM_COL32(0xff, 0x6a, 0xd5, 255),
    .veil = IM_COL32(0x15, 0x17, 0x1c, 120),
    .tip = IM_COL32(0x0c, 0x0d, 0x10, 242),
};

inline constexpr Theme light_theme{
    .ground = IM_COL32(0xf4, 0xf5, 0xf7, 255),
    .panel = IM_COL32(0xff, 0xff, 0xff, 255),
    .border = IM_COL32(0xc3, 0xc8, 0xd0, 255),
    .text = IM_COL32(0x1c, 0x20, 0x26, 255),
    .muted = IM_COL32(0x5f, 0x67, 0x73, 255),
    .faint = IM_COL32(0xe6, 0xe9, 0xed, 255),
    .accent = IM_COL32(0x1d, 0x6f, 0xb8, 255),
    .queries = IM_COL32(0x2a, 0x7d, 0xc4, 255),
    .keys = IM_COL32(0xd1, 0x8f, 0x00, 255),
    .pinned = IM_COL32(0xd9, 0x5f, 0x0e, 255),
    .marked = IM_COL32(0xd6, 0x1f, 0xa4, 255),
    .veil = IM_COL32(0xf4, 0xf5, 0xf7, 130),
    .tip = IM_COL32(0xff, 0xff, 0xff, 247),
};

/// The same colour, more or less opaque.
constexpr ImU32 faded(ImU32 colour, float opacity) {
  const auto alpha = static_cast<float>(colour >> IM_COL32_A_SHIFT) * opacity;
  return (colour & ~IM_COL32_A_MASK) | (static_cast<ImU32>(alpha) << IM_COL32_A_SHIFT);
}

}  // namespace fovea::canvas
