#include "figure/recorder.h"

#include <doctest/doctest.h>

#include <QPainter>
#include <QPainterPath>

#include "figure/panels.h"

namespace fovea::example {
namespace {

class Engine : public QPaintEngine {
 public:
  explicit Engine(Recording& recording)
      : QPaintEngine(QPaintEngine::AllFeatures), recording_(recording) {}
  bool begin(QPaintDevice*) override { return true; }
  bool end() override { return true; }
  void updateState(const QPaintEngineState&) override {}
  Type type() const override { return QPaintEngine::User; }

  void drawPath(const QPainterPath& path) override { note(path.boundingRect()); }
  void drawPolygon(const QPointF* points, int count, PolygonDrawMode) override {
    QPolygonF polygon;
    for (int p = 0; p < count; ++p) polygon << points[p];
    note(polygon.boundingRect());
  }
  void drawImage(const QRectF& where, const QImage&, const QRectF&,
                 Qt::ImageConversionFlags) override {
    note(where);
  }
  void drawPixmap(const QRectF& where, const QPixmap&, const QRectF&) override { note(where); }
  void drawTextItem(const QPointF& at, const QTextItem& item) override {
    const double size = item.font().pointSizeF();  // the device has a point a unit
    const QRectF box(at.x(), at.y() - 0.73 * size, item.width(), 0.73 * size);
    recording_.texts.push_back({item.text(), painter()->combinedTransform().mapRect(box)});
  }

 private:
  void note(const QRectF& where) {
    // A line has no area, and an empty rectangle lies nowhere: give it some.
    const QRectF shape = where.adjusted(-0.01, -0.01, 0.01, 0.01);
    recording_.shapes.push_back(painter()->combinedTransform().mapRect(shape));
  }
  Recording& recording_;
};

class Device : public QPaintDevice {
 public:
  Device(Recording& recording, QSizeF size) : engine_(recording), size_(size) {}
  QPaintEngine* paintEngine() const override { return &engine_; }

 protected:
  int metric(PaintDeviceMetric which) const override {
    switch (which) {
      case PdmWidth:
        return static_cast<int>(size_.width());
      case PdmHeight:
        return static_cast<int>(size_.height());
      case PdmDpiX:
      case PdmDpiY:
      case PdmPhysicalDpiX:
      case PdmPhysicalDpiY:
        return 72;
      case PdmDepth:
        return 32;
      case PdmNumColors:
        return 0;
      case PdmDevicePixelRatio:
        return 1;
      case PdmDevicePixelRatioScaled:
        return static_cast<int>(devicePixelRatioFScale());
      default:
        return 0;
    }
  }

 private:
  mutable Engine engine_;
  QSizeF size_;
};

}  // namespace

Recording record(const Figure& figure) {
  Recording recording;
  recording.page = {0, 0, figure.style.width, figure_height(figure)};
  Device device(recording, recording.page.size());
  QPainter painter(&device);
  draw_figure(painter, figure);
  painter.end();
  return recording;
}

QImage picture_of(const Panel& panel, QSize size, const ViewSettings& settings) {
  Figure figure = alone(panel, size.width());
  figure.style.height = size.height();
  figure.style.settings = settings;
  QImage image(size, QImage::Format_RGB32);
  QPainter painter(&image);
  draw_figure(painter, figure);
  return image;
}

void check_page(const Recording& recording) {
  // Lines have a width of half a point; half of it lies outside their shape.
  const QRectF page = recording.page.adjusted(-0.3, -0.3, 0.3, 0.3);
  for (const QRectF& shape : recording.shapes) {
    CAPTURE(shape.left());
    CAPTURE(shape.top());
    CAPTURE(shape.right());
    CAPTURE(shape.bottom());
    CHECK(page.contains(shape));
  }
  // Advances of a device may be rounded: a point of grace.
  const QRectF paper = recording.page.adjusted(-1, -1, 1, 1);
  for (const auto& [text, where] : recording.texts) {
    const std::string words = text.toStdString();
    CAPTURE(words);
    CHECK(paper.contains(where));
  }
}

void check_texts_apart(const Recording& recording) {
  for (std::size_t a = 0; a < recording.texts.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      const QRectF common = recording.texts[a].where.intersected(recording.texts[b].where);
      const std::string one = recording.texts[a].text.toStdString();
      const std::string other = recording.texts[b].text.toStdString();
      CAPTURE(one);
      CAPTURE(other);
      CHECK_FALSE((common.width() > 0.5 && common.height() > 0.5));
    }
}

}  // namespace fovea::example
