#include "input/painting.h"

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <new>

#include "input/own_files.h"

namespace fovea {
namespace {

constexpr int internal_error = 1, unavailable = 4;

std::atomic<bool> qt_has_started = false;

/// Suppresses Qt's remarks on the desktop, which does not matter here. Qt aborts after a fatal
/// message: while it starts, because it cannot start; later, because of a defect.
void only_serious(QtMsgType type, const QMessageLogContext&, const QString& message) {
  const bool defect = type == QtFatalMsg && qt_has_started;
  if (type == QtCriticalMsg || type == QtFatalMsg)
    std::cerr << "fovea: " << (defect ? "internal error: " : "") << message.toStdString()
              << std::endl;
  if (type == QtFatalMsg) std::_Exit(defect ? internal_error : unavailable);
}

/// Throws std::bad_alloc if there is not enough memory for Qt to start and for fontconfig to read
/// fonts: without it Qt may crash, and fontconfig writes a cache that lacks fonts.
void require_room_to_start() {
  void* volatile room = std::malloc(std::size_t{32} << 20);
  if (!room) throw std::bad_alloc();
  std::free(room);
}

}  // namespace

Painting::Painting() {
  if (QGuiApplication::instance()) return;
  require_room_to_start();
  setenv("QT_QPA_PLATFORM", "offscreen", 1);
  qInstallMessageHandler(only_serious);
  configure_fonts();
  application_.emplace(argc_, argv_.data());
  qt_has_started = true;
  add_own_fonts();
}

}  // namespace fovea
