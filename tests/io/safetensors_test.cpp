#include "io/safetensors.h"

#include <doctest/doctest.h>

#include "allocations.h"
#include "io/tensor_file.h"
#include "io/tensor_source.h"
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

/// The header with a member that nobody reads in its first tensor, as only JSON in general has it.
std::string unusual(const std::string& header) {
  const std::size_t tensor = header.find("{\"dtype");
  return header.substr(0, tensor + 1) + "\"more\":[{}]," + header.substr(tensor + 1);
}

/// A header of `count` tensors of a byte beside q and k.
std::string long_header(int count) {
  std::string header =
      "{" + entry("q", "F32", "[1,1]", "[0,4]") + "," + entry("k", "F32", "[1,1]", "[4,8]");
  for (int i = 0; i < count; ++i) {
    const std::string name = "model.layers." + std::to_string(i) + ".weight";
    header += "," + entry(name, "U8", "[1]",
                          "[" + std::to_string(i + 8) + "," + std::to_string(i + 9) + "]");
  }
  return header + "}";
}

bool is_plain(const std::string& header) {
  return read_plain_header(
      header, [](const HeaderEntry&) {}, [](std::string_view) {});
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

TEST_CASE("safetensors: tensors are listed by their names, wherever they stand in the header") {
  const TemporaryDirectory directory;
  for (const int step : {1, 3, 7, 39}) {  // have no factor in common with 40
    std::string header, data, sorted;
    for (int i = 0; i < 40; ++i) {
      const char letter = static_cast<char>('$' + i * step % 40);
      header +=
          (i > 0 ? "," : "{") + entry(std::string(1, letter), "U8", "[1]",
                                      "[" + std::to_string(i) + "," + std::to_string(i + 1) + "]");
      data += letter;
      sorted += static_cast<char>('$' + i);
    }
    std::string names, contents;
    const TensorFile file = read(directory, header + "}", data);
    for (const NamedTensor& tensor : file.tensors) {
      names += tensor.name;
      contents += data_of(tensor, 1);
    }
    CHECK(names == sorted);
    CHECK(contents == sorted);
  }
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

TEST_CASE("safetensors: a header as programs write it is read as JSON in general is") {
  const TemporaryDirectory directory, directory_of_json;
  const std::string q = entry("q", "F32", "[1]", "[0,4]"),
                    none = entry("é", "F16", "[0, 7]", "[4,4]");
  const std::string metadata = R"("__metadata__": {"a": "\u00e9 \"b\"", "c": ""})";
  for (const std::string& body :
       {q, q + "," + none, none + " ,\n\t" + q + "\r", metadata + "," + q, q + "," + metadata,
        q + R"(,"__metadata__":{})",
        std::string(R"("q" : { "shape" : [ 1 ] , "dtype" : "F32",)"
                    R"( "data_offsets" : [ 0 , 4 ] } )"),
        entry("q", "F7_NEW", "[9223372036854775807]", "[0,4]"), entry("", "I32", "[1]", "[0,4]")}) {
    CAPTURE(body);
    REQUIRE(is_plain("{" + body + "}"));
    const TensorFile plain = read(directory, "{" + body + "}   ", "1234");
    const std::string other =
        body.starts_with("\"q\" :")
            ? std::string(R"("q":{"data_offsets":[0,4],"shape":[1],"dtype":"F32","x":0})")
            : unusual(body);
    REQUIRE_FALSE(is_plain("{" + other + "}"));
    const TensorFile json = read(directory_of_json, "{" + other + "}", "1234");
    CHECK(plain.metadata == json.metadata);
    REQUIRE(plain.tensors.size() == json.tensors.size());
    for (std::size_t i = 0; i < plain.tensors.size(); ++i) {
      const NamedTensor &a = plain.tensors[i], &b = json.tensors[i];
      CHECK(std::tie(a.name, a.dtype, a.type, a.shape, a.strides) ==
            std::tie(b.name, b.dtype, b.type, b.shape, b.strides));
      CHECK(data_of(a, a.type == ElementType::f32 ? 4 : 0) ==
            data_of(b, a.type == ElementType::f32 ? 4 : 0));
    }
  }
}

