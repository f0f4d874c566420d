// Bad input through the whole program: a message that names the file, what was found and what was
// expected; exit status 3; nothing written, and nothing harmed.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cmath>
#include <limits>

#include "cli/program.h"
#include "io/npy.h"
#include "io/safetensors.h"
#include "messages.h"
#include "tiny_text_model.h"

using namespace fovea::test;

namespace {

/// Both of a command that only reads and of one that would write.
void check_refused(
    const TemporaryDirectory& directory, const std::string& source,
    std::initializer_list<std::string> says,
    Ended (*run)(const std::vector<std::string>&) = [](const auto& arguments) {
      return run_program(arguments);
    }) {
  const std::string out = directory.write("old.safetensors", "precious");
  const std::string name = source.substr(source.rfind('/') + 1);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"info", source},
        std::vector<std::string>{"compute", source, "--variant", "exact", "-o", out}}) {
    const Ended ended = run(arguments);
    CAPTURE(arguments);
    CAPTURE(ended.err);
    CHECK(ended.status == 3);
    CHECK(ended.out.empty());
    CHECK(contains(ended.err, "fovea: "));
    CHECK(contains(ended.err, name));
    check_says(ended.err, says);
  }
  CHECK(read_bytes(out) == "precious");
}

/// q, k and v of these shapes.
std::string tensors(const std::string& q, std::size_t q_count, const std::string& k,
                    std::size_t k_count, const std::string& v, std::size_t v_count,
                    const std::string& metadata = "") {
  const auto extent = [](std::size_t begin, std::size_t count) {
    return "[" + std::to_string(4 * begin) + "," + std::to_string(4 * (begin + count)) + "]";
  };
  const std::string header = "{" + metadata + entry("q", "F32", q, extent(0, q_count)) + "," +
                             entry("k", "F32", k, extent(q_count, k_count)) + "," +
                             entry("v", "F32", v, extent(q_count + k_count, v_count)) + "}";
  return safetensors_bytes(header, floats(q_count + k_count + v_count));
}

std::string square(const std::string& metadata = "") {
  return tensors("[4,2]", 8, "[4,2]", 8, "[4,2]", 8, metadata);
}

/// Big endian, as PNG has it.
std::string word(std::uint32_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
  return out;
}

std::uint32_t checksum(const std::string& bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

/// A PNG that says it has this size; its data are none.
std::string png(std::uint32_t width, std::uint32_t height) {
  const auto chunk = [](const std::string& named) {
    return word(static_cast<std::uint32_t>(named.size() - 4)) + named + word(checksum(named));
  };
  return "\x89PNG\r\n\x1a\n" +
         chunk("IHDR" + word(width) + word(height) + std::string("\x08\x02\0\0\0", 5)) +
         chunk("IDAT") + chunk("IEND");
}

}  // namespace

TEST_CASE("hostile safetensors headers") {
  const TemporaryDirectory directory;
  const auto refuse = [&](const std::string& bytes, std::initializer_list<std::string> says) {
    check_refused(directory, directory.write("bad.safetensors", bytes), says);
  };
  const auto one = [](const std::string& shape, const std::string& offsets) {
    return safetensors_bytes("{" + entry("q", "F32", shape, offsets) + "}", floats(4));
  };
  refuse("", {"is empty"});
  refuse("1234567", {"7 bytes", "8 bytes"});
  refuse(bytes_of(std::uint64_t{1} << 63) + "{}", {"9223372036854775808 bytes", "100000000"});
  refuse(bytes_of(~std::uint64_t{0}) + "{}", {"18446744073709551615 bytes", "100000000"});
  refuse(bytes_of(std::uint64_t{5000}) + "{}", {"5000 bytes", "cut off"});
  refuse(safetensors_bytes("not JSON", ""), {"header", "not JSON"});
  refuse(safetensors_bytes("[1,2]", ""), {"[1,2]", "expected an object"});
  refuse(safetensors_bytes(std::string(100000, '['), ""), {"nested more than"});
  refuse(one("[2,2]", "[0,400]"), {"[0,400]", "16 bytes"});
  refuse(one("[2,2]", "[16,0]"), {"[16,0]", "expected [begin,end]"});
  refuse(one("[2,2]", "[0,18446744073709551615]"), {"non-negative integers"});
  refuse(one("[-2,2]", "[0,16]"), {"shape[0]' is -2", "non-negative integers"});
  refuse(one("[4294967296,4294967296]", "[0,16]"), {"more than 2^63", "span 16"});
  refuse(one("[2,3]", "[0,16]"), {"needs 24 bytes", "span 16"});
  refuse(safetensors_bytes("{" + entry("q", "F32", "[2,2]", "[0,16]") + "," +
                               entry("k", "F32", "[2,2]", "[8,24]") + "}",
                           floats(6)),
         {"overlap", "byte 8"});
  refuse(safetensors_bytes("{" + entry("q", "F32", "[2,2]", "[4,20]") + "}", floats(5)),
         {"a hole", "'q'"});
}

