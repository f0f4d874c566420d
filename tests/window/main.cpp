// The tests of the window: one application, on a display of its own.
#include "run_tests.h"
#include "temporary_directory.h"
#include "window/application.h"

int main(int argc, char** argv) {
  QApplication::setOrganizationName("Fovea tests");
  QApplication::setApplicationName("Fovea tests");
  doctest::Context context(argc, argv);
  if (context.shouldExit()) return context.run();  // listing the cases needs no display
  // Neither a person's settings nor those of a run that was interrupted.
  const fovea::test::TemporaryDirectory settings;
  for (const char* folder : {"XDG_CONFIG_HOME", "XDG_STATE_HOME"})
    qputenv(folder, settings.path().c_str());
  const fovea::Application application(argc, argv);
  return fovea::test::run_tests(context);
}
