// A ParetoPlot shows settings that were tried as points, error against cost. Points are read by the
// mouse or with the arrow keys, and picked by a click, a rectangle or Enter.
#pragma once

#include <optional>
#include <vector>

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
  const std::vector<SettingSpread>& settings() const { return settings_; }
  const Quantity& x() const { return x_; }
  const Quantity& y() const { return y_; }
  /// The plot on paper.
  Figure figure_for(const FigureStyle& style) const { return figure_in(style, {}); }

  /// The positions of settings in pixels, with their places among the settings.
  std::vector<std::pair<QPointF, std::size_t>> spots() const;
  const std::optional<std::size_t>& chosen() const { return chosen_; }
  void choose(std::optional<std::size_t> setting);

  QSize sizeHint() const override { return {900, 460}; }
  QSize minimumSizeHint() const override { return {480, 320}; }

 signals:
  void setting_chosen();
  void settings_picked(std::vector<std::size_t> settings);

 protected:
  Figure shown_figure() const override { return figure_in(style_, chosen_); }
  void lay_out() override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  Figure figure_in(const FigureStyle& style, std::optional<std::size_t> chosen) const;
  std::optional<std::size_t> setting_at(QPointF at) const;
  std::vector<std::size_t> settings_in(const QRect& rectangle) const;
  void step(int by);

  std::vector<SettingSpread> settings_;
  Quantity x_{"multiply_adds", ""}, y_{"output_rel_fro", ""};
  std::string message_;
  std::optional<std::size_t> chosen_;
  FigureStyle style_;
  std::vector<std::pair<QPointF, std::size_t>> spots_;  // in points
  QRubberBand* rectangle_;
  std::optional<QPoint> pressed_;  // by the left button
};

}  // namespace fovea
