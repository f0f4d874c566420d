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
#include <semaphore>
#include <stop_token>
#include <string>
#include <utility>

#include "data/source.h"
#include "worker/given_layers.h"
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
  std::optional<std::string> decoder_text = {};  // as in ModelAddress
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
  friend class HostedReading;

  struct Release {
    void operator()(std::binary_semaphore* free) const { free->release(); }
  };
  /// Nobody else may ask while it exists. It may end on another thread than it began on.
  using Turn = std::unique_ptr<std::binary_semaphore, Release>;
  Turn take_turn(const std::stop_token& stop);
  void wait_until_loaded(const std::stop_token& stop);
  /// Returns the id of the request.
  std::int64_t send(Json request, const std::vector<OutTensor>& tensors,
                    const std::stop_token& stop);
  /// The next message about a request, whose error it throws.
  WireMessage next_about(std::int64_t id, const std::stop_token& stop);
  WireMessage next(const std::stop_token& stop);
  void cancel(std::int64_t id);
  [[noreturn]] void end(const std::string& why);

  const std::string name_;
  std::binary_semaphore free_{1};  // to take a turn, in which all below may be used
  const std::unique_ptr<ModelLine> line_;
  std::optional<HostedDescription> description_;
  std::int64_t last_id_ = 0;
  std::atomic<bool> ended_ = false;
};

/// A HostedReading is what a model makes of one input, layer by layer: the first layers can be
/// looked at while the model still computes the others. One thread may use it at a time. The model
/// answers nobody else before all layers are there, or this object ends, which cancels the rest.
class HostedReading {
 public:
  /// Asks the model, which must outlive it. Throws as HostedModel::read() does.
  HostedReading(HostedModel& model, const HostedInput& input, const std::stop_token& stop = {});
  ~HostedReading();
  HostedReading(const HostedReading&) = delete;
  HostedReading& operator=(const HostedReading&) = delete;

  /// Waits for more layers. After Cancelled it can go on; after other errors it has ended, and the
  /// layers that were there before stay. Throws as HostedModel::read() does.
  void advance(const std::stop_token& stop = {},
               const std::function<void(double share)>& reached = {});
  /// Whether all layers are there. Only then is it known that none was missed.
  bool is_complete() const { return layers_.complete(); }
  Index expected() const { return layers_.expected(); }
  Source source(const std::stop_token& stop = {}) const { return layers_.source(stop); }

 private:
  HostedModel& model_;
  HostedModel::Turn turn_;  // null once it has ended
  std::int64_t id_ = 0;
  GivenLayers layers_;
};

/// The model kept for this key, or a new one from `connect` if there is none or it has ended. Only
/// one is kept: asking for another key ends its process once nobody uses it.
std::shared_ptr<HostedModel> hosted_model(
    const std::string& key, const std::function<std::unique_ptr<HostedModel>()>& connect);

/// Ends the process of the kept model once nobody uses it.
void forget_hosted_model();

}  // namespace fovea