TEST_CASE("tensors that do not fit each other") {
  const TemporaryDirectory directory;
  const auto refuse = [&](const std::string& bytes, std::initializer_list<std::string> says) {
    check_refused(directory, directory.write("odd.safetensors", bytes), says);
  };
  refuse(tensors("[4,2]", 8, "[3,2]", 6, "[4,2]", 8), {"[4,2]", "[3,2]", "as many values as keys"});
  refuse(tensors("[4,2]", 8, "[4,3]", 12, "[4,2]", 8), {"[4,2]", "[4,3]", "same d"});
  refuse(tensors("[4,2]", 8, "[4,2]", 8, "[3,2]", 6), {"[3,2]", "as many values as keys"});
  refuse(tensors("[3,2,2]", 12, "[2,2,2]", 8, "[2,2,2]", 8), {"[3,2,2]", "divide"});
  refuse(tensors("[0,2]", 0, "[0,2]", 0, "[0,2]", 0), {"[0,2]", "at least one"});
  refuse(tensors("[4]", 4, "[4]", 4, "[4]", 4), {"[4]", "[n,d]", "--layout"});
  refuse(square(R"("__metadata__":{"scale":"-1"},)"), {"'-1'", "above 0"});
  refuse(square(R"("__metadata__":{"tokens":"[1,2]"},)"),
         {"tokens", "'[0]' is 1; expected a string"});
  refuse(square(R"("__metadata__":{"image":"{\"grid\":[-1,2]}"},)"), {"-1", "whole numbers"});
}

TEST_CASE("one token is enough, and tokens of another count label nothing") {
  const TemporaryDirectory directory;
  const Ended one = run_program(
      {"compute", directory.write("one.safetensors", tensors("[1,1]", 1, "[1,1]", 1, "[1,1]", 1)),
       "--variant", "h1d", "--json"});
  CHECK(one.status == 0);
  CHECK(one.json()["n"] == 1);
  const std::string few = directory.write(
      "few.safetensors", square(R"("__metadata__":{"tokens":"[\"a\",\"b\",\"c\"]"},)"));
  const Ended ended = run_program({"info", few});
  CHECK(ended.status == 0);
  check_says(ended.out, {"3 tokens but n = 4"});
}

TEST_CASE("NaN and infinities are found by tensor, head and position") {
  const TemporaryDirectory directory;
  const std::vector<std::pair<float, std::string>> values{
      {std::numeric_limits<float>::quiet_NaN(), "is NaN"},
      {std::numeric_limits<float>::infinity(), "is Inf"},
      {-std::numeric_limits<float>::infinity(), "is -Inf"}};
  for (std::size_t which = 0; which < values.size(); ++which) {
    std::string bytes = tensors("[2,3,2]", 12, "[2,3,2]", 12, "[2,3,2]", 12);
    // Head 1, token 2, feature 1 is the last of each; of q, k and v in turn.
    const std::size_t data = bytes.size() - 4 * 36;
    bytes.replace(data + 4 * (12 * which + 11), 4, bytes_of(values[which].first));
    const std::string path = directory.write("x.safetensors", bytes);
    const Ended ended = run_program({"compute", path, "--variant", "exact"});
    CHECK(ended.status == 3);
    const std::string tensor(1, "qkv"[which]);
    check_says(ended.err, {"x.safetensors", tensor + " of query head 1", "[2,1]",
                           values[which].second, "expected finite numbers"});
    CHECK(run_program({"compute", path, "--variant", "exact", "--head", "0"}).status == 0);
    CHECK(run_program({"compute", path, "--variant", "exact", "--allow-non-finite"}).status == 0);
  }
}

TEST_CASE("NumPy arrays that are not numbers, of no known version, or cut off") {
  const TemporaryDirectory directory;
  const auto refuse = [&](const std::string& q, std::initializer_list<std::string> says) {
    const std::string fine = npy_bytes(npy_dict("<f4", "(4, 2)"), floats(8));
    const std::string path = directory / "a.npz";
    write_zip(path, {{"q.npy", q}, {"k.npy", fine}, {"v.npy", fine}});
    check_refused(directory, path, says);
  };
  refuse(npy_bytes(npy_dict("|O", "(2,)"), "\x80\x04]."), {"'q'", "|O", "F32"});
  refuse(npy_bytes(npy_dict("<c8", "(4, 2)"), floats(16)), {"'q'", "<c8", "F32"});
  refuse(std::string("\x93NUMPY\x07\x00\x10\x00", 10) + std::string(16, ' '),
         {"q.npy", "version 7", "1, 2 or 3"});
  refuse("PK and so on", {"q.npy", "begin like a .npy"});
  refuse(npy_bytes(npy_dict("<f4", "(4, 2)"), floats(3)), {"q.npy", "needs 32 bytes", "12"});
  refuse(npy_bytes(npy_dict("<f4", "(4611686018427387904, 4)"), floats(3)),
         {"q.npy", "4611686018427387904", "2^63"});
  check_refused(directory, directory.write("text.npz", "no archive"), {"zip archive"});
  check_refused(directory, directory.path(), {"without .npy files", "q.npy"});
}

TEST_CASE("images of no size, of too large a size, cut off") {
  const TemporaryDirectory directory;
  const auto refuse = [&](const std::string& bytes, std::initializer_list<std::string> says) {
    check_refused(directory, "content:" + directory.write("image.png", bytes), says);
  };
  refuse(png(0, 5), {"0 x 5 pixels", "at least one"});
  refuse(png(50000, 50000), {"50000 x 50000 pixels", "16384", "--max-side"});
  refuse(png(7, 7), {"7 x 7 pixels", "a smaller patch"});
  refuse(png(4000, 4000), {"250000 tokens", "131072", "--max-side"});
  refuse(png(64, 64).substr(0, 40), {"breaks off after 40 bytes", "whole file"});
  refuse("no image at all", {"not an image"});
}

TEST_CASE("files that are not what their name says") {
  const TemporaryDirectory directory;
  for (const char* name : {"photo.safetensors", "photo.npz", "photo.json", "photo.txt"})
    check_refused(directory, directory.write(name, png(64, 64)), {"is named .", "Images"});
  check_refused(directory, directory.write("head.png", square()), {"is named .png", "Tensors"});
  check_refused(directory, directory.write("head.npz", square()), {"is named .npz", "Tensors"});
  // What merely resembles another kind keeps its name.
  CHECK(run_program({"info", directory.write("bmw.txt", "BM is how a bitmap begins")}).status == 0);
  CHECK(run_program({"info", directory.write("list.txt", "[a list] in a text")}).status == 0);
}

TEST_CASE("a directory for a file, a path through a file, a file nobody may read") {
  const TemporaryDirectory directory;
  check_refused(directory, directory / "absent.npz", {"does not exist"});
  const std::string file = directory.write("a.txt", "some words");
  check_refused(directory, file + "/q.npz", {"does not exist"});
  CHECK(run_program({"compute", file, "--variant", "exact", "-o", directory.path()}).status == 4);
  const std::string secret = directory.write("secret.safetensors", square());
  REQUIRE(chmod(secret.c_str(), 0) == 0);
  check_refused(directory, secret, {"Permission denied"}, run_as_anyone);
}

TEST_CASE("numbers too large for the arithmetic are refused, or count as NaN") {
  const TemporaryDirectory directory;
  std::string bytes = square();
  for (std::size_t at = bytes.size() - 4 * 24; at < bytes.size(); at += 4)
    bytes.replace(at, 4, bytes_of(3e38f));
  const std::string huge = directory.write("huge.safetensors", bytes);
  const Ended refused = run_program({"compute", huge, "--variant", "exact"});
  CHECK(refused.status == 3);
  check_says(refused.err, {huge, "q of query head 0, position [0,0] is 3e+38", "up to 1e+14"});
  const Ended ended = run_program({"compute", huge, "--variant", "exact", "--allow-non-finite"});
  CHECK(ended.status == 0);
  check_says(ended.out, {"NaN or Inf in 4 output rows",
                         "the input holds them, or numbers beyond 1e14, in q, k, v"});
}

TEST_CASE("a model whose files may not be read, or a text that is empty or all one word") {
  const TinyTextModel model;
  const auto refuse = [&](const std::vector<std::string>& input,
                          std::initializer_list<std::string> says, bool as_anyone = false) {
    std::vector<std::string> arguments{"info", model.folder()};
    arguments.insert(arguments.end(), input.begin(), input.end());
    const Ended ended = as_anyone ? run_as_anyone(arguments) : run_program(arguments);
    CAPTURE(ended.err);
    CHECK(ended.status == 3);
    CHECK(ended.out.empty());
    check_says(ended.err, says);
  };
  refuse({"--text", ""}, {"the text: has no token; expected at least one word"});
  refuse({"--input", model.file("empty.txt", "")}, {"empty.txt: is empty"});
  refuse({"--input", model.file("word.txt", std::string(1 << 20, 'a'))},
         {"more than 256 KiB without the end of a word", "expected shorter words"});
  refuse({"--input", model.folder() + "/nowhere.txt"}, {"nowhere.txt: there is no such file"});
  for (const char* file : {"vocab.txt", "config.json", "model-00002-of-00002.safetensors"}) {
    const std::string path = model.folder() + "/" + file;
    std::filesystem::permissions(path, std::filesystem::perms::none);
    refuse({"--text", "the cat"}, {file, "cannot be opened: Permission denied"}, true);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
}
