#include "cli/painting.h"

#include <cstdlib>
#include <iostream>

#include "data/error.h"

namespace fovea {
namespace {

/// Suppresses Qt's remarks on the desktop, which does not matter here.
void only_serious(QtMsgType type, const QMessageLogContext&, const QString& message) {
  if (type == QtCriticalMsg || type == QtFatalMsg)
    std::cerr << "fovea: " << message.toStdString() << '\n';
}

}  // namespace

Painting::Painting() {
  if (QGuiApplication::instance()) return;
  setenv("QT_QPA_PLATFORM", "offscreen", 1);
  qInstallMessageHandler(only_serious);
  application_.emplace(argc_, argv_.data());
}

void check_figure_name(const std::string& output) {
  for (const char* ending : {".png", ".svg", ".pdf"})
    if (output.size() > 4 && output.ends_with(ending)) return;
  throw UsageError("-o " + output + "; expected a name that ends in .png, .svg or .pdf");
}

}  // namespace fovea
