// The tests of the window: one application, on a display of its own.
#define DOCTEST_CONFIG_IMPLEMENT
#include <QApplication>

#include "run_tests.h"
#include "temporary_directory.h"

int main(int argc, char** argv) {
  QApplication::setOrganizationName("Fovea tests");
  QApplication::setApplicationName("Fovea tests");
  doctest::Context context(argc, argv);
  if (context.shouldExit()) return context.run();  // listing the cases needs no display
  // Neither a person's settings nor those of a run that was interrupted.
  const fovea::test::TemporaryDirectory settings;
  qputenv("XDG_CONFIG_HOME", settings.path().c_str());
  QApplication application(argc, argv);
  return fovea::test::run_tests(context);
}
