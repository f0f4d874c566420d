// Whether a file system has files without a name: O_TMPFILE.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

namespace fovea::test {

/// That of temporary files.
inline bool has_nameless_files() {
  const int file =
      ::open(std::filesystem::temp_directory_path().c_str(), O_TMPFILE | O_WRONLY, 0600);
  if (file >= 0) ::close(file);
  return file >= 0;
}

}  // namespace fovea::test
