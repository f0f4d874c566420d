// A HostedModel is a model that another process computes: a worker that Fovea starts
// (WorkerProcess), or a program of the user (OfferedModel). It is asked for the heads of a text or
// of a picture. The process answers one request after the other; any thread may ask.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "data/source.h"
#include "worker/model_line.h"

namespace fovea {

/// The description that a process gives of its model.
struct HostedDescription {
  std::string architecture, computed_by;
  bool reads_texts = false, reads_images = false;
  Index layers = 0, heads = 0;  // 0 if it does not say
};

/// What a model is asked to read: a text or a picture.
struct HostedInput {
  std::string text;
  std::shared_ptr<const Picture> picture;  // null if it is a text
  Index most_tokens = 0;
};

class HostedModel {
 public:
  /// Messages call the model `name`.
  HostedModel(std::string name, std::unique_ptr<ModelLine> line)
      : name_(std::move(name)), line_(std::move(line)) {}

  /// Waits until the model is loaded. Throws UnavailableError, which says what to install or do, if
  /// the model cannot be loaded; Cancelled, after which loading goes on.
  const HostedDescription& description(const std::stop_token& stop = {});

  /// The heads of all layers while the model reads, with their tokens or patches. `reached` is
  /// called with the share of the model that has run. Throws InputError for what it cannot read;
  /// UnavailableError when the process has ended; Cancelled, after which it can be asked again.
  Source read(const HostedInput& input, const std::stop_token& stop = {},
              const std::function<void(double share)>& reached = {});

  /// Sends a request, which gets an id, and returns its last answer. Throws as read() does.
  WireMessage ask(Json request, const std::vector<OutTensor>& tensors = {},
                  const std::stop_token& stop = {},
                  const std::function<void(double share)>& reached = {});

  /// Whether the process has ended or sent nonsense, so that another one must be started.
  bool has_ended() const { return ended_; }

 private:
  using Lock = std::unique_lock<std::timed_mutex>;
  Lock lock(const std::stop_token& stop);
  void wait_until_loaded(const std::stop_token& stop);
  WireMessage next(const std::stop_token& stop);
  void cancel(std::int64_t id);
  [[noreturn]] void end(const std::string& why);

  const std::string name_;
  std::timed_mutex mutex_;  // of all below
  const std::unique_ptr<ModelLine> line_;
  std::optional<HostedDescription> description_;
  std::int64_t last_id_ = 0;
  std::atomic<bool> ended_ = false;
};

/// The model kept for this key, or a new one from `connect` if there is none or it has ended. Only
/// one is kept: asking for another key ends its process once nobody uses it.
std::shared_ptr<HostedModel> hosted_model(
    const std::string& key, const std::function<std::unique_ptr<HostedModel>()>& connect);

/// Ends the process of the kept model once nobody uses it.
void forget_hosted_model();

}  // namespace fovea
