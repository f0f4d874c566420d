#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <vector>

#include "full_disk.h"
#include "io/atomic_file.h"
#include "io/bytes.h"
#include "io/file_locks.h"
#include "io/safetensors_writer.h"
#include "io/tensor_file.h"
#include "messages.h"
#include "nameless_files.h"
#include "writing_calls.h"

using namespace fovea;
using namespace fovea::test;

namespace {

void write_text(const std::string& path, const std::string& text) {
  write_atomically(path, [&](std::ostream& out) { out << text; });
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  ::stat(path.c_str(), &status);
  return status.st_mode & 0777;
}

constexpr const char* access_list = "system.posix_acl_access";

/// Files that are made in the folder from now on let user 1234 read and write them:
/// user::rwx, user 1234:rwx, group::r-x, mask::rwx, other::--- (acl_permission_entry of Linux).
bool give_default_list(const std::string& folder) {
  const std::uint16_t list[] = {2,      0,      1,  7, 0xffff, 0xffff, 2,  7, 1234,   0,     4, 5,
                                0xffff, 0xffff, 16, 7, 0xffff, 0xffff, 32, 0, 0xffff, 0xffff};
  return ::setxattr(folder.c_str(), "system.posix_acl_default", list, sizeof list, 0) == 0;
}

bool has_access_list(const std::string& path) {
  return ::getxattr(path.c_str(), access_list, nullptr, 0) >= 0;
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
  CHECK(mode_of(path) == 0640);
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

TEST_CASE("through a link whose target is not there yet the target is made") {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "folder");
  std::filesystem::create_symlink("folder/next", directory / "link");
  std::filesystem::create_symlink("target", directory / "folder/next");
  require_writable(directory / "link");
  write_text(directory / "link", "new");
  CHECK(std::filesystem::is_symlink(directory / "link"));
  CHECK(read_bytes(directory / "folder/target") == "new");
  std::filesystem::create_symlink("circle", directory / "circle");
  CHECK(contains(message_of<UnavailableError>([&] { write_text(directory / "circle", "new"); }),
                 "circle cannot be written: Too many levels"));
}

TEST_CASE("in a folder whose files have fixed names a link is refused, wherever it leads") {
  const TemporaryDirectory directory;
  const std::string precious = directory.write("precious", "old");
  std::filesystem::create_directory(directory / "folder");
  const Directory folder(directory / "folder");
  for (const char* target : {"../precious", "nothing", "/dev/null", "folder", "."}) {
    CAPTURE(target);
    std::filesystem::create_symlink(target, directory / "folder/f");
    CHECK_SAYS(write_atomically(folder, "f", "new"), "folder/f", "is a symbolic link", "Remove");
    CHECK_SAYS(folder.has("f"), "folder/f: is a symbolic link");
    for (const int flags : {O_RDONLY, O_RDWR, O_RDWR | O_CREAT})
      CHECK_SAYS(folder.open("f", flags), "folder/f: is a symbolic link");
    CHECK_SAYS(FileLocks(folder, "f"), "folder/f: is a symbolic link");
    CHECK(std::filesystem::is_symlink(directory / "folder/f"));
    std::filesystem::remove(directory / "folder/f");
  }
  CHECK(read_bytes(precious) == "old");
  CHECK_FALSE(std::filesystem::exists(directory / "folder/nothing"));
  REQUIRE(::mkfifo((directory / "folder/f").c_str(), 0600) == 0);
  CHECK_SAYS(folder.open("f", O_RDONLY), "folder/f: is a device or pipe");
  CHECK_SAYS(write_atomically(folder, "f", "new"), "folder/f: is a device or pipe");
  std::filesystem::create_directory(directory / "folder/g");
  CHECK_SAYS(write_atomically(folder, "g", "new"), "folder/g: is a directory");
  write_atomically(folder, "h", "new");
  CHECK(folder.text("h") == "new");
  CHECK(folder.names() == std::vector<std::string>{"f", "g", "h"});
}

TEST_CASE("a folder is the one that was opened, whatever its path leads to later") {
  const TemporaryDirectory directory;
  for (const char* name : {"a", "b"}) std::filesystem::create_directory(directory / name);
  const Directory folder(directory / "a");
  std::filesystem::rename(directory / "a", directory / "c");
  std::filesystem::create_symlink("b", directory / "a");
  write_atomically(folder, "f", "new");
  CHECK(read_bytes(directory / "c/f") == "new");
  CHECK(std::filesystem::is_empty(directory / "b"));
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

TEST_CASE("what a killed process left goes with the next writing, what a living one holds stays") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("out.txt", "old");
  for (const char* name : {".fovea-left.part", ".fovea-held.part", ".fovea-notes", "x.part"})
    directory.write(name, "of another");
  std::filesystem::create_symlink("x.part", directory / ".fovea-link.part");
  const int held = ::open((directory / ".fovea-held.part").c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(::flock(held, LOCK_EX) == 0);
  write_text(path, "new");
  CHECK(read_bytes(path) == "new");
  std::vector<std::string> left = directory.files();
  std::ranges::sort(left);
  CHECK(left == std::vector<std::string>{".fovea-held.part", ".fovea-link.part", ".fovea-notes",
                                         "out.txt", "x.part"});
  ::close(held);
}

TEST_CASE("a process that is killed at any moment leaves the old file or the new one") {
  for (const bool nameless : {true, false})
    for (const char* before : {"", "old"})
      for (int last = 0; last < 4; ++last) {
        CAPTURE(nameless);
        CAPTURE(before);
        CAPTURE(last);
        const TemporaryDirectory directory;
        const std::string path = directory / "out.txt";
        if (*before) write_bytes(path, before);
        const pid_t child = ::fork();
        if (child == 0) {
          writing_calls = {.without_nameless_files = !nameless, .last = last};
          try {
            write_text(path, "new");
          } catch (const std::exception&) {
            ::_exit(1);
          }
          ::_exit(0);
        }
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        const bool killed = WEXITSTATUS(status) == ended_amid_writing;
        CHECK((killed || WEXITSTATUS(status) == 0));
        const std::string now = read_bytes(path);
        CHECK((now == "new" || (killed && now == before)));
        write_text(path, "next");
        write_text(path, "last");
        CHECK(read_bytes(path) == "last");
        CHECK(directory.files().size() == 1);
      }
}

TEST_CASE("a name as long as the system allows is written again and again") {
  for (const bool nameless : {true, false}) {
    writing_calls.without_nameless_files = !nameless;
    const TemporaryDirectory directory;
    for (const std::size_t length : {1, 200, 244, 245, 255}) {
      const std::string path = directory / std::string(length, 'n');
      for (const char* text : {"one", "two", "three"}) {
        write_text(path, text);
        CHECK(read_bytes(path) == text);
      }
    }
    CHECK(directory.files().size() == 5);
  }
  writing_calls = {};
}

TEST_CASE("a new file has the mode of any new file, and the umask stays as it is") {
  for (const mode_t mask : {022, 077, 02, 0}) {
    CAPTURE(mask);
    const TemporaryDirectory directory;
    const mode_t before = ::umask(mask);
    for (const bool nameless : {true, false}) {
      writing_calls.without_nameless_files = !nameless;
      const std::string path = directory / (nameless ? "a" : "b");
      write_text(path, "text");
      CHECK(mode_of(path) == (0666 & ~mask));
    }
    writing_calls = {};
    CHECK(::umask(before) == mask);
  }
}

TEST_CASE("no thread sees another umask while a file is written") {
  const TemporaryDirectory directory;
  const mode_t before = ::umask(077);
  std::atomic<bool> writing = true;
  std::jthread writer([&] {
    for (int time = 0; time < 300; ++time) write_text(directory / std::to_string(time), "text");
    writing = false;
  });
  bool private_files = true;
  for (int number = 0; writing; ++number) {
    const std::string path = directory / ("mine" + std::to_string(number % 50));
    write_bytes(path, "text");
    private_files = private_files && mode_of(path) == 0600;
    ::unlink(path.c_str());
  }
  ::umask(before);
  CHECK(private_files);
}

TEST_CASE("a file that is replaced keeps its owner, group, access list and user attributes") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("out.txt", "old");
  const bool has_attributes = ::setxattr(path.c_str(), "user.note", "kept", 4, 0) == 0;
  // user::rw-, user 1234:rw-, group::---, mask::rw-, other::--- (acl_permission_entry of Linux).
  const std::uint16_t list[] = {2,      0,      1,  6, 0xffff, 0xffff, 2,  6, 1234,   0,     4, 0,
                                0xffff, 0xffff, 16, 6, 0xffff, 0xffff, 32, 0, 0xffff, 0xffff};
  const bool has_list = ::setxattr(path.c_str(), access_list, list, sizeof list, 0) == 0;
  const bool is_root = ::geteuid() == 0;
  if (is_root) REQUIRE(::chown(path.c_str(), 1234, 5678) == 0);
  for (const bool nameless : {true, false}) {
    writing_calls.without_nameless_files = !nameless;
    write_text(path, "new");
    CHECK(read_bytes(path) == "new");
    char note[8] = "";
    if (has_attributes) CHECK(::getxattr(path.c_str(), "user.note", note, sizeof note) == 4);
    std::uint16_t kept[32] = {};
    if (has_list) {
      CHECK(::getxattr(path.c_str(), access_list, kept, sizeof kept) == sizeof list);
      CHECK(std::equal(std::begin(list), std::end(list), kept));
      CHECK(mode_of(path) == 0660);
    }
    struct stat status {};
    ::stat(path.c_str(), &status);
    if (is_root) CHECK((status.st_uid == 1234 && status.st_gid == 5678));
  }
  writing_calls = {};
}

TEST_CASE("a file that is replaced gets no rights for others from its folder") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("out.txt", "old");
  ::chmod(path.c_str(), 0640);
  if (!give_default_list(directory.path())) {
    MESSAGE("not tried: this file system has no access lists");
    return;
  }
  for (const bool nameless : {true, false}) {
    writing_calls.without_nameless_files = !nameless;
    write_text(path, "new");
    CHECK_FALSE(has_access_list(path));
    CHECK(mode_of(path) == 0640);
  }
  write_text(directory / "another", "new");
  CHECK(has_access_list(directory / "another"));
  writing_calls = {};
}

