// A HeadScatterPlot shows all heads as points, by two of their measures. Points are read by the
// mouse or with the arrow keys, and picked by a click or Enter.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "panels/head_scatter.h"
#include "window/widgets/figure_widget.h"

namespace fovea {

class HeadScatterPlot : public FigureWidget {
  Q_OBJECT

 public:
  using Head = std::pair<Index, Index>;  // layer, head

  HeadScatterPlot();
  void show_heads(HeadScatter scatter);
  const HeadScatter& scatter() const { return scatter_; }
  /// This head has a ring, if it is there.
  void mark(const Head& head);
  /// The same on paper.
  Figure figure_for(const FigureStyle& style) const;

  /// Where heads stand, in pixels, in the order of the points.
  std::vector<QPointF> spots() const;
  /// The point that is read: its place; nothing if none is.
  std::optional<std::size_t> chosen() const { return chosen_; }

  QSize sizeHint() const override { return {460, 420}; }
  QSize minimumSizeHint() const override { return {240, 110}; }

 signals:
  void head_chosen();
  void head_picked(const std::pair<fovea::Index, fovea::Index>& head);

 protected:
  Figure shown_figure() const override { return figure_for(style_); }
  void lay_out() override;
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void choose(std::optional<std::size_t> point);
  std::optional<std::size_t> point_at(QPointF at) const;
  void step(int by);
  void pick(std::size_t point);

  HeadScatter scatter_;
  Head marked_{-1, -1};
  std::optional<std::size_t> chosen_;
  FigureStyle style_;
  std::vector<QPointF> spots_;  // in points of the figure
};

}  // namespace fovea
