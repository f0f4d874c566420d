#include "io/safetensors.h"

#include <doctest/doctest.h>

#include "io/tensor_file.h"
#include "messages.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// Reads a file of these bytes.
TensorFile read(const TemporaryDirectory& directory, const std::string& header,
                const std::string& data) {
  write_bytes(directory / "bad.safetensors", safetensors_bytes(header, data));
  return read_safetensors(directory / "bad.safetensors");
}

}  // namespace

TEST_CASE("safetensors: tensors, metadata and padding are read") {
  const TemporaryDirectory directory;
  const std::string data = bytes_of(1.5f) + bytes_of(-2.0f) + bytes_of(std::int32_t{7});
  const TensorFile file =
      read(directory,
           "{" + entry("q", "F32", "[2,1]", "[0,8]") + "," + entry("i", "I32", "[1]", "[8,12]") +
               "," + entry("none", "F32", "[0,5]", "[8,8]") + "," +
               entry("s", "F32", "[]", "[12,16]") + R"(,"__metadata__":{"scale":"0.5"}}   )",
           data + bytes_of(3.0f));
  REQUIRE(file.tensors.size() == 4);
  CHECK(file.kind == "safetensors");
  CHECK(file.metadata.at("scale") == "0.5");
  for (const NamedTensor& tensor : file.tensors) {
    if (tensor.name == "q") {
      CHECK(tensor.type == ElementType::f32);
      CHECK(tensor.shape == std::vector<Index>{2, 1});
      CHECK(tensor.strides == std::vector<Index>{4, 4});
      CHECK(data_of(tensor, 8) == data.substr(0, 8));
    } else if (tensor.name == "i") {
      CHECK(tensor.type == ElementType::i32);
      CHECK(tensor.dtype == "I32");
    } else if (tensor.name == "s") {
      CHECK(tensor.shape.empty());
    }
  }
}

TEST_CASE("safetensors: a header that is not one is refused with what was found") {
  const TemporaryDirectory directory;
  const std::string path = directory / "bad.safetensors";
  CHECK_SAYS(read_safetensors(directory / "absent.safetensors"), "absent.safetensors",
             "no such file");
  CHECK_SAYS(read_safetensors(directory.path()), "is a directory", "expected a file");
  CHECK_SAYS(read_safetensors("/dev/null"), "/dev/null", "a device or pipe");
  write_bytes(path, "");
  CHECK_SAYS(read_safetensors(path), "bad.safetensors", "is empty");
  write_bytes(path, "1234567");
  CHECK_SAYS(read_safetensors(path), "bad.safetensors", "7 bytes", "8 bytes");
  write_bytes(path, bytes_of(std::uint64_t{3}) + "{}");
  CHECK_SAYS(read_safetensors(path), "a header of 3 bytes", "file of 10 bytes", "cut off");
  write_bytes(path, bytes_of(~std::uint64_t{0}) + "{}");
  CHECK_SAYS(read_safetensors(path), "18446744073709551615", "expected a safetensors file");
  write_bytes(path, bytes_of(std::uint64_t{100'000'001}) + "{}");
  CHECK_SAYS(read_safetensors(path), "100000001", "at most 100000000");
  CHECK_SAYS(read(directory, "", ""), "not JSON");
  CHECK_SAYS(read(directory, R"({"q": )", ""), "header", "line 1, column 7");
  CHECK_SAYS(read(directory, "{\"\xff\":1}", ""), "not JSON", "UTF-8");
  CHECK_SAYS(read(directory, "[]", ""), "header: the document is []", "expected an object");
  CHECK_SAYS(read(directory, std::string(10000, '['), ""), "nested");
}

