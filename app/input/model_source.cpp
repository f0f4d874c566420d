#include "input/model_source.h"

#include <filesystem>

#include "data/error.h"
#include "data/model_address.h"
#include "data/utf8.h"
#include "input/assets.h"
#include "input/bundled_models.h"
#include "input/image_file.h"
#include "input/picture_process.h"
#include "input/text_file.h"
#include "io/file_bytes.h"
#include "model/encoded_source.h"
#include "model/encoder_shape.h"
#include "worker/hosted_model.h"
#include "worker/offered_model.h"
#include "worker/worker_process.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

/// "cat.jpg" of a path, "all-MiniLM-L6-v2" of a folder.
std::string name_of(const std::string& path_or_folder) {
  fs::path path = fs::path(path_or_folder).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return printable(path.filename().string());
}

/// Of the model, for titles. That of a program has a number behind it.
std::string name_of(const ModelAddress& address) {
  if (!is_offered_model(address.folder)) return name_of(address.folder);
  const std::string name = address.folder.substr(offered_prefix.size());
  return printable(name.substr(0, name.rfind('.')));
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

/// What a model of texts reads; its file is added to `files`.
std::string text_of(const ModelAddress& address, SourceFiles& files, const std::stop_token& stop) {
  if (!address.input) return address.text.value_or("");
  files.push_back(std::make_shared<const FileBytes>(*address.input));
  return read_whole_text(*files.back(), stop);
}

std::string title_of(const ModelAddress& address, std::string_view text) {
  return name_of(address) + ": " +
         (address.input ? name_of(*address.input) : "“" + beginning_of(text) + "”");
}

UsageError without_input(const ModelAddress& address, bool reads_images) {
  return UsageError(address.folder + " is a model of " + (reads_images ? "images" : "texts") +
                    ": say what it reads with " +
                    (reads_images ? "--input IMAGE" : "--text TEXT or --input FILE"));
}

Source open_text_model(const ModelAddress& address, const Encoder& encoder, const Backend& backend,
                       Run& run) {
  if (!address.text && !address.input) throw without_input(address, false);
  const auto tokenizer = read_tokenizer(address.folder, run.stop);
  if (tokenizer->ids() > encoder.shape().words)
    throw InputError(address.folder, "its tokenizer has " + std::to_string(tokenizer->ids()) +
                                         " tokens and its config.json " +
                                         std::to_string(encoder.shape().words) +
                                         "; expected files of one model");
  SourceFiles files;
  const std::string text = text_of(address, files, run.stop);
  Source source = source_of_text(encoder, *tokenizer, text, address.most_tokens, backend, run);
  source.files.insert(source.files.begin(), files.begin(), files.end());
  source.name = title_of(address, text);
  return source;
}

Source open_image_model(const ModelAddress& address, const Encoder& encoder, const Backend& backend,
                        Run& run) {
  if (!address.input) throw without_input(address, true);
  const ImageInput input = read_image_input(address.folder, run.stop);
  const auto file = std::make_shared<const FileBytes>(*address.input);
  ImageFile image = read_image(*file, whole_picture, 0, run.stop);
  Source source = source_of_image(encoder, input, *image.picture, backend, run);
  source.notes.insert(source.notes.end(), image.notes.begin(), image.notes.end());
  source.files.insert(source.files.begin(), file);
  source.name = title_of(address, {});
  return source;
}

bool reads_picture(const ModelAddress& address) {
  return address.input && is_picture(*address.input);
}

bool is_gguf(const std::string& path) {
  return path.ends_with(".gguf");
}

/// The process that computes a model: of a program that offers it, or a worker.
std::shared_ptr<HostedModel> process_of(const ModelAddress& address) {
  const std::string& model = address.folder;
  if (is_offered_model(model))
    return hosted_model(model, [&] {
      return std::make_unique<HostedModel>(name_of(address), std::make_unique<OfferedModel>(model));
    });
  const WorkerStart start{.interpreter = find_interpreter(),
                          .package = python_package_directory(),
                          .model = model,
                          .name = name_of(address),
                          .trust_remote_code = trusts_remote_code()};
  const std::string key =
      start.interpreter.path + '\n' + model + (start.trust_remote_code ? "\ntrusted" : "");
  return hosted_model(key, [&] {
    return std::make_unique<HostedModel>(start.name, std::make_unique<WorkerProcess>(start));
  });
}

Source open_hosted_model(const ModelAddress& address, const OpenOptions& options) {
  const auto model = process_of(address);
  const HostedDescription& its = model->description(options.stop);
  const bool reads_image = its.reads_images && (!its.reads_texts || reads_picture(address));
  if (reads_image ? !address.input : !address.text && !address.input)
    throw without_input(address, reads_image);
  HostedInput input{.most_tokens = address.most_tokens};
  SourceFiles files;
  std::vector<std::string> notes;
  if (reads_image) {
    files.push_back(std::make_shared<const FileBytes>(*address.input));
    ImageFile image = read_image(*files.back(), whole_picture, 0, options.stop);
    input.picture = image.picture;
    notes = image.notes;
  } else {
    input.text = text_of(address, files, options.stop);
  }
  Source source = model->read(input, options.stop, options.reached);
  source.name = title_of(address, input.text);
  source.files = std::move(files);
  source.notes.insert(source.notes.end(), notes.begin(), notes.end());
  source.metadata["computed by"] = its.computed_by;
  return source;
}

/// Whether Fovea's own encoder computes the model.
bool is_own(const std::string& folder, const std::stop_token& stop) {
  if (is_gguf(folder) || is_offered_model(folder)) return false;
  const FileBytes config((fs::path(folder) / "config.json").string());
  return describes_encoder(config.path(), config.text(stop), stop);
}

}  // namespace

bool is_model_folder(const std::string& path) {
  std::error_code unknown;
  return fs::is_directory(path, unknown) && fs::exists(fs::path(path) / "config.json", unknown);
}

Source open_model(const std::string& what, const OpenOptions& options) {
  ModelAddress address = parse_model_address(what);
  address.folder = folder_of_model(address.folder);
  if (!is_model_folder(address.folder) && !is_gguf(address.folder) &&
      !is_offered_model(address.folder))
    throw InputError(address.folder,
                     "is no model; expected a folder with config.json and model.safetensors, as "
                     "Hugging Face's libraries write it");
  if (!is_own(address.folder, options.stop)) {
    Source source = open_hosted_model(address, options);
    source.path = what;
    return source;
  }
  const auto encoder = read_encoder(address.folder, options.stop);
  const auto backend = make_cpu_backend();
  Profile profile;
  Run run{profile, options.stop};
  Source source = encoder->shape().reads_images()
                      ? open_image_model(address, *encoder, *backend, run)
                      : open_text_model(address, *encoder, *backend, run);
  source.path = what;
  return source;
}

}  // namespace fovea
