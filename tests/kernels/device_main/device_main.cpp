// The main function of tests that need a device: without one they are skipped, not passed, and so
// are those of products of warpgroups on a device that has none.
#include <cstdio>

#include "backend/backends.h"
#include "run_tests.h"

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  std::string why_not;
  if (!context.shouldExit() &&
      !fovea::make_cuda_backend({}, &why_not)) {  // listing needs no device
    std::printf("skipped: %s\n", why_not.c_str());
    return 77;
  }
  const bool without_warpgroups = !context.shouldExit() && !fovea::find_cuda_device(nullptr)->wgmma;
  if (without_warpgroups) {
    std::printf("skipped: cases of warpgroups, which this device or this program does not have\n");
    context.addFilter("test-case-exclude", "*warpgroup*");
  }
  const int status = fovea::test::run_tests(context);
  // No case was left: those that were asked for are of warpgroups, or there are none of that name.
  return without_warpgroups && !fovea::test::any_case() ? 77 : status;
}
