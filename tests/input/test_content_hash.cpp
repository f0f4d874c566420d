// The hash of a source's content, which is found in pieces.
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>

#include "input/content_hash.h"
#include "io/file_bytes.h"
#include "messages.h"
#include "temporary_directory.h"

namespace fovea::test {
namespace {

namespace fs = std::filesystem;

// SHA-256 of "abc": the example of FIPS 180-4.
const std::string of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/// Files as they are now.
SourceFiles opened(const std::vector<std::string>& paths) {
  SourceFiles files;
  for (const std::string& path : paths) files.push_back(std::make_shared<const FileBytes>(path));
  return files;
}

}  // namespace

TEST_CASE("the hash of a source is that of its file, or of a directory's arrays by name") {
  const TemporaryDirectory folder;
  CHECK(content_hash_of(opened({folder.write("a.txt", "abc")})).text() == of_abc);
  const SourceFiles arrays = opened({folder.write("k.npy", "a"), folder.write("q.npy", "bc")});
  CHECK(content_hash_of(arrays).text() == of_abc);
  CHECK(content_hash_of({}).text() == "");
}

TEST_CASE("a file beside the one that was opened counts, unless the hash is older than that") {
  const TemporaryDirectory folder;
  const std::string heads = folder.write("qk.safetensors", "ab"),
                    sidecar = folder.write("qk.json", "c");
  const std::string of_heads = content_hash_of(opened({heads})).text();
  const ContentHash both = content_hash_of(opened({heads, sidecar}));
  CHECK(both.text() == of_abc);
  CHECK(both.is(of_abc));
  CHECK(both.is(of_heads));
  CHECK_FALSE(both.is(""));
  folder.write("qk.json", "d");
  const ContentHash changed = content_hash_of(opened({heads, sidecar}));
  CHECK_FALSE(changed.is(of_abc));
  CHECK(changed.is(of_heads));
  // Directories were always hashed as a whole.
  const SourceFiles arrays = opened({folder.write("k.npy", "ab"), folder.write("q.npy", "c")});
  CHECK_FALSE(content_hash_of(arrays).is(of_heads));
}

TEST_CASE("a large file is hashed in pieces") {
  const TemporaryDirectory folder;
  const std::string path = folder.write("large.bin", "");
  constexpr int mib = 64;
  fs::resize_file(path, mib << 20);
  ContentHash hash(opened({path}));
  int pieces = 1;
  while (hash.advance()) ++pieces;
  CHECK(pieces >= mib / 8);  // a hash of 8 MiB takes some 20 ms
  CHECK(hash.text() == content_hash_of(opened({path})).text());
}

TEST_CASE("the hash is of what was opened: a file that was changed since then has none") {
  const TemporaryDirectory folder;
  const std::string path = folder.write("a.txt", "abc");
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::minutes(1));
  const SourceFiles open = opened({path}), closed{open.front()->closed()};
  CHECK(content_hash_of(closed).text() == of_abc);
  SUBCASE("replaced") {
    fs::rename(folder.write("b.txt", "bcd"), path);
    CHECK(content_hash_of(open).text() == of_abc);
    CHECK_SAYS(content_hash_of(closed), "a.txt", "was changed after it was opened");
  }
  SUBCASE("removed") {
    fs::remove(path);
    CHECK(content_hash_of(open).text() == of_abc);
    CHECK_SAYS(content_hash_of(closed), "a.txt", "there is no such file");
  }
  SUBCASE("overwritten, with as many bytes") {
    write_bytes(path, "bcd");
    CHECK_SAYS(content_hash_of(open), "a.txt", "was changed after it was opened");
    CHECK_SAYS(content_hash_of(closed), "a.txt", "was changed after it was opened");
  }
}

}  // namespace fovea::test
