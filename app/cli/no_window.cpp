// The window of a build without one.
#include "cli/interaction.h"
#include "data/error.h"
#include "window/run_window.h"

namespace fovea {

int run_window(int, char**, const std::vector<std::string>&, const BackendChoice&) {
  throw UnavailableError("window: not built");
}

InteractionFigures measure_interaction(const std::string&, const BackendChoice&,
                                       const std::function<bool()>&) {
  throw UnavailableError("window: not built");
}

}  // namespace fovea
