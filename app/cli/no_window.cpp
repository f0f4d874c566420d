// The window of a build without one.
#include <string>
#include <vector>

#include "data/error.h"

namespace fovea {

int run_window(int argc, char** argv, const std::vector<std::string>& files);

int run_window(int, char**, const std::vector<std::string>&) {
  throw UnavailableError("window: not built");
}

}  // namespace fovea
