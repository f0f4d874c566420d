#include "drawing/style.h"

namespace fovea::drawing {
namespace {

constexpr Style kDark = {.ground = {0x15, 0x17, 0x1c},
                         .paper = {0x1e, 0x21, 0x28},
                         .raised = {0x28, 0x2c, 0x35},
                         .text = {0xe2, 0xe5, 0xea},
                         .faint = {0x97, 0x9e, 0xaa},
                         .label = {0x97, 0x9e, 0xaa},
                         .frame = {0x3a, 0x3f, 0x4a},
                         .grid = {0x2e, 0x32, 0x3b},
                         .accent = {0x5a, 0xa9, 0xe6},
                         .warning = {0xe8, 0xb0, 0x4b},
                         .error = {0xe5, 0x71, 0x5f},
                         .pinned = {0xff, 0x8c, 0x42},
                         .marked = {0xff, 0x6a, 0xd5},
                         .veil = {0x15, 0x17, 0x1c, 120},
                         .tip = {0x0c, 0x0d, 0x10, 242},
                         .query = {92, 168, 232},
                         .key = {240, 178, 42},
                         .exact = {72, 124, 176},
                         .approximate = {240, 178, 42},
                         .series = {{{0xe2, 0xe5, 0xea},
                                     {112, 200, 244},
                                     {244, 122, 54},
                                     {40, 196, 150},
                                     {226, 148, 192},
                                     {240, 206, 70},
                                     {130, 128, 255},
                                     {196, 168, 136}}}};

constexpr Style kLight = {.ground = {0xf4, 0xf5, 0xf7},
                          .paper = {0xff, 0xff, 0xff},
                          .raised = {0xee, 0xf0, 0xf4},
                          .text = {0x1c, 0x20, 0x26},
                          .faint = {0x5d, 0x66, 0x75},
                          .label = {0x5d, 0x66, 0x75},
                          .frame = {0xc3, 0xc8, 0xd0},
                          .grid = {0xe0, 0xe3, 0xe7},
                          .accent = {0x17, 0x69, 0xaa},
                          .warning = {0x9a, 0x67, 0x00},
                          .error = {0xb3, 0x26, 0x1e},
                          .pinned = {0xd9, 0x5f, 0x0e},
                          .marked = {0xd6, 0x1f, 0xa4},
                          .veil = {0xf4, 0xf5, 0xf7, 130},
                          .tip = {0xff, 0xff, 0xff, 247},
                          .query = {38, 116, 190},
                          .key = {236, 164, 30},
                          .exact = {92, 150, 208},
                          .approximate = {204, 72, 28},
                          // After Okabe and Ito (2008), darker on white and lighter on black: at
                          // least 3 to 1.
                          .series = {{{0x1c, 0x20, 0x26},
                                      {0, 88, 160},
                                      {208, 84, 0},
                                      {0, 140, 100},
                                      {188, 96, 150},
                                      {150, 110, 0},
                                      {40, 150, 210},
                                      {112, 92, 72}}}};

}  // namespace

const Style& screen_style(bool dark) {
  return dark ? kDark : kLight;
}

Style paper_style(bool dark) {
  Style style = screen_style(dark);
  style.label = style.text;
  style.frame = dark ? Rgba{96, 102, 112} : Rgba{110, 114, 120};
  style.hair = 0.4;
  style.finest = 0.25;
  return style;
}

}  // namespace fovea::drawing
