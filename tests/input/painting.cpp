// What ends a command that draws.
#include "input/painting.h"

#include <doctest/doctest.h>

#include <QProcess>
#include <QtGlobal>

namespace fovea::test {

TEST_CASE("a fatal message of Qt in a process of its own" * doctest::skip()) {
  const Painting painting;
  qFatal("of the test");
}

// In a process in which Qt has not been started by another test.
TEST_CASE("a fatal message of Qt is a defect once Qt has started") {
  QProcess process;
  process.start("/proc/self/exe",
                {"--no-skip", "--test-case=a fatal message of Qt in a process of its own"});
  REQUIRE(process.waitForFinished(60000));
  CHECK(process.exitStatus() == QProcess::NormalExit);
  CHECK(process.exitCode() == 1);
  CHECK(process.readAllStandardError().contains("fovea: internal error: of the test"));
}

}  // namespace fovea::test
