// Reading that is not wanted any more ends with Cancelled after the piece that is being read.
#include <doctest/doctest.h>

#include "io/file_bytes.h"
#include "io/fit_file.h"
#include "io/npy.h"
#include "io/safetensors_writer.h"
#include "io/source_metadata.h"
#include "io/structure_file.h"
#include "io/tensor_source.h"
#include "io/watched_reads.h"
#include "messages.h"
#include "temporary_directory.h"

namespace fovea::test {
namespace {

// The piece in which the stop is asked for is read in two halves: see Interruption.
constexpr int rest_of_piece = 1;

/// Asks for a stop at a read of a file; how many reads there were after it, and whether the work
/// ended with Cancelled.
struct Stopped {
  bool asked = false, cancelled = false;
  int later = 0;
};

Stopped stop_at(const std::string& file, int read,
                const std::function<void(const std::stop_token&)>& work) {
  std::stop_source stop;
  Stopped out;
  interruption = {.file = inode_of(file), .reads = read, .change = [&] { stop.request_stop(); }};
  try {
    work(stop.get_token());
  } catch (const Cancelled&) {
    out.cancelled = true;
  }
  out.asked = interruption.done;
  out.later = interruption.later;
  interruption = {};
  return out;
}

void check_ends_at_once(const Stopped& stopped) {
  CHECK(stopped.asked);
  CHECK(stopped.cancelled);
  CHECK(stopped.later <= rest_of_piece);
}

std::stop_token stopped_token() {
  std::stop_source stop;
  stop.request_stop();
  return stop.get_token();
}

OutTensor counting(const std::string& name, const std::vector<Index>& shape) {
  std::size_t count = 1;
  for (const Index side : shape) count *= static_cast<std::size_t>(side);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 1000);
  return {name, shape, std::move(values)};
}

}  // namespace

TEST_CASE("a head whose reading is stopped is not read to its end, and is whole the next time") {
  constexpr Index n = 8192, d = 64;  // 2 MiB a tensor: 8 reads
  const TemporaryDirectory folder;
  const std::string path = folder / "qkv.safetensors";
  write_safetensors(path, {counting("q", {n, d}), counting("k", {n, d}), counting("v", {n, d})},
                    {});
  const Source source = source_from_tensors(read_safetensors(path));
  for (const int read : {0, 5, 8, 20})
    check_ends_at_once(
        stop_at(path, read, [&](const std::stop_token& stop) { problem_of(source, {}, stop); }));
  const Problem head = problem_of(source, {});
  Index wrong = 0;
  for (const MatrixView m : {head.q, head.k, head.v})
    for (Index i = 0; i < n; ++i)
      for (Index c = 0; c < d; ++c) wrong += m(i, c) != static_cast<float>((i * d + c) % 1000);
  CHECK(wrong == 0);
}

TEST_CASE("masks, biases and the results of others are not read where a stop was asked for") {
  constexpr Index n = 512;  // 1 MiB a matrix: 4 reads
  const TemporaryDirectory folder;
  const auto written = [&](const char* name, const std::vector<Index>& shape) {
    const std::string path = folder / (std::string(name) + ".safetensors");
    write_safetensors(path,
                      {counting("q", {n, 4}), counting("k", {n, 4}), counting("v", {n, 4}),
                       counting(name, shape)},
                      {});
    return source_from_tensors(read_safetensors(path));
  };
  const Source bias = written("bias", {n, n});
  check_ends_at_once(
      stop_at(bias.path, 4, [&](const std::stop_token& stop) { problem_of(bias, {}, stop); }));
  const Source p = written("p", {n, n});
  const ImportedTensors& imported = p.layers[0].imported.at(0);
  check_ends_at_once(
      stop_at(p.path, 1, [&](const std::stop_token& stop) { read_imported(imported, 0, stop); }));
  const SelectionTensors kept{.mask = bias.layers[0].conditions.bias};
  CHECK_THROWS_AS(read_selection(kept, 0, {n, n}, stopped_token()), Cancelled);
  Problem problem = problem_of(bias, {});
  CHECK_THROWS_AS(add_conditions(problem, bias.layers[0].conditions, 0, "", stopped_token()),
                  Cancelled);
  CHECK_THROWS_AS(require_usable_numbers(problem, "", stopped_token()), Cancelled);
  CHECK_THROWS_AS(require_usable_scale(problem, "", stopped_token()), Cancelled);
  Matrix numbers(2, 2);
  CHECK_THROWS_AS(replace_unusable_numbers(numbers, stopped_token()), Cancelled);
}

TEST_CASE("a directory of many arrays is not read to its end where a stop was asked for") {
  constexpr int layers = 100;
  const TemporaryDirectory folder;
  const std::string array = npy_bytes(npy_dict("<f4", "(2, 2)"), floats(4));
  for (int l = 0; l < layers; ++l)
    for (const char* name : {"k", "q", "v"})
      folder.write("layer" + std::to_string(100 + l) + "." + name + ".npy", array);
  const std::string middle = folder / "layer150.k.npy";
  const Stopped stopped = stop_at(middle, 0, [&](const std::stop_token& stop) {
    read_npy_directory(folder.path(), false, stop);
  });
  CHECK(stopped.cancelled);
  CHECK(stopped.later <= rest_of_piece + 1);  // the header of the same file is read to its end
  CHECK_THROWS_AS(read_npy_directory(folder.path(), false, stopped_token()), Cancelled);
  const TensorFile file = read_npy_directory(folder.path());
  CHECK(file.tensors.size() == 3 * layers);
  CHECK_THROWS_AS(source_from_tensors(file, {}, stopped_token()), Cancelled);
  CHECK(source_from_tensors(file).layers.size() == layers);
}

