// A RasterPainter draws rasters from textures of their numbers, pooled to about the pixels of the
// screen; shaders turn them into colours, so that new colours or ranges compute nothing.
#pragma once

#include <QOpenGLExtraFunctions>
#include <QOpenGLShaderProgram>
#include <QOpenGLVertexArrayObject>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "drawing/colormap.h"

namespace fovea::canvas {

using drawing::Point;
using drawing::Rect;

/// How many numbers of a raster, down and across, become one, where a screen has fewer pixels: so
/// that a frame looks at no more than a few numbers a pixel.
struct PooledBlock {
  Index down = 1, across = 1;
  friend bool operator==(const PooledBlock&, const PooledBlock&) = default;

  Index rows_of(const Raster& raster) const { return (raster.values.rows() + down - 1) / down; }
  Index cols_of(const Raster& raster) const { return (raster.values.cols() + across - 1) / across; }
};

/// Of each block the mean where the raster is mean-pooled, else the largest number, of a diverging
/// raster that of largest magnitude; blocks at the end may be cut off. NaN where one is NaN; -inf,
/// which is masked, only where all are. [rows_of, cols_of]
Matrix pooled_values(const Raster& raster, PooledBlock block);

/// Of categories, which have no order: the mean of the colours. [rows_of, cols_of, 3]
std::vector<Rgb> pooled_colours(const Raster& raster, const ValueColours& colours,
                                PooledBlock block);

struct RasterDrawing {
  const Raster* raster;
  Rect placed;  // where all of the raster would lie
  Rect seen;    // the part of it that is drawn
  ValueColours colours;
};

class RasterPainter {
 public:
  /// All with the GL context current.
  void initialise();
  void release();

  /// `size` of the canvas in logical pixels, `ratio` of device pixels to them.
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
    std::uint64_t hidden = 0;  // categories
  };
  using Program = QOpenGLShaderProgram;
  /// POOLING and NORM of a fragment shader, as raster_shader.h has them.
  using ProgramKind = std::pair<int, int>;

  GLuint make_texture();  // it is bound, and its numbers are not mixed
  void upload(const Raster& raster, PooledBlock block, const ValueColours& colours);
  void bind_values(const RasterDrawing& drawing, PooledBlock block);
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
