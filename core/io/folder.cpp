#include "io/folder.h"

#include <algorithm>
#include <system_error>

#include "data/error.h"
#include "data/stop.h"

namespace fovea {

namespace fs = std::filesystem;

fs::file_status status_of(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::status_known(status))
    throw InputError(path, "cannot be reached: " + error.message() +
                               "; expected a name and folders that may be read");
  return status;
}

bool is_there(const std::string& path) {
  return fs::exists(status_of(path));
}

std::vector<std::string> paths_in(const std::string& folder, const std::stop_token& stop) {
  std::error_code error;
  std::vector<std::string> paths;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    check_stop(stop);
    paths.push_back(at->path().string());
  }
  if (error)
    throw InputError(folder,
                     "cannot be listed: " + error.message() + "; expected a folder to read");
  std::ranges::sort(paths);
  return paths;
}

}  // namespace fovea
