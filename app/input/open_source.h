// Opens whatever a person names: tensors, tokens, a text, an image, a model, a synthetic: source.
// The table of loaders is in open_source.cpp.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "data/source.h"

namespace fovea {

class Backend;
class LastModel;

/// What is there of a model that gives its layers one by one.
struct GrownSource {
  Source source;
  Index expected = 0;     // layers; 0 if that is not known
  bool complete = false;  // only then is it known that no layer was missed
};

/// Waits for more layers. Throws what open_source() throws; after Cancelled it can go on. It may be
/// called on any thread, by one at a time; its end cancels the rest.
using MoreLayers = std::function<GrownSource(const std::stop_token& stop)>;

struct OpenOptions {
  std::optional<std::string> layout;  // "[B,n,H,d]": stated by the user
  std::string tensors;                // --tensors FILE: Q, K, V beside a text
  std::string kept;                   // --mask FILE: kept pairs, a column of their own
  bool one_token_per_line = false;    // .txt
  // For content similarity:
  int patch = 8;             // side of a patch of an image; 1 makes every pixel a token
  int max_side = 0;          // to which an image is scaled down; 0 refuses images beyond the limit
  int features = 64;         // d of the features
  bool as_bfloat16 = false;  // read npy <u2 as bf16
  const Backend* backend = nullptr;  // computes effects in a model; null means its own CPU
  int threads = 0;                   // of a model; 0 means one for each core
  LastModel* last_model = nullptr;   // keeps a model; null if it is read each time
  std::stop_token stop = {};         // opening may take long: a stop ends it with Cancelled
  std::function<void(double share)> reached = {};  // of an archive's arrays, as they are read
  /// The layers up to this one are enough to begin with, if a model gives them one by one: then
  /// `take_rest` gets what waits for the others. Nothing waits for all of them.
  std::optional<Index> enough = {};
  std::function<void(Index expected, MoreLayers rest)> take_rest = {};
  std::function<void(Index layers, Index expected)> reached_layers = {};  // until then
};

/// Throws InputError (file, found, expected), UsageError for a bad synthetic: source,
/// UnavailableError for what does not fit into the memory budget, Cancelled. The path of the source
/// is address_of(what), or, with --tensors, the file.
Source open_source(const std::string& what, const OpenOptions& options = {});

/// The address by which a source is opened: a text or an image becomes the input of a bundled
/// model, "content:FILE" gets an absolute path, other addresses stay as they are.
std::string address_of(const std::string& what);

/// The address of another file that is read as `source` is: by its model, if it is one and the file
/// is a text or an image. Throws InputError for a file of no known kind.
std::string address_of_other(const std::string& file, const std::string& source);

/// Whether a file opens as a text, as tokens or as a picture: panels then show its content.
bool is_words_or_picture(const std::string& path);
bool is_picture(const std::string& path);

/// "heads.npz", "all-MiniLM-L6-v2: “The cat sat…”": the name of a source, without the folder of a
/// path.
std::string short_name(const std::string& what);

/// Patterns for a file dialog: "All sources (*.safetensors ...)".
std::vector<std::string> file_patterns();

}  // namespace fovea
