// Writing a file so that a failure neither leaves half a file nor damages the old one.
#pragma once

#include <functional>
#include <ostream>
#include <stop_token>
#include <string>
#include <string_view>

namespace fovea {

/// Writes a temporary file, waits until it is on disk and renames it to `path`. When `write` throws
/// or the disk is full, nothing is left behind. If the process is killed, nothing is left where the
/// file system supports O_TMPFILE, with one exception: killed between naming the new file and
/// replacing the old one, it leaves `.NAME.fovea-part`, which the next write replaces. Several may
/// write one file at once: it is always that of one of them. The target of a symbolic link is
/// replaced; a device or pipe is written to directly. Throws UnavailableError, also where the old
/// file is write-protected.
void write_atomically(const std::string& path, const std::function<void(std::ostream&)>& write);

/// The same of bytes that are there. Throws Cancelled, and the file stays as it was, where a stop
/// is asked for before the last of them is written.
void write_atomically(const std::string& path, std::string_view bytes,
                      const std::stop_token& stop = {});

/// Removes the temporary files of writes that go on in other threads: before a process that was
/// told to stop ends without waiting for them.
void remove_unfinished_files();

/// Throws UnavailableError when `path` cannot be written: no such directory, no permission to write
/// there, a directory or a write-protected file of this name. To be called before long work whose
/// result is written.
void require_writable(const std::string& path);

}  // namespace fovea
