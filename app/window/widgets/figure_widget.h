// A FigureWidget shows a Figure in the window's look, as large as the widget is.
#pragma once

#include <QWidget>

#include "figure/figure.h"

namespace fovea {

class FigureWidget : public QWidget {
  Q_OBJECT

 public:
  /// The widget takes the focus of the keyboard, and follows the mouse without a button.
  explicit FigureWidget(const QString& name);

 protected:
  virtual Figure shown_figure() const = 0;
  /// Called when size or look has changed.
  virtual void lay_out() = 0;

  void put_screen_into(FigureStyle& style) const;
  double pixels_a_point() const { return logicalDpiX() / 72.0; }

  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
};

}  // namespace fovea
