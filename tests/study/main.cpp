// The tests of a Study need an event loop and no display.
#include <QCoreApplication>

#include "run_tests.h"

int main(int argc, char** argv) {
  QCoreApplication application(argc, argv);
  doctest::Context context(argc, argv);
  return fovea::test::run_tests(context);
}
