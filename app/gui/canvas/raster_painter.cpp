#include "gui/canvas/raster_painter.h"

#include <QOpenGLContext>
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "gui/canvas/raster_shader.h"

namespace fovea::canvas {
namespace {

QVector3D vector(const Rgb& c) {
  return {static_cast<float>(c[0]) / 255.0f, static_cast<float>(c[1]) / 255.0f,
          static_cast<float>(c[2]) / 255.0f};
}

}  // namespace

void RasterPainter::initialise() {
  gl_ = QOpenGLContext::currentContext()->extraFunctions();
  program_ = std::make_unique<QOpenGLShaderProgram>();
  program_->addShaderFromSourceCode(QOpenGLShader::Vertex, raster_vertex_shader);
  program_->addShaderFromSourceCode(QOpenGLShader::Fragment, raster_fragment_shader);
  if (!program_->link())
    throw std::runtime_error("raster shader: " + program_->log().toStdString());
  no_vertices_ = std::make_unique<QOpenGLVertexArrayObject>();
  no_vertices_->create();
}

void RasterPainter::release() {
  if (!gl_) return;
  for (const auto& [panel, texture] : textures_) gl_->glDeleteTextures(1, &texture.name);
  for (const auto& [map, name] : steps_) gl_->glDeleteTextures(1, &name);
  textures_.clear();
  steps_.clear();
  program_.reset();
  no_vertices_.reset();
  gl_ = nullptr;
}

GLuint RasterPainter::upload(const Raster& raster) {
  GLuint name = 0;
  gl_->glGenTextures(1, &name);
  gl_->glBindTexture(GL_TEXTURE_2D, name);
  for (const GLenum side : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
    gl_->glTexParameteri(GL_TEXTURE_2D, side, GL_CLAMP_TO_EDGE);
  for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
    gl_->glTexParameteri(GL_TEXTURE_2D, filter, GL_NEAREST);
  gl_->glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  gl_->glPixelStorei(GL_UNPACK_ROW_LENGTH, static_cast<GLint>(raster.values.stride()));
  gl_->glTexImage2D(GL_TEXTURE_2D, 0, GL_R32F, static_cast<GLsizei>(raster.values.cols()),
                    static_cast<GLsizei>(raster.values.rows()), 0, GL_RED, GL_FLOAT,
                    raster.values.data());
  gl_->glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  return name;
}

GLuint RasterPainter::values_of(const std::shared_ptr<const Panel>& panel) {
  Texture& texture = textures_[panel.get()];
  if (!texture.name) texture = {panel, upload(std::get<Raster>(panel->body))};
  return texture.name;
}

GLuint RasterPainter::steps_of(const Colormap& map) {
  GLuint& name = steps_[&map];
  if (name) return name;
  gl_->glGenTextures(1, &name);
  gl_->glBindTexture(GL_TEXTURE_2D, name);
  gl_->glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  gl_->glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  gl_->glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  gl_->glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, 256, 1, 0, GL_RGB, GL_UNSIGNED_BYTE,
                    map.steps.data());
  return name;
}

GLuint RasterPainter::picture(const std::shared_ptr<const Panel>& panel) {
  Texture& texture = textures_[panel.get()];
  if (texture.name) return texture.name;
  const auto& body = std::get<OutputPicture>(panel->body);
  std::vector<std::uint8_t> bytes(body.rgb.size());
  std::ranges::transform(body.rgb, bytes.begin(), [](float v) {
    return static_cast<std::uint8_t>(std::lround(std::clamp(v, 0.0f, 1.0f) * 255));
  });
  texture.panel = panel;
  gl_->glGenTextures(1, &texture.name);
  gl_->glBindTexture(GL_TEXTURE_2D, texture.name);
  for (const GLenum side : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
    gl_->glTexParameteri(GL_TEXTURE_2D, side, GL_CLAMP_TO_EDGE);
  for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
    gl_->glTexParameteri(GL_TEXTURE_2D, filter, GL_NEAREST);
  gl_->glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  gl_->glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, static_cast<GLsizei>(body.cols),
                    static_cast<GLsizei>(body.rows), 0, GL_RGB, GL_UNSIGNED_BYTE, bytes.data());
  return texture.name;
}

void RasterPainter::keep_only(const std::set<const Panel*>& shown) {
  std::erase_if(textures_, [&](const auto& entry) {
    if (shown.contains(entry.first)) return false;
    gl_->glDeleteTextures(1, &entry.second.name);
    return true;
  });
}

void RasterPainter::set_colours(const ColourRange& range) {
  const double bottom = range.bottom();
  program_->setUniformValue("palette", static_cast<int>(range.palette));
  program_->setUniformValue("logarithmic",
                            range.norm == Norm::log && bottom > 0 && bottom < range.high);
  program_->setUniformValue("signed_log", range.signed_log());
  program_->setUniformValue("unit",
                            static_cast<float>(signed_log_unit(range.high, range.log_floor)));
  program_->setUniformValue("bottom", static_cast<float>(bottom));
  program_->setUniformValue("top", static_cast<float>(range.high));
  program_->setUniformValue("under", vector(range.map->under));
  program_->setUniformValue("over", vector(range.map->over));
  program_->setUniformValue("masked", vector(range.map->masked));
  program_->setUniformValue("not_a_number", vector(range.map->not_a_number));
}

void RasterPainter::draw(const RasterDrawing& drawing, Point size, float ratio) {
  const auto& raster = std::get<Raster>(drawing.panel->body);
  if (raster.values.empty() || drawing.seen.empty()) return;
  const Rect& r = drawing.placed;
  const auto device = [&](float v) { return static_cast<GLint>(std::lround(v * ratio)); };
  const GLint left = device(drawing.seen.x), right = device(drawing.seen.right());
  const GLint top = device(drawing.seen.y), bottom = device(drawing.seen.bottom());
  gl_->glScissor(left, device(size.y) - bottom, right - left, bottom - top);
  const auto x = [&](float v) { return 2 * v / size.x - 1; };
  const auto y = [&](float v) { return 1 - 2 * v / size.y; };
  program_->setUniformValue("placed", QVector4D(x(r.x), y(r.y), x(r.right()), y(r.bottom())));
  const QVector2D texels(static_cast<float>(raster.values.cols()),
                         static_cast<float>(raster.values.rows()));
  program_->setUniformValue("texels", texels);
  program_->setUniformValue("footprint", texels / QVector2D(r.width * ratio, r.height * ratio));
  program_->setUniformValue("averaged", raster.pooled == Pool::Kind::mean);
  set_colours(drawing.range);
  gl_->glActiveTexture(GL_TEXTURE1);
  gl_->glBindTexture(GL_TEXTURE_2D, steps_of(*drawing.range.map));
  gl_->glActiveTexture(GL_TEXTURE0);
  gl_->glBindTexture(GL_TEXTURE_2D, values_of(drawing.panel));
  gl_->glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

void RasterPainter::draw(const std::vector<RasterDrawing>& drawings, Point size, float ratio) {
  program_->bind();
  program_->setUniformValue("values", 0);
  program_->setUniformValue("steps", 1);
  no_vertices_->bind();
  gl_->glDisable(GL_BLEND);
  gl_->glDisable(GL_CULL_FACE);
  gl_->glDisable(GL_DEPTH_TEST);
  gl_->glEnable(GL_SCISSOR_TEST);
  for (const RasterDrawing& drawing : drawings) draw(drawing, size, ratio);
  gl_->glDisable(GL_SCISSOR_TEST);
  no_vertices_->release();
  program_->release();
}

}  // namespace fovea::canvas
