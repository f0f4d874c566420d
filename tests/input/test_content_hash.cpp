// The hash of a source's content, which is found in pieces.
#include <doctest/doctest.h>

#include <filesystem>

#include "data/error.h"
#include "input/content_hash.h"
#include "temporary_directory.h"

namespace fovea::test {
namespace {

// SHA-256 of "abc": the example of FIPS 180-4.
const std::string of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

}  // namespace

TEST_CASE("the hash of a source is that of its file, or of a directory's arrays by name") {
  const TemporaryDirectory folder;
  CHECK(content_hash_of(folder.write("a.txt", "abc")) == of_abc);
  folder.write("k.npy", "a");
  folder.write("q.npy", "bc");
  CHECK(content_hash_of(folder.path()) == of_abc);
  CHECK(content_hash_of("synthetic:golden") == "");
}

TEST_CASE("a large file is hashed in pieces") {
  const TemporaryDirectory folder;
  const std::string path = folder.write("large.bin", "");
  constexpr int mib = 64;
  std::filesystem::resize_file(path, mib << 20);
  ContentHash hash(path);
  int pieces = 1;
  while (hash.advance()) ++pieces;
  CHECK(pieces >= mib / 8);  // a hash of 8 MiB takes some 20 ms
  CHECK(hash.text() == content_hash_of(path));
}

TEST_CASE("a file that cannot be read has no hash: it is refused by name") {
  const TemporaryDirectory folder;
  const std::string path = folder / "deleted.npz";
  try {
    content_hash_of(path);
    FAIL("it was hashed");
  } catch (const InputError& error) {
    const std::string message = error.what();
    for (const char* word : {"deleted.npz", "cannot be read", "expected the file"})
      CHECK(message.find(word) != std::string::npos);
  }
  CHECK_THROWS_AS(content_hash_of(folder.path()), InputError);  // its arrays are gone
}

}  // namespace fovea::test
