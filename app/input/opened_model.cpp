#include "input/opened_model.h"

#include <filesystem>

#include "backend/backends.h"
#include "data/error.h"
#include "io/file_bytes.h"

namespace fovea {
namespace {

void read_tokenizer_of(OpenedModel& model, const std::stop_token& stop) {
  model.tokenizer = read_tokenizer(model.folder, stop);
  const Index words = model.encoder->shape().words;
  if (model.tokenizer->ids() > words)
    throw InputError(model.folder, "its tokenizer has " + std::to_string(model.tokenizer->ids()) +
                                       " tokens and its config.json " + std::to_string(words) +
                                       "; expected files of one model");
  const SourceFiles& files = model.tokenizer->files();
  model.files.insert(model.files.end(), files.begin(), files.end());
}

void read_image_input_of(OpenedModel& model, const std::stop_token& stop) {
  const auto file = std::make_shared<const FileBytes>(
      (std::filesystem::path(model.folder) / "preprocessor_config.json").string());
  model.image_input = parse_image_input(file->path(), file->text(stop), stop);
  model.files.push_back(file);
}

}  // namespace

bool OpenedModel::is_unchanged() const {
  try {
    for (const auto& file : files)
      file->require_same(FileBytes(file->path(), FileBytes::Between::close), "");
    return true;
  } catch (const InputError&) {  // reading it again says why
    return false;
  }
}

std::shared_ptr<const OpenedModel> open_model_folder(const std::string& folder, int threads,
                                                     const std::stop_token& stop) {
  auto model = std::make_shared<OpenedModel>();
  model->folder = folder;
  model->encoder = read_encoder(folder, stop);
  model->files = model->encoder->files();
  model->backend = make_cpu_backend({.threads = threads});
  if (model->encoder->shape().reads_images())
    read_image_input_of(*model, stop);
  else
    read_tokenizer_of(*model, stop);
  return model;
}

}  // namespace fovea
