// FileBytes are the content of a file as it was when it was opened. They are read on demand, so
// that a file larger than the memory can be opened. A change since then is detected by the size and
// the modification time, after each read; a change that keeps the size and comes within one tick of
// the file system's clock can be missed. A file that was replaced or removed is still read while it
// is kept open.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "data/bytes.h"

namespace fovea {

class FileBytes final : public Bytes {
 public:
  enum class Between { keep_open, close };  // what happens to the file between two reads

  /// Throws InputError when the path is missing, not a regular file, unreadable or empty.
  explicit FileBytes(std::string path, Between between = Between::keep_open);
  ~FileBytes() override;
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  const std::string& path() const { return path_; }
  Index size() const { return version_.size; }
  /// Throws ChangedError if the file has another size or time of change than at first, InputError
  /// if it cannot be read.
  void read(Index begin, std::span<std::byte> out) const override;
  /// The whole content. Throws UnavailableError when it does not fit into memory, Cancelled, and
  /// what read() does.
  std::string text(const std::stop_token& stop = {}) const;
  /// The same version of the file, not kept open.
  std::shared_ptr<const FileBytes> closed() const;
  /// Throws ChangedError, which ends with `advice`, when the same path was opened as another
  /// version.
  void require_same(const FileBytes& other, const char* advice) const;

 private:
  /// Tells one version of a file from another.
  struct Version {
    Index device = 0, inode = 0;
    Index size = 0;                      // bytes
    Index seconds = 0, nanoseconds = 0;  // time of the last change of its content
    std::string text() const;            // "96 bytes of 2026-11-22 10:15:02.250"
    friend bool operator==(const Version&, const Version&) = default;
  };

  FileBytes(std::string path, const Version& version) : path_(std::move(path)), version_(version) {}
  void require_same(const Version& now, const char* advice) const;
  int open() const;
  Version version_of(int descriptor) const;
  void read_from(int descriptor, Index begin, std::span<std::byte> out) const;

  std::string path_;
  int descriptor_ = -1;  // -1: closed between two reads
  Version version_;
};

/// Throws as the constructor of FileBytes does.
void require_readable_file(const std::string& path);

}  // namespace fovea
