#include "input/model_source.h"

#include <filesystem>

#include "data/error.h"
#include "data/model_address.h"
#include "input/assets.h"
#include "input/bundled_models.h"
#include "input/image_file.h"
#include "input/last_model.h"
#include "input/model_facts.h"
#include "input/model_place.h"
#include "input/opened_model.h"
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

/// What a model of texts reads; its file is added to `files`.
std::string text_of(const ModelAddress& address, SourceFiles& files, const std::stop_token& stop) {
  if (!address.input) return address.text.value_or("");
  files.push_back(std::make_shared<const FileBytes>(*address.input));
  return read_whole_text(*files.back(), stop);
}

UsageError without_input(const ModelAddress& address, bool reads_images) {
  return UsageError(address.folder + " is a model of " + (reads_images ? "images" : "texts") +
                    ": say what it reads with " +
                    (reads_images ? "--input IMAGE" : "--text TEXT or --input FILE"));
}

Source read_text(const ModelAddress& address, const OpenedModel& model, const Backend& backend,
                 Run& run) {
  if (!address.text && !address.input) throw without_input(address, false);
  SourceFiles files;
  const std::string text = text_of(address, files, run.stop);
  Source source =
      source_of_text(*model.encoder, *model.tokenizer, text, address.most_tokens, backend, run);
  source.files = std::move(files);
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
  return source;
}

bool reads_picture(const ModelAddress& address) {
  return address.input && is_picture(*address.input);
}

/// The process that computes a model: of a program that offers it, or a worker.
std::shared_ptr<HostedModel> process_of(const ModelPlace& place) {
  if (is_offered_model(place.path))
    return hosted_model(place.path, [&] {
      return std::make_unique<HostedModel>(place.name, std::make_unique<OfferedModel>(place.path));
    });
  const WorkerStart start{.interpreter = find_interpreter(),
                          .package = python_package_directory(),
                          .model = place.path,
                          .name = place.name,
                          .trust_remote_code = trusts_remote_code()};
  const std::string key =
      start.interpreter.path + '\n' + place.path + (start.trust_remote_code ? "\ntrusted" : "");
  return hosted_model(key, [&] {
    return std::make_unique<HostedModel>(start.name, std::make_unique<WorkerProcess>(start));
  });
}

Source open_hosted_model(const ModelAddress& address, const ModelPlace& place,
                         const OpenOptions& options) {
  const auto model = process_of(place);
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

Source open_own_model(const ModelAddress& address, const OpenOptions& options) {
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
  return source;
}

}  // namespace

Source open_model(const std::string& what, const OpenOptions& options) {
  ModelAddress address = parse_model_address(what);
  const ModelPlace place = find_model(address.folder);
  const std::string title = title_of(address, place.name);
  address.folder = place.path;
  Source source = is_own(place.path, options.stop) ? open_own_model(address, options)
                                                   : open_hosted_model(address, place, options);
  source.name = title;
  source.path = what;
  return source;
}

}  // namespace fovea
