#include "input/model_input.h"

#include <algorithm>
#include <filesystem>

#include "data/error.h"
#include "input/assets.h"
#include "input/image_file.h"
#include "input/model_facts.h"
#include "input/open_source.h"
#include "input/picture_process.h"
#include "input/text_file.h"
#include "io/file_bytes.h"
#include "model/encoder_shape.h"
#include "worker/offered_model.h"
#include "worker/worker_process.h"

namespace fovea {
namespace {

/// Path, size and time of the last change.
std::string version_of(const std::string& path) {
  std::error_code unknown;
  return path + ' ' + std::to_string(std::filesystem::file_size(path, unknown)) + ' ' +
         std::to_string(std::filesystem::last_write_time(path, unknown).time_since_epoch().count());
}

}  // namespace

ModelInput read_model_input(const ModelAddress& address, bool reads_texts, bool reads_images,
                            const std::stop_token& stop) {
  const bool picture =
      reads_images && (!reads_texts || (address.input && is_picture(*address.input)));
  if (picture ? !address.input : !address.text && !address.input)
    throw UsageError(address.folder + " is a model of " + (picture ? "images" : "texts") +
                     ": say what it reads with " +
                     (picture ? "--input IMAGE" : "--text TEXT or --input FILE"));
  ModelInput out;
  if (!address.input) {
    out.text = *address.text;
    return out;
  }
  const auto file = std::make_shared<const FileBytes>(*address.input);
  out.files = {file};
  if (picture) {
    ImageFile image = read_image(*file, whole_picture, 0, stop);
    out.picture = std::move(image.picture);
    out.notes = std::move(image.notes);
  } else {
    out.text = read_whole_text(*file, stop);
  }
  return out;
}

bool is_own_model(const ModelPlace& place, const std::stop_token& stop) {
  if (is_gguf(place.path) || is_offered_model(place.path)) return false;
  const FileBytes config((std::filesystem::path(place.path) / "config.json").string());
  return describes_encoder(config.path(), config.text(stop), stop);
}

SourceFiles files_of_model(const ModelPlace& place) {
  namespace fs = std::filesystem;
  if (is_offered_model(place.path)) return {};
  std::vector<std::string> paths;
  if (is_gguf(place.path)) {
    paths.push_back(place.path);
  } else {
    std::error_code unknown;
    for (const fs::directory_entry& entry : fs::directory_iterator(place.path, unknown))
      if (const fs::path& path = entry.path();
          path.filename() == "config.json" || path.extension() == ".safetensors")
        paths.push_back(path.string());
    std::ranges::sort(paths);
  }
  SourceFiles files;
  for (const std::string& path : paths)
    files.push_back(std::make_shared<const FileBytes>(path, FileBytes::Between::close));
  return files;
}

std::shared_ptr<HostedModel> process_of_model(const ModelPlace& place) {
  if (is_offered_model(place.path))
    return hosted_model(place.path, [&] {
      return std::make_unique<HostedModel>(place.name, std::make_unique<OfferedModel>(place.path));
    });
  const WorkerStart start{.interpreter = find_interpreter(),
                          .package = python_package_directory(),
                          .program = own_program(),
                          .model = place.path,
                          .name = place.name,
                          .trust_remote_code = trusts_code_of(place.path)};
  // Files that have changed are loaded again.
  std::string key =
      start.interpreter.path + '\n' + place.path + (start.trust_remote_code ? "\ntrusted" : "");
  for (const auto& file : files_of_model(place)) key += '\n' + version_of(file->path());
  return hosted_model(key, [&] {
    return std::make_unique<HostedModel>(start.name, std::make_unique<WorkerProcess>(start));
  });
}

}  // namespace fovea
