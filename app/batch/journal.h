// A Journal is a file of results, one JSON object a line, to which several processes append. It is
// the truth of a sweep: what is in it survives the death of any process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/file_locks.h"

namespace fovea {

class Journal {
 public:
  /// Opens or makes the file, and drops a last line that was written only in part. Throws
  /// UnavailableError.
  explicit Journal(std::string path);

  /// The lines that were appended since the last call, by whomever, without their ends.
  std::vector<std::string> news();

  /// Writes the line and its end at once. Throws UnavailableError when there is no room; then the
  /// file is as it was.
  void append(std::string_view line);

  const std::string& path() const { return path_; }
  /// Of a line that was written only in part and dropped when the journal was opened.
  off_t dropped_bytes() const { return dropped_; }

 private:
  off_t repaired_size();

  std::string path_;
  FileLocks file_;
  off_t read_ = 0;  // up to here news() has told, always a whole line
  off_t dropped_ = 0;
};

}  // namespace fovea
