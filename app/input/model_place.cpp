#include "input/model_place.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "data/address.h"
#include "data/error.h"
#include "data/utf8.h"
#include "input/bundled_models.h"
#include "input/model_cache.h"
#include "input/model_facts.h"
#include "io/folder.h"
#include "io/tensor_file.h"
#include "io/tensor_groups.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view no_model =
    "is no model; expected a folder with config.json and model.safetensors, as Hugging Face's "
    "libraries write it";

/// Files of models that are not read, by the end of their names.
struct Foreign {
  std::string_view ending, what;
};
constexpr std::string_view pickle =
    "is a pickle, which may run code of its author: it is not read. Expected .safetensors; where "
    "you trust the file, model.save_pretrained(FOLDER) of transformers or save_file() of "
    "safetensors.torch writes one";
constexpr std::string_view flax =
    "holds weights for Flax or TensorFlow, which are not read; expected model.safetensors and "
    "config.json in a folder";
constexpr Foreign foreign[] = {
    {".pt", pickle},
    {".pth", pickle},
    {".ckpt", pickle},
    {".pkl", pickle},
    {".bin", pickle},
    {".msgpack", flax},
    {".h5", flax},
    {".onnx",
     "is an ONNX graph, which does not say where its heads are; expected the folder of the model "
     "that it was made from, with config.json and model.safetensors"},
};

/// Whether a file begins as an archive or as a pickle, as the .bin files of PyTorch do. Other
/// programs write .bin files, too.
bool begins_like_pickle(const std::string& path) {
  const int first = std::ifstream(path, std::ios::binary).get();
  return first == 'P' || first == 0x80;
}

/// The kind of a file; null if it is none of these.
const Foreign* foreign_kind(const std::string& path) {
  const auto found = std::ranges::find_if(
      foreign, [&](const Foreign& kind) { return path.ends_with(kind.ending); });
  if (found == std::end(foreign)) return nullptr;
  return found->ending != ".bin" || begins_like_pickle(path) ? found : nullptr;
}

bool lies_in(const fs::path& folder, const char* name) {
  std::error_code unknown;
  return fs::exists(folder / name, unknown);
}

fs::path folder_of(const std::string& file) {
  const fs::path folder = fs::path(file).parent_path();
  return folder.empty() ? "." : folder;
}

/// Whether tensors beside a config.json are weights: they are unless they have the names of heads.
/// A file that cannot be read holds no weights; opening it says why.
bool holds_weights(const std::string& path) {
  try {
    return std::ranges::none_of(groups_of(read_safetensors(path)), &TensorGroup::usable);
  } catch (const Error&) {
    return false;
  }
}

ModelPlace place_of(const std::string& path) {
  if (!is_gguf(path)) return {path, model_name(path)};
  const std::string stated = model_facts(path).name;
  return {path, stated.empty() ? model_name(path) : printable(stated)};
}

ModelPlace place_of_folder(const std::string& folder) {
  if (is_cached_model_folder(folder)) return place_of_folder(snapshot_in(folder, {}));
  const std::string missing = missing_in_model(folder);
  if (missing.empty()) return place_of(folder);
  const auto files = gguf_files(folder);
  if (files.size() == 1) return place_of(files[0]);
  if (!files.empty())
    throw InputError(folder, "has " + std::to_string(files.size()) +
                                 " .gguf files; expected the name of one of them, such as " +
                                 files[0]);
  const std::string advice = how_to_complete(folder);
  if (!lies_in(folder, "config.json") && advice.empty())
    throw InputError(folder, std::string(no_model));
  throw InputError(folder, "is no whole model: " + missing + advice);
}

ModelPlace place_of_file(const std::string& file) {
  if (is_gguf(file)) return place_of(file);
  const fs::path folder = folder_of(file);
  const Foreign* kind = foreign_kind(file);
  if (lies_in(folder, "config.json") && (!kind || missing_in_model(folder).empty()))
    return place_of_folder(folder);
  throw InputError(file, std::string(kind ? kind->what : no_model));
}

