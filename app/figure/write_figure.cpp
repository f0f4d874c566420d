// Figures as PNG, SVG and PDF files.
#include <QBuffer>
#include <QFileInfo>
#include <QImage>
#include <QPageLayout>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgGenerator>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

#include "data/error.h"
#include "data/memory.h"
#include "data/utf8.h"
#include "drawing/style.h"
#include "figure/figure.h"
#include "figure/latex_text.h"
#include "figure/painting.h"
#include "figure/pdf_bytes.h"
#include "figure/pgf_file.h"
#include "figure/recipe_in_pdf.h"
#include "io/atomic_file.h"

namespace fovea {
namespace {

// Larger images would crash: QPainter's coordinates overflow, or its offsets in bytes.
constexpr int kMostSide = 32767;  // pixels
constexpr double kMostBytes = 2147483647;

struct Page {
  const Figure& figure;
  QString title;
  QSizeF points;
  const Run& run;
};

/// The bytes of a file. It takes no more once a stop is requested, so that encoding ends soon.
class FileBuffer : public QBuffer {
 public:
  explicit FileBuffer(std::stop_token stop) : stop_(std::move(stop)) { open(WriteOnly); }

 protected:
  qint64 writeData(const char* data, qint64 size) override {
    return stop_.stop_requested() ? -1 : QBuffer::writeData(data, size);
  }

 private:
  std::stop_token stop_;
};

/// The sides of a picture of the figure.
struct Pixels {
  double wide, high;

  Pixels(const FigureStyle& style, QSizeF points)
      : wide(std::ceil(points.width() * style.dpi / points_per_inch - 1e-6)),
        high(std::ceil(points.height() * style.dpi / points_per_inch - 1e-6)) {}

