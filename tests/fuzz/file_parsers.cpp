#include "fuzz/file_parsers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <map>
#include <span>

#include "batch/item_queue.h"
#include "data/error.h"
#include "fuzz/rules.h"
#include "input/image_file.h"
#include "input/open_source.h"
#include "input/text_file.h"
#include "io/fit_file.h"
#include "io/safetensors.h"
#include "io/safetensors_writer.h"
#include "io/structure_file.h"
#include "io/tensor_source.h"
#include "io/token_file.h"
#include "temporary_directory.h"
#include "variants/tree_tensors.h"
#include "worker/given_layers.h"

namespace fovea::test {
namespace {

/// A file with these bytes, in a folder that the process keeps.
std::string file_of(const std::string& bytes, const char* name) {
  static const TemporaryDirectory folder;
  return folder.write(name, bytes);
}

void use(const Sequence& sequence, Index positions) {
  require(sequence.tokens.empty() || std::ssize(sequence.tokens) == positions,
          "there are more or fewer tokens than positions");
  for (const std::string& token : sequence.tokens) require(is_utf8(token), "a token is not UTF-8");
  if (positions > 0)
    for (const Index i : {Index{0}, positions - 1}) (void)sequence.numbered(i);
}

void use_head(const Source& source, Index index, Index head) {
  const Layer& layer = source.layers[static_cast<std::size_t>(index)];
  if (layer.attention.present()) (void)layer.attention.read(head);
  if (!layer.has_qk()) return;
  const Problem problem =
      problem_of(source, {.layer = index, .head = head, .allow_non_finite = true});
  require(problem.k.rows == layer.keys(), "a head has another number of keys than its layer");
  for (const ImportedTensors& imported : layer.imported) {
    const ImportedResult result = read_imported(imported, head);
    for (const Matrix* found : {&result.z, &result.p})
      require(found->rows() == 0 || found->rows() == layer.queries(),
              "a result has another number of rows than its head");
    require(imported.present(), "a result is empty");
    if (!imported.kept.present()) continue;
    Selection kept = read_selection(imported.kept, head, layer.lengths());
    for (const std::string& fault : faults_of(kept, problem.band(), problem.mask.get()))
      require_printable(fault, "a fault of a selection");
    const auto pairs = pairs_of(std::move(kept), problem.mask);
    (void)pairs->count(layer.queries() - 1, {0, layer.keys()});
  }
}

/// Reads what was opened as the window does: the first and the last head of some layers, labels,
/// notes.
void use(const Source& source) {
  require(!source.layers.empty(), "a source has no layers");
  require_printable(source.name, "a name");
  for (const std::string& note : source.notes) require_printable(note, "a note");
  const auto layers = std::ssize(source.layers);
  for (Index i = 0; i < layers; i = i < 3 ? i + 1 : std::max(i + 1, layers - 1)) {
    const Layer& layer = source.layers[static_cast<std::size_t>(i)];
    require_printable(layer_label(source, i), "a layer's name");
    require(layer.heads() > 0 && layer.queries() > 0 && layer.keys() > 0, "a layer is empty");
    use(sequence_of(source, i), layer.queries());
    use(key_sequence_of(source, i), layer.keys());
    use_head(source, i, 0);
    use_head(source, i, layer.heads() - 1);
  }
}

}  // namespace

void parse_safetensors(const std::string& bytes) {
  if (bytes.size() > 8) {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    require(agrees_with_json(std::string_view(bytes).substr(8, length)),
            "a header is read otherwise than as JSON");
  }
  use(source_from_tensors(read_safetensors(file_of(bytes, "x.safetensors"))));
}

void parse_given_layers(const std::string& bytes) {
  GivenLayers layers;
  constexpr std::size_t size_of_length = 8;
  for (std::string_view rest = bytes; !rest.empty();) {
    std::uint64_t length = 0;
    if (rest.size() < size_of_length) throw InputError("", "half a length");
    std::memcpy(&length, rest.data(), size_of_length);
    rest.remove_prefix(size_of_length);
    if (length > rest.size()) throw InputError("", "half a message");
    const auto frame = std::as_bytes(std::span(rest.substr(0, length)));
    rest.remove_prefix(length);
    layers.take(read_message(std::make_shared<const WireBytes>(frame.begin(), frame.end())),
                "a model");
    use(layers.source());
  }
  if (!layers.complete()) throw InputError("", "no end");
}

void parse_npz(const std::string& bytes) {
  use(source_from_tensors(read_npz(file_of(bytes, "x.npz"))));
}

void parse_npy(const std::string& bytes) {
  static const TemporaryDirectory folder;
  folder.write("attention.npy", bytes);
  use(source_from_tensors(read_npy_directory(folder.path(), true)));
}

void parse_vllm_hook(const std::string& bytes) {
  static const TemporaryDirectory folder;
  static const TensorFile file = [] {
    write_safetensors(
        folder / "qk.safetensors",
        {{"a__q", {3, 4}, std::vector<float>(12)}, {"a__k", {5, 2}, std::vector<float>(10)}}, {});
    return read_safetensors(folder / "qk.safetensors");
  }();
  folder.write("qk.json", bytes);
  use(source_from_tensors(file));
}

void parse_structure(const std::string& bytes) {
  const Structure structure = read_structure(file_of(bytes, "s.safetensors"), 0, 1);
  (void)tree_of(structure);
}

void parse_fit(const std::string& bytes) {
  const FitFile fit = read_fit(file_of(bytes, "fit.safetensors"));
  require(!fit.states.empty(), "a fit has no heads");
}

void parse_tokens(const std::string& bytes) {
  const TokenFile file = read_token_json(FileBytes(file_of(bytes, "t.json")));
  require(!file.tokens.empty(), "a file of tokens has none");
  for (const std::string& token : file.tokens) require(is_utf8(token), "a token is not UTF-8");
  for (const std::string& note : file.notes) require_printable(note, "a note");
}

void parse_text(const std::string& bytes) {
  const FileBytes from(file_of(bytes, "t.txt"));
  for (const std::string& token : read_text(from, false))
    require(is_utf8(token), "a word is not UTF-8");
  for (const std::string& token : read_text(from, true))
    require(is_utf8(token), "a line is not UTF-8");
}

void parse_image(const std::string& bytes) {
  load_image_readers(bytes);
  const ImageFile image = decode_image(bytes, 2, 64);
  require(
      image.picture->width == image.grid.cols * 2 && image.picture->height == image.grid.rows * 2,
      "a picture is not made of whole patches");
  require(std::ssize(image.picture->rgb) == image.picture->width * image.picture->height * 3,
          "a picture has more or fewer pixels than its sides say");
}

void parse_results_folder(const std::string& bytes) {
  static const TemporaryDirectory folder;
  constexpr std::array names{"plan.json", "results.jsonl", "results.shard-1-of-2.jsonl",
                             "results.csv"};
  std::size_t begin = 0;
  for (const char* name : names) {
    std::filesystem::remove(folder / name);
    if (begin > bytes.size()) continue;
    const std::size_t end = std::min(bytes.find(between_files, begin), bytes.size());
    folder.write(name, bytes.substr(begin, end - begin));
    begin = end + 1;
  }
  const auto contents = [&] {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      if (entry.path().filename() != "locks")
        files[entry.path().filename().string()] = read_bytes(entry.path().string());
    return files;
  };
  const auto before = contents();
  ResultsFolder results(folder.path());
  try {
    results.open();
    (void)merge_results(results);
  } catch (const Error&) {
    require(contents() == before, "a folder that was refused has changed");
    throw;
  }
  const auto merged = contents();
  require(merged.at("plan.json") == before.at("plan.json"), "merging has changed the plan");
  (void)merge_results(results);
  require(contents() == merged, "merging again gives another result");
}

}  // namespace fovea::test
