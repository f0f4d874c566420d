// The main function of the tests of most rooms.
#include "run_tests.h"

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  return fovea::test::run_tests(context);
}
