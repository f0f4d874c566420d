// Writing a file so that a failure neither leaves half a file nor damages the old one. These are
// the rules of writing, for the program and for the Python package alike:
//
// 1. A file appears or changes as a whole, by a link or a rename within its folder, once its
//    content is on disk. After an error, a full disk or a stop the old file is as it was, and
//    nothing else is left.
// 2. Until then the content is in a file without a name (O_TMPFILE). A file without a name cannot
//    replace another: to replace, it takes a temporary name for a moment. Where the file system has
//    no such files it has a temporary name from the start. Where such a file cannot get a name, its
//    content is copied into one that has a temporary name.
// 3. A temporary name is `.fovea-`, random letters and digits, `.part`: nobody can prepare it, and
//    it is short whatever the file is called. Files are made under it with O_EXCL and O_NOFOLLOW.
//    The writer holds a lock (flock) on its file while it has such a name. A process that is killed
//    meanwhile leaves the file; the next one that needs a temporary name in this folder removes
//    those files of its user that nobody has locked.
// 4. A symbolic link stays, and its target is written, also where that is not there yet. In folders
//    whose files have fixed names (a Directory) links are refused. Devices and pipes are written
//    to. A write-protected file is refused, of root too.
// 5. A new file has the mode that the system gives it. A file that replaces another keeps its mode,
//    owner, group, access list and user attributes, as far as the system allows, and gets no
//    access list from its folder. A group that cannot be kept gets no more rights than all others
//    have. The umask is never changed, not even for a moment: it belongs to all threads.
#pragma once

#include <functional>
#include <ostream>
#include <stop_token>
#include <string>
#include <string_view>

#include "io/directory.h"

namespace fovea {

/// If several writers write one file at once, it is always that of one of them. Throws
/// UnavailableError, also if the old file is write-protected.
void write_atomically(const std::string& path, const std::function<void(std::ostream&)>& write);

/// Writes the given bytes. Throws Cancelled if a stop is requested before the last byte is written;
/// the file then stays as it was.
void write_atomically(const std::string& path, std::string_view bytes,
                      const std::stop_token& stop = {});

/// Writes a file of a folder. Throws InputError, too, if the name is a link or no regular file.
void write_atomically(const Directory& folder, const std::string& name,
                      const std::function<void(std::ostream&)>& write);
void write_atomically(const Directory& folder, const std::string& name, std::string_view bytes,
                      const std::stop_token& stop = {});

/// Removes the temporary files of writes that go on in other threads. To be called before a process
/// that was told to stop ends without waiting for them.
void remove_unfinished_files();

/// Throws UnavailableError when `path` cannot be written: no such directory, no permission to write
/// there, a directory or a write-protected file of this name. To be called before long work whose
/// result is written.
void require_writable(const std::string& path);

}  // namespace fovea
