// The window of a build without one.
#include "data/error.h"
#include "gui/run_window.h"

namespace fovea {

int run_window(int, char**, const std::vector<std::string>&) {
  throw UnavailableError("window: not built");
}

}  // namespace fovea
