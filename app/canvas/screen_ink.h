// A ScreenInk draws with an ImGui draw list, in logical pixels. Rasters lie below everything in the
// list: a RasterPainter draws them first.
#pragma once

#include <functional>

#include "canvas/fonts.h"
#include "canvas/raster_painter.h"

namespace fovea::canvas {

using drawing::Letters;
using drawing::Point;
using drawing::Rect;
using drawing::Rgba;
using drawing::Stroke;

class ScreenInk : public drawing::Ink {
 public:
  using PictureTexture = std::function<ImTextureID(const OutputPicture&)>;

  /// All arguments must outlive it.
  ScreenInk(ImDrawList& list, const Fonts& fonts, const drawing::Style& style,
            PictureTexture picture);

  void text(Point at, const std::string& words, Rgba colour, Letters face = {}) override;
  void text_upwards(Point centre, const std::string& words, Rgba colour,
                    Letters face = {}) override;
  void line(Point from, Point to, const Stroke& stroke) override;
  void path(std::span<const Point> points, const Stroke& stroke) override;
  void fill(const Rect& where, Rgba colour, double rounding = 0) override;
  void fill_all(std::span<const Rect> where, Rgba colour) override;
  void outline(const Rect& where, const Stroke& stroke, double rounding = 0) override;
  void polygon(std::span<const Point> corners, Rgba colour) override;
  void dot(Point centre, double radius, Rgba colour) override;
  void raster(const Raster& values, const ValueColours& colours,
              const drawing::RasterPlace& place) override;
  void picture(const OutputPicture& picture, const Rect& where) override;
  void cells(const Rect& where, int rows, int cols, std::span<const Rgba> colours) override;
  void push_clip(const Rect& where) override;
  void pop_clip() override;
  void within(const drawing::HalfPlane& where, const std::function<void()>& draw) override;

  const std::vector<RasterDrawing>& rasters() const { return rasters_; }

 private:
  ImDrawList* list_;
  const Fonts& fonts_;
  PictureTexture picture_;
  std::vector<RasterDrawing> rasters_;
  std::vector<Rect> clips_;
  std::optional<drawing::HalfPlane> part_;  // the drawn part
};

}  // namespace fovea::canvas