TEST_CASE("safetensors: a wrong entry is refused in the same words, however the header is read") {
  const TemporaryDirectory directory;
  const std::string q = entry("q", "F32", "[1]", "[0,4]");
  for (const std::string& body :
       {entry("q", "F32", "[1]", "[4,0]"), entry("q", "F32", "[1]", "[0,4,8]"),
        entry("q", "F32", "[2]", "[0,8]"), entry("q", "F32", "[2]", "[0,4]"),
        entry("q", "F32", "[4611686018427387904,4,4]", "[0,4]"), entry("q", "U8", "[3]", "[1,4]"),
        entry("q", "U8", "[3]", "[0,3]"), q + "," + q, q + "," + entry("k", "U8", "[1]", "[3,4]"),
        q + R"(,"__metadata__":{"a":"b","a":"c"})"}) {
    CAPTURE(body);
    REQUIRE(is_plain("{" + body + "}"));
    const auto refusal = [&](const std::string& header) {
      return message_of([&] { (void)read(directory, header, "1234"); });
    };
    CHECK(refusal("{" + body + "}") != "");
    CHECK(refusal("{" + body + "}") == refusal(unusual("{" + body + "}")));
  }
}

TEST_CASE(
    "safetensors: what is not JSON, or says more than a header needs, is left to the reader of "
    "JSON") {
  const std::string q = entry("q", "F32", "[1]", "[0,4]");
  REQUIRE(is_plain("{" + q + "}"));
  REQUIRE(is_plain("{}"));
  for (const std::string& header :
       {std::string(),
        std::string("{"),
        std::string("[]"),
        "{" + q,
        "{" + q + ",}",
        "{" + q + "}}",
        "{" + q + "} x",
        "\xef\xbb\xbf{" + q + "}",
        "{" + q + q + "}",
        std::string("{\"q\":{}}"),
        "{" + entry("q\xff", "F32", "[1]", "[0,4]") + "}",
        "{" + entry("q\n", "F32", "[1]", "[0,4]") + "}",
        "{" + entry("\\u0071", "F32", "[1]", "[0,4]") + "}",
        "{" + entry("q", "F\\u0033", "[1]", "[0,4]") + "}",
        "{" + entry("q", "F32", "[01]", "[0,4]") + "}",
        "{" + entry("q", "F32", "[-0]", "[0,4]") + "}",
        "{" + entry("q", "F32", "[+1]", "[0,4]") + "}",
        "{" + entry("q", "F32", "[1.0]", "[0,4]") + "}",
        "{" + entry("q", "F32", "[1e0]", "[0,4]") + "}",
        "{" + entry("q", "F32", "[1,]", "[0,4]") + "}",
        "{" + entry("q", "F32", "[", "[0,4]") + "}",
        "{" + entry("q", "F32", "[[1]]", "[0,4]") + "}",
        "{" + entry("q", "F32", "[9223372036854775808]", "[0,4]") + "}",
        std::string(R"({"q":{"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4]}})"),
        std::string(R"({"q":{"dtype":"F32","shape":[1]}})"),
        unusual("{" + q + "}"),
        std::string(R"({"__metadata__":{"a":1}})"),
        std::string(R"({"__metadata__":{"a":"b",}})"),
        std::string(R"({"__metadata__":{"a":"\x"}})"),
        std::string("{\"__metadata__\":{\"a\":\"\xff\"}}"),
        std::string(R"({"__metadata__":{"a":"\)"),
        std::string(R"({"__metadata__":{},"__metadata__":{}})")}) {
    CAPTURE(header);
    CHECK_FALSE(is_plain(header));
  }
}

// A reader of JSON allocates more than ten times for a tensor. Here it is a name of more than 15
// letters, a shape and its strides, and lists of all tensors, which grow a few times.
TEST_CASE("safetensors: opening allocates three times for a tensor that no head has") {
  constexpr int count = 2000;
  const TemporaryDirectory directory;
  const std::string path = directory / "long.safetensors";
  write_bytes(path, safetensors_bytes(long_header(count), std::string(count + 8, '\0')));
  const auto open = [&] { return source_from_tensors(read_safetensors(path)); };
  CHECK(open().layers.size() == 1);
  const RefusedAllocation refused(3 * count + 1000);
  CHECK_NOTHROW((void)open());
  CHECK_FALSE(refused.reached());
}

TEST_CASE("safetensors: tensors take less memory than their header as JSON, which is asked for") {
  for (const int count : {1, 100, 1025, 20000, 32769}) {
    CAPTURE(count);
    const TemporaryDirectory directory;
    const std::string header = long_header(count);
    write_bytes(directory / "long.safetensors",
                safetensors_bytes(header, std::string(static_cast<std::size_t>(count) + 8, '\0')));
    begin_peak();
    (void)read_safetensors(directory / "long.safetensors");
    CHECK(static_cast<double>(peak_bytes()) <=
          json_bytes(header) + static_cast<double>(header.size()) + 4096);
  }
}
