#include "cli/painting.h"

#include <QFontDatabase>
#include <cstdlib>
#include <iostream>

#include "data/error.h"
#include "input/own_files.h"

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
  configure_fonts();
  application_.emplace(argc_, argv_.data());
  add_own_fonts();
}

std::string installed_font(const std::string& name) {
  const QString family = QString::fromStdString(name);
  for (const QString& one : QFontDatabase::families())
    if (one.compare(family, Qt::CaseInsensitive) == 0) return one.toStdString();
  throw UsageError("--font " + name +
                   ": no font of this name is installed; `fc-list : family` lists those that are");
}

void check_figure_name(const std::string& output) {
  for (const char* ending : {".png", ".svg", ".pdf", ".pgf"})
    if (output.size() > 4 && output.ends_with(ending)) return;
  throw UsageError("-o " + output + "; expected a name that ends in .png, .svg, .pdf or .pgf");
}

}  // namespace fovea
