// What ends a command that draws.
#include "input/painting.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fovea::test {

TEST_CASE("a fatal message of Qt is a defect once Qt has started") {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const Painting painting;
    qFatal("of the test");
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
}

}  // namespace fovea::test
