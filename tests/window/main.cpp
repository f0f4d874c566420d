// The tests of the window: one application, on a display of its own.
#define DOCTEST_CONFIG_IMPLEMENT
#include <QApplication>

#include "run_tests.h"

int main(int argc, char** argv) {
  QApplication::setOrganizationName("Fovea tests");
  QApplication::setApplicationName("Fovea tests");
  doctest::Context context(argc, argv);
  if (context.shouldExit()) return context.run();  // listing the cases needs no display
  QApplication application(argc, argv);
  return fovea::test::run_tests(context);
}