std::string beginning_of(std::string_view text) {
  constexpr std::size_t most_characters = 32;
  std::string out;
  for (std::size_t count = 0; !text.empty() && count < most_characters; ++count) {
    const Character character = first_character(text);
    const std::size_t length = std::max<std::size_t>(1, character.length);
    const std::string_view written = text.substr(0, length);
    out += written == "\n" || written == "\t" || written == "\r" ? " " : written;
    text.remove_prefix(length);
  }
  return printable(out) + (text.empty() ? "" : "…");
}

/// Without a slash at the end.
fs::path normal(const std::string& path) {
  const fs::path out = fs::path(path).lexically_normal();
  return out.has_filename() ? out : out.parent_path();
}

}  // namespace

ModelPlace find_model(const std::string& named) {
  if (is_offered_model(named)) return {named, model_name(named)};
  if (is_bundled(named)) return place_of_folder(folder_of_bundled(named));
  const fs::file_status status = status_of(named);
  if (fs::is_directory(status)) return place_of_folder(named);
  if (fs::exists(status)) return place_of_file(named);
  const std::string found = find_in_cache(named);
  return is_gguf(found) ? place_of(found) : place_of_folder(found);
}

bool names_model(const std::string& named) {
  if (is_address(named)) return false;
  if (is_bundled(named)) return true;
  std::error_code unknown;
  const fs::file_status status = fs::status(named, unknown);
  if (fs::is_directory(status)) {
    if (lies_in(named, "q.npy")) return false;
    if (lies_in(named, "config.json") || is_cached_model_folder(named)) return true;
    try {
      return !gguf_files(named).empty();
    } catch (const InputError&) {
      return false;
    }
  }
  if (!fs::exists(status)) return is_in_cache(named);
  if (!fs::is_regular_file(status)) return false;
  if (is_gguf(named) || foreign_kind(named)) return true;
  if (!lies_in(folder_of(named), "config.json")) return false;
  return named.ends_with(".safetensors")
             ? holds_weights(named)
             : fs::path(named).filename() == "config.json" || named.ends_with(".index.json");
}

std::string model_name(const std::string& named) {
  if (is_offered_model(named)) {  // with a number in place of a path
    const std::string name = named.substr(offered_prefix.size());
    return printable(name.substr(0, name.rfind('.')));
  }
  if (is_bundled(named)) return name_of_bundled(named);
  const fs::path path = normal(named);
  if (is_gguf(named)) return printable(path.stem().string());
  const fs::path snapshots = path.parent_path();
  const std::string folder = snapshots.parent_path().filename().string();
  if (snapshots.filename() != "snapshots" || !folder.starts_with("models--"))
    return printable(path.filename().string());
  return printable(folder.substr(folder.rfind("--") + 2));
}

std::string title_of(const ModelAddress& address, const std::string& model) {
  return model + ": " +
         (address.input ? printable(normal(*address.input).filename().string())
                        : "“" + beginning_of(address.text.value_or("")) + "”");
}

std::string readable_source(const std::string& source) {
  if (const auto [prefix, inner] = unwrap(source); !prefix.empty())
    return std::string(prefix) + readable_source(std::string(inner));
  if (!is_model_address(source)) return source;
  try {
    const ModelAddress address = parse_model_address(source);
    return title_of(address, printable(address.folder));
  } catch (const UsageError&) {  // opening it says why
    return source;
  }
}

std::string absolute_path(std::string_view path) {
  std::error_code unknown;
  const fs::path absolute = fs::absolute(path, unknown);
  return path.empty() || unknown ? std::string(path) : absolute.lexically_normal().string();
}

std::string absolute_model(const std::string& named) {
  std::error_code unknown;
  return fs::exists(named, unknown) ? absolute_path(normal(named).string()) : named;
}

std::string with_absolute_paths(const std::string& source) {
  if (const auto [prefix, inner] = unwrap(source); !prefix.empty())
    return std::string(prefix) + with_absolute_paths(std::string(inner));
  if (!is_model_address(source)) return source;
  try {
    ModelAddress address = parse_model_address(source);
    address.folder = absolute_model(address.folder);
    if (address.input) address.input = absolute_path(*address.input);
    return to_text(address);
  } catch (const UsageError&) {  // opening it says why
    return source;
  }
}

}  // namespace fovea
