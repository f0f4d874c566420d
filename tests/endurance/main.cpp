// Endurance: random use of the real window, for as long as one likes.
//
//   endurance [--seed N] [--seconds S] [--actions N] [--between N] [--patience N]
//             [--only WORDS] [--log FILE]
//
// The same seed draws the same actions. On a display: xvfb-run -a -s "-screen 0 1920x1200x24".
// Status: 0 nothing went wrong, 1 something did, 2 wrong command line, 3 the window was dead.
#include <QApplication>
#include <QStringList>
#include <cstdio>
#include <exception>

#include "endurance/endurance_run.h"
#include "temporary_directory.h"
#include "window/run_window.h"

namespace fovea::test {
namespace {

struct CommandLine {
  RunOptions options;
  std::string log = "endurance.log";
};

/// False: it is wrong.
bool read(int argc, char** argv, CommandLine& to) {
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) return false;
    const QString name = argv[i], value = argv[i + 1];
    bool number = true;
    if (name == "--seed")
      to.options.seed = value.toULongLong(&number);
    else if (name == "--seconds")
      to.options.seconds = value.toDouble(&number);
    else if (name == "--actions")
      to.options.actions = value.toInt(&number);
    else if (name == "--between")
      to.options.between = value.toInt(&number);
    else if (name == "--patience")
      to.options.patience = value.toInt(&number);
    else if (name == "--only")
      to.options.only = value.toStdString();
    else if (name == "--log")
      to.log = value.toStdString();
    else
      return false;
    if (!number) return false;
  }
  return to.options.between > 0 && to.options.patience > 0;
}

RunLog* log_of_messages = nullptr;

/// What Qt warns of is a mistake of the program, but for what a display without a window manager
/// lacks, and what a decoder says of a picture whose opening was cancelled.
void take_message(QtMsgType type, const QMessageLogContext& context, const QString& message) {
  const bool of_display = message.contains("This plugin does not support");
  const bool of_picture = QByteArrayView(context.category).startsWith("qt.gui.imageio");
  const std::string text = "Qt: " + message.toStdString();
  if (type == QtWarningMsg && !of_display && !of_picture)
    log_of_messages->failure(text);
  else
    log_of_messages->line("  " + text);
}

int run(int argc, char** argv, const CommandLine& line) {
  const TemporaryDirectory folder;
  // Neither a person's settings nor their socket.
  qputenv("XDG_CONFIG_HOME", (folder / "settings").c_str());
  QApplication::setOrganizationName("Fovea tests");
  QApplication::setApplicationName("Fovea endurance");
  RunLog log(line.log);
  log.line("seed " + std::to_string(line.options.seed));
  log_crashes(log);
  const auto application = start_application(argc, argv);
  QApplication::setQuitOnLastWindowClosed(false);
  log_of_messages = &log;
  qInstallMessageHandler(take_message);
  bool good = false;
  {
    EnduranceRun endurance(log, QString::fromStdString(folder.path()), line.options);
    good = endurance.run();
  }
  qInstallMessageHandler(nullptr);
  std::fprintf(stderr, "endurance: seed %llu, %d failures, log in %s\n",
               static_cast<unsigned long long>(line.options.seed), log.failures(),
               line.log.c_str());
  return good ? 0 : 1;
}

}  // namespace
}  // namespace fovea::test

int main(int argc, char** argv) {
  fovea::test::CommandLine line;
  if (!fovea::test::read(argc, argv, line)) {
    std::fputs(
        "usage: endurance [--seed N] [--seconds S] [--actions N] [--between N] [--patience N] "
        "[--only WORDS] [--log FILE]\n",
        stderr);
    return 2;
  }
  try {
    return fovea::test::run(argc, argv, line);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "endurance: %s\n", error.what());
    return 1;
  }
}
