// A Window under test: the real MainWindow on a display, what it shows, and waiting for it.
#pragma once

#include <QString>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "figure/figure.h"
#include "window/main_window.h"

namespace fovea::test {

inline const QString small = "synthetic:clusters?n=128&d=32&seed=1";
inline const QString assets = FOVEA_ASSETS;

/// Runs the event loop until `done`, at most `limit_ms`: a minute is so long that only what hangs
/// takes it. Returns whether it came about.
bool wait_until(const std::function<bool()>& done, int limit_ms = 60000);

class Window {
 public:
  /// Opens `what`, shows masks and ranks of a short head, too, and waits until everything is drawn.
  /// `look`: "dark", "light" or "desktop".
  explicit Window(const QString& what, QSize size = {1600, 1000}, const QString& look = "desktop");

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
  /// The settings of the row of this view, as a click on the row's title opens them.
  RowSettings& row_settings(View view);
  /// Into the build folder, to be looked at.
  void shoot(const QString& name);
  void trigger(const QString& action);
  /// Everything that the timing dock says, tool tips too.
  QString timing_text();
  void close();

 private:
  void show_ranks();
  bool is_written(const std::function<void()>& write);

  std::unique_ptr<MainWindow> window_;
};

/// Where a variant and a view are in the session; their number where they are not.
int column_of(Window& window, const std::string& variant);
int row_of(Window& window, View view);
/// A panel that the canvas shows.
const Panel& panel(Window& window, View view, int column);
/// Shows these views of columns of these variants, with parameters for the head's length. Does not
/// wait.
void show(Window& window, const std::vector<View>& views, const std::vector<std::string>& variants);
/// Takes the variants of these groups out of those that are tried for "Which attention?".
void leave_out(Window& window, std::initializer_list<Group> groups);
/// Drops a file on the window. Returns whether the window accepts it.
bool drop(Window& window, const QString& path);

}  // namespace fovea::test
