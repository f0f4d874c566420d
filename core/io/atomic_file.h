// Writing a file so that a failure leaves neither half a file nor harms the old one.
#pragma once

#include <functional>
#include <ostream>
#include <string>

namespace fovea {

/// Writes a temporary file, waits until it is on disk and renames it to `path`. When `write` throws
/// or the disk is full nothing is left behind; nor when the process is killed, where the file
/// system knows files without a name. Through a symbolic link its target is
/// replaced; a device or pipe is written to directly. Throws UnavailableError.
void write_atomically(const std::string& path, const std::function<void(std::ostream&)>& write);

/// Throws UnavailableError when it is plain before the work that `path` could not be written after
/// it: no such directory, no right to write there, a directory of this name.
void require_writable(const std::string& path);

}  // namespace fovea
