// A RasterPainter draws rasters from textures of their numbers, pooled to about the pixels of the
// screen; shaders turn them into colours, so that new colours or ranges compute nothing.
#pragma once

#include <QOpenGLExtraFunctions>
#include <QOpenGLShaderProgram>
#include <QOpenGLVertexArrayObject>
#include <map>
#include <memory>
#include <set>

#include "canvas/pooled_raster.h"
#include "canvas/rect.h"
#include "canvas/row_scale.h"

namespace fovea::canvas {

struct RasterDrawing {
  std::shared_ptr<const Panel> panel;
  Rect placed;  // where all of the raster would lie
  Rect seen;    // the part of it that is drawn
  ColourRange range;
};

class RasterPainter {
 public:
  /// All with the GL context current.
  void initialise();
  void release();

  /// `size` of the canvas in logical pixels, `ratio` of device pixels to them.
  void draw(const std::vector<RasterDrawing>& drawings, Point size, float ratio);
  /// The texture of an output picture, for ImGui.
  GLuint picture(const std::shared_ptr<const Panel>& panel);
  /// Frees textures of panels that are no longer shown.
  void keep_only(const std::set<const Panel*>& shown);

 private:
  struct Texture {
    std::shared_ptr<const Panel> panel;  // held, so that its address stays its own
    GLuint name = 0;
    PooledBlock block;
  };
  using Program = QOpenGLShaderProgram;
  /// POOLING and NORM of a fragment shader, as raster_shader.h has them.
  using ProgramKind = std::pair<int, int>;

  GLuint make_texture();  // it is bound, and its numbers are not mixed
  void upload(const Raster& raster, PooledBlock block, const ColourRange& range);
  void bind_values(const RasterDrawing& drawing, PooledBlock block);
  GLuint steps_of(const Colormap& map);
  Program& program_for(ProgramKind kind);
  void draw(const RasterDrawing& drawing, Point size, float ratio);

  QOpenGLExtraFunctions* gl_ = nullptr;
  std::map<ProgramKind, std::unique_ptr<Program>> programs_;
  std::unique_ptr<QOpenGLVertexArrayObject> no_vertices_;
  std::map<const Panel*, Texture> textures_;
  std::map<const Colormap*, GLuint> steps_;
};

}  // namespace fovea::canvas
