#include "gui/run_window.h"

#include <QApplication>
#include <QIcon>
#include <cstdlib>
#include <iostream>

#include "gui/gl_format.h"
#include "gui/main_window.h"
#include "gui/polite_backend.h"
#include "input/assets.h"

namespace fovea {

bool has_display() {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
    if (const char* value = std::getenv(name); value && *value) return true;
  return false;
}

int run_window(int argc, char** argv, const std::vector<std::string>& files,
               const BackendChoice& backend) {
  if (!has_display()) {
    std::cerr << "fovea: no display (DISPLAY and WAYLAND_DISPLAY are empty): the window needs one; "
                 "`fovea --help` lists the commands that do not\n";
    return 4;
  }
  ask_for_gl();
  QApplication application(argc, argv);
  QApplication::setOrganizationName("Fovea");
  QApplication::setApplicationName("Fovea");
  QApplication::setWindowIcon(QIcon(QString::fromStdString(assets_directory() + "/fovea.svg")));
  MainWindow window(make_polite_backend(backend));
  if (!files.empty())
    window.open(QString::fromStdString(files.front()));
  else if (!window.open_last())
    window.open(QString::fromStdString(standard_example()));
  window.show();
  return QApplication::exec();
}

}  // namespace fovea
