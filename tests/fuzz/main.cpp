// The parsers of pictures find their plugins, and letters their fonts, by an application.
#include "input/painting.h"
#include "run_tests.h"

int main(int argc, char** argv) {
  const fovea::Painting painting;
  doctest::Context context(argc, argv);
  return fovea::test::run_tests(context);
}
