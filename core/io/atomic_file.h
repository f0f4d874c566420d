// Writing a file so that a failure neither leaves half a file nor damages the old one.
#pragma once

#include <functional>
#include <ostream>
#include <string>

namespace fovea {

/// Writes a temporary file, waits until it is on disk and renames it to `path`. When `write` throws
/// or the disk is full, nothing is left behind, and neither when the process is killed, if the file
/// system supports files without a name; but where it is killed just before an old file is
/// replaced, .NAME.fovea-part may stay until the next writing. Several may write one file at once:
/// it is always that of one of them. The target of a symbolic link is replaced; a device or
/// pipe is written to directly. Throws UnavailableError.
void write_atomically(const std::string& path, const std::function<void(std::ostream&)>& write);

/// Removes the temporary files of writes that go on in other threads: before a process that was
/// told to stop ends without waiting for them.
void remove_unfinished_files();

/// Throws UnavailableError when `path` cannot be written: no such directory, no permission to write
/// there, a directory of this name. To be called before long work whose result is written.
void require_writable(const std::string& path);

}  // namespace fovea