TEST_CASE("a link that is put where a file is being written lends it no rights") {
  for (const bool nameless : {true, false})
    for (const char* before : {"", "old"}) {
      const TemporaryDirectory directory;
      const std::string path = directory / "out.txt";
      if (*before) write_bytes(path, before);
      writing_calls.without_nameless_files = !nameless;
      write_atomically(path, [&](std::ostream& out) {
        out << "new";
        std::filesystem::remove(path);
        std::filesystem::create_symlink("elsewhere", path);
      });
      CHECK(read_bytes(path) == "new");
      CHECK_FALSE(std::filesystem::is_symlink(path));
      CHECK((mode_of(path) & S_IWOTH) == 0);
      CHECK(directory.files().size() == 1);
    }
  writing_calls = {};
}

TEST_CASE("what a file without a name holds is kept where the file cannot get one") {
  for (const int error : {EPERM, EOPNOTSUPP, ENOENT})
    for (const char* before : {"", "old"}) {
      CAPTURE(error);
      CAPTURE(before);
      const TemporaryDirectory directory;
      const std::string path = directory / "out.txt", text(100000, 'x');
      if (*before) {
        write_bytes(path, before);
        ::chmod(path.c_str(), 0640);
      }
      const mode_t mask = ::umask(027);
      writing_calls.link_error = error;
      write_text(path, text);
      writing_calls = {};
      ::umask(mask);
      CHECK(read_bytes(path) == text);
      CHECK(mode_of(path) == 0640);
      CHECK(directory.files().size() == 1);
    }
}

