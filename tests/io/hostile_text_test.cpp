// Whatever a file holds, what is shown of it is valid UTF-8 without control characters: neither an
// escape sequence nor a mark that reverses the text reaches a terminal.
#include <doctest/doctest.h>

#include <functional>

#include "data/utf8.h"
#include "io/npy.h"
#include "io/safetensors.h"
#include "io/tensor_source.h"
#include "io/token_file.h"
#include "messages.h"

using namespace fovea;
using namespace fovea::test;

namespace {

const std::string hostile =
    "\x1b[31m\a\r\xff\xc2\x9b\xe2\x80\xae"
    "end";
const std::string harmless = R"(\x1B[31m\x07\x0D\xFF\x9B\u202Eend)";

/// Any exception's message, else the source's notes and names.
std::string shown(const std::function<Source()>& open) {
  try {
    const Source source = open();
    std::string text = source.name;
    for (const Layer& layer : source.layers) text += layer.name;
    for (const std::string& note : source.notes) text += note;
    return text;
  } catch (const Error& error) {
    return error.what();
  }
}

void check_harmless(const std::string& text, const std::string& expected) {
  CAPTURE(text);
  CHECK(printable(text) == text);
  CHECK(contains(text, expected));
}

}  // namespace

TEST_CASE("printable text: what it escapes and what it leaves") {
  CHECK(printable(hostile) == harmless);
  CHECK(printable("caf\xc3\xa9, \xe6\x97\xa5\xe6\x9c\xac, \xf0\x9f\x98\x80") == "café, 日本, 😀");
  CHECK(printable("a\tb\nc\x7f") == R"(a\tb\nc\x7F)");
  CHECK(printable(std::string("\0", 1)) == R"(\x00)");
  CHECK(printable("\xe2\x80\xa8\xe2\x81\xa6\xef\xbb\xbf") == R"(\u2028\u2066\uFEFF)");
  CHECK(printable("\xed\xa0\x80") == R"(\xED\xA0\x80)");  // half a surrogate pair is not UTF-8
  CHECK(printable(printable(hostile)) == harmless);
  CHECK(fovea::quoted("q") == "'q'");
  CHECK(fovea::quoted("a'b") == "'a'b'");
  CHECK(fovea::quoted(std::string(500, 'x')) == "'" + std::string(100, 'x') + "...'");
  // No character is cut in two.
  CHECK(is_utf8(fovea::quoted("x" + std::string(60, '\xc3') + "\xa9")));
  std::string accents;
  for (int i = 0; i < 200; ++i) accents += "é";
  CHECK(is_utf8(fovea::quoted("x" + accents)));
}

TEST_CASE("hostile text: safetensors") {
  const TemporaryDirectory directory;
  const auto read = [&](const std::string& header, std::size_t count = 0) {
    const std::string path =
        directory.write("x.safetensors", safetensors_bytes(header, floats(count)));
    return shown([&] { return source_from_tensors(read_safetensors(path)); });
  };
  // In JSON these characters are escaped; the parser turns them back.
  const std::string name = R"(\u001b[31m\u009b\u202eq)", plain = R"(\x1B[31m\x9B\u202Eq)";
  check_harmless(read(hostile), "not JSON");
  check_harmless(read("{\"" + hostile + "\":1}"), "not JSON");
  check_harmless(read("{\"" + name + "\":1}"), plain);
  check_harmless(read("{" + entry(name, "F32", "[1,1]", "[0,8]") + "}", 1), plain);
  check_harmless(read("{" + entry(name, "F32", "[1,1]", "[0,4]") + "}", 1), plain);
  check_harmless(read("{" + entry("q", name, "[1,1]", "[0,4]") + "}", 1), "without k, v");
  check_harmless(read("{\"__metadata__\":{\"" + name + "\":1}}"), plain);
  check_harmless(
      read("{\"__metadata__\":{\"scale\":\"" + name + "\"}," + entry("q", "F32", "[1,1]", "[0,4]") +
               "," + entry("k", "F32", "[1,1]", "[4,8]") + "," +
               entry("v", "F32", "[1,1]", "[8,12]") + "}",
           3),
      plain);
  // A source that can be opened: a model's name, a layer's name, a note.
  check_harmless(read("{\"__metadata__\":{\"model\":\"" + name + "\"}," +
                          entry(name + ".q", "F32", "[1,1]", "[0,4]") + "," +
                          entry(name + ".k", "F32", "[1,1]", "[4,8]") + "," +
                          entry(name + ".v", "F32", "[1,1]", "[8,12]") + "," +
                          entry(name + "2.q", "F32", "[1,1]", "[12,16]") + "}",
                      4),
                 plain + plain + "Left out: '" + plain + "2.q'");
}

TEST_CASE("hostile text: npy and npz") {
  const TemporaryDirectory directory;
  for (const std::string& dict : {hostile, "{'" + hostile + "': 1}", npy_dict("<f4", hostile)}) {
    directory.write("q.npy", npy_bytes(dict, floats(1)));
    check_harmless(shown([&] { return source_from_tensors(read_npy_directory(directory.path())); }),
                   R"(\x1B[31m)");
    write_zip(directory / "x.npz", {{"q.npy", npy_bytes(dict, floats(1))}});
    check_harmless(shown([&] { return source_from_tensors(read_npz(directory / "x.npz")); }),
                   R"(\x1B[31m)");
  }
  directory.write("q.npy", npy_bytes(npy_dict(hostile, "(1, 1)"), floats(1)));
  const TensorFile file = read_npy_directory(directory.path());
  check_harmless(message_of([&] { require_float(file, file.tensors.at(0)); }), harmless);
  std::vector<ZipMember> members{{hostile + ".txt", "text"}};
  for (const char* name : {"q.npy", "k.npy", "v.npy"})
    members.push_back({name, npy_bytes(npy_dict("<f4", "(1, 1)"), floats(1))});
  write_zip(directory / "x.npz", members);
  check_harmless(shown([&] { return source_from_tensors(read_npz(directory / "x.npz")); }),
                 "Ignored: '");
  write_zip(directory / "x.npz", {{hostile + ".npy", "no array"}});
  check_harmless(shown([&] { return source_from_tensors(read_npz(directory / "x.npz")); }),
                 "does not begin like a .npy array");
}

TEST_CASE("hostile text: token files") {
  const TemporaryDirectory directory;
  for (const std::string& text :
       {hostile, "[\"" + hostile + "\"]", "{\"tokens\":{\"" + hostile + "\":1}}"}) {
    const std::string path = directory.write("t.json", text);
    const std::string message = message_of([&] { (void)read_token_json(FileBytes(path)); });
    check_harmless(message, "not JSON");
  }
  const std::string path = directory.write("t.json", R"(["\u001b[31m\u202e"])");
  for (const std::string& token : read_token_json(FileBytes(path)).tokens)
    CHECK(token == printable(token));
}
