// A Window under test: the real MainWindow on a display, with helpers that wait for it.
#pragma once

#include <QElapsedTimer>
#include <QString>
#include <functional>
#include <memory>

#include "figure/figure.h"
#include "window/main_window.h"

namespace fovea::test {

/// Runs the event loop until `done`, at most `limit_ms`. Returns whether it came about.
bool wait_until(const std::function<bool()>& done, int limit_ms = 30000);

class Window {
 public:
  /// Opens `what` and waits until everything is drawn.
  explicit Window(const QString& what, QSize size = {1600, 1000});

  MainWindow* operator->() { return window_.get(); }
  MainWindow& operator*() { return *window_; }
  Study& study() { return window_->study(); }
  bool settle() {
    constexpr int limit_ms = 90000;  // rank maps of an image, on a machine where others work
    return wait_until([this] { return study().settled(); }, limit_ms);
  }
  /// Whether the session or figure was written; why not is in the info bar.
  bool save(const QString& path);
  bool export_to(const QString& path, const FigureStyle& style);
  /// Into the build folder, to be looked at.
  void shoot(const QString& name);
  void trigger(const QString& action);
  /// Everything that the timing dock says, tool tips too.
  QString timing_text();
  void close();

 private:
  bool is_written(const std::function<void()>& write);

  std::unique_ptr<MainWindow> window_;
};

/// The longest time between two ticks of a 1 ms timer on this thread: how long the window did not
/// respond.
class GapMeter : public QObject {
 public:
  GapMeter();
  double longest_ms() const { return longest_; }
  /// The most that this thread itself worked between two ticks.
  double busiest_ms() const { return busiest_; }

 protected:
  void timerEvent(QTimerEvent* event) override;

 private:
  QElapsedTimer since_;
  double longest_ = 0, busiest_ = 0, worked_ = 0;
};

}  // namespace fovea::test
