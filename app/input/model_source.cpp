#include "input/model_source.h"

#include <filesystem>

#include "data/error.h"
#include "data/model_address.h"
#include "data/utf8.h"
#include "input/image_file.h"
#include "input/last_model.h"
#include "input/opened_model.h"
#include "input/picture_process.h"
#include "io/file_bytes.h"
#include "model/encoded_source.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

/// "all-MiniLM-L6-v2", of a folder in a cache the name of the model, too.
std::string name_of(const std::string& folder) {
  fs::path path = fs::path(folder).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return printable(path.filename().string());
}

std::string beginning_of(std::string_view text) {
  constexpr std::size_t most_characters = 32;
  std::string out;
  for (std::size_t count = 0; !text.empty() && count < most_characters; ++count) {
    const Character character = first_character(text);
    const std::size_t length = std::max<std::size_t>(1, character.length);
    out += text.substr(0, length);
    text.remove_prefix(length);
  }
  return printable(out) + (text.empty() ? "" : "…");
}

UsageError without_input(const ModelAddress& address, bool reads_images) {
  return UsageError(address.folder + " is a model of " + (reads_images ? "images" : "texts") +
                    ": say what it reads with " +
                    (reads_images ? "--input IMAGE" : "--text TEXT or --input FILE"));
}

Source read_text(const ModelAddress& address, const OpenedModel& model, const Backend& backend,
                 Run& run) {
  if (!address.text && !address.input) throw without_input(address, false);
  std::string text = address.text.value_or("");
  SourceFiles files;
  if (address.input) {
    const auto file = std::make_shared<const FileBytes>(*address.input);
    text = file->text(run.stop);
    if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);  // a byte order mark
    files.push_back(file);
  }
  Source source =
      source_of_text(*model.encoder, *model.tokenizer, text, address.most_tokens, backend, run);
  source.files = std::move(files);
  source.name = name_of(address.folder) + ": " +
                (address.input ? name_of(*address.input) : "“" + beginning_of(text) + "”");
  return source;
}

Source read_picture(const ModelAddress& address, const OpenedModel& model, const Backend& backend,
                    Run& run) {
  if (!address.input) throw without_input(address, true);
  const auto file = std::make_shared<const FileBytes>(*address.input);
  ImageFile image = read_image(*file, whole_picture, 0, run.stop);
  Source source = source_of_image(*model.encoder, *model.image_input, *image.picture, backend, run);
  source.notes.insert(source.notes.end(), image.notes.begin(), image.notes.end());
  source.files = {file};
  source.name = name_of(address.folder) + ": " + name_of(*address.input);
  return source;
}

}  // namespace

bool is_model_folder(const std::string& path) {
  std::error_code unknown;
  return fs::is_directory(path, unknown) && fs::exists(fs::path(path) / "config.json", unknown);
}

Source open_model(const std::string& what, const OpenOptions& options) {
  const ModelAddress address = parse_model_address(what);
  if (!is_model_folder(address.folder))
    throw InputError(address.folder,
                     "is no model; expected a folder with config.json and model.safetensors, as "
                     "Hugging Face's libraries write it");
  const auto model = options.last_model ? options.last_model->open(address.folder, options.stop)
                                        : open_model_folder(address.folder, options.stop);
  const auto own_backend =
      options.backend ? nullptr : make_cpu_backend({.threads = options.threads});
  const Backend& backend = options.backend ? *options.backend : *own_backend;
  Profile profile;
  Run run{profile, options.stop};
  Source source = model->tokenizer ? read_text(address, *model, backend, run)
                                   : read_picture(address, *model, backend, run);
  source.files.insert(source.files.end(), model->files.begin(), model->files.end());
  source.path = what;
  return source;
}

}  // namespace fovea
