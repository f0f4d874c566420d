// PaintedNotes are lines for everything that a QPainter paints: in which colours, and where, in
// tens of units with a decimal.
#pragma once

#include <QPaintDevice>
#include <QPaintEngine>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <string>
#include <vector>

namespace fovea::test {

/// Writes down what is painted.
class PaintedNotes : public QPaintEngine {
 public:
  PaintedNotes() : QPaintEngine(QPaintEngine::AllFeatures) {}
  bool begin(QPaintDevice*) override { return true; }
  bool end() override { return true; }
  void updateState(const QPaintEngineState&) override {}
  Type type() const override { return QPaintEngine::User; }
  void drawPath(const QPainterPath& path) override { note("path " + ink(), path.boundingRect()); }
  void drawPolygon(const QPointF* points, int count, PolygonDrawMode mode) override {
    const QPolygonF all(QList<QPointF>(points, points + count));
    note((mode == PolylineMode ? "line " : "shape ") + ink(), all.boundingRect());
  }
  void drawImage(const QRectF& where, const QImage&, const QRectF&,
                 Qt::ImageConversionFlags) override {
    note("image", where);
  }
  void drawPixmap(const QRectF& where, const QPixmap&, const QRectF&) override {
    note("image", where);
  }
  void drawTextItem(const QPointF& at, const QTextItem& item) override {
    note("words \"" + item.text() + "\" " + painter()->pen().color().name(), {at, QSizeF()});
  }
  std::vector<std::string> lines;

 private:
  QString ink() const {
    const QPen pen = painter()->pen();
    const QBrush brush = painter()->brush();
    QString out;
    if (pen.style() != Qt::NoPen)
      out += pen.color().name(QColor::HexArgb) + QString(" %1").arg(pen.widthF());
    if (brush.style() != Qt::NoBrush) out += " in " + brush.color().name(QColor::HexArgb);
    return out;
  }
  void note(const QString& what, const QRectF& where) {
    const QRectF box = painter()->combinedTransform().mapRect(where);
    const auto tens = [](double pixels) {
      return QString::number(std::max(pixels, -10.0) / 10 + 1, 'f', 1);
    };
    lines.push_back(
        QString("%1 at %2 %3 to %4 %5")
            .arg(what, tens(box.left()), tens(box.top()), tens(box.right()), tens(box.bottom()))
            .toStdString());
  }
};

/// A paint device that takes notes, at a given number of dots an inch.
class PaperForNotes : public QPaintDevice {
 public:
  PaperForNotes(PaintedNotes& notes, QSize size, int dpi) : notes_(notes), size_(size), dpi_(dpi) {}
  QPaintEngine* paintEngine() const override { return &notes_; }

 protected:
  int metric(PaintDeviceMetric which) const override {
    switch (which) {
      case PdmWidth:
        return size_.width();
      case PdmHeight:
        return size_.height();
      case PdmDpiX:
      case PdmDpiY:
      case PdmPhysicalDpiX:
      case PdmPhysicalDpiY:
        return dpi_;
      case PdmDepth:
        return 32;
      case PdmDevicePixelRatio:
        return 1;
      case PdmDevicePixelRatioScaled:
        return int(devicePixelRatioFScale());
      default:
        return 0;
    }
  }

 private:
  PaintedNotes& notes_;
  QSize size_;
  int dpi_;
};

}  // namespace fovea::test
