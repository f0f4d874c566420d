#include "canvas/raster_painter.h"

#include <QOpenGLContext>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "canvas/raster_shader.h"
#include "panels/pooling_text.h"

namespace fovea::canvas {
namespace {

int norm_of(const ValueColours& range) {
  if (range.palette == Palette::categories) return 3;
  if (range.signed_log()) return 2;
  return range.norm == Norm::log && range.bottom() > 0 && range.bottom() < range.high ? 1 : 0;
}

int shader_pooling(const Raster& raster, const ScreenPooling& pooling) {
  if (pooling.by_area) return 3;
  if (pooling.kind == Pool::Kind::mean) return 2;
  return raster.palette == Palette::diverging ? 1 : 0;
}

constexpr double one_texel = 1.01;  // texels that a pixel may cover and still show one of them

/// How many numbers of an axis a pixel covers.
double covered(Index numbers, double pixels) {
  return double(numbers) / std::max(1.0, pixels);
}

// The largest power of two below the numbers of a pixel, so that it covers less than 2 blocks. A
// power of two stays the same over most of a zoom.
Index block_of(double each) {
  return std::bit_floor(std::uint64_t(std::max(each + 0.01, 1.0)));
}

void set_colours(QOpenGLShaderProgram& program, const ValueColours& range, int norm) {
  double bottom = range.bottom();
  const double top = range.high;
  const double unit = signed_log_unit(top, range.log_floor);
  double scale = std::numeric_limits<float>::max();  // all but one number is under or over
  if (norm == 2)
    scale = 1 / std::log1p(top / unit);
  else if (norm == 1)
    scale = 1 / std::log(top / bottom);
  else if (top > bottom)
    scale = std::min(scale, 1 / (top - bottom));
  else if (range.is_all_zero())
    scale = 1e30, bottom = -0.5 / scale;  // the shader maps 0 to 0.5
  program.setUniformValue("bottom", float(bottom));
  program.setUniformValue("scale", float(scale));
  program.setUniformValue("unit", float(unit));
}

/// (a, b, c) of the half-plane a x + b y + c >= 0 in device pixels, y upwards.
QVector3D coefficients_of(const drawing::HalfPlane& part, Point size, double ratio) {
  const auto beyond = [&](double x, double y) {
    return part.beyond({x / ratio, size.y - y / ratio});
  };
  const double c = beyond(0, 0);
  return QVector3D(float(beyond(1, 0) - c), float(beyond(0, 1) - c), float(c));
}

constexpr float masked = -std::numeric_limits<float>::infinity();

// Each pools numbers, or results of pooling, one after another.
template <bool magnitude>
struct Largest {
  float value = masked;
  void add(float v) {
    const bool more =
        magnitude ? v != masked && (value == masked || std::abs(v) > std::abs(value)) : v > value;
    value = more || std::isnan(v) ? v : value;
  }
  void add(const Largest& other) { add(other.value); }
  float result() const { return value; }
};

struct Mean {
  double sum = 0;
  Index count = 0;
  void add(float v) {
    sum += v == masked ? 0 : v;
    count += v != masked;
  }
  void add(const Mean& other) { sum += other.sum, count += other.count; }
  float result() const { return count > 0 ? float(sum / count) : masked; }
};

// The mean of up to 16 million colours.
struct MeanColour {
  std::array<std::uint32_t, 4> sum{};  // of the channels, and how many colours
  void add(const MeanColour& other) {
    for (int i = 0; i < 4; ++i) sum[i] += other.sum[i];
  }
  Rgb result() const {
    const auto mean = [&](int i) { return std::uint8_t((sum[i] + sum[3] / 2) / sum[3]); };
    return {mean(0), mean(1), mean(2)};
  }
};

/// Row by row of blocks: first each column of numbers, then the columns of each block. `of` is what
/// is pooled of a number.
template <class Pooling, class Of, class Put>
void pool(const Matrix& values, PooledBlock block, Of of, Put put) {
  std::vector<Pooling> columns;
  for (Index top = 0; top < values.rows(); top += block.down) {
    columns.assign(values.cols(), {});
    for (Index i = top; i < std::min(top + block.down, values.rows()); ++i) {
      const float* from = values.row(i);
      for (std::size_t c = 0; c < columns.size(); ++c) columns[c].add(of(from[c]));
    }
    for (Index left = 0; left < values.cols(); left += block.across) {
      Pooling all;
      for (Index c = left; c < std::min(left + block.across, values.cols()); ++c)
        all.add(columns[c]);
      put(all.result());
    }
  }
}

/// The colour of every category, then of what is masked and of what is no number.
std::array<MeanColour, 258> category_colours(const ValueColours& colours) {
  std::array<MeanColour, 258> all;
  const auto put = [&](int i, const Rgb& c) { all[i] = {{c[0], c[1], c[2], 1}}; };
  for (int c = 0; c < 256; ++c) put(c, colours.colour(c));
  put(256, colours.map->masked);
  put(257, colours.map->not_a_number);
  return all;
}

}  // namespace

ScreenPooling screen_pooling(const Raster& raster, Pool::Kind chosen, double width, double height) {
  const double down = covered(raster.values.rows(), height),
               across = covered(raster.values.cols(), width);
  ScreenPooling out{.block = {block_of(down), block_of(across)}};
  const auto shown = [](double each, Index block) {
    return block * (each / double(block) > one_texel ? 2 : 1);
  };
  out.down = shown(down, out.block.down);
  out.across = shown(across, out.block.across);
  if (out.down * out.across == 1) return out;
  const bool entries = raster.pooled == Pool::Kind::none, amounts = raster.has_amounts();
  out.kind = !entries ? raster.pooled : amounts ? chosen : Pool::Kind::max;
  out.by_area = entries && amounts && out.block == PooledBlock{};
  return out;
}

std::string words_of(const Raster& raster, const ScreenPooling& pooling) {
  if (pooling.by_area) return "area average";
  const auto entries = [](Index tokens, Index numbers, Index of_a_pixel) {
    return double(tokens) / double(std::max<Index>(1, numbers)) * double(of_a_pixel);
  };
  const double down = entries(raster.rows.size(), raster.values.rows(), pooling.down),
               across = entries(raster.cols.size(), raster.values.cols(), pooling.across);
  const Pool::Kind kind = pooling.kind != Pool::Kind::none ? pooling.kind : raster.pooled;
  if (kind != Pool::Kind::none && raster.palette == Palette::categories)
    return pooling_text("mean colour", down, across);
  return pooling_text(kind, down, across);
}

Matrix pooled_values(const Raster& raster, PooledBlock block, Pool::Kind kind) {
  Matrix out(block.rows_of(raster), block.cols_of(raster));
  float* next = out.data();
  const auto itself = [](float v) { return v; };
  const auto put = [&](float v) { *next++ = v; };
  if (kind == Pool::Kind::mean)
    pool<Mean>(raster.values, block, itself, put);
  else if (raster.palette == Palette::diverging)
    pool<Largest<true>>(raster.values, block, itself, put);
  else
    pool<Largest<false>>(raster.values, block, itself, put);
  return out;
}

std::vector<Rgb> pooled_colours(const Raster& raster, const ValueColours& colours,
                                PooledBlock block) {
  const auto known = category_colours(colours);
  std::vector<Rgb> out;
  const auto colour = [&](float category) -> const MeanColour& {
    const float rounded = category + 0.5f;  // a comparison with NaN is false
    int step = rounded > 0 ? int(std::min(rounded, 255.0f)) : 0;
    step = category == masked ? 256 : step;
    return known[std::isnan(category) ? 257 : step];
  };
  pool<MeanColour>(raster.values, block, colour, [&](const Rgb& c) { out.push_back(c); });
  return out;
}

void RasterPainter::initialise() {
  gl_ = QOpenGLContext::currentContext()->extraFunctions();
  no_vertices_ = std::make_unique<QOpenGLVertexArrayObject>();
  no_vertices_->create();
}

void RasterPainter::release() {
  for (const auto& [panel, texture] : textures_) gl_->glDeleteTextures(1, &texture.name);
  for (const auto& [map, name] : steps_) gl_->glDeleteTextures(1, &name);
  textures_.clear();
  steps_.clear();
  programs_.clear();
  no_vertices_.reset();
}

QOpenGLShaderProgram& RasterPainter::program_for(ProgramKind kind) {
  auto& program = programs_[kind];
  if (program) return *program;
  const std::string made_for = "#version 330 core\n#define POOLING " + std::to_string(kind[0]) +
                               "\n#define NORM " + std::to_string(kind[1]) + "\n#define PART " +
                               std::to_string(kind[2]) + "\n";
  program = std::make_unique<Program>();
  program->addShaderFromSourceCode(QOpenGLShader::Vertex, raster_vertex_shader);
  program->addShaderFromSourceCode(QOpenGLShader::Fragment,
                                   (made_for + raster_fragment_shader).c_str());
  if (!program->link()) throw std::runtime_error("raster shader: " + program->log().toStdString());
  return *program;
}

GLuint RasterPainter::make_texture() {
  GLuint name = 0;
  gl_->glGenTextures(1, &name);
  gl_->glBindTexture(GL_TEXTURE_2D, name);
  for (const GLenum side : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
    gl_->glTexParameteri(GL_TEXTURE_2D, side, GL_CLAMP_TO_EDGE);
  for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
    gl_->glTexParameteri(GL_TEXTURE_2D, filter, GL_NEAREST);
  return name;
}

void RasterPainter::upload(const Raster& raster, const Texture& as, const ValueColours& range) {
  const PooledBlock block = as.block;
  const GLsizei rows = block.rows_of(raster), cols = block.cols_of(raster);
  if (raster.palette == Palette::categories) {
    const auto colours = pooled_colours(raster, range, block);
    gl_->glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    gl_->glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, cols, rows, 0, GL_RGB, GL_UNSIGNED_BYTE,
                      colours.data());
    return;
  }
  Matrix pooled;
  if (!(block == PooledBlock{})) pooled = pooled_values(raster, block, as.kind);
  const Matrix& values = pooled.empty() ? raster.values : pooled;
  gl_->glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  gl_->glPixelStorei(GL_UNPACK_ROW_LENGTH, GLint(values.stride()));
  gl_->glTexImage2D(GL_TEXTURE_2D, 0, GL_R32F, cols, rows, 0, GL_RED, GL_FLOAT, values.data());
  gl_->glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
}

void RasterPainter::bind_values(const RasterDrawing& drawing, const ScreenPooling& pooling) {
  Texture& texture = textures_[drawing.raster];
  const bool single = pooling.block == PooledBlock{};  // the kind changes nothing then
  Texture as{texture.name, pooling.block, single ? Pool::Kind::none : pooling.kind,
             drawing.colours.hidden};
  const bool outdated = !texture.name || !(texture == as);
  if (!as.name) as.name = make_texture();
  texture = as;
  gl_->glBindTexture(GL_TEXTURE_2D, texture.name);
  if (outdated) upload(*drawing.raster, texture, drawing.colours);
}

GLuint RasterPainter::steps_of(const Colormap& map) {
  GLuint& name = steps_[&map];
  if (name) return name;
  name = make_texture();
  gl_->glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  std::vector<Rgb> colours(map.steps.begin(), map.steps.end());
  colours.insert(colours.end(), {map.under, map.over, map.masked, map.not_a_number});
  gl_->glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, GLsizei(colours.size()), 1, 0, GL_RGB,
                    GL_UNSIGNED_BYTE, colours.data());
  return name;
}

