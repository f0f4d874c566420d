// The main function of tests that need a device: without one they are skipped, not passed.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdio>

#include "backend/backend.h"
#include "run_tests.h"

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  std::string why_not;
  if (!context.shouldExit() &&
      !fovea::make_cuda_backend({}, &why_not)) {  // listing needs no device
    std::printf("skipped: %s\n", why_not.c_str());
    return 77;
  }
  return fovea::test::run_tests(context);
}
