#include "window/application.h"

#include <signal.h>
#include <unistd.h>

#include <QElapsedTimer>
#include <QPixmapCache>
#include <QThread>
#include <QWidget>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <new>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "input/crash_report.h"
#include "io/atomic_file.h"
#include "window/main_window.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

std::vector<MainWindow*> all_windows() {
  std::vector<MainWindow*> windows;
  for (QWidget* widget : QApplication::topLevelWidgets())
    if (auto* window = qobject_cast<MainWindow*>(widget)) windows.push_back(window);
  return windows;
}

bool on_application_thread() {
  return QThread::currentThread() == QCoreApplication::instance()->thread();
}

/// Reports from any thread that handles events. Drawing may throw at every frame, so the sessions
/// are not written each time.
void report(const QString& what) {
  if (!on_application_thread()) {
    QMetaObject::invokeMethod(
        QCoreApplication::instance(), [what] { report(what); }, Qt::QueuedConnection);
    return;
  }
  static QElapsedTimer since;
  static QString kept;
  if (!since.isValid() || since.hasExpired(1000)) {
    kept = to_qt(keep_sessions());
    since.start();
  }
  const QString message =
      "An internal error: " + what +
      (kept.isEmpty() ? ". The window goes on; save your session to be safe."
                      : ". The window goes on; the session was kept in " + kept +
                            ", and is offered at the next start if Fovea ends now.");
  std::cerr << "fovea: " << message.toStdString() << std::endl;
  for (MainWindow* window : all_windows()) window->info_bar().show_message(message);
}

/// Whether a message of the libraries that talk to the display says that the display is gone. Qt
/// then ends the program while threads run.
bool says_display_is_gone(const QString& message) {
  return message.contains("connection broke");
}

QtMessageHandler previous_handler = nullptr;

void handle_lost_display(QtMsgType type, const QMessageLogContext& context,
                         const QString& message) {
  if (!says_display_is_gone(message)) {
    if (previous_handler) previous_handler(type, context, message);
    return;
  }
  const std::string kept = on_application_thread() ? keep_sessions() : std::string();
  std::cerr << "fovea: the display is gone (" << message.trimmed().toStdString() << ")"
            << (kept.empty() ? ""
                             : "; the session was kept in " + kept +
                                   ", and the next start of the window offers it")
            << std::endl;
  std::_Exit(4);  // threads still compute, so nothing that they use may be destroyed
}

sigset_t closing_signals() {
  sigset_t closing;
  sigemptyset(&closing);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR2}) sigaddset(&closing, signal);
  return closing;
}

/// Returns large blocks, and the free ends of heaps, to the system. By itself the C library takes
/// larger and larger blocks from its heaps, where later allocations keep the heaps from shrinking,
/// and each thread's heap keeps a free end of twice the size of such a block. Matrices of 256 KiB
/// and more are kept for the next one (data/kept_blocks.h).
void return_large_blocks() {
#ifdef __GLIBC__
  constexpr int large = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, large);
  mallopt(M_TRIM_THRESHOLD, large);
#endif
}

}  // namespace

// Fusion caches a picture of each control under a name that differs in each palette, and therefore
// in each window and dialog. Qt 6.4 never frees the names of pictures that have left the cache,
// some 5 MiB in an hour of constant use. A step of a stream is drawn 5 % sooner with the cache, so
// the cache stays until many windows were shown.
Application::Application(int& argc, char** argv) : QApplication(argc, argv) {
  return_large_blocks();
  constexpr int most_kib = 2048;
  QPixmapCache::setCacheLimit(most_kib);
}

void Application::count_shown_window() {
  constexpr int most_with_cache = 100;
  if (++shown_windows_ == most_with_cache) QPixmapCache::setCacheLimit(0);
}

bool Application::notify(QObject* receiver, QEvent* event) {
  if (event->type() == QEvent::Show && receiver->isWidgetType() &&
      static_cast<QWidget*>(receiver)->isWindow())
    count_shown_window();
  try {
    return QApplication::notify(receiver, event);
  } catch (const std::bad_alloc&) {
    report("not enough memory");
  } catch (const std::exception& error) {
    report(error.what());
  } catch (...) {
    report("an exception of an unknown type");
  }
  return true;
}

std::string keep_sessions() {
  std::string first;
  for (MainWindow* window : all_windows()) {
    const std::string path = window->recovery().write_now();
    if (first.empty()) first = path;
  }
  return first;
}

void report_crashes_and_lost_display() {
  previous_handler = qInstallMessageHandler(handle_lost_display);
  report_crashes();
}

CloseOnSignal::CloseOnSignal() {
  const sigset_t closing = closing_signals();
  pthread_sigmask(SIG_BLOCK, &closing, nullptr);
  watcher_ = std::thread([this] { watch(); });
}

CloseOnSignal::~CloseOnSignal() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  ended_.notify_all();
  pthread_kill(watcher_.native_handle(), SIGUSR2);
  watcher_.join();
}

void CloseOnSignal::watch() {
  const sigset_t closing = closing_signals();
  int signal = 0;
  std::unique_lock lock(mutex_, std::defer_lock);
  for (;;) {
    sigwait(&closing, &signal);
    lock.lock();
    if (over_) return;
    if (signal != SIGUSR2) break;
    lock.unlock();
  }
  came_ = signal;
  QMetaObject::invokeMethod(
      QCoreApplication::instance(),
      [] {
        QApplication::closeAllWindows();
        QCoreApplication::quit();  // in case a question was open
      },
      Qt::QueuedConnection);
  if (ended_.wait_for(lock, std::chrono::seconds(3), [this] { return over_; })) return;
  remove_unfinished_files();
  _exit(128 + signal);
}

}  // namespace fovea
