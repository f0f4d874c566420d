// A directory for the files of one test, gone with it; and the message of what it must throw.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "data/error.h"

namespace fovea::test {

class Temporary {
 public:
  Temporary() {
    std::string pattern = (std::filesystem::temp_directory_path() / "fovea-input-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Temporary() { std::filesystem::remove_all(path_); }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  std::string path(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

/// The message of the E that `action` throws.
template <class E, class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  FAIL("nothing was thrown");
  return {};
}

inline void check_says(const std::string& message, std::initializer_list<const char*> parts) {
  for (const char* part : parts) {
    CAPTURE(message);
    CAPTURE(part);
    CHECK(message.find(part) != std::string::npos);
  }
}

}  // namespace fovea::test
