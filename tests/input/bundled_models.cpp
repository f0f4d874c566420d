// The two bundled models: what they are made of is what their provenance says, and their attention
// is that of the full weights.
#include "input/bundled_models.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <regex>
#include <span>

#include "data/address.h"
#include "data/error.h"
#include "input/assets.h"
#include "input/content_hash.h"
#include "input/open_source.h"
#include "input/session_file.h"
#include "io/file_bytes.h"
#include "io/tensor_file.h"
#include "messages.h"
#include "temporary_directory.h"
#include "views/views.h"

using namespace fovea;
using namespace fovea::test;

namespace {

namespace fs = std::filesystem;

std::string provenance(std::string_view model) {
  return read_bytes(folder_of_bundled(std::string(model)) + "/PROVENANCE.txt");
}

/// "largest 0.92%" in the provenance: of ||P' - P|| / ||P||.
double largest_error(std::string_view model) {
  const std::string text = provenance(model);
  std::smatch found;
  REQUIRE(std::regex_search(text, found, std::regex("largest ([0-9.]+)%")));
  return std::stod(found[1]) / 100;
}

/// Some rows of P, one after another.
std::vector<double> attention(const Source& source, Index layer, Index head, Index rows) {
  const Problem problem = problem_of(source, {.layer = layer, .head = head});
  std::vector<double> p;
  for (Index i = 0; i < rows; ++i) {
    std::vector<double> row;
    for (Index j = 0; j < problem.keys(); ++j) row.push_back(problem.logit(i, j));
    const double most = std::ranges::max(row);
    double sum = 0;
    for (double& entry : row) sum += entry = std::exp(entry - most);
    for (const double entry : row) p.push_back(entry / sum);
  }
  return p;
}

/// ||found - wanted|| / ||wanted|| (Frobenius).
double relative_error(const std::vector<double>& found, const std::vector<double>& wanted) {
  REQUIRE(found.size() == wanted.size());
  double error = 0, norm = 0;
  for (std::size_t at = 0; at < wanted.size(); ++at) {
    error += std::pow(found[at] - wanted[at], 2);
    norm += std::pow(wanted[at], 2);
  }
  return std::sqrt(error / norm);
}

}  // namespace

TEST_CASE("the weights of the bundled models are those of their provenance, and small") {
  for (const std::string_view model : {bundled_text_model, bundled_image_model}) {
    const std::string path = folder_of_bundled(std::string(model)) + "/model.safetensors";
    CAPTURE(path);
    CHECK(fs::file_size(path) <= 25'000'000);
    const std::string hash = content_hash_of({std::make_shared<const FileBytes>(path)}).text();
    CHECK(contains(provenance(model), "SHA-256 of model.safetensors: " + hash));
  }
}

TEST_CASE("attention of the bundled model of texts is near that of its full weights") {
  // The capture has Q and K of the full weights in 16 bits, which moves P of a head by .1 % at
  // most.
  constexpr double by_capture = 0.001;
  const Source bundled = open_source(standard_example()), full = open_source(captured_example());
  CHECK(bundled.layers.size() == 6);
  CHECK(bundled.sequence.tokens.size() == full.sequence.tokens.size());
  const double bound = largest_error(bundled_text_model) + by_capture;
  for (std::size_t at = 0; at < full.layers.size(); ++at) {
    const Layer& layer = full.layers[at];
    const auto same = std::ranges::find(bundled.layers, layer.name, &Layer::name);
    REQUIRE(same != bundled.layers.end());
    for (Index head = 0; head < layer.heads(); ++head) {
      CAPTURE(layer.name);
      CAPTURE(head);
      const Index n = layer.queries();
      CHECK(relative_error(attention(bundled, same - bundled.layers.begin(), head, n),
                           attention(full, Index(at), head, n)) <= bound);
    }
  }
}

TEST_CASE("attention of the bundled model of images is near that of its full weights") {
  // bundle.py wrote what the class token of the last layer attends to, in 32 bits.
  const Source source = open_source(FOVEA_ASSETS "/image/cat.jpg");
  CHECK(source.sequence.grid == ImageGrid{37, 37, 1});
  REQUIRE(source.layers.size() == 12);
  const TensorFile file =
      read_safetensors(FOVEA_TESTS "/input/fixtures/dinov2_class_attention.safetensors");
  REQUIRE(file.tensors.at(0).shape == std::vector<Index>{6, 1370});
  std::vector<float> full(std::size_t{6} * 1370);
  file.tensors[0].bytes->read(file.tensors[0].begin, std::as_writable_bytes(std::span(full)));
  const double bound = largest_error(bundled_image_model);
  for (Index head = 0; head < 6; ++head) {
    const auto its = full.begin() + 1370 * head;
    // The bound is of whole heads; the row of one token is within it, too.
    CHECK(relative_error(attention(source, 11, head, 1), {its, its + 1370}) <= bound);
  }
}