TEST_CASE("a text of many pieces, and the header of a file, are not read to their end") {
  const TemporaryDirectory folder;
  const std::string path = folder.write("t.txt", std::string(std::size_t{5} << 20, 'a'));
  const FileBytes file(path);
  check_ends_at_once(stop_at(path, 1, [&](const std::stop_token& stop) { file.text(stop); }));
  const std::string heads = folder / "heads.safetensors";
  write_safetensors(heads, {counting("q", {2, 2})},
                    {{"about", std::string(std::size_t{3} << 20, 'a')}});
  check_ends_at_once(
      stop_at(heads, 1, [&](const std::stop_token& stop) { read_safetensors(heads, stop); }));
}

TEST_CASE("JSON beside tensors, and in their metadata, is not parsed where a stop was asked for") {
  const TemporaryDirectory folder;
  const std::string heads = folder / "heads.safetensors";
  write_safetensors(heads, {counting("a__q", {1, 2, 4}), counting("a__k", {1, 2, 4})}, {});
  // Whoever parses it to its end finds that it breaks off.
  const std::string sidecar = folder.write("heads.json", "[1, 2, 3");
  const TensorFile file = read_safetensors(heads);
  CHECK_SAYS(source_from_tensors(file), "heads.json", "not JSON");
  check_ends_at_once(stop_at(
      sidecar, 0, [&](const std::stop_token& stop) { source_from_tensors(file, {}, stop); }));
  Source source{.metadata = {{"tokens", "[1, 2, 3"}}};
  CHECK_SAYS(apply_metadata(source), "not JSON");
  CHECK_THROWS_AS(apply_metadata(source, stopped_token()), Cancelled);
}

TEST_CASE("a structure is not read to its end where a stop was asked for") {
  constexpr Index count = Index{3} << 20;  // 12 MiB
  const TemporaryDirectory folder;
  const std::string path = folder / "s.safetensors";
  const std::vector<std::int32_t> order(static_cast<std::size_t>(count), 7);
  int pieces = 0;
  SUBCASE("of indices") {
    write_safetensors(path, {{"key_order", {1, count}, order}}, {});
    pieces = 12;
  }
  SUBCASE("of numbers") {
    write_safetensors(path, {counting("alpha", {1, count})}, {});
    pieces = 48;
  }
  int reads = 0;
  for (;; ++reads) {
    const Stopped stopped = stop_at(
        path, reads, [&](const std::stop_token& stop) { read_structure(path, 0, 1, stop); });
    if (!stopped.asked) break;
    CAPTURE(reads);
    check_ends_at_once(stopped);
  }
  CHECK(reads >= pieces);
  CHECK_THROWS_AS(read_structure(path, 0, 1, stopped_token()), Cancelled);
  CHECK(read_structure(path, 0, 1).tensors().at(0).shape == std::vector<Index>{count});
}

TEST_CASE("a fit of many heads is not read to its end where a stop was asked for") {
  constexpr int heads = 50;
  const TemporaryDirectory folder;
  const std::string path = folder / "fit.safetensors";
  const std::vector<float> numbers(100, 0.5f);
  FitFile fit;
  for (int h = 0; h < heads; ++h) {
    fit.trees.emplace_back().set("alpha", std::vector{0.5f});
    fit.states.push_back({.multiplier = 1,
                          .parameters = numbers,
                          .first = numbers,
                          .second = numbers,
                          .best = numbers,
                          .curve = {CurvePoint{}}});
  }
  write_fit(path, fit);
  for (const int read : {0, 2, heads, 2 * heads, 4 * heads})
    check_ends_at_once(
        stop_at(path, read, [&](const std::stop_token& stop) { read_fit(path, stop); }));
  CHECK_THROWS_AS(read_fit(path, stopped_token()), Cancelled);
  CHECK(read_fit(path).states == fit.states);
}

TEST_CASE("the documents of keys are not read to their end where a stop was asked for") {
  constexpr Index n = Index{1} << 18;  // 1 MiB: 4 reads
  const TemporaryDirectory folder;
  const std::string path = folder / "qk.safetensors";
  write_safetensors(path, {counting("q", {n, 1}), counting("k", {n, 1}), counting("segments", {n})},
                    {});
  const TensorFile file = read_safetensors(path);
  for (const int read : {0, 1, 2, 3})
    check_ends_at_once(stop_at(
        path, read, [&](const std::stop_token& stop) { source_from_tensors(file, {}, stop); }));
  const Source source = source_from_tensors(file);
  CHECK(source.layers[0].conditions.documents.size() == n);
}

}  // namespace fovea::test
