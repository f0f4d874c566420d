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
  /// Opens or makes the file, and changes nothing in it. Throws UnavailableError, and InputError
  /// for a link and for what is no regular file.
  Journal(const Directory& folder, const std::string& name);

  /// The lines that were appended since the last call, by whomever, without their ends.
  std::vector<std::string> news();

  /// Writes the line and its end at once, over a last line that was written only in part. Whoever
  /// calls it knows that the file is a journal of this sweep. Throws UnavailableError when there is
  /// no room; then the file is as it was, but for that part of a line.
  void append(std::string_view line);

  const std::string& path() const { return path_; }
  /// The length of a last line that had been written only in part when the journal was opened.
  off_t unfinished_bytes() const { return unfinished_; }

 private:
  off_t size_of_whole_lines() const;

  std::string path_;
  FileLocks file_;
  off_t read_ = 0;  // up to here news() has told, always a whole line
  off_t unfinished_ = 0;
};

}  // namespace fovea
