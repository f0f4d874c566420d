// The tests of the toy variant draw figures and make form fields, without a display.
#include <QApplication>

#include "run_tests.h"

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication application(argc, argv);
  doctest::Context context(argc, argv);
  return fovea::test::run_tests(context);
}
