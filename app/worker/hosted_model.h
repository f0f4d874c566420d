// A HostedModel is a model that another process computes: a worker that Fovea starts. It is asked
// for the heads of a text or of a picture. The process answers one request after the other; any
// thread may ask.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "data/source.h"
#include "worker/worker_process.h"

namespace fovea {

/// What a process says of its model.
struct HostedDescription {
  std::string name, architecture, computed_by;
  bool reads_texts = false, reads_images = false;
};

/// What a model is asked to read: a text or a picture.
struct HostedInput {
  std::string text;
  std::shared_ptr<const Picture> picture;  // null: the text
  Index most_tokens = 0;
};

class HostedModel {
 public:
  /// Starts the process, which then loads the model.
  explicit HostedModel(const WorkerStart& start) : start_(start), process_(start) {}

  /// Waits until the model is loaded. Throws UnavailableError, with what to install or do, where it
  /// cannot be, and Cancelled, which does not end the loading.
  const HostedDescription& description(const std::stop_token& stop = {});

  /// The heads of all layers while the model reads, with their tokens or patches. `reached` is
  /// called with the share of the model that has run. Throws InputError for what it cannot read;
  /// UnavailableError when the process has ended; Cancelled, after which it can be asked again.
  Source read(const HostedInput& input, const std::stop_token& stop = {},
              const std::function<void(double share)>& reached = {});

  /// Whether the process has ended, or talked nonsense: another one must be started.
  bool has_ended() const { return ended_; }
  const WorkerStart& start() const { return start_; }

 private:
  using Lock = std::unique_lock<std::timed_mutex>;
  Lock lock(const std::stop_token& stop);
  void wait_until_loaded(const std::stop_token& stop);
  WireMessage next(const std::stop_token& stop);
  [[noreturn]] void end(const std::string& why);

  const WorkerStart start_;
  std::timed_mutex mutex_;  // of all below
  WorkerProcess process_;
  std::optional<HostedDescription> description_;
  std::int64_t last_id_ = 0;
  std::atomic<bool> ended_ = false;
};

/// The process of this model that runs, or a new one. One runs at a time: that of another model
/// ends, once nobody asks it any more.
std::shared_ptr<HostedModel> hosted_model(const WorkerStart& start);

}  // namespace fovea
