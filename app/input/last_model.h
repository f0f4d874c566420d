// LastModel keeps the model that was opened last, so that its files are read again only if they
// have changed.
#pragma once

#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

namespace fovea {

struct OpenOptions;
struct OpenedModel;

class LastModel {
 public:
  /// Any thread may call it. Throws what open_model_folder throws.
  std::shared_ptr<const OpenedModel> open(const std::string& folder, int threads,
                                          const std::stop_token& stop);
  void forget();

 private:
  std::mutex mutex_;
  std::shared_ptr<const OpenedModel> model_;  // null: none yet
};

/// The model of a folder, which `options.last_model` keeps if there is one.
std::shared_ptr<const OpenedModel> open_model_folder(const std::string& folder,
                                                     const OpenOptions& options);

}  // namespace fovea
