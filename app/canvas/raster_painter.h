// A RasterPainter draws rasters from textures of their numbers, pooled to about the pixels of the
// screen; shaders turn them into colours, so that new colours or ranges compute nothing.
#pragma once

#include <QOpenGLExtraFunctions>
#include <QOpenGLShaderProgram>
#include <QOpenGLVertexArrayObject>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "drawing/colormap.h"

namespace fovea::canvas {

using drawing::Point;
using drawing::Rect;

/// A block of `down` x `across` numbers of a raster is pooled to one texel, where the screen has
/// fewer pixels than the raster numbers. Texel (i, j) stands for rows [i down, (i + 1) down) and
/// columns [j across, (j + 1) across), cut off at the raster's end.
struct PooledBlock {
  Index down = 1, across = 1;
  friend bool operator==(const PooledBlock&, const PooledBlock&) = default;

  Index rows_of(const Raster& raster) const { return (raster.values.rows() + down - 1) / down; }
  Index cols_of(const Raster& raster) const { return (raster.values.cols() + across - 1) / across; }
};

/// What a pixel shows of the numbers that it covers: blocks of them are pooled to texels, and a
/// shader makes one number of the texels under the pixel.
struct ScreenPooling {
  PooledBlock block;
  Pool::Kind kind = Pool::Kind::none;  // none: a pixel covers one number
  bool by_area = false;        // the average of less than two numbers, each by how much is covered
  Index down = 1, across = 1;  // numbers that a pixel shows the largest or the mean of
};

/// How a whole raster is pooled into width x height pixels. `chosen` applies to a raster that is
/// not pooled itself, from two numbers a pixel on: with fewer, the largest would widen single
/// numbers.
ScreenPooling screen_pooling(const Raster& raster, Pool::Kind chosen, double width, double height);
/// "max of 4 × 4", of the raster's entries, or "area average"; empty if a pixel shows one entry.
std::string words_of(const Raster& raster, const ScreenPooling& pooling);

/// For each block [rows_of, cols_of]: mean(v), or for the largest max(v), in a diverging raster the
/// v of largest |v|. NaN if any v is NaN; -inf, which is masked, counts only if all v are masked.
Matrix pooled_values(const Raster& raster, PooledBlock block, Pool::Kind kind);

/// The mean of the colours, for categories, which have no order. [rows_of, cols_of, 3]
std::vector<Rgb> pooled_colours(const Raster& raster, const ValueColours& colours,
                                PooledBlock block);

struct RasterDrawing {
  const Raster* raster;
  Rect placed;  // where all of the raster would lie
  Rect seen;    // the part of it that is drawn
  ValueColours colours;
  Pool::Kind pool = Pool::Kind::mean;           // as RasterPlace has it
  std::optional<drawing::HalfPlane> part = {};  // only this part is drawn
};

class RasterPainter {
 public:
  /// All need the GL context to be current.
  void initialise();
  void release();

  /// `size` is that of the canvas in logical pixels, `ratio` that of device pixels to logical ones.
  void draw(const std::vector<RasterDrawing>& drawings, Point size, double ratio);
  /// The texture of an output picture, for ImGui.
  GLuint picture(const OutputPicture& picture);
  /// Frees the textures of bodies that are no longer shown. A body that was drawn must live until
  /// this was called without it.
  void keep_only(const std::set<const void*>& shown);

 private:
  struct Texture {
    GLuint name = 0;
    PooledBlock block;
    Pool::Kind kind = Pool::Kind::none;
    std::uint64_t hidden = 0;  // categories
    friend bool operator==(const Texture&, const Texture&) = default;
  };
  using Program = QOpenGLShaderProgram;
  /// POOLING, NORM and PART of a fragment shader, as raster_shader.h has them.
  using ProgramKind = std::array<int, 3>;

  GLuint make_texture();  // bound, without interpolation of its numbers
  void upload(const Raster& raster, const Texture& as, const ValueColours& colours);
  void bind_values(const RasterDrawing& drawing, const ScreenPooling& pooling);
  GLuint steps_of(const Colormap& map);
  Program& program_for(ProgramKind kind);
  void draw(const RasterDrawing& drawing, Point size, double ratio);

  QOpenGLExtraFunctions* gl_ = nullptr;
  std::map<ProgramKind, std::unique_ptr<Program>> programs_;
  std::unique_ptr<QOpenGLVertexArrayObject> no_vertices_;
  std::map<const void*, Texture> textures_;  // by the address of the body
  std::map<const Colormap*, GLuint> steps_;
};

}  // namespace fovea::canvas
