#include "io/npy.h"

#include <doctest/doctest.h>

#include "io/tensor_file.h"
#include "messages.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// A directory whose only array is q.npy with these bytes.
NamedTensor read_one(const std::string& bytes, bool as_bfloat16 = false) {
  const TemporaryDirectory directory;
  write_bytes(directory / "q.npy", bytes);
  return read_npy_directory(directory.path(), as_bfloat16).tensors.at(0);
}

NamedTensor read_dict(const std::string& dict, std::size_t values = 6) {
  return read_one(npy_bytes(dict, floats(values)));
}

}  // namespace

TEST_CASE("npy: a dict with keys in any order, any spacing and any version") {
  for (const char* dict : {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n",
                           "{\"shape\":(2,3),\"descr\":\"<f4\",\"fortran_order\":False}",
                           "{'fortran_order': False, 'shape': (2L, 3L,), 'descr': '<f4'}"}) {
    const NamedTensor tensor = read_dict(dict);
    CHECK(tensor.name == "q");
    CHECK(tensor.type == ElementType::f32);
    CHECK(tensor.shape == std::vector<Index>{2, 3});
    CHECK(tensor.strides == std::vector<Index>{12, 4});
    CHECK(data_of(tensor, 24) == floats(6));
  }
  const std::string dict = npy_dict("<f4", "(2, 3)");
  for (const char version : {'\2', '\3'}) {
    const NamedTensor tensor =
        read_one(std::string("\x93NUMPY") + version + '\0' +
                 bytes_of(static_cast<std::uint32_t>(dict.size())) + dict + floats(6));
    CHECK(data_of(tensor, 24) == floats(6));
  }
}

TEST_CASE("npy: a header may be longer than one byte of its length can say") {
  for (const std::size_t padding : {200, 255, 256, 300, 60000}) {
    CAPTURE(padding);
    const std::string dict = npy_dict("<f4", "(2, 3)") + std::string(padding, ' ');
    CHECK(data_of(read_dict(dict), 24) == floats(6));
    const NamedTensor tensor =
        read_one(std::string("\x93NUMPY\2\0", 8) +
                 bytes_of(static_cast<std::uint32_t>(dict.size())) + dict + floats(6));
    CHECK(data_of(tensor, 24) == floats(6));
  }
}

TEST_CASE("npy: Fortran order is reversed strides") {
  const NamedTensor tensor = read_dict(npy_dict("<f4", "(1, 2, 3)", "True"));
  CHECK(tensor.shape == std::vector<Index>{1, 2, 3});
  CHECK(tensor.strides == std::vector<Index>{4, 4, 8});
}

TEST_CASE("npy: types of both byte orders, scalars and empty arrays are legal") {
  CHECK(read_one(npy_bytes(npy_dict(">f8", "(1,)"), "12345678")).type == ElementType::f64);
  CHECK(read_one(npy_bytes(npy_dict(">f8", "(1,)"), "12345678")).big_endian);
  CHECK(read_one(npy_bytes(npy_dict("<f2", "()"), "12")).type == ElementType::f16);
  CHECK(read_one(npy_bytes(npy_dict("<f4", "()"), "1234")).shape.empty());
  CHECK(read_one(npy_bytes(npy_dict("<f4", "(0, 9223372036854775807)"), "")).shape[0] == 0);
}

TEST_CASE("npy: other types are refused by name when used, bfloat16 only read when asked for") {
  const TensorFile file{.path = "dir"};
  for (const char* descr : {"|O", "<i4", "<c8", "<M8[ns]", "|S4", "<f16"}) {
    const bool sized = std::string(descr) == "<i4" || std::string(descr) == "|S4";
    const NamedTensor tensor =
        read_one(npy_bytes(npy_dict(descr, "(1,)"), std::string(sized                          ? 4
                                                                : std::string(descr) == "<f16" ? 16
                                                                                               : 8,
                                                                '\0')));
    CHECK_SAYS(require_float(file, tensor), "dir: 'q' has dtype", descr, "F64, F32, F16 or BF16");
  }
  const NamedTensor fields = read_one(npy_bytes(
      "{'descr': [('a]', '<f4'), ('b', '<i4', (2,))], 'fortran_order': False, 'shape': (1,)}",
      "x"));
  CHECK_SAYS(require_float(file, fields), "structured");
  for (const char* descr : {"<u2", "|V2"}) {
    const std::string bytes = npy_bytes(npy_dict(descr, "(1,)"), "12");
    CHECK_SAYS(require_float(file, read_one(bytes)), descr, "--bf16");
    CHECK(read_one(bytes, true).type == ElementType::bf16);
  }
}

