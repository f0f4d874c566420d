// The tests of the window share one application, on a display of their own (xvfb-run).
#define DOCTEST_CONFIG_IMPLEMENT
#include <QApplication>

#include "run_tests.h"

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  QApplication::setOrganizationName("Fovea tests");
  QApplication::setApplicationName("Fovea tests");
  doctest::Context context(argc, argv);
  return fovea::test::run_tests(context);
}
