// A Drawing is anything that is drawn in points with a QPainter and can be written to a file.
#pragma once

#include <QSizeF>
#include <QString>
#include <functional>
#include <string>

class QPainter;

namespace fovea {

struct Figure;

struct Drawing {
  QString title, description;  // of the file
  QSizeF points;               // its size
  int dpi = 300;               // of PNG, and of rasters inside SVG and PDF
  bool dark = false;
  std::function<void(QPainter&)> draw;  // top left at the painter's origin
};

/// Draws `figure` itself: it must outlive the Drawing.
Drawing drawing_of(const Figure& figure);

/// By the ending of `path`: .png, .svg or .pdf. Written to a temporary name, then renamed.
/// Throws UsageError for another ending, UnavailableError when it cannot be written.
void write_drawing(const std::string& path, const Drawing& drawing);

}  // namespace fovea