  UnavailableError refusal(const QString& why) const {
    return UnavailableError(QString("a picture of %1 x %2 pixels: %3")
                                .arg(wide, 0, 'f', 0)
                                .arg(high, 0, 'f', 0)
                                .arg(why)
                                .toStdString());
  }
  void require_drawable() const {
    if (std::max(wide, high) > kMostSide || 4 * wide * high > kMostBytes)
      throw refusal(
          QString("at most %1 a side and 2 GiB can be drawn; fewer dots an inch, or PDF or SVG")
              .arg(kMostSide));
  }
};

QString ending_of(const std::string& path) {
  return QFileInfo(QString::fromStdString(path)).suffix().toLower();
}

/// SVG and PDF files hold all entries.
Figure as_written(const Figure& figure, const QString& ending) {
  return ending == "png" ? with_pooling_named(figure, figure.style.dpi / points_per_inch) : figure;
}

void draw_png(QBuffer& out, const Page& page) {
  const double scale = page.figure.style.dpi / points_per_inch;
  const Pixels pixels(page.figure.style, page.points);
  pixels.require_drawable();
  const auto [wide, high] = pixels;
  constexpr double copies = 2;  // the picture, and what is encoded of it
  require_memory(copies * 4 * wide * high,
                 QString("a picture of %1 x %2 pixels").arg(wide).arg(high).toStdString(),
                 "Fewer dots an inch need less");
  QImage image(wide, high, QImage::Format_RGB32);
  if (image.isNull()) throw pixels.refusal("no memory for it");
  const drawing::Rgba paper = drawing::paper_style(page.figure.style.dark).paper;
  image.fill(QColor(paper.r, paper.g, paper.b));  // the last pixels may be covered in part
  {
    QPainter painter(&image);
    if (!painter.isActive()) throw pixels.refusal("it could not be drawn");
    painter.scale(scale, scale);
    draw_figure(painter, page.figure, page.run);
  }
  image.setDotsPerMeterX(std::lround(page.figure.style.dpi / 0.0254));
  image.setDotsPerMeterY(image.dotsPerMeterX());
  image.setText("Title", page.title);
  image.setText("Software", "Fovea");
  const bool encoded = image.save(&out, "PNG");
  page.run.check();
  if (!encoded) throw UnavailableError("the picture could not be encoded as PNG");
  out.buffer() = with_recipe_in_png(out.buffer(), page.figure.recipe);
}

/// The generator's own size is rounded to points.
QByteArray with_exact_size(const QByteArray& svg, QSizeF points) {
  const qsizetype begin = svg.indexOf("<svg "), end = svg.indexOf("viewBox", begin);
  if (begin < 0 || end < 0) return svg;
  const QString size = QString("<svg width=\"%1pt\" height=\"%2pt\"\n ")
                           .arg(points.width(), 0, 'g', 10)
                           .arg(points.height(), 0, 'g', 10);
  return svg.left(begin) + size.toUtf8() + svg.mid(end);
}

void draw_svg(QBuffer& out, const Page& page) {
  auto generator = std::make_unique<QSvgGenerator>();
  generator->setOutputDevice(&out);
  generator->setResolution(points_per_inch);  // a point is a unit
  generator->setSize(page.points.toSize());
  generator->setViewBox(QRectF(QPointF(0, 0), page.points));
  generator->setTitle("");  // ours are written below
  generator->setDescription("");
  paint(std::move(generator),
        [&](QPainter& painter, QSvgGenerator&) { draw_figure(painter, page.figure, page.run); });
  page.run.check();
  QByteArray& svg = out.buffer();
  svg = with_exact_size(svg, page.points);
  // A program without the font takes one of the same width. Qt 6.4 does not escape the name of the
  // font.
  const QString font = QString::fromStdString(page.figure.style.font);
  const auto family = [](const QString& name) { return ("font-family=\"" + name + "\"").toUtf8(); };
  const QByteArray with_others = family(font.toHtmlEscaped() + ", Verdana, sans-serif");
  svg.replace(family(font), with_others);
  if (font != font.toHtmlEscaped()) svg.replace(family(font.toHtmlEscaped()), with_others);
  svg = with_recipe_in_svg(svg, page.figure.recipe, page.title.toStdString(), page.figure.footer);
}

/// The figure lies at the top left of the page.
void put_box(QByteArray& pdf, QSizeF page, QSizeF figure) {
  const qsizetype begin = pdf.indexOf("/MediaBox ["), end = pdf.indexOf(']', begin) + 1;
  if (begin < 0 || end <= begin) return;
  const QString box = QString("/MediaBox [0 %1 %2 %3]")
                          .arg(page.height() - figure.height(), 0, 'g', 4)
                          .arg(figure.width(), 0, 'g', 7)
                          .arg(page.height(), 0, 'g', 7);
  overwrite_in_pdf(pdf, begin, end, box.toLatin1());
}

void draw_pdf(QBuffer& out, const Page& page, const std::function<void(QPainter&)>& draw) {
  constexpr int resolution = 1200;
  const SameHashes hashes;
  auto writer = std::make_unique<QPdfWriter>(&out);
  writer->setTitle(page.title);
  writer->setCreator("Fovea");
  writer->setResolution(resolution);
  // Qt takes whole points: the box is cut to the figure below.
  const QSizeF whole(std::ceil(page.points.width()), std::ceil(page.points.height()));
  writer->setPageSize(QPageSize(whole, QPageSize::Point, QString(), QPageSize::ExactMatch));
  writer->setPageMargins(QMarginsF(0, 0, 0, 0));
  attach(*writer, page.figure.recipe);
  paint(std::move(writer), [&](QPainter& painter, QPdfWriter&) {
    painter.scale(resolution / points_per_inch, resolution / points_per_inch);
    draw(painter);
  });
  page.run.check();
  put_box(out.buffer(), whole, page.points);
  put_date_into_pdf(out.buffer());
}

/// The text for \\input. The body lies beside it, where \\graphicspath finds it.
QByteArray pgf_text(const Page& page, const std::string& words, const QString& body) {
  QString text = QString(pgf_begin) +
                 " In the preamble: \\usepackage{pgf}. Where it stands: \\input{this "
                 "file}.\n"
                 "%% Words are in the letters of the document; the rest is %1, found as by "
                 "\\includegraphics.\n";
  text = text.arg(body);
  // On one line, of characters that TeX reads as a comment.
  if (!page.figure.recipe.command.empty())
    text += "%% Made by: " + QString::fromStdString(printable(page.figure.recipe.command)) + "\n";
  text += foveachar_definition;
  text += QString(
              "\\begingroup%\n\\begin{pgfpicture}%\n"
              "\\pgfpathrectangle{\\pgfpointorigin}{\\pgfqpoint{%1bp}{%2bp}}%\n"
              "\\pgfusepath{use as bounding box}%\n"
              "\\pgftext[left,bottom]{\\includegraphics[width=%1bp]{%3}}%\n"
              "\\pgftransformshift{\\pgfqpoint{0bp}{%2bp}}%\n")
              .arg(page.points.width(), 0, 'f', 3)
              .arg(page.points.height(), 0, 'f', 3)
              .arg(body);
  text += QString::fromStdString(words);
  return (text + "\\end{pgfpicture}%\n\\endgroup%\n").toUtf8();
}

/// Writes the words, and a body without them.
void write_words_and_body(const std::string& path, const Page& page) {
  FileBuffer out(page.run.stop);
  std::string words;
  draw_pdf(out, page,
           [&](QPainter& painter) { words = draw_without_words(painter, page.figure, page.run); });
  write_pgf(
      path, out.data(), [&](const QString& body) { return pgf_text(page, words, body); },
      page.run.stop);
}

Page page_of(const Figure& figure, const Run& run) {
  return {figure,
          QString::fromStdString(figure.title.empty() ? "Attention" : figure.title),
          {figure.style.width, figure_height(figure)},
          run};
}

}  // namespace

QByteArray svg_of(const Figure& figure) {
  Profile profile;
  const Run run{profile};
  FileBuffer out(run.stop);
  draw_svg(out, page_of(figure, run));
  return out.data();
}

void write_figure(const std::string& path, const Figure& figure) {
  Profile profile;
  write_figure(path, figure, Run{profile});
}

void require_height(const std::string& path, const Figure& figure) {
  const QString ending = ending_of(path);
  const Figure named = as_written(figure, ending);
  const FigureStyle& style = named.style;
  if (!style.height) return;
  if (ending == "png") Pixels(style, {style.width, *style.height}).require_drawable();
  const double least = least_figure_height(named);
  if (*style.height < least)
    throw UsageError(QString("the height of %1in is too small for the panels and their words; "
                             "expected at least %2in, as by --height, or fewer views")
                         .arg(*style.height / points_per_inch, 0, 'f', 2)
                         .arg(std::ceil(100 * least / points_per_inch) / 100, 0, 'f', 2)
                         .toStdString());
}

void write_figure(const std::string& path, const Figure& figure, const Run& run) {
  const QString ending = ending_of(path);
  const Figure named = as_written(figure, ending);
  const Page page = page_of(named, run);
  if (ending == "pgf") return write_words_and_body(path, page);
  FileBuffer out(run.stop);
  if (ending == "png") {
    draw_png(out, page);
  } else if (ending == "svg") {
    draw_svg(out, page);
  } else if (ending == "pdf") {
    draw_pdf(out, page, [&](QPainter& painter) { draw_figure(painter, page.figure, run); });
  } else {
    throw UsageError(path + ": expected a name that ends in .png, .svg, .pdf or .pgf");
  }
  out.close();
  const QByteArray bytes = out.data();
  write_atomically(path, std::string_view(bytes.data(), bytes.size()), run.stop);
}

}  // namespace fovea
