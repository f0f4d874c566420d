#include <doctest/doctest.h>

#include <QImage>
#include <QImageWriter>
#include <cmath>

#include "data/address.h"
#include "input/open_source.h"
#include "input/picture_process.h"
#include "input/text_file.h"
#include "io/npy.h"
#include "io/safetensors_writer.h"
#include "memory_budget.h"
#include "messages.h"
#include "temporary_directory.h"

using namespace fovea;
using namespace fovea::test;

namespace {

using Tokens = std::vector<std::string>;
const std::string assets = FOVEA_ASSETS;

std::string content(const std::string& path) {
  return std::string(content_prefix) + path;
}

std::string refusal(const std::string& what, const OpenOptions& options = {}) {
  return message_of<InputError>([&] { open_source(what, options); });
}

std::string save(const TemporaryDirectory& folder, const QImage& image, const std::string& name) {
  REQUIRE(image.save(QString::fromStdString(folder / name)));
  return folder / name;
}

QImage grey(int width, int height) {
  QImage image(width, height, QImage::Format_RGB32);
  image.fill(qRgb(90, 90, 90));
  return image;
}

std::string three_rows(const TemporaryDirectory& folder) {
  std::vector<OutTensor> tensors;
  for (const char* name : {"q", "k", "v"})
    tensors.push_back({name, {3, 2}, std::vector<float>(6, 1)});
  write_safetensors(folder / "qkv.safetensors", tensors, {});
  return folder / "qkv.safetensors";
}

}  // namespace

TEST_CASE("texts are split into words and punctuation in any script") {
  const TemporaryDirectory folder;
  auto words = [&](std::string_view text) {
    return read_text(FileBytes(folder.write("t.txt", text)), false);
  };
  CHECK(words("Don't panic, 3.14!") == Tokens{"Don't", "panic", ",", "3.14", "!"});
  CHECK(words("\xEF\xBB\xBFone\r\ntwo\r\n") == Tokens{"one", "two"});
  CHECK(words("Grüße, Ελλάδα и мир") == Tokens{"Grüße", ",", "Ελλάδα", "и", "мир"});
  CHECK(words("注意力") == Tokens{"注", "意", "力"});
  CHECK(words("👩‍👩‍👧 ok") == Tokens{"👩‍👩‍👧", "ok"});
  CHECK(words("שלום עולם") == Tokens{"שלום", "עולם"});
}

TEST_CASE("one token a line keeps lines as they are") {
  const TemporaryDirectory folder;
  CHECK(read_text(FileBytes(folder.write("t.txt", "a b\r\n\r\n c\nlast")), true) ==
        Tokens{"a b", "", " c", "last"});
  CHECK(read_text(FileBytes(folder.write("t.txt", "a\n")), true) == Tokens{"a"});
}

TEST_CASE("bad texts are refused with name, place and what was expected") {
  const TemporaryDirectory folder;
  const std::string latin = folder.write("latin.txt", "caf\xE9 au lait");
  for (const std::string& one : {latin, content(latin)})  // read by a model, or as content
    check_says(refusal(one), {"latin.txt", "byte 3", "0xe9", "UTF-8"});
  check_says(refusal(content(folder.write("cut.txt", "abc\xE2\x82"))), {"byte 3"});
  check_says(refusal(content(folder.write("surrogate.txt", "ab\xED\xA0\x80"))), {"byte 2"});
  check_says(refusal(content(folder.write("wide.txt", std::string_view("\xFF\xFEh\0i\0", 6)))),
             {"UTF-16"});
  check_says(refusal(content(folder.write("zero.txt", std::string_view("ab\0c", 4)))),
             {"byte 2", "zero"});
  const std::string blank = folder.write("blank.txt", " \n\t\n");
  for (const std::string& one : {blank, content(blank)})
    check_says(refusal(one), {"blank.txt", "no words"});
  check_says(refusal(content(folder.write("empty.txt", ""))), {"empty.txt"});
  std::string many;
  for (int i = 0; i < 131073; ++i) many += "a ";
  check_says(refusal(content(folder.write("many.txt", many))), {"131073 tokens", "131072"});
  many.resize(many.size() - 2);
  CHECK(open_source(content(folder.write("many.txt", many)), {.features = 8})
            .layers[0]
            .lengths()
            .n() == 131072);
}

TEST_CASE("a text becomes one head of content features that says what it is") {
  const TemporaryDirectory folder;
  const Source source = open_source(content(folder.write("story.txt", "The cat sat on the mat.")));
  CHECK(source.path == content(folder / "story.txt"));
  CHECK(source.name == "story");
  CHECK(source.kind == "text");
  CHECK(source.sequence.tokens.size() == 7);
  CHECK(source.content.find("a toy embedding, not for choosing an attention") != std::string::npos);
  CHECK(source.layers.at(0).d() == 64);
  CHECK(problem_of(source, {}).scale == doctest::Approx(std::log(7.0) + 2));
  CHECK(open_source(folder.write("t.json", R"({"tokens": ["Hello", "Ġworld"]})")).sequence.tokens ==
        Tokens{"Hello", " world"});
}

