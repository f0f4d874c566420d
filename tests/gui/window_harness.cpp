#include "window_harness.h"

#include <QAction>
#include <QApplication>
#include <QDir>
#include <QScreen>
#include <QStandardPaths>
#include <QTest>
#include <QTimerEvent>
#include <algorithm>

#include "doctest/doctest.h"

namespace fovea::test {
namespace {

// One application for all cases, with settings of its own.
QApplication& application() {
  static int argc = 1;
  static char name[] = "test_window";
  static char* argv[] = {name, nullptr};
  static QApplication instance = [] {
    QStandardPaths::setTestModeEnabled(true);
    return 0;
  }(), *unused = nullptr;
  return instance;
}

}  // namespace
}  // namespace fovea::test
