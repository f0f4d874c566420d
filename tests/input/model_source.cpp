// A model and what it reads as a source: its heads are those of the encoder, its tokens those of
// the text.
#include "input/model_source.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "backend/backends.h"
#include "data/error.h"
#include "data/model_address.h"
#include "input/last_model.h"
#include "input/model_input.h"
#include "input/opened_model.h"
#include "input/session_file.h"
#include "io/file_bytes.h"
#include "messages.h"
#include "model/encoded_source.h"
#include "temporary_directory.h"
#include "tiny_text_model.h"

using namespace fovea;
using namespace fovea::test;

namespace {

namespace fs = std::filesystem;

const std::string tiny_models = FOVEA_TESTS "/model/fixtures/";

Source source_of(const TinyTextModel& model, const std::string& text) {
  return open_source(model.address(text));
}

std::vector<std::string> names_of(const SourceFiles& files) {
  std::vector<std::string> names;
  for (const auto& file : files) names.push_back(fs::path(file->path()).filename());
  return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::count(names, name) == 1;
}

/// A model of images of 16 x 16 pixels.
std::string image_model(const TemporaryDirectory& scratch) {
  fs::copy(tiny_models + "vit", scratch.path() + "/vit");
  scratch.write("vit/preprocessor_config.json",
                R"({"do_resize": true, "size": {"height": 16, "width": 16}, "resample": 2,
                    "do_rescale": true, "do_normalize": true, "image_mean": [0.5, 0.5, 0.5],
                    "image_std": [0.5, 0.5, 0.5]})");
  return scratch.path() + "/vit";
}

std::string picture(const TemporaryDirectory& scratch, int width, int height) {
  std::string pixels = "P6\n" + std::to_string(width) + " " + std::to_string(height) + "\n255\n";
  for (int i = 0; i < 3 * width * height; ++i) pixels += static_cast<char>(i % 251);
  return scratch.write("picture.ppm", pixels);
}

}  // namespace

TEST_CASE("law: a model that a program offers has no files, whatever its name") {
  for (const std::string name : {"tiny", "small.gguf", "folder/tiny"})
    CHECK(files_of_model({.path = std::string(offered_prefix) + name, .name = name}).empty());
}

TEST_CASE("a model that reads a text is a source of all its heads, with the words of the text") {
  const TinyTextModel model;
  const Source source = source_of(model, "The CAT sats café.");
  CHECK(source.sequence.tokens ==
        std::vector<std::string>{"[CLS]", "The", "CAT", "sat", "s", "café", ".", "[SEP]"});
  CHECK(source.kind == "model");
  CHECK(source.name == "tiny: “The CAT sats café.”");
  CHECK(source.content.empty());
  CHECK_FALSE(mask_is_assumed(source, 0));
  CHECK(stated_causal(source, 0) == false);
  REQUIRE(source.layers.size() == 2);
  CHECK(source.layers[1].name == "layer1");
  CHECK(source.layers[1].heads() == 2);
  CHECK(source.layers[1].lengths() == Lengths{8, 8});
  CHECK(*source.scale == doctest::Approx(1 / std::sqrt(8.0)));
  // Each head is its columns of what the encoder computes of the same tokens.
  const auto encoder = read_encoder(model.folder());
  const std::vector<std::int32_t> ids{2, 33, 31, 32, 34, 36, 35, 3};
  const auto backend = make_cpu_backend();
  Profile profile;
  Run run{profile};
  encoder->encode(ids, *backend, run, [&](EncodedLayer&& encoded) {
    const Layer& layer = source.layers[static_cast<std::size_t>(encoded.layer)];
    for (const auto& [tensor, all] :
         {std::pair{&layer.q, &encoded.q}, {&layer.k, &encoded.k}, {&layer.v, &encoded.v}})
      for (Index head = 0; head < 2; ++head) {
        const Matrix its = tensor->read(head);
        for (Index i = 0; i < 8; ++i)
          for (Index c = 0; c < 8; ++c) CHECK(its(i, c) == (*all)(i, 8 * head + c));
      }
  });
}

TEST_CASE("a file of text is read as the text itself, and its place is in the source") {
  const TinyTextModel model;
  const std::string path = model.file("words.txt", "\xEF\xBB\xBFthe cat");
  const Source source = open_source(to_text(ModelAddress{.folder = model.folder(), .input = path}));
  CHECK(source.sequence.tokens == source_of(model, "the cat").sequence.tokens);
  CHECK(source.name == "tiny: words.txt");
  REQUIRE_FALSE(source.files.empty());
  CHECK(source.files.front()->path() == path);
}

