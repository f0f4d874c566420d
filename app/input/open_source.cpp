#include "input/open_source.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>

#include "data/address.h"
#include "data/content_features.h"
#include "data/error.h"
#include "data/synthetic.h"
#include "figure/recipe.h"
#include "input/bundled_models.h"
#include "input/image_file.h"
#include "input/model_place.h"
#include "input/model_source.h"
#include "input/ordered_source.h"
#include "input/picture_process.h"
#include "input/text_file.h"
#include "io/file_bytes.h"
#include "io/folder.h"
#include "io/imported_tensors.h"
#include "io/selection_tensors.h"
#include "io/source_metadata.h"
#include "io/tensor_source.h"
#include "io/token_file.h"
#include "io/token_marks.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

Source open_safetensors(const std::string& path, const OpenOptions& options) {
  return source_from_tensors(read_safetensors(path, options.stop), options.layout, options.stop);
}

Source open_npz(const std::string& path, const OpenOptions& options) {
  return source_from_tensors(read_npz(path, options.as_bfloat16, options.stop, options.reached),
                             options.layout, options.stop);
}

Source open_npy_directory(const std::string& path, const OpenOptions& options) {
  return source_from_tensors(read_npy_directory(path, options.as_bfloat16, options.stop),
                             options.layout, options.stop);
}

using File = std::shared_ptr<const FileBytes>;

/// The tokens in a form that is safe to show. Computations use the tokens as they are.
std::vector<std::string> shown(std::vector<std::string> tokens) {
  for (std::string& token : tokens) token = with_signs(token);
  return tokens;
}

Source source_of_tokens(const File& file, std::vector<std::string> tokens,
                        const OpenOptions& options) {
  const std::string& path = file->path();
  if (!options.tensors.empty()) {
    OpenOptions beside = options;
    beside.tensors.clear();
    const std::string& tensors = options.tensors;
    const bool synthetic = tensors.starts_with(synthetic_prefix);
    if (synthetic || is_words_or_picture(tensors))
      throw InputError(tensors, "is a source of kind '" +
                                    std::string(synthetic             ? "synthetic"
                                                : is_picture(tensors) ? "image"
                                                                      : "text") +
                                    "'; --tensors expects .safetensors, .npz or a directory of "
                                    ".npy");
    Source source = open_source(tensors, beside);
    set_tokens(source, shown(std::move(tokens)));
    source.files.insert(source.files.begin(), file);
    return source;
  }
  if (const auto count = static_cast<Index>(tokens.size()); count > most_tokens)
    throw InputError(path, "has " + std::to_string(count) + " tokens; expected at most " +
                               std::to_string(most_tokens));
  Source source;
  source.kind = "text";
  put_content(source, text_features(tokens, options.features, options.stop), "the tokens");
  source.sequence.tokens = shown(std::move(tokens));
  source.files = {file};
  return source;
}

Source open_text(const std::string& path, const OpenOptions& options) {
  const auto file = std::make_shared<const FileBytes>(path);
  return source_of_tokens(file, read_text(*file, options.one_token_per_line, options.stop),
                          options);
}

Source open_tokens(const std::string& path, const OpenOptions& options) {
  const auto file = std::make_shared<const FileBytes>(path);
  TokenFile read = read_token_json(*file, options.stop);
  Source source = source_of_tokens(file, std::move(read.tokens), options);
  source.notes.insert(source.notes.begin(), read.notes.begin(), read.notes.end());
  return source;
}

Source open_image(const std::string& path, const OpenOptions& options) {
  const auto file = std::make_shared<const FileBytes>(path);
  ImageFile read = read_image(*file, options.patch, options.max_side, options.stop);
  Source source;
  source.kind = "image";
  put_content(source, image_features(*read.picture, options.patch, options.features, options.stop),
              "the patches");
  source.sequence.grid = read.grid;
  source.picture = std::move(read.picture);
  source.notes = std::move(read.notes);
  source.files = {file};
  return source;
}

Source refuse_npy(const std::string& path, const OpenOptions&) {
  throw InputError(path,
                   "is one NumPy array; expected q.npy, k.npy and v.npy: open their directory, "
                   "or an .npz");
}

