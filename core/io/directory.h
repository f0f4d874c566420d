// A Directory is an open folder. Its files are opened relative to it, by their names alone, and
// only if they are regular files: a folder may come from a stranger, and a symbolic link with an
// expected name could lead to any file of the user.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "io/descriptor.h"

namespace fovea {

class Directory {
 public:
  /// Opens the folder at the path, or at the target of a link. Throws InputError.
  explicit Directory(const std::string& path);
  Directory(Descriptor opened, std::string path)
      : opened_(std::move(opened)), path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  /// The path of a file in it, for messages.
  std::string path_of(const std::string& name) const { return path_ + "/" + name; }
  int descriptor() const { return opened_.get(); }

  /// The names of what it holds, sorted. Throws InputError.
  std::vector<std::string> names() const;
  /// Opens a regular file with these flags of open(2). The Descriptor is empty if there is no file
  /// of the name. Throws InputError if the name is a link or no regular file, or cannot be read;
  /// UnavailableError if it cannot be written.
  Descriptor open(const std::string& name, int flags) const;
  /// Whether it has the file. Throws InputError if the name is a link or no regular file.
  bool has(const std::string& name) const;
  /// The content of a file, to which others may append meanwhile. Throws as open() for reading, and
  /// if there is no such file.
  std::string text(const std::string& name) const;

 private:
  Descriptor opened_;
  std::string path_;
};

}  // namespace fovea