GLuint RasterPainter::picture(const OutputPicture& body) {
  Texture& texture = textures_[&body];
  if (texture.name) return texture.name;
  const std::vector<drawing::Rgba> pixels = pixels_of(body);
  texture.name = make_texture();
  gl_->glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, GLsizei(body.cols), GLsizei(body.rows), 0, GL_RGBA,
                    GL_UNSIGNED_BYTE, pixels.data());
  return texture.name;
}

void RasterPainter::keep_only(const std::set<const void*>& shown) {
  std::erase_if(textures_, [&](const auto& entry) {
    if (shown.contains(entry.first)) return false;
    gl_->glDeleteTextures(1, &entry.second.name);
    return true;
  });
}

void RasterPainter::draw(const RasterDrawing& drawing, Point size, double ratio) {
  const Raster& raster = *drawing.raster;
  if (raster.values.empty() || drawing.seen.empty()) return;
  const Rect& r = drawing.placed;
  const auto device = [&](double v) { return GLint(std::lround(v * ratio)); };
  const GLint left = device(drawing.seen.x), right = device(drawing.seen.right());
  const GLint top = device(drawing.seen.y), bottom = device(drawing.seen.bottom());
  gl_->glScissor(left, device(size.y) - bottom, right - left, bottom - top);
  const auto x = [&](double v) { return float(2 * v / size.x - 1); };
  const auto y = [&](double v) { return float(1 - 2 * v / size.y); };
  const ScreenPooling pooling =
      screen_pooling(raster, drawing.pool, r.width * ratio, r.height * ratio);
  const PooledBlock block = pooling.block;
  const QVector2D texels(float(raster.values.cols()) / block.across,
                         float(raster.values.rows()) / block.down);
  const int norm = norm_of(drawing.colours);
  Program& program = program_for({shader_pooling(raster, pooling), norm, drawing.part.has_value()});
  program.bind();
  if (drawing.part) program.setUniformValue("part", coefficients_of(*drawing.part, size, ratio));
  program.setUniformValue("values", 0);
  program.setUniformValue("placed", QVector4D(x(r.x), y(r.y), x(r.right()), y(r.bottom())));
  program.setUniformValue("texels", texels);
  program.setUniformValue("footprint",
                          texels / QVector2D(float(r.width * ratio), float(r.height * ratio)));
  if (norm != 3) {
    program.setUniformValue("steps", 1);
    set_colours(program, drawing.colours, norm);
    gl_->glActiveTexture(GL_TEXTURE1);
    gl_->glBindTexture(GL_TEXTURE_2D, steps_of(*drawing.colours.map));
  }
  gl_->glActiveTexture(GL_TEXTURE0);
  bind_values(drawing, pooling);
  gl_->glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

void RasterPainter::draw(const std::vector<RasterDrawing>& drawings, Point size, double ratio) {
  no_vertices_->bind();
  gl_->glDisable(GL_BLEND);
  gl_->glDisable(GL_CULL_FACE);
  gl_->glDisable(GL_DEPTH_TEST);
  gl_->glEnable(GL_SCISSOR_TEST);
  for (const RasterDrawing& drawing : drawings) draw(drawing, size, ratio);
  gl_->glDisable(GL_SCISSOR_TEST);
  no_vertices_->release();
  gl_->glUseProgram(0);
}

}  // namespace fovea::canvas
