// A Journal is a file of results, one JSON object a line, to which several processes append. It is
// the only record of a sweep: its rows survive the death of any process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/file_locks.h"

namespace fovea {

class Journal {
 public:
  /// Opens or makes the file without changing it. Throws UnavailableError, and InputError for a
  /// link or anything else that is no regular file.
  Journal(const Directory& folder, const std::string& name);

  /// The lines that any process has appended since the last call, without their ends.
  std::vector<std::string> news();

  /// Writes the line and its end at once, over an unfinished last line. The caller must know that
  /// the file is a journal of this sweep. Throws UnavailableError if there is no room; the file is
  /// then as it was, without the unfinished line.
  void append(std::string_view line);

  const std::string& path() const { return path_; }
  /// The length of an unfinished last line when the journal was opened.
  off_t unfinished_bytes() const { return unfinished_; }

 private:
  off_t size_of_whole_lines() const;

  std::string path_;
  FileLocks file_;
  off_t read_ = 0;  // up to here news() has told, always a whole line
  off_t unfinished_ = 0;
};

}  // namespace fovea