TEST_CASE("a text that is longer than the model reads is cut off, and that is said") {
  const TinyTextModel model;
  std::string text;
  for (int i = 0; i < 40; ++i) text += "cat ";
  const Source all = source_of(model, text);
  CHECK(all.sequence.tokens.size() == 20);  // as many as it has positions for
  REQUIRE(all.notes.size() == 1);
  CHECK(all.notes[0].find("as it has 20 positions") != std::string::npos);
  const Source some =
      open_source(to_text(ModelAddress{.folder = model.folder(), .text = text, .most_tokens = 6}));
  CHECK(some.sequence.tokens.size() == 6);
  REQUIRE(some.notes.size() == 1);
  CHECK(some.notes[0].find("the first 6 tokens: ") != std::string::npos);
  CHECK(some.notes[0].find("--max-tokens") != std::string::npos);
}

TEST_CASE("a model of images shows the patches that it sees") {
  const TemporaryDirectory scratch;
  const std::string folder = image_model(scratch), path = picture(scratch, 32, 48);
  const Source source = open_source(to_text(ModelAddress{.folder = folder, .input = path}));
  REQUIRE(source.sequence.grid);
  CHECK(*source.sequence.grid == ImageGrid{4, 4, 1});
  CHECK(source.layers.front().lengths() == Lengths{17, 17});
  REQUIRE(source.picture);
  CHECK(source.picture->width == 32);
  CHECK(source.picture->height == 48);
  CHECK(source.name == "vit: picture.ppm");
  CHECK_THROWS_WITH_AS(
      open_source(to_text(ModelAddress{.folder = folder, .text = "a cat"})),
      doctest::Contains("is a model of images: say what it reads with --input IMAGE"), UsageError);
}

TEST_CASE("the files of a source are all that its numbers depend on") {
  const TinyTextModel model;
  const std::string path = model.file("words.txt", "the cat");
  const Source text = open_source(to_text(ModelAddress{.folder = model.folder(), .input = path}));
  const auto of_text = names_of(text.files);
  CHECK(of_text.front() == "words.txt");
  for (const char* name :
       {"config.json", "model.safetensors.index.json", "model-00001-of-00002.safetensors",
        "model-00002-of-00002.safetensors", "vocab.txt", "tokenizer_config.json"}) {
    CAPTURE(name);
    CHECK(has(of_text, name));
  }
  const TemporaryDirectory scratch;
  const auto of_image = names_of(open_source(to_text(ModelAddress{.folder = image_model(scratch),
                                                                  .input = picture(scratch, 9, 9)}))
                                     .files);
  for (const char* name :
       {"picture.ppm", "config.json", "model.safetensors", "preprocessor_config.json"}) {
    CAPTURE(name);
    CHECK(has(of_image, name));
  }
}

TEST_CASE("the last model is kept until one of its files changes, or another one is opened") {
  const TinyTextModel model, other;
  LastModel last;
  const OpenOptions options{.last_model = &last};
  const auto opened = last.open(model.folder(), 1, {});
  const Source first = open_source(model.address("the cat"), options),
               second = open_source(model.address("sat"), options);
  CHECK(first.files == second.files);  // the same objects: nothing was read
  CHECK(last.open(model.folder(), 1, {}) == opened);
  SUBCASE("changed") {
    std::string words = read_bytes(model.folder() + "/vocab.txt");
    words.replace(words.find("cat"), 3, "dog");
    const std::string path = model.file("tiny/vocab.txt", words);
    // Later than a tick of the file system's clock, however fast the machine is.
    fs::last_write_time(path, fs::last_write_time(path) + std::chrono::minutes(1));
    CHECK_FALSE(opened->is_unchanged());
    CHECK(last.open(model.folder(), 1, {}) != opened);
    CHECK(open_source(model.address("dog"), options).sequence.tokens ==
          std::vector<std::string>{"[CLS]", "dog", "[SEP]"});
  }
  SUBCASE("gone") {
    fs::remove(model.folder() + "/vocab.txt");
    CHECK_THROWS_WITH_AS(open_source(model.address("sat"), options),
                         doctest::Contains("expected tokenizer.json, vocab.txt"), InputError);
  }
  SUBCASE("another") {
    CHECK(last.open(other.folder(), 1, {}) != opened);
    CHECK(last.open(model.folder(), 1, {}) != opened);
  }
  SUBCASE("forgotten") {
    last.forget();
    CHECK(last.open(model.folder(), 1, {}) != opened);
  }
}

TEST_CASE("weights that change while a model is kept are never mixed with those that were read") {
  const TinyTextModel model;
  const auto opened = open_model_folder(model.folder(), 1, {});
  const std::string shard = model.folder() + "/model-00001-of-00002.safetensors";
  std::string bytes = read_bytes(shard);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_bytes(shard, bytes + "\n");
  CHECK_THROWS_WITH_AS(
      source_of_text(opened->encoder, *opened->tokenizer, "the", 20, opened->backend),
      doctest::Contains("was changed after it was opened"), ChangedError);
}

