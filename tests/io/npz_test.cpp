#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "io/npy.h"
#include "io/tensor_file.h"
#include "io/watched_reads.h"
#include "messages.h"

using namespace fovea;
using namespace fovea::test;

namespace {

std::string small_array() {
  return npy_bytes(npy_dict("<f4", "(2, 3)"), floats(6));
}

TensorFile read_members(const std::vector<ZipMember>& members) {
  const TemporaryDirectory directory;
  write_zip(directory / "x.npz", members);
  return read_npz(directory / "x.npz");
}

}  // namespace

TEST_CASE("npz: stored and deflated arrays are the same, other members are ignored with a note") {
  const TemporaryDirectory directory;
  const std::string bytes = small_array();
  const std::vector<ZipMember> members{{"layer1.q.npy", bytes}, {"notes.txt", "hello"}};
  write_zip(directory / "stored.npz", members);
  write_deflated(directory / "deflated.npz", members);
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const TensorFile file = read_npz(directory / name);
    CHECK(file.kind == "npz");
    REQUIRE(file.tensors.size() == 1);
    CHECK(file.tensors[0].name == "layer1.q");
    CHECK(file.tensors[0].shape == std::vector<Index>{2, 3});
    CHECK(data_of(file.tensors[0], 24) == floats(6));
    REQUIRE(file.notes.size() == 1);
    CHECK(contains(file.notes[0], "notes.txt"));
  }
}

TEST_CASE("npz: small arrays are not read from the file one by one") {
  const TemporaryDirectory directory;
  std::vector<ZipMember> members;
  for (int i = 0; i < 300; ++i) members.push_back({std::to_string(i) + ".npy", small_array()});
  write_zip(directory / "x.npz", members);
  // 90 KB, of which each part is read some three times: by the library, for sizes, and for content.
  interruption = {.file = inode_of(directory / "x.npz"), .reads = 30, .change = [] {}};
  const TensorFile file = read_npz(directory / "x.npz");
  const bool more = std::exchange(interruption, {}).done;
  CHECK_FALSE(more);
  REQUIRE(file.tensors.size() == 300);
  for (const NamedTensor& tensor : file.tensors) CHECK(data_of(tensor, 24) == floats(6));
}

TEST_CASE("npz: while arrays are unpacked, it tells which share of all has been read") {
  const TemporaryDirectory directory;
  const std::string large = npy_bytes(npy_dict("<f4", "(600000,)"), floats(600000));
  const std::string unused = npy_bytes(npy_dict("|u1", "(3000000,)"), std::string(3000000, 'x'));
  write_deflated(directory / "x.npz",
                 {{"q.npy", large}, {"other.npy", unused}, {"k.npy", small_array()}});
  std::vector<double> shares;
  read_npz(directory / "x.npz", false, {}, [&](double share) { shares.push_back(share); });
  // 2.4 MB of q in pieces of 1 MiB, then k; what is only listed does not count.
  REQUIRE(shares.size() == 4);
  CHECK(shares[0] == doctest::Approx((1 << 20) / (600000 * 4 + 24.0)).epsilon(1e-9));
  CHECK(std::ranges::is_sorted(shares));
  CHECK(shares[2] == doctest::Approx(1 - 24 / (600000 * 4 + 24.0)).epsilon(1e-9));
  CHECK(shares[3] == 1);
}

TEST_CASE("npz: a file that is not an archive is refused") {
  const TemporaryDirectory directory;
  write_bytes(directory / "x.npz", "this is no archive at all");
  CHECK_SAYS(read_npz(directory / "x.npz"), "x.npz", "not a zip archive");
  try {
    read_npz(directory / "x.npz");
  } catch (const Error& error) {  // it says so once
    CHECK(std::string(error.what()).ends_with("not a zip archive"));
  }
  CHECK_SAYS(read_npz(directory / "absent.npz"), "absent.npz", "no such file");
  CHECK_SAYS(read_npz(directory.path()), "is a directory");
  write_zip(directory / "x.npz", {{"q.npy", small_array()}});
  std::string bytes = read_bytes(directory / "x.npz");
  write_bytes(directory / "x.npz", bytes.substr(0, bytes.size() / 2));
  CHECK_SAYS(read_npz(directory / "x.npz"), "not a zip archive");
}

TEST_CASE("npz: what the archive declares is compared with the array before memory is taken") {
  const std::string bytes = small_array();
  CHECK_SAYS(read_members({{"q.npy", bytes, bytes.size() + 4}}), "x.npz, 'q.npy'");
  CHECK_SAYS(read_members({{"q.npy", bytes.substr(0, 8)}}), "'q.npy'", "ends after 8 bytes");
  CHECK_SAYS(read_members({{"q.npy", bytes.substr(0, 30)}}), "'q.npy'",
             "more than the archive declares");
  CHECK_SAYS(read_members({{"q.npy", ""}}), "does not begin like a .npy");
  CHECK_SAYS(read_members({{"q.npy", npy_bytes(npy_dict("<f4", "(2, 4)"), floats(6))}}),
             "of shape [2,4] needs 32 bytes", "24 follow");
  CHECK_SAYS(read_members({{"q.npy", bytes}, {"q.npy", bytes}}), "'q.npy' occurs twice");
  CHECK_SAYS(
      read_members({{.name = "q.npy", .bytes = bytes, .size = bytes.size(), .checksum_error = 1}}),
      "'q.npy'", "damaged", "CRC");
  CHECK_SAYS(read_members({{.name = "q.npy", .bytes = bytes, .size = bytes.size(), .method = 97}}),
             "'q.npy'", "cannot be read", "ompression");
}

TEST_CASE("npz: a bomb that declares more than the machine has is refused, not unpacked") {
  constexpr std::uint64_t count = 1'000'000'000'000'000;  // 4 PB of float32 in 300 bytes
  const std::string header = npy_bytes(npy_dict("<f4", "(1000000000000000,)"), "");
  const ZipMember bomb{"q.npy", header + "x", header.size() + 4 * count};
  const std::string said = message_of<UnavailableError>([&] { read_members({bomb}); });
  INFO("message: " << said);
  CHECK(contains(said, "x.npz: 3638 TiB of memory needed"));
}

TEST_CASE("npz: a member over 4 GiB (sparse) and arrays after it, through ZIP64") {
  const std::uint64_t size = (std::uint64_t{4} << 30) + 12345;
  const std::string header = npy_bytes(npy_dict("|u1", "(" + std::to_string(size) + ",)"), "");
  ZipMember large{.name = "other.npy", .bytes = header, .size = header.size() + size, .hole = size};
  const TensorFile file = read_members({large, {"q.npy", small_array()}});
  REQUIRE(file.tensors.size() == 2);
  CHECK(file.tensors[0].shape == std::vector<Index>{static_cast<Index>(size)});
  CHECK(data_of(file.tensors[1], 24) == floats(6));
}