TEST_CASE("safetensors: a wrong entry is refused by the name of its tensor") {
  const TemporaryDirectory directory;
  const std::string four = bytes_of(1.0f);
  const auto refuse = [&](const std::string& body) {
    return read(directory, "{" + body + "}", four);
  };
  CHECK_SAYS(refuse(R"("q":3)"), "bad.safetensors: 'q' is 3", "expected an object");
  CHECK_SAYS(refuse(R"("q":{"shape":[1],"data_offsets":[0,4]})"), "'q.dtype' is missing");
  CHECK_SAYS(refuse(R"("q":{"dtype":"F32","data_offsets":[0,4]})"), "'q.shape' is missing");
  CHECK_SAYS(refuse(R"("q":{"dtype":"F32","shape":[1]})"), "'q.data_offsets' is missing");
  CHECK_SAYS(refuse(R"("q":{"dtype":7,"shape":[1],"data_offsets":[0,4]})"),
             "'q.dtype' is 7; expected a string");
  CHECK_SAYS(refuse(entry("q", "F32", "[-1]", "[0,4]")), "'q.shape[0]' is -1",
             "non-negative integers");
  CHECK_SAYS(refuse(entry("q", "F32", "[1.5]", "[0,4]")), "'q.shape[0]' is 1.5");
  CHECK_SAYS(refuse(entry("q", "F32", "3", "[0,4]")), "'q.shape' is 3");
  CHECK_SAYS(refuse(entry("q", "F32", "[1]", "[4,0]")), "data_offsets are [4,0]", "[begin,end]");
  CHECK_SAYS(refuse(entry("q", "F32", "[1]", "[0,4,8]")), "[0,4,8]");
  CHECK_SAYS(refuse(entry("q", "F32", "[2]", "[0,8]")), "[0,8]", "the file holds 4 bytes");
  CHECK_SAYS(refuse(entry("q", "F32", "[2]", "[0,4]")), "F32 of shape [2] needs 8", "span 4");
  CHECK_SAYS(refuse(entry("q", "F32", "[4611686018427387904,4,4]", "[0,4]")), "more than 2^63");
  CHECK_SAYS(refuse(entry("q", "F32", "[9223372036854775808]", "[0,4]")), "non-negative integers");
  CHECK_SAYS(refuse(entry("q", "F32", "[1]", "[0,18446744073709551615]")), "data_offsets");
  CHECK_SAYS(refuse(entry("q", "F32", "[1]", "[0,4]") + "," + entry("q", "F32", "[1]", "[0,4]")),
             "'q' occurs twice");
  CHECK_SAYS(refuse(entry("q", "F32", "[1]", "[0,4]") + R"(,"__metadata__":{"a":1})"),
             "'__metadata__.a' is 1", "expected a string");
  CHECK_SAYS(refuse(R"("__metadata__":[])"), "'__metadata__' is []");
}

TEST_CASE("safetensors: tensors lie side by side, without holes, overlaps or a remainder") {
  const TemporaryDirectory directory;
  const auto refuse = [&](const std::string& body) {
    return read(directory, "{" + body + "}", std::string(12, '\0'));
  };
  CHECK_SAYS(refuse(entry("a", "F32", "[2]", "[0,8]") + "," + entry("b", "F32", "[2]", "[4,12]")),
             "overlap", "'b'");
  CHECK_SAYS(refuse(entry("a", "F32", "[1]", "[0,4]") + "," + entry("b", "F32", "[1]", "[8,12]")),
             "a hole", "'b'", "ends at 4");
  CHECK_SAYS(refuse(entry("a", "F32", "[2]", "[0,8]")), "end at byte 8 of 12");
}

TEST_CASE("safetensors: another type is listed, and refused by name only when it is used") {
  const TemporaryDirectory directory;
  const TensorFile file = read(directory,
                               "{" + entry("q", "F8_E4M3", "[2]", "[0,2]") + "," +
                                   entry("z", "F7_NEW", "[2]", "[2,3]") + "}",
                               "abc");
  CHECK_SAYS(require_float(file, file.tensors[0]), "bad.safetensors", "'q'", "F8_E4M3",
             "expected F64, F32, F16 or BF16");
  CHECK_SAYS(require_float(file, file.tensors[1]), "'z'", "F7_NEW");
}
