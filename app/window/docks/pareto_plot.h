// A ParetoPlot shows settings that were tried as points, error against cost, and a budget of cost
// as a line that is dragged. Points are read by the mouse or with the arrow keys, and picked by a
// click, a rectangle or Enter.
#pragma once

#include <optional>
#include <vector>

#include "drawing/axes.h"
#include "panels/pareto_panel.h"
#include "window/widgets/figure_widget.h"

class QRubberBand;

namespace fovea {

class ParetoPlot : public FigureWidget {
  Q_OBJECT

 public:
  ParetoPlot();

  /// Shows the settings. A setting keeps its place while more are tried.
  void show_settings(std::vector<SettingSpread> settings, const Quantity& x, const Quantity& y,
                     const QString& message);
  /// A budget of the cost that x is; without a value there is no line.
  void show_budget(std::optional<double> at_most);
  const std::vector<SettingSpread>& settings() const { return settings_; }
  const Quantity& x() const { return x_; }
  const Quantity& y() const { return y_; }
  /// The plot on paper.
  Figure figure_for(const FigureStyle& style) const { return figure_in(style, {}); }
  /// What is said of points, bars and lines.
  QString caption() const;

  /// The positions of settings in pixels, with their places among the settings.
  std::vector<std::pair<QPointF, std::size_t>> spots() const;
  const std::optional<std::size_t>& chosen() const { return chosen_; }
  void choose(std::optional<std::size_t> setting);
  /// Whether the setting is beyond the part of the axes that is shown.
  bool is_beyond(std::size_t setting) const;
  /// The budget's line in pixels; nothing if there is none within the plot.
  std::optional<QLineF> budget_line() const;
  /// Zooms by a factor, below 1 to see less, about a place in pixels.
  void zoom(double factor, QPointF about);
  /// Shows all points again, but for those far from the others.
  void show_all();

  QSize sizeHint() const override { return {900, 300}; }
  QSize minimumSizeHint() const override { return {300, 110}; }

 signals:
  void budget_moved(double at_most);
  void zoomed();
  void setting_chosen();
  void settings_picked(std::vector<std::size_t> settings);

 protected:
  Figure shown_figure() const override;
  void lay_out() override;
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  Figure figure_in(const FigureStyle& style, std::optional<std::size_t> chosen) const;
  enum class Drag { none, rectangle, budget, pan };

  Panel panel_of(std::optional<std::size_t> chosen) const;
  bool is_on_budget(QPointF at) const;
  void drag_budget(double x);
  void step_budget(int by);
  void pan(QPointF by);
  std::optional<std::size_t> setting_at(QPointF at) const;
  std::vector<std::size_t> settings_in(const QRect& rectangle) const;
  void step(int by);

  std::vector<SettingSpread> settings_;
  Quantity x_{"multiply_adds", ""}, y_{"output_rel_fro", ""};
  std::string message_;
  std::optional<std::size_t> chosen_;
  FigureStyle style_;
  std::optional<double> at_most_;
  std::optional<SeriesPlot::Ends> x_ends_, y_ends_;  // that were zoomed or moved to
  struct Spot {
    QPointF at;  // in points
    std::size_t setting;
    bool beyond;
  };
  std::vector<Spot> spots_;
  QRectF plot_;  // in points
  drawing::Axes axes_;
  QRubberBand* rectangle_;
  Drag drag_ = Drag::none;
  QPoint pressed_, moved_;
};

}  // namespace fovea
