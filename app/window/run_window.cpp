#include "window/run_window.h"

#include <QApplication>
#include <QDir>
#include <QIcon>
#include <QSettings>
#include <csignal>
#include <cstdlib>
#include <iostream>

#include "backend/backends.h"
#include "canvas/gl_widget.h"
#include "data/error.h"
#include "input/assets.h"
#include "input/own_files.h"
#include "input/recovery_file.h"
#include "live/live_address.h"
#include "live/live_server.h"
#include "study/background.h"
#include "window/application.h"
#include "window/dialogs/model_dialog.h"
#include "window/dialogs/questions.h"
#include "window/main_window.h"
#include "window/tour.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

bool names_display() {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
    if (const char* value = std::getenv(name); value && *value) return true;
  return false;
}

// Ends the program if a message is fatal: Qt would abort. Here it means that the display cannot be
// reached.
void end_where_fatal(QtMsgType type, const QMessageLogContext&, const QString& message) {
  if (type != QtWarningMsg && type != QtCriticalMsg && type != QtFatalMsg) return;
  std::cerr << "fovea: " << message.trimmed().toStdString() << std::endl;
  if (type != QtFatalMsg) return;
  std::cerr
      << "fovea: the display cannot be reached, and the window needs one; `fovea --help` lists "
         "the commands that do not"
      << std::endl;
  std::_Exit(4);  // nothing that must be stopped has started yet
}

}  // namespace

std::unique_ptr<QApplication> start_application(int& argc, char** argv) {
  if (!names_display())
    throw UnavailableError(
        "no display (DISPLAY and WAYLAND_DISPLAY are empty): the window needs one; "
        "`fovea --help` lists the commands that do not");
  const QtMessageHandler before = qInstallMessageHandler(end_where_fatal);
  allow_native_composition();
  configure_fonts();
  auto application = std::make_unique<Application>(argc, argv);
  add_own_fonts();
  qInstallMessageHandler(before);
  return application;
}

std::vector<MainWindow*> open_windows(const std::vector<std::string>& files,
                                      const BackendChoice& choice,
                                      std::shared_ptr<Background> background,
                                      std::shared_ptr<LiveStreams> streams,
                                      const std::string& recovery, std::function<bool()> listens) {
  std::vector<MainWindow*> windows;
  // A GPU that was not tested yet is tested while the window already computes on the CPU.
  BackendChoice at_once = choice;
  at_once.at_once = true;
  const auto make = [=]() -> MainWindow& {
    auto* window = new MainWindow(make_low_priority_backend(at_once), background);
    if (window->study().backend().id() == "cpu" && choice.backend == "auto" &&
        find_cuda_device(nullptr))
      window->study().use_backend(choice);
    window->setAttribute(Qt::WA_DeleteOnClose);
    window->live_bar().set_listening(listens);
    if (streams) window->live_bar().watch(streams);
    if (!recovery.empty()) window->recovery().keep_in(recovery);
    return *window;
  };
  RecoverySearch left;
  if (!recovery.empty()) left = RecoverySearch::of(recovery);
  for (const std::string& file : files) {
    windows.push_back(&make());
    windows.back()->open_at_first(to_qt(file));
  }
  const bool from_nothing = files.empty();
  if (from_nothing) {
    windows.push_back(&make());
    if (!windows.back()->files().open_last())
      windows.back()->open_at_first(to_qt(standard_example()));
  }
  RecoveryBar& bar = windows.front()->recovery_bar();
  bar.make_window = [make]() -> MainWindow& {
    MainWindow& window = make();
    window.show();
    return window;
  };
  bar.offer(std::move(left));
  for (MainWindow* window : windows) window->show();
  if (from_nothing) windows.front()->tour().start_once();
  return windows;
}

namespace {

/// The settings and the last session name files, which nobody else shall read.
void keep_settings_private() {
  const QString folder = QFileInfo(QSettings().fileName()).path();
  QDir().mkpath(folder);
  QFile::setPermissions(folder, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
}

struct Listening {
  Listening(std::shared_ptr<LiveStreams> streams, const LiveServerOptions& options)
      : server(std::move(streams), options) {}
  LiveServer server;
  std::unique_ptr<LiveTokenFile> token = {};  // null without a port
};

/// Listens for programs. The window also works without a folder for its socket.
std::shared_ptr<Listening> listen(std::shared_ptr<LiveStreams> streams,
                                  std::optional<std::uint16_t> port) {
  LiveServerOptions options{.port = port};
  std::string folder;
  try {
    folder = live_folder();
    remove_old_live_tokens(folder);
    options.socket = live_socket_path(folder);
  } catch (const UnavailableError& error) {
    if (port) throw;  // there is no place for its token
    std::cerr << "fovea: " << error.what() << std::endl;
  }
  if (port) options.token = make_live_token();
  auto listening = std::make_shared<Listening>(std::move(streams), options);
  if (!port) return listening;
  const int own = listening->server.port();
  listening->token = std::make_unique<LiveTokenFile>(folder, own, options.token);
  std::cerr << "fovea: programs may send to tcp:127.0.0.1:" << own << " with the token in "
            << listening->token->path() << std::endl;
  return listening;
}

}  // namespace

int run_window(int argc, char** argv, const std::vector<std::string>& files,
               const BackendChoice& backend, std::optional<std::uint16_t> port,
               bool use_kept_budget) {
  const CloseOnSignal closing;
  const auto application = start_application(argc, argv);
  report_crashes_and_lost_display();
  QApplication::setOrganizationName("Fovea");
  QApplication::setApplicationName("Fovea");
  QApplication::setDesktopFileName("fovea");
  QApplication::setWindowIcon(QIcon(to_qt(assets_directory() + "/fovea.svg")));
  keep_settings_private();
  if (use_kept_budget) use_kept_memory_budget();
  use_kept_interpreter();
  auto background = std::make_shared<Background>();
  const auto streams = std::make_shared<LiveStreams>();
  const auto listening = listen(streams, port);
  open_windows(files, backend, background, streams, recovery_folder(),
               [listening] { return listening->server.has_socket(); });
  const int status = QApplication::exec();
  end_background(std::move(background));
  return closing.came() == SIGINT ? Cancelled().status() : status;
}

void end_background(std::shared_ptr<Background> background) {
  background.reset();                    // waits until all files are written
  QCoreApplication::sendPostedEvents();  // reports files that could not be written
}

}  // namespace fovea
