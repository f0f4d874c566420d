// A Directory is an open folder. Its files are opened relative to it, by their names alone, and
// only regular files are: a folder may come from somebody else, and a symbolic link of an expected
// name would lead to any file of the user.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "io/descriptor.h"

namespace fovea {

class Directory {
 public:
  /// The folder at the path, or where the path leads as a link. Throws InputError.
  explicit Directory(const std::string& path);
  Directory(Descriptor opened, std::string path)
      : opened_(std::move(opened)), path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  /// The path of a file in it, for messages.
  std::string path_of(const std::string& name) const { return path_ + "/" + name; }
  int descriptor() const { return opened_.get(); }

  /// The names of what it holds, sorted. Throws InputError.
  std::vector<std::string> names() const;
  /// A regular file that is opened with these flags of open(2). No file: there is none of the name.
  /// Throws InputError for a link and for what is no regular file, and for what cannot be read;
  /// UnavailableError for what cannot be written.
  Descriptor open(const std::string& name, int flags) const;
  /// Whether it has the file. Throws InputError for a link and for what is no regular file.
  bool has(const std::string& name) const;
  /// The content of a file, to which others may append meanwhile. Throws as open() for reading, and
  /// where there is no such file.
  std::string text(const std::string& name) const;

 private:
  Descriptor opened_;
  std::string path_;
};

}  // namespace fovea
