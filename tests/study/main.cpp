// The tests of a Study need an event loop and no display.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <QCoreApplication>

int main(int argc, char** argv) {
  QCoreApplication application(argc, argv);
  doctest::Context context(argc, argv);
  return context.run();
}
