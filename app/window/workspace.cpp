#include "window/workspace.h"

#include <QStatusBar>
#include <utility>

namespace fovea {

Workspace::Workspace(QMainWindow& of, std::unique_ptr<Backend> backend,
                     std::shared_ptr<Background> given)
    : window(of),
      background(given ? std::move(given) : std::make_shared<Background>()),
      study(std::move(backend), background),
      info_bar(*new InfoBar(&of)),
      canvas(*new Canvas(&of)) {}

void Workspace::show_status(const QString& message) {
  constexpr int shown_ms = 6000;
  window.statusBar()->showMessage(message, shown_ms);
}

void Workspace::clear_status() {
  window.statusBar()->clearMessage();
}

}  // namespace fovea
