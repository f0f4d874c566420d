// Writing a file so that a failure neither leaves half a file nor damages the old one.
#pragma once

#include <functional>
#include <ostream>
#include <string>

namespace fovea {

/// Writes a temporary file, waits until it is on disk and renames it to `path`. When `write` throws
/// or the disk is full, nothing is left behind, and neither when the process is killed, if the file
/// system supports files without a name. The target of a symbolic link is replaced; a device or
/// pipe is written to directly. Throws UnavailableError.
void write_atomically(const std::string& path, const std::function<void(std::ostream&)>& write);

/// Throws UnavailableError when `path` cannot be written: no such directory, no permission to write
/// there, a directory of this name. To be called before long work whose result is written.
void require_writable(const std::string& path);

}  // namespace fovea