std::string first_bytes(const std::string& path) {
  const FileBytes file(path);
  std::string bytes(static_cast<std::size_t>(std::min<Index>(file.size(), 4096)), '\0');
  file.read(0, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

bool is_safetensors(const std::string&, std::string_view head) {
  // A header of less than 4 GiB: the upper half of its length is zero; then the JSON begins.
  return head.size() > 9 && head.substr(4, 4) == std::string_view("\0\0\0\0", 4) && head[8] == '{';
}

bool is_zip(const std::string&, std::string_view head) {
  return head.starts_with("PK\x03\x04");
}

bool is_npy(const std::string&, std::string_view head) {
  return head.starts_with("\x93NUMPY");
}

bool is_image(const std::string&, std::string_view head) {
  return begins_like_image(head);
}

bool is_json(const std::string&, std::string_view head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  return first != head.npos && (head[first] == '{' || head[first] == '[');
}

bool is_text(const std::string&, std::string_view head) {
  // The last character may be cut off.
  return !head.empty() && head.find('\0') == head.npos &&
         valid_utf8_prefix(head) + (head.size() < 4096 ? 0 : 3) >= head.size();
}

struct Loader {
  std::string_view label;
  std::vector<std::string> extensions;
  bool (*sniff)(const std::string& path, std::string_view head);  // used for other extensions
  Source (*open)(const std::string& path, const OpenOptions& options);
  bool begins_surely = false;   // with a signature that no other kind has
  bool takes_tensors = false;   // --tensors beside it
  std::string_view model = {};  // the bundled one that reads such files
};

std::vector<Loader> make_loaders() {
  std::vector<std::string> images;
  for (const std::string& format : image_formats()) images.push_back("." + format);
  return {
      {"Tensors", {".safetensors"}, is_safetensors, open_safetensors, true},
      {"NumPy archives", {".npz"}, is_zip, open_npz, true},
      {"NumPy arrays", {".npy"}, is_npy, refuse_npy, true},
      {"Images", std::move(images), is_image, open_image, true, false, bundled_image_model},
      {"Tokens", {".json"}, is_json, open_tokens, false, true},
      {"Texts", {".txt"}, is_text, open_text, false, true, bundled_text_model},
  };
}

std::string extension_of(const std::string& path) {
  std::string out = fs::path(path).extension().string();
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

/// A picture named .safetensors would be refused for its "header of 727905341920923785 bytes"; this
/// function says what the file is instead, if it is certainly not of its own kind and certainly of
/// another.
void require_own_kind(const std::string& path, const std::string& extension, const Loader& named,
                      const std::vector<Loader>& loaders) {
  const std::string head = first_bytes(path);
  if (named.sniff(path, head)) return;
  for (const Loader& loader : loaders)
    if (loader.begins_surely && loader.sniff(path, head))
      throw InputError(path, "is named " + extension + " (" + std::string(named.label) +
                                 ") but begins like another kind: " + std::string(loader.label) +
                                 "; expected a name that fits its content");
}

Loader loader_of(const std::string& path) {
  const fs::file_status status = status_of(path);
  if (names_model(path)) {
    find_model(path);  // says what is missing
    throw UsageError(path +
                     " is a model: say what it reads with --text TEXT or --input FILE, or open "
                     "model:MODEL?text=TEXT");
  }
  if (status.type() == fs::file_type::not_found)
    throw InputError(path,
                     "does not exist; a file, a directory of .npy, a model or synthetic:NAME was "
                     "expected");
  if (fs::is_fifo(status) || fs::is_socket(status) || fs::is_character_file(status) ||
      fs::is_block_file(status))  // reading from a pipe would wait for ever
    throw InputError(path, "is a device or pipe; expected a file or a directory of .npy");
  if (fs::is_directory(status)) return {"NumPy directories", {}, nullptr, open_npy_directory};
  const std::vector<Loader> loaders = make_loaders();
  const std::string extension = extension_of(path);
  for (const Loader& loader : loaders)
    if (std::ranges::find(loader.extensions, extension) != loader.extensions.end()) {
      require_own_kind(path, extension, loader, loaders);
      return loader;
    }
  const std::string head = first_bytes(path);
  if (is_report(head))
    throw InputError(path,
                     "is a report of Fovea; expected a source: fovea render or the window opens "
                     "the session of a report");
  for (const Loader& loader : loaders)
    if (loader.sniff(path, head)) return loader;
  throw InputError(path,
                   "is of no known kind, by name or by content; expected .safetensors, .npz, "
                   "a directory of .npy, .json, .txt or an image");
}

/// The address of the bundled model that reads the file.
std::string read_by(const Loader& loader, const std::string& path) {
  return to_text(ModelAddress{.folder = std::string(loader.model), .input = absolute_path(path)});
}

bool has_content(const Loader& loader) {
  return loader.open == open_text || loader.open == open_tokens || loader.open == open_image;
}

Source open_alone(const std::string& what, const OpenOptions& options);

Source open_ordered(const std::string& what, const OpenOptions& options) {
  const auto [prefix, inner] = unwrap(what);
  if (inner.empty() || prefix.empty())
    throw UsageError(fovea::quoted(what) +
                     ": expected one order, ordered:ORDER:SOURCE, such as "
                     "ordered:hilbert:video.npz");
  if (is_live(inner))
    throw UsageError(fovea::quoted(what) + ": a stream keeps its order; expected a capture of it");
  OpenOptions of_all = options;
  of_all.enough.reset();  // an order is one of all layers
  Source source = open_alone(std::string(inner), of_all);
  source = in_order(std::move(source), std::string(order_in(what)));
  source.path = std::string(prefix) + source.path;
  return source;
}

Source open_alone(const std::string& what, const OpenOptions& options) {
  if (is_ordered(what)) return open_ordered(what, options);
  if (is_live(what))
    throw InputError(what,
                     "is a stream that a program sends to the window while it runs; expected one "
                     "that is being sent, or a capture of it (File > Save capture)");
  if (is_model_address(what)) {
    if (!options.tensors.empty())
      throw UsageError("--tensors goes with a text (.txt or .json) only, not with a model");
    return open_model(what, options);
  }
  const bool synthetic = what.starts_with(synthetic_prefix), content = is_content(what);
  const std::string path(content ? content_path(what) : what);
  if (path.empty())
    throw UsageError(fovea::quoted(what) + " names no file; expected " +
                     std::string(content ? content_prefix : "") + "FILE");
  const Loader loader = synthetic ? Loader{} : loader_of(path);
  if (!options.tensors.empty() && (!loader.takes_tensors || content))
    throw UsageError(what + ": --tensors goes with a text (.txt or .json) only");
  if (synthetic) return make_synthetic(what, options.stop);
  if (content && !has_content(loader))
    throw UsageError(what + ": content similarity is that of a text, of tokens or of an image");
  if (!content && !loader.model.empty() && options.tensors.empty())
    return open_model(read_by(loader, path), options);
  Source source = loader.open(path, options);
  source.path = content ? address_of(what) : what;
  const fs::path name = short_name(path);
  const bool directory = source.kind == "npy directory";
  source.name = printable(directory ? name.string() : name.stem().string());
  return source;
}

/// Whether an array of integers, which lie one after the other, has others than 0 and 1.
bool has_more_than_bits(const NamedTensor& array, const std::stop_token& stop) {
  const Index size = array.type == ElementType::i64 ? 8 : 4,
              lowest = array.big_endian ? size - 1 : 0;
  Index left = size;
  for (const Index extent : array.shape) left *= extent;
  std::vector<std::byte> piece(std::size_t{1} << 20);
  for (Index begin = array.begin; left > 0;) {
    const std::span some(piece.data(), std::min<std::size_t>(piece.size(), left));
    read_in_pieces(*array.bytes, begin, some, stop);
    for (std::size_t b = 0; b < some.size(); ++b) {
      const bool is_lowest = static_cast<Index>(b) % size == lowest;
      if (some[b] > std::byte{is_lowest ? std::uint8_t{1} : std::uint8_t{0}}) return true;
    }
    begin += std::ssize(some);
    left -= std::ssize(some);
  }
  return false;
}

/// Whether an array has a row for each query, of integers that are not those of a mask.
bool lists_keys(const NamedTensor& array, const Source& source, const std::stop_token& stop) {
  const std::size_t rank = array.shape.size();
  return (array.type == ElementType::i32 || array.type == ElementType::i64) && rank >= 2 &&
         std::ranges::any_of(source.layers,
                             [&](const Layer& layer) {
                               return layer.has_qk() && array.shape[rank - 2] == layer.queries();
                             }) &&
         has_more_than_bits(array, stop);
}

/// A single array without a known name lists the keys of each query, or is a mask.
TensorFile read_kept(const std::string& path, const Source& source, const OpenOptions& options) {
  const Loader loader = loader_of(path);
  if (loader.open == open_safetensors) return read_safetensors(path, options.stop);
  if (loader.open == open_npz) return read_npz(path, options.as_bfloat16, options.stop);
  if (loader.open == open_npy_directory)
    return read_npy_directory(path, options.as_bfloat16, options.stop);
  if (loader.open != refuse_npy)
    throw InputError(path, "is of the kind " + fovea::quoted(std::string(loader.label)) +
                               "; --mask expects .safetensors, .npz, .npy or a directory of .npy");
  TensorFile file = read_npy_file(path);
  NamedTensor& array = file.tensors.front();
  if (!may_be_selection(array.name))
    array.name = lists_keys(array, source, options.stop) ? "indices" : "kept";
  return file;
}

}  // namespace

Source open_source(const std::string& what, const OpenOptions& options) {
  if (is_ordered(what) && !options.kept.empty())
    throw UsageError("--mask says pairs in the order of the file, and the tokens of " +
                     fovea::quoted(what) + " are in another; expected one of the two");
  Source source = open_alone(what, options);
  if (!options.kept.empty())
    add_results_of(read_kept(options.kept, source, options),
                   printable(fs::path(short_name(options.kept)).stem().string()), source);
  return source;
}

std::string address_of(const std::string& what) {
  if (is_content(what)) return std::string(content_prefix) + absolute_path(content_path(what));
  if (const auto [prefix, inner] = unwrap(what); !prefix.empty())
    return std::string(prefix) + address_of(std::string(inner));
  if (is_address(what)) return what;
  const Loader loader = loader_of(what);
  return loader.model.empty() ? what : read_by(loader, what);
}

std::string address_of_other(const std::string& file, const std::string& source) {
  if (is_address(file)) return with_absolute_paths(file);
  if (is_content(source)) return address_of(std::string(content_prefix) + file);
  if (!is_model_address(source) || loader_of(file).model.empty()) return address_of(file);
  ModelAddress address = parse_model_address(source);
  address.text.reset();
  address.input = absolute_path(file);
  return to_text(address);
}

bool is_words_or_picture(const std::string& path) {
  try {
    return has_content(loader_of(path));
  } catch (const Error&) {  // opening it says why
    return false;
  }
}

bool is_picture(const std::string& path) {
  try {
    return loader_of(path).open == open_image;
  } catch (const Error&) {  // opening it says why
    return false;
  }
}

std::string short_name(const std::string& what) {
  if (const auto [prefix, inner] = unwrap(what); !prefix.empty())
    return short_name(std::string(inner));
  if (is_model_address(what)) try {
      const ModelAddress address = parse_model_address(what);
      return title_of(address, model_name(address.folder));
    } catch (const Error&) {  // opening it says why
      return what.substr(0, 40);
    }
  if (is_address(what)) return what;
  fs::path path = fs::path(what).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // "dir/"
  return path.filename().string();
}

std::vector<std::string> file_patterns() {
  std::string all;
  std::vector<std::string> out;
  for (const Loader& loader : make_loaders()) {
    if (loader.open == refuse_npy) continue;
    std::string patterns;
    for (const std::string& extension : loader.extensions) patterns += " *" + extension;
    all += patterns;
    out.push_back(std::string(loader.label) + " (" + patterns.substr(1) + ")");
  }
  out.insert(out.begin(), "All sources (" + all.substr(1) + ")");
  out.emplace_back("All files (*)");
  return out;
}

}  // namespace fovea
