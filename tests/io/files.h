// Files for tests: a directory of their own, their bytes, and the message of what they throw.
#pragma once

#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "data/error.h"

namespace fovea::test {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = std::filesystem::temp_directory_path() / "fovea-io-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }
  std::size_t entries() const {
    const std::filesystem::directory_iterator begin(path_);
    return static_cast<std::size_t>(std::distance(begin, {}));
  }

 private:
  std::filesystem::path path_;
};

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The value's bytes, little endian like this machine's.
template <class T>
std::string bytes_of(const T& value) {
  std::string out(sizeof(T), '\0');
  std::memcpy(out.data(), &value, sizeof(T));
  return out;
}

/// "" when nothing is thrown; another type of error goes through and fails the test.
template <class Expected = InputError, class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Expected& error) {
    return error.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace fovea::test

/// The error names the file, what was found and what was expected.
#define CHECK_SAYS(call, ...)                                                \
  do {                                                                       \
    const std::string said = fovea::test::message_of([&] { (void)(call); }); \
    for (const char* part : {__VA_ARGS__}) {                                 \
      INFO("message: " << said);                                             \
      INFO("expected in it: " << std::string(part));                         \
      CHECK(fovea::test::contains(said, part));                              \
    }                                                                        \
  } while (false)
