#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <vector>

#include "full_disk.h"
#include "io/atomic_file.h"
#include "io/bytes.h"
#include "io/safetensors_writer.h"
#include "io/tensor_file.h"
#include "messages.h"
#include "nameless_files.h"

using namespace fovea;
using namespace fovea::test;

namespace {

void write_text(const std::string& path, const std::string& text) {
  write_atomically(path, [&](std::ostream& out) { out << text; });
}

}  // namespace

TEST_CASE("a written file has its content and the mode of the old one, and no other file is left") {
  const TemporaryDirectory directory;
  const std::string path = directory / "out.txt";
  write_text(path, "one");
  CHECK(read_bytes(path) == "one");
  ::chmod(path.c_str(), 0640);
  write_text(path, "two");
  CHECK(read_bytes(path) == "two");
  struct stat status {};
  ::stat(path.c_str(), &status);
  CHECK((status.st_mode & 0777) == 0640);
  CHECK(directory.files().size() == 1);
}

TEST_CASE("through a symbolic link the target is replaced, not the link") {
  const TemporaryDirectory directory;
  write_bytes(directory / "target", "old");
  std::filesystem::create_symlink("target", directory / "link");
  write_text(directory / "link", "new");
  CHECK(std::filesystem::is_symlink(directory / "link"));
  CHECK(read_bytes(directory / "target") == "new");
}

TEST_CASE("a failure leaves the old file and nothing else") {
  const TemporaryDirectory directory;
  const std::string path = directory / "out.txt";
  write_bytes(path, "old");
  CHECK_THROWS_AS(write_atomically(path, [](std::ostream&) { throw std::runtime_error("x"); }),
                  std::runtime_error);
  {
    const FullDisk full(1000);
    const std::string said =
        message_of<UnavailableError>([&] { write_text(path, std::string(1 << 20, 'x')); });
    CHECK(contains(said, "out.txt cannot be written: File too large"));
  }
  CHECK(read_bytes(path) == "old");
  CHECK(directory.files().size() == 1);
}

TEST_CASE("a process that is killed while it writes leaves the old file and nothing else" *
          doctest::skip(!has_nameless_files())) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("out.txt", "old");
  const pid_t child = ::fork();
  if (child == 0) {
    write_atomically(path, [](std::ostream& out) {
      out << "half" << std::flush;
      ::_exit(7);
    });
    ::_exit(1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 7);
  CHECK(read_bytes(path) == "old");
  CHECK(directory.files().size() == 1);
}

TEST_CASE("what a killed process left just before renaming is replaced by the next writing" *
          doctest::skip(!has_nameless_files())) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("out.txt", "old");
  directory.write(".out.txt.fovea-part", "of a killed process, longer than what is new");
  write_text(path, "new");
  CHECK(read_bytes(path) == "new");
  CHECK(directory.files().size() == 1);
}

TEST_CASE("a writer waits for the one that is about to rename, whether that succeeds or fails" *
          doctest::skip(!has_nameless_files())) {
  for (const bool succeeds : {true, false}) {
    CAPTURE(succeeds);
    const TemporaryDirectory directory;
    const std::string path = directory.write("out.txt", "old");
    const std::string part = directory.write(".out.txt.fovea-part", "of another");
    // As another writer holds it between naming its file and renaming it.
    const int other = ::open(part.c_str(), O_RDONLY | O_CLOEXEC);
    REQUIRE(::flock(other, LOCK_EX) == 0);
    std::atomic<bool> written = false;
    std::jthread writer([&] {
      write_text(path, "new");
      written = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    CHECK_FALSE(written);
    CHECK(read_bytes(part) == "of another");
    if (succeeds)
      CHECK(::rename(part.c_str(), path.c_str()) == 0);
    else
      CHECK(::unlink(part.c_str()) == 0);
    ::close(other);
    writer.join();
    CHECK(read_bytes(path) == "new");
    CHECK(directory.files().size() == 1);
  }
}

TEST_CASE("several who write one file at once leave the whole of one, and nothing else") {
  const TemporaryDirectory directory;
  const std::string path = directory / "out.txt";
  std::vector<std::jthread> writers;
  for (const char letter : {'a', 'b', 'c'})
    writers.emplace_back([&path, letter] {
      for (int time = 0; time < 30; ++time) write_text(path, std::string(5000, letter));
    });
  writers.clear();
  const std::string left = read_bytes(path);
  CHECK(left.size() == 5000);
  CHECK(left == std::string(5000, left.front()));
  CHECK(directory.files().size() == 1);
}

TEST_CASE("writing can be cancelled, and leaves the old file") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("out.safetensors", "old");
  std::stop_source stop;
  stop.request_stop();
  CHECK_THROWS_AS(
      write_safetensors(path, {{"z", {1}, std::vector<float>{1}}}, {}, stop.get_token()),
      Cancelled);
  CHECK(read_bytes(path) == "old");
  CHECK(directory.files().size() == 1);
}

TEST_CASE("places where no file can be are refused, and devices are written to, not replaced") {
  const TemporaryDirectory directory;
  const auto refuse = [](const std::string& path) {
    return message_of<UnavailableError>([&] { write_text(path, "text"); });
  };
  CHECK(contains(refuse(directory / "no/out.txt"), "no/out.txt cannot be written: No such file"));
  CHECK(contains(refuse(directory.path()), "it is a directory"));
  CHECK(contains(refuse("/dev/full"), "/dev/full cannot be written: No space left"));
  write_text("/dev/null", "text");
  CHECK(std::filesystem::is_character_file("/dev/null"));
}

TEST_CASE("safetensors: what is written is read back") {
  const TemporaryDirectory directory;
  const std::string path = directory / "out.safetensors";
  write_safetensors(path,
                    {{"z", {1, 3}, std::vector<float>{1, 2, 3}},
                     {"order", {2}, std::vector<std::int32_t>{7, -8}},
                     {"none", {0, 4}, std::vector<float>{}}},
                    {{"fovea", "{\"n\": 3, \"text\": \"é\"}"}});
  const TensorFile file = read_safetensors(path);
  CHECK(file.metadata.at("fovea") == "{\"n\": 3, \"text\": \"é\"}");
  REQUIRE(file.tensors.size() == 3);
  for (const NamedTensor& tensor : file.tensors) {
    if (tensor.name == "z") {
      CHECK(tensor.shape == std::vector<Index>{1, 3});
      CHECK(tensor.begin % 8 == 0);  // so that others can map it
      CHECK(data_of(tensor, 12) == bytes_of(1.0f) + bytes_of(2.0f) + bytes_of(3.0f));
    } else if (tensor.name == "order") {
      CHECK(tensor.dtype == "I32");
      CHECK(data_of(tensor, 8) == bytes_of(std::int32_t{7}) + bytes_of(std::int32_t{-8}));
    }
  }
  CHECK_THROWS_AS(write_safetensors(path, {{"z", {2}, std::vector<float>{1}}}, {}), Error);
  CHECK(read_safetensors(path).tensors.size() == 3);
}

TEST_CASE("safetensors: the data of a written file begins at a multiple of eight bytes") {
  const TemporaryDirectory directory;
  for (const char* name : {"a", "ab", "abc", "abcd", "abcde", "abcdef", "abcdefg", "abcdefgh"}) {
    const std::string path = directory / "out.safetensors";
    write_safetensors(path, {{name, {2}, std::vector<float>{1, 2}}}, {});
    const std::string bytes = read_bytes(path);
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    CHECK(length % 8 == 0);
    CHECK(bytes.size() == 8 + length + 8);
  }
}