TEST_CASE("tensors beside a text: its tokens are used when they are one a position") {
  const TemporaryDirectory folder;
  const OpenOptions beside{.tensors = three_rows(folder)};
  const Source fits = open_source(folder.write("three.txt", "one two three"), beside);
  CHECK(fits.layers[0].d() == 2);
  CHECK(fits.sequence.tokens == Tokens{"one", "two", "three"});
  CHECK(fits.content.empty());
  const Source misfit = open_source(folder.write("four.json", R"(["a", "b", "c", "d"])"), beside);
  REQUIRE(!misfit.notes.empty());
  check_says(misfit.notes.back(), {"4", "3"});
  const std::string text = folder.write("t.txt", "one two three");
  check_says(refusal(text, {.tensors = text}), {"kind 'text'", ".safetensors"});
  CHECK_THROWS_AS(open_source("synthetic:golden", beside), UsageError);
}

TEST_CASE("files are known by their content when their name says nothing") {
  const TemporaryDirectory folder;
  std::filesystem::copy(three_rows(folder), folder / "model.bin");
  CHECK(open_source(folder / "model.bin").kind == "safetensors");
  CHECK(open_source(content(folder.write("notes.md", "# Some *words*"))).kind == "text");
  CHECK(open_source(folder.write("tokens", "[\"a\", \"b\"]")).sequence.tokens.size() == 2);
  std::filesystem::copy(assets + "/image/cat.jpg", folder / "picture");
  CHECK(open_source(content(folder / "picture")).kind == "image");
  check_says(refusal(folder.write("x.bin", std::string_view("\1\2\0\3", 4))),
             {"x.bin", ".safetensors"});
  check_says(refusal(folder.write("q.npy", "\x93NUMPY")), {"one NumPy array"});
  check_says(refusal(folder / "absent.txt"), {"absent.txt", "does not exist"});
}

TEST_CASE("images are cut to their middle patches, with a note") {
  const TemporaryDirectory folder;
  const Source source = open_source(content(save(folder, grey(45, 30), "i.png")), {.patch = 8});
  CHECK(source.sequence.grid == ImageGrid{3, 5, 0});
  CHECK(source.layers[0].lengths().n() == 15);
  CHECK(source.picture->width == 40);
  CHECK(source.picture->height == 24);
  REQUIRE(source.notes.size() == 1);
  check_says(source.notes[0], {"45 x 30", "40 x 24", "8"});
  CHECK(open_source(content(folder / "i.png"), {.patch = 1}).layers[0].lengths().n() == 1350);
  // Columns 2 to 41 of 45 and rows 3 to 26 of 30: as much is left out on either side.
  QImage counted = grey(45, 30);
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 45; ++x) counted.setPixel(x, y, qRgb(x, y, 0));
  const ImageFile middle = read_image(FileBytes(save(folder, counted, "counted.png")), 8, 0);
  const std::vector<std::uint8_t>& rgb = middle.picture->rgb;
  CHECK((rgb[0] == 2 && rgb[1] == 3));
  CHECK((rgb[rgb.size() - 3] == 41 && rgb[rgb.size() - 2] == 26));
}