TEST_CASE("a text and an image are read by the bundled models, whatever their path") {
  const TemporaryDirectory scratch;
  const std::string text = scratch.write("a note?.txt", "\xEF\xBB\xBFThe cat sat.");
  const Source source = open_source(text);
  CHECK(source.path == address_of(text));
  CHECK(source.path ==
        to_text(ModelAddress{.folder = std::string(bundled_text_model), .input = text}));
  CHECK(source.sequence.tokens ==
        std::vector<std::string>{"[CLS]", "The", "cat", "sat", ".", "[SEP]"});
  CHECK(source.name == "all-MiniLM-L6-v2: a note?.txt");
  CHECK(source.content.empty());
  const fs::path before = fs::current_path();
  fs::current_path(scratch.path());
  CHECK(address_of("a note?.txt") == address_of(text));
  CHECK(address_of("content:a note?.txt") == "content:" + text);
  fs::current_path(before);
  CHECK(address_of("synthetic:golden") == "synthetic:golden");
  std::string many;
  for (int i = 0; i < 600; ++i) many += "cat ";
  const Source cut = open_source(scratch.write("long.txt", many));
  CHECK(cut.sequence.tokens.size() == 512);
  REQUIRE(cut.notes.size() == 1);
  CHECK(contains(cut.notes[0], "as it has 512 positions"));
}

TEST_CASE("a bundled model has its name, installed or not") {
  CHECK(short_name("model:bundled:text?text=The%20cat") == "all-MiniLM-L6-v2: “The cat”");
  CHECK(short_name("model:bundled:audio?text=a") == "bundled:audio: “a”");
}

TEST_CASE("a name that is no bundled model, and content that has none, say what is expected") {
  CHECK_THROWS_WITH_AS(open_source("model:bundled:audio?text=a"),
                       doctest::Contains("expected bundled:text or bundled:image"), UsageError);
  CHECK_THROWS_WITH_AS(open_source("model:bundled:text"),
                       doctest::Contains("say what it reads with --text"), UsageError);
  CHECK_THROWS_WITH_AS(open_source("content:" FOVEA_ASSETS "/minilm/minilm-l6.safetensors"),
                       doctest::Contains("that of a text, of tokens or of an image"), UsageError);
  CHECK_THROWS_WITH_AS(open_source("content:/nowhere.txt"), doctest::Contains("does not exist"),
                       InputError);
}

TEST_CASE("a session of a bundled model means the same elsewhere, older ones show content") {
  const TemporaryDirectory scratch;
  const std::string text = scratch.write("words.txt", "the cat"), path = scratch / "s.fovea.json";
  const auto read_again = [&](const std::string& source) {
    write_session(path, {.session = standard_session(source, 64)});
    return read_session(path).session.source;
  };
  for (const std::string& source : {standard_example(), address_of(text), "content:" + text})
    CHECK(read_again(source) == source);
  CHECK(contains(standard_example(), "model:bundled:text?text="));
  CHECK_FALSE(contains(standard_example(), FOVEA_ASSETS));
  CHECK(read_again(text) == "content:" + text);
  Column held{.variant = "exact", .held = HeldHead{.source = text}};
  Session session = standard_session("synthetic:golden", 8);
  session.columns = {held};
  write_session(path, {.session = session});
  CHECK(read_session(path).session.columns[0].held->source == "content:" + text);
}

TEST_CASE("what is missing of a source, and another in its place") {
  const TemporaryDirectory scratch;
  const std::string text = scratch.write("words.txt", "the cat"), gone = scratch / "gone.txt",
                    of_gone = to_text(ModelAddress{.folder = "bundled:text", .input = gone});
  CHECK(missing_of(standard_example()).empty());
  CHECK(missing_of(address_of(text)).empty());
  CHECK(missing_of(of_gone) == gone);
  CHECK(with_found(of_gone, missing_of(of_gone), text) == address_of(text));
  CHECK(missing_of("content:" + gone) == gone);
  CHECK(with_found("content:" + gone, missing_of("content:" + gone), text) == "content:" + text);
  CHECK(missing_of(gone) == gone);
  CHECK(with_found(gone, missing_of(gone), text) == text);
  const std::string no_model = to_text(ModelAddress{.folder = gone, .input = text});
  CHECK(missing_of(no_model) == gone);
  CHECK(with_found(no_model, missing_of(no_model), "/models/bert") ==
        to_text(ModelAddress{.folder = "/models/bert", .input = text}));
}
