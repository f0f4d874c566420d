// FloatingBars lie over a widget, at its top or bottom edge: while they come and go the widget
// neither moves nor gets another size.
#pragma once

#include <QWidget>

namespace fovea {

class FloatingBars : public QWidget {
 public:
  /// Takes over the widget, which fills it.
  explicit FloatingBars(QWidget& below);
  /// Takes over the bar. Bars at the top are below each other, in the order in which they come.
  void add_at_top(QWidget& bar) { add(*top_, bar); }
  void add_at_bottom(QWidget& bar) { add(*bottom_, bar); }

 protected:
  void resizeEvent(QResizeEvent* event) override;
  /// Follows bars that are shown, hidden or need more room.
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QWidget* make_stack();
  void add(QWidget& stack, QWidget& bar);
  void place();
  /// The height that the visible bars need; 0 if there are none.
  static int height_of(const QWidget& stack, int width);

  QWidget& below_;
  QWidget *top_, *bottom_;
};

}  // namespace fovea