TEST_CASE("a long text is read as far as the model needs it, and pictures of any shape") {
  const TinyTextModel model;
  std::string text;
  while (text.size() < 10'000'000) text += "the cat sat. ";
  const std::string long_text =
      to_text(ModelAddress{.folder = model.folder(), .input = model.file("long.txt", text)});
  const Source source = open_source(long_text);
  CHECK(source.sequence.tokens.size() == 20);
  while (text.size() < 100'000'000) text += text.substr(0, 10'000'000);
  model.file("long.txt", text);
  CHECK_SAYS(open_source(long_text), "long.txt", "a text of 96 MiB", "at most 64 MiB");
  REQUIRE(source.notes.size() == 1);
  CHECK(source.notes[0].find("bytes of the text are left out") != std::string::npos);
  const TemporaryDirectory scratch;
  const std::string folder = image_model(scratch);
  const auto read = [&](int width, int height) {
    return open_source(
        to_text(ModelAddress{.folder = folder, .input = picture(scratch, width, height)}));
  };
  for (const auto& size : {std::pair(1, 1), {2000, 1}, {1, 2000}}) {
    CAPTURE(size.first);
    const Source source_of_picture = read(size.first, size.second);
    CHECK(*source_of_picture.sequence.grid == ImageGrid{4, 4, 1});
    CHECK(std::isfinite(source_of_picture.layers.back().q.read(0)(16, 0)));
  }
  CHECK_THROWS_WITH_AS(read(20000, 10),
                       doctest::Contains("20000 x 10 pixels; expected at most 16384 a side: scale "
                                         "it down"),
                       InputError);
}

TEST_CASE("what is no model, or reads nothing, is refused with what to do") {
  const TinyTextModel model;
  CHECK_THROWS_WITH_AS(open_source(model.folder()),
                       doctest::Contains("is a model: say what it reads with --text"), UsageError);
  CHECK_THROWS_WITH_AS(open_source("model:" + model.folder()),
                       doctest::Contains("is a model of texts: say what it reads"), UsageError);
  CHECK_THROWS_WITH_AS(open_source("model:/nowhere?text=a"),
                       doctest::Contains("does not exist; expected the folder of a model"),
                       InputError);
  for (const char* text : {"", " \n\t"}) CHECK_THROWS_AS(source_of(model, text), InputError);
  const std::string vocabulary = model.file("tiny/vocab.txt", "[PAD]\n[UNK]\n");
  CHECK_THROWS_AS(source_of(model, "a"), InputError);
  std::string words = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  for (int w = 0; w < 60; ++w) words += "w" + std::to_string(w) + "\n";
  model.file("tiny/vocab.txt", words);
  CHECK_THROWS_WITH_AS(source_of(model, "w1"), doctest::Contains("expected files of one model"),
                       InputError);
}

TEST_CASE("any file that a model of a session reads elsewhere is asked for") {
  const TinyTextModel model;
  const TemporaryDirectory other;
  const std::string path = model.file("notes.sqlite", std::string("a\0b", 3));  // no text by itself
  SessionFile file;
  file.session.source = to_text(ModelAddress{.folder = model.folder(), .input = path});
  CHECK(content_elsewhere(other / "s.fovea.json", file).unknown == path);
  Column held{.variant = "exact", .held = HeldHead{.source = file.session.source}};
  SessionFile with_column;
  with_column.session.source = "synthetic:golden";
  with_column.session.columns = {held};
  CHECK(content_elsewhere(other / "s.fovea.json", with_column).unknown == path);
  file.content_hash = std::string(64, 'a');
  CHECK(content_elsewhere(other / "s.fovea.json", file).unknown.empty());
  CHECK(content_elsewhere(other / "s.fovea.json", file).needs_hash);
}

TEST_CASE("a session of a model knows whether model and input are there, and which file it reads") {
  const TinyTextModel model;
  const std::string path = model.file("words.txt", "the cat");
  const std::string with_text = to_text(ModelAddress{.folder = model.folder(), .text = "the"}),
                    with_file = to_text(ModelAddress{.folder = model.folder(), .input = path});
  CHECK(is_source_there(with_text));
  CHECK(is_source_there(with_file));
  Session session;
  session.source = with_file;
  CHECK(files_of(session) == std::vector{path});
  session.source = with_text;
  CHECK(files_of(session).empty());
  fs::remove(path);
  CHECK_FALSE(is_source_there(with_file));
  CHECK_FALSE(is_source_there("model:/nowhere?text=a"));
  CHECK_FALSE(is_source_there("model:?"));  // what somebody has written by hand
}
