#include "drawing/style.h"

namespace fovea::drawing {
namespace {

/// One line a colour: on dark ground and on light, as hexadecimal sRGB with the opacity behind it.
Style palette(bool dark) {
  const auto of = [dark](std::uint32_t on_dark, std::uint32_t on_light) {
    const std::uint32_t c = dark ? on_dark : on_light;
    return Rgba{std::uint8_t(c >> 24), std::uint8_t(c >> 16), std::uint8_t(c >> 8),
                std::uint8_t(c)};
  };
  return {
      .ground = of(0x15171cff, 0xf4f5f7ff),
      .paper = of(0x1e2128ff, 0xffffffff),
      .raised = of(0x282c35ff, 0xeef0f4ff),
      .text = of(0xe2e5eaff, 0x1c2026ff),
      .faint = of(0x979eaaff, 0x5d6675ff),
      .label = of(0x979eaaff, 0x5d6675ff),
      .frame = of(0x3a3f4aff, 0xc3c8d0ff),
      .grid = of(0x2e323bff, 0xe0e3e7ff),
      .accent = of(0x5aa9e6ff, 0x1d6fb8ff),
      .warning = of(0xe8b04bff, 0x9a6700ff),
      .error = of(0xe5715fff, 0xb3261eff),
      .pinned = of(0xff8c42ff, 0xd95f0eff),
      .marked = of(0xff6ad5ff, 0xd61fa4ff),
      .veil = of(0x15171c78, 0xf4f5f782),
      .tip = of(0x0c0d10f2, 0xfffffff7),
      .query = of(0x5ca8e8ff, 0x2674beff),
      .key = of(0xf0b22aff, 0xeca41eff),
      .exact = of(0x487cb0ff, 0x5c96d0ff),
      .approximate = of(0xf0b22aff, 0xcc481cff),
      // After Okabe and Ito (2008), lighter on black and darker on white: at least 3 to 1. Moved
      // apart until the colour blind distinguish all of them.
      .series = {of(0xe2e5eaff, 0x1c2026ff), of(0x4fb0e4ff, 0x003d88ff), of(0xdb680fff, 0xb23606ff),
                 of(0x55dfabff, 0x1e806dff), of(0xd97ca8ff, 0xad519cff), of(0xeace28ff, 0xb78c03ff),
                 of(0x9a80ffff, 0x219fd5ff), of(0xbe996dff, 0x825939ff)}};
}

}  // namespace

const Style& screen_style(bool dark) {
  static const Style dark_style = palette(true), light_style = palette(false);
  return dark ? dark_style : light_style;
}

Style paper_style(bool dark) {
  Style style = palette(dark);
  style.label = style.text;
  style.frame = dark ? Rgba{0x60, 0x66, 0x70} : Rgba{0x6e, 0x72, 0x78};
  style.hair = 0.4;
  style.finest = 0.25;
  return style;
}

}  // namespace fovea::drawing