TEST_CASE("a file system that counts no links, or has no locks, is written to") {
  constexpr int many = 1000;
  for (const bool nameless : {true, false})
    for (const char* before : {"", "old"}) {
      const TemporaryDirectory directory;
      const std::string path = directory / "out.txt";
      if (*before) write_bytes(path, before);
      writing_calls = {.without_nameless_files = !nameless,
                       .lock_error = ENOLCK,
                       .bad_locks = many,
                       .zero_links = many};
      write_text(path, "new");
      CHECK(writing_calls.zero_links > many - 100);
      CHECK(read_bytes(path) == "new");
      CHECK(directory.files().size() == 1);
    }
  writing_calls = {};
}

TEST_CASE("others that take every temporary file do not keep a writer for ever") {
  constexpr int many = 1000;
  const TemporaryDirectory directory;
  const std::string path = directory.write("out.txt", "old");
  writing_calls = {.without_nameless_files = true, .lock_error = EWOULDBLOCK, .bad_locks = many};
  CHECK(contains(message_of<UnavailableError>([&] { write_text(path, "new"); }),
                 "out.txt cannot be written: other programs remove or lock"));
  CHECK(writing_calls.bad_locks > many - 100);
  writing_calls.bad_locks = 3;
  write_text(path, "new");
  writing_calls = {};
  CHECK(read_bytes(path) == "new");
  CHECK(directory.files().size() == 1);
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