TEST_CASE("transparency is laid over white, grey becomes three channels, EXIF turns the image") {
  const TemporaryDirectory folder;
  QImage clear(8, 8, QImage::Format_ARGB32);
  clear.fill(qRgba(200, 0, 0, 0));
  CHECK(read_image(FileBytes(save(folder, clear, "clear.png")), 8, 0).picture->rgb[0] == 255);
  clear.fill(qRgba(0, 0, 0, 128));
  CHECK(read_image(FileBytes(save(folder, clear, "half.png")), 8, 0).picture->rgb[0] == 127);
  QImage single(8, 8, QImage::Format_Grayscale8);
  single.fill(60);
  const ImageFile file = read_image(FileBytes(save(folder, single, "grey.png")), 8, 0);
  CHECK(file.picture->rgb == std::vector<std::uint8_t>(8 * 8 * 3, 60));

  // APP1 with one entry, orientation 6 (a quarter turn), put in after the JPEG's first marker.
  save(folder, grey(16, 8), "plain.jpg");
  std::ifstream in(folder / "plain.jpg", std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  bytes.insert(2, std::string("\xFF\xE1\x00\x22"
                              "Exif\0\0MM\0\x2A\0\0\0\x08\0\1\x01\x12\0\3\0\0\0\1\0\6\0\0\0\0\0\0",
                              36));
  CHECK(read_image(FileBytes(folder.write("turned.jpg", bytes)), 8, 0).grid == ImageGrid{2, 1, 0});
}

TEST_CASE("bad images are refused before they are decoded") {
  const TemporaryDirectory folder;
  check_says(refusal(content(save(folder, grey(5, 20), "small.png")), {.patch = 8}),
             {"5 x 20", "patch of 8"});
  check_says(refusal(content(save(folder, grey(400, 400), "many.png")), {.patch = 1}),
             {"160000 tokens", "131072", "larger patch", "362 pixels a side", "--max-side"});
  const std::string wide = save(folder, grey(50000, 8), "wide.png");
  check_says(refusal(content(wide)), {"50000 x 8", "16384", "--max-side"});
  check_says(refusal(content(wide), {.max_side = 1000}), {"no whole patch"});
  CHECK(open_source(content(wide), {.patch = 1, .max_side = 1000}).layers[0].lengths().n() == 1000);
  check_says(refusal(content(folder.write("text.png", "this is no picture"))), {"text.png", "png"});
  std::ifstream in(assets + "/image/cat.jpg", std::ios::binary);
  std::string bytes(600, '\0');
  in.read(bytes.data(), 600);
  check_says(refusal(content(folder.write("cut.jpg", bytes))),
             {"cut.jpg", "breaks off", "600 bytes"});
  save(folder, grey(64, 64).mirrored(), "whole.png");
  std::ifstream png(folder / "whole.png", std::ios::binary);
  std::string half(60, '\0');
  png.read(half.data(), 60);
  check_says(refusal(content(folder.write("cut.png", half))), {"cut.png", "breaks off"});
  check_says(refusal(content(folder.write("none.png", ""))), {"none.png"});
  CHECK_THROWS_AS(read_image(FileBytes(wide), -1, 0), UsageError);
  CHECK_THROWS_AS(read_image(FileBytes(wide), 8, -1), UsageError);
}

TEST_CASE("a BMP that declares more pixels than it holds is refused before it is decoded") {
  const TemporaryDirectory folder;
  save(folder, grey(45, 30), "whole.bmp");
  const std::string whole = read_bytes(folder / "whole.bmp");
  CHECK(open_source(content(folder / "whole.bmp")).picture->width == 40);
  check_says(refusal(content(folder.write("cut.bmp", whole.substr(0, whole.size() - 8)))),
             {"cut.bmp", "breaks off", std::to_string(whole.size() - 8) + " bytes"});
  std::string turned = whole;
  turned.replace(22, 4, std::string("\xe2\xff\xff\xff", 4));  // -30: the first row on top
  CHECK(open_source(content(folder.write("turned.bmp", turned))).picture->width == 40);
  check_says(refusal(content(folder.write("cut.bmp", turned.substr(0, turned.size() - 8)))),
             {"breaks off"});
  std::string vast = whole.substr(0, 86);  // as the fuzzer found it
  vast.replace(18, 8, std::string("\x00\x30\x00\x00\x00\x44\x00\x00", 8));
  check_says(refusal(content(folder.write("vast.bmp", vast)), {.max_side = 64}),
             {"vast.bmp", "breaks off"});
  vast.replace(22, 4, std::string("\x00\xbc\xff\xff", 4));  // the first row on top
  check_says(refusal(content(folder.write("vast.bmp", vast)), {.max_side = 64}),
             {"vast.bmp", "breaks off"});
  // The oldest kind, whose header ends before that of the others: 64 x 96 of 24 bits.
  const std::string oldest("BM\x1e\0\0\0\0\0\0\0\x1a\0\0\0\x0c\0\0\0\x40\0\x60\0\1\0\x18\0", 26);
  const std::string rows(std::size_t{3} * 64 * 96, '\0');
  CHECK(open_source(content(folder.write("oldest.bmp", oldest + rows))).picture->height == 96);
  check_says(refusal(content(folder.write("oldest.bmp", oldest + rows.substr(0, 4)))),
             {"oldest.bmp", "breaks off", "30 bytes"});
}

TEST_CASE("max_side scales down and never up") {
  const TemporaryDirectory folder;
  const std::string path = save(folder, grey(200, 100), "i.png");
  const ImageFile scaled = read_image(FileBytes(path), 1, 50);
  CHECK(scaled.grid == ImageGrid{25, 50, 0});
  REQUIRE(scaled.notes.size() == 1);
  check_says(scaled.notes[0], {"200 x 100", "50 x 25"});
  CHECK(read_image(FileBytes(path), 1, 900).grid == ImageGrid{100, 200, 0});
}

TEST_CASE(
    "a large JPEG that is scaled down asks for what its decoder needs, other formats for all") {
  const TemporaryDirectory folder;
  const auto open = [](const std::string& path, int max_side) {
    return read_image(FileBytes(path), 8, max_side);
  };
  const auto refused = [&](const std::string& path, int max_side) {
    return message_of<UnavailableError>([&] { open(path, max_side); });
  };
  QImage large(8000, 6000, QImage::Format_Grayscale8);
  large.fill(90);
  const std::string jpeg = save(folder, large, "large.jpg"), png = save(folder, large, "large.png"),
                    progressive = folder / "scans.jpg";
  QImageWriter writer(QString::fromStdString(progressive));
  writer.setProgressiveScanWrite(true);
  REQUIRE(writer.write(large));

  const Budget budget(std::size_t{90} << 20);
  CHECK(open(jpeg, 1000).grid == ImageGrid{93, 125, 0});
  CHECK(open(jpeg, 2000).grid == ImageGrid{187, 250, 0});
  check_says(refused(jpeg, 3300), {"large.jpg", "8000 x 6000 pixels", "Fewer pixels"});
  check_says(refused(png, 1000), {"large.png", "8000 x 6000 pixels", "Fewer pixels"});
  // Its coefficients alone are 92 MiB, whatever the side.
  check_says(refused(progressive, 1000), {"scans.jpg", "8000 x 6000 pixels"});
  // The decoder passes over bytes between segments, and over markers without a length.
  std::string strewn = read_bytes(progressive);
  const std::size_t second_segment = 4 + 16;  // after the start of the image, and APP0
  REQUIRE(strewn[second_segment] == '\xFF');
  strewn.insert(second_segment, std::string("\x00\xFF\x00\xFF\xD0\xFF\x01\xFF\xE1\x00\x01", 11));
  strewn = folder.write("strewn.jpg", strewn);
  check_says(refused(strewn, 1000), {"strewn.jpg", "8000 x 6000 pixels"});
  set_memory_budget(std::size_t{110} << 20);
  CHECK(open(progressive, 1000).grid == ImageGrid{93, 125, 0});
  CHECK(open(strewn, 1000).grid == ImageGrid{93, 125, 0});
}

TEST_CASE("the examples open, are finite and name every position") {
  const Source heads = open_source(assets + "/minilm/minilm-l6.safetensors");
  CHECK(heads.layers.size() == 4);
  CHECK(!heads.layout_guessed);
  CHECK(heads.notes.empty());
  CHECK(heads.scale == doctest::Approx(1 / std::sqrt(32.0)));
  CHECK(heads.causal == false);
  CHECK(heads.sequence.tokens.size() == static_cast<std::size_t>(heads.layers[0].lengths().n()));
  for (Index layer = 0; layer < 4; ++layer)
    for (Index head = 0; head < 12; ++head)
      CHECK_NOTHROW(problem_of(heads, {.layer = layer, .head = head}));  // refuses NaN and Inf
  for (const std::string name : {"/text/fovea.txt", "/image/cat.jpg", "/image/retina.jpg"})
    for (const std::string& one : {assets + name, content(assets + name)}) {
      const Source source = open_source(one);
      CHECK(source.notes.empty());
      CHECK_NOTHROW(problem_of(source, {}));
    }
}

TEST_CASE("a file dialog is offered every kind of file") {
  const auto patterns = file_patterns();
  check_says(patterns.front(), {"*.safetensors", "*.npz", "*.png", "*.jpg", "*.txt", "*.json"});
  CHECK(patterns.back() == "All files (*)");
}

TEST_CASE("opening an archive reports how much of it has been read") {
  const TemporaryDirectory folder;
  const std::string head =
      npy_bytes(npy_dict("<f4", "(1, 4, 2)"), std::string(4 * 2 * sizeof(float), '\0'));
  const std::string wide =
      npy_bytes(npy_dict("<f4", "(1, 4, 6)"), std::string(4 * 6 * sizeof(float), '\0'));
  write_zip(folder / "head.npz", {{"q.npy", head}, {"k.npy", head}, {"v.npy", wide}});
  std::vector<double> shares;
  open_source(folder / "head.npz", {.reached = [&](double share) { shares.push_back(share); }});
  REQUIRE(shares.size() == 3);
  CHECK(shares[0] == doctest::Approx(0.2));  // of the bytes
  CHECK(shares[1] == doctest::Approx(0.4));
  CHECK(shares[2] == 1);
}

TEST_CASE("the short name of what can be opened is without the folder") {
  CHECK(short_name("/data/heads.npz") == "heads.npz");
  CHECK(short_name("arrays/") == "arrays");
  CHECK(short_name("synthetic:smooth?n=8") == "synthetic:smooth?n=8");
}
