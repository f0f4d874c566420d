// A SweepPlot shows a SweepFigure; points are read by the mouse or with the arrow keys.
#pragma once

#include "figure/sweep_figure.h"
#include "window/widgets/figure_widget.h"

namespace fovea {

/// A point in words; empty if it was not measured.
QString sweep_reading(const Sweep& sweep, const SweepSpot& spot);

class SweepPlot : public FigureWidget {
  Q_OBJECT

 public:
  SweepPlot();

  void show_sweep(const Sweep& sweep, SweepTime time, const QString& message);
  /// The plot on paper.
  SweepFigure figure_for(const FigureStyle& style) const;
  const SweepFigure& figure() const { return figure_; }
  /// The positions of points in pixels.
  std::vector<std::pair<QPointF, SweepSpot>> spots() const;
  void choose(std::optional<SweepSpot> spot);

  QSize sizeHint() const override { return {1040, 460}; }
  QSize minimumSizeHint() const override { return {640, 400}; }

 signals:
  void chosen(std::optional<fovea::SweepSpot> spot);

 protected:
  Figure shown_figure() const override { return figure_of(figure_); }
  void lay_out() override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void step(int series, int length);

  SweepFigure figure_;
  std::vector<std::pair<QPointF, SweepSpot>> spots_;  // in points
};

}  // namespace fovea
