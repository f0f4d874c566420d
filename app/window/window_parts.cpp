#include "window/window_parts.h"

#include <QStatusBar>

namespace fovea {

void WindowParts::show_status(const QString& message) const {
  constexpr int shown_ms = 6000;
  window.statusBar()->showMessage(message, shown_ms);
}

void WindowParts::show_message(const QString& message) const {
  info_bar.show_message(message);
}

void WindowParts::write_file(const QString& path, std::function<void()> write,
                             std::function<void()> on_success) const {
  show_status("Writing " + path + "…");
  background->files.run(std::move(write), &window,
                        [this, path, on_success](const std::string& error) {
                          if (error.empty()) {
                            if (on_success) on_success();
                            return show_status("Wrote " + path);
                          }
                          window.statusBar()->clearMessage();
                          show_message(QString::fromStdString(error));
                        });
}

}  // namespace fovea
