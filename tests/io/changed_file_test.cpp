// Files that change while they are open: their old content or a clear error, never a crash.
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>

#include "io/bytes.h"
#include "io/file_bytes.h"
#include "io/npy.h"
#include "io/safetensors.h"
#include "io/tensor_source.h"
#include "messages.h"

using namespace fovea;
using namespace fovea::test;

namespace {

namespace fs = std::filesystem;

constexpr Index n = 5000, d = 3;  // 15 pages a tensor: a mapping has some beyond the new end

std::string array() {
  return npy_bytes(npy_dict("<f4", "(5000, 3)"), floats(n * d));
}

/// One format: a file with q, k and v, and the part of it that holds q.
struct Format {
  const char* name;
  std::function<std::string(const TemporaryDirectory&)> write;  // returns what is opened
  std::string q;                                                // in the directory
  std::function<TensorFile(const std::string&)> read;
};

std::string write_safetensors_file(const TemporaryDirectory& directory) {
  const std::string header = "{" + entry("q", "F32", "[5000,3]", "[0,60000]") + "," +
                             entry("k", "F32", "[5000,3]", "[60000,120000]") + "," +
                             entry("v", "F32", "[5000,3]", "[120000,180000]") + "}";
  return directory.write("x.safetensors",
                         safetensors_bytes(header, floats(n * d) + floats(2 * n * d)));
}

std::string write_directory(const TemporaryDirectory& directory) {
  for (const char* name : {"q.npy", "k.npy", "v.npy"}) directory.write(name, array());
  return directory.path();
}

std::string write_many(const TemporaryDirectory& directory) {
  for (int i = 0; i < 300; ++i)  // too many to keep them all open
    directory.write("other" + std::to_string(i) + ".npy",
                    npy_bytes(npy_dict("<f4", "(1,)"), floats(1)));
  return write_directory(directory);
}

const Format formats[] = {
    {"safetensors", write_safetensors_file, "x.safetensors",
     [](const std::string& path) { return read_safetensors(path); }},
    {"directory", write_directory, "q.npy",
     [](const std::string& path) { return read_npy_directory(path); }},
    {"large directory", write_many, "q.npy",
     [](const std::string& path) { return read_npy_directory(path); }},
};

/// Opens the source, changes the file and reads q.
template <class Change>
std::string message_after(const Format& format, Change change) {
  const TemporaryDirectory directory;
  const std::string path = format.write(directory), file = directory / format.q;
  // As if written a minute ago: the clock of a file system ticks slowly, and a change within the
  // tick of the first writing cannot be told from it.
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::minutes(1));
  const Source source = source_from_tensors(format.read(path));
  change(file);
  return message_of([&] {
    const Matrix q = source.layers.at(0).q.read(0);
    CHECK(q(n - 1, d - 1) == n * d - 1);
  });
}

}  // namespace

TEST_CASE(
    "a file that shrinks, grows or is overwritten while it is open is an error that says so") {
  for (const Format& format : formats) {
    CAPTURE(format.name);
    const auto size = [](const std::string& file) { return std::to_string(fs::file_size(file)); };
    std::string found;
    const std::string shrunk =
        message_after(format, [&](const std::string& file) { fs::resize_file(file, 5000); });
    check_says(shrunk, {format.q, "was changed after it was opened", "5000 bytes of 20",
                        "; open it again"});
    const std::string grown = message_after(format, [&](const std::string& file) {
      std::ofstream(file, std::ios::app) << "more";
      found = size(file) + " bytes of 20";
    });
    check_says(grown, {format.q, "was changed", found, "; expected "});
    const std::string overwritten = message_after(format, [&](const std::string& file) {
      std::string bytes = read_bytes(file);
      bytes.back() ^= 1;
      std::fstream(file, std::ios::in | std::ios::out | std::ios::binary) << bytes;
      found = size(file) + " bytes of 20";
    });
    check_says(overwritten, {format.q, "was changed", found});
    const std::string emptied =
        message_after(format, [&](const std::string& file) { write_bytes(file, ""); });
    check_says(emptied, {format.q, "was changed", ": 0 bytes of"});
  }
}

TEST_CASE("a file that is replaced or removed is still read, unless too many were opened") {
  const auto replace = [](const std::string& file) {
    write_bytes(file + ".new", std::string(fs::file_size(file), '\7'));
    fs::rename(file + ".new", file);
  };
  const auto remove = [](const std::string& file) { fs::remove(file); };
  for (const Format& format : {formats[0], formats[1]}) {
    CAPTURE(format.name);
    CHECK(message_after(format, replace).empty());
    CHECK(message_after(format, remove).empty());
  }
  check_says(message_after(formats[2], replace), {"q.npy", "was changed"});
  check_says(message_after(formats[2], remove), {"q.npy", "there is no such file"});
}

TEST_CASE("an archive is read when it is opened: what happens to it later does not matter") {
  const TemporaryDirectory directory;
  for (const auto write : {write_zip, write_deflated}) {
    write(directory / "x.npz", {{"q.npy", array()}, {"k.npy", array()}, {"v.npy", array()}});
    const Source source = source_from_tensors(read_npz(directory / "x.npz"));
    fs::resize_file(directory / "x.npz", 100);
    CHECK(source.layers.at(0).q.read(0)(n - 1, d - 1) == n * d - 1);
  }
}

TEST_CASE("a text is the whole content, or an error when the file is changed before it is read") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("t.txt", std::string("a\0b\n", 4));
  CHECK(FileBytes(path).text() == std::string("a\0b\n", 4));
  const FileBytes file(path);
  fs::resize_file(path, 2);
  CHECK_SAYS(file.text(), "t.txt", "2 bytes of", "4 bytes of", "open it again");
}
