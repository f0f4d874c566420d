// FloatingBars lie over the bottom of a widget: while they come and go the widget neither moves nor
// gets another size.
#pragma once

#include <QWidget>

namespace fovea {

class FloatingBars : public QWidget {
 public:
  /// Takes over the widget, which fills it.
  explicit FloatingBars(QWidget& below);
  /// Takes over the bar. Bars are below each other, in the order in which they come.
  void add(QWidget& bar);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  /// Follows bars that are shown, hidden or need more room.
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void place();
  /// The height that the visible bars need; 0 if there are none.
  int height_of_bars(int width) const;

  QWidget& below_;
  QWidget* stack_;
};

}  // namespace fovea
