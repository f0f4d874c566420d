#include "input/last_model.h"

#include "input/open_source.h"
#include "input/opened_model.h"

namespace fovea {

std::shared_ptr<const OpenedModel> LastModel::open(const std::string& folder, int threads,
                                                   const std::stop_token& stop) {
  std::shared_ptr<const OpenedModel> model;
  {
    const std::scoped_lock lock(mutex_);
    model = model_;
  }
  if (model && model->folder == folder && model->is_unchanged()) return model;
  model.reset();
  forget();  // two models at once may not fit into memory
  model = open_model_folder(folder, threads, stop);
  const std::scoped_lock lock(mutex_);
  return model_ = model;
}

void LastModel::forget() {
  const std::scoped_lock lock(mutex_);
  model_.reset();
}

std::shared_ptr<const OpenedModel> open_model_folder(const std::string& folder,
                                                     const OpenOptions& options) {
  return options.last_model ? options.last_model->open(folder, options.threads, options.stop)
                            : open_model_folder(folder, options.threads, options.stop);
}

}  // namespace fovea