TEST_CASE("npy: a header that is not one is refused with what was found") {
  const auto refuse = [](const std::string& dict) { return read_dict(dict); };
  CHECK_SAYS(read_one("PK\3\4 and so on"), "q.npy", "does not begin like a .npy");
  CHECK_SAYS(read_one(std::string("\x93NUMPY\x01\x00\x10", 9)), "ends after 9 bytes");
  CHECK_SAYS(read_one(std::string("\x93NUMPY\x09\x00\x10\x00\x00\x00", 12)), "version 9",
             "1, 2 or 3");
  CHECK_SAYS(read_one(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12)), "4294967295");
  CHECK_SAYS(read_one(std::string("\x93NUMPY\x01\x00\x00\x00\x00\x00", 12)), "empty .npy header");
  CHECK_SAYS(read_one(std::string("\x93NUMPY\x01\x00\xff\x00{}", 12)), "265 bytes", "cut off");
  CHECK_SAYS(refuse("[1]      "), "'[1]      ' at character 0", "expected '{'");
  CHECK_SAYS(refuse("{'descr': 3}"), "expected a string");
  CHECK_SAYS(refuse("{'descr': '<f4"), "a string that ends");
  CHECK_SAYS(refuse("{'descr': [("), "a type that ends");
  CHECK_SAYS(refuse("{'fortran_order': 0}"), "expected True or False");
  CHECK_SAYS(refuse("{'shape': (-1,)}"), "a non-negative integer");
  CHECK_SAYS(refuse("{'shape': (99999999999999999999,)}"), "a non-negative integer");
  CHECK_SAYS(refuse("{'shape': [2,3]}"), "expected '('");
  CHECK_SAYS(refuse("{'shape': (1,), 'shape': (1,)}"), "'shape' twice");
  CHECK_SAYS(refuse("{'order': (1,)}"), "the name 'order'", "descr, fortran_order and shape");
  CHECK_SAYS(refuse("{'descr': '<f4', 'shape': (1,)}"), "no fortran_order");
  CHECK_SAYS(refuse("{'descr': '<f4' 'shape': (1,)}"), "expected '}'");
  CHECK_SAYS(refuse(npy_dict("<f4", "(2, 3)") + "x"), "expected nothing more");
}

TEST_CASE("npy: the bytes that follow are what the shape needs") {
  const auto refuse = [](const std::string& shape) { return read_dict(npy_dict("<f4", shape)); };
  CHECK_SAYS(refuse("(2, 4)"), "<f4 of shape [2,4] needs 32 bytes", "24 follow");
  CHECK_SAYS(refuse("(5,)"), "needs 20 bytes", "24 follow");
  CHECK_SAYS(refuse("(4294967296, 4294967296)"), "[4294967296,4294967296]", "2^63");
}

TEST_CASE("npy: a directory is listed in order, and refused without arrays") {
  const TemporaryDirectory directory;
  CHECK_SAYS(read_npy_directory(directory.path()), "fovea-test-", "without .npy files");
  CHECK_SAYS(read_npy_directory(directory / "absent"), "absent", "cannot be listed");
  write_bytes(directory / "v.npy", npy_bytes(npy_dict("<f4", "(1,)"), floats(1)));
  write_bytes(directory / "k.npy", npy_bytes(npy_dict("<f4", "(1,)"), floats(1)));
  write_bytes(directory / "readme.txt", "no array");
  const TensorFile file = read_npy_directory(directory.path());
  CHECK(file.kind == "npy directory");
  REQUIRE(file.tensors.size() == 2);
  CHECK(file.tensors[0].name == "k");
}
