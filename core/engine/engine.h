// The Engine is the one thread that owns the back end and computes. Every request has an identity:
// a newer one of the same identity replaces a waiting one and stops a running one.
#pragma once

#include <chrono>
#include <compare>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>

#include "backend/backend.h"

namespace fovea {

/// The identity of a request: its kind, from an enumeration of the Engine's user, and which one if
/// there are several of that kind.
struct RequestId {
  int kind = 0;
  int row = 0, column = 0;

  RequestId() = default;
  template <class Kind>
  requires std::is_enum_v<Kind>
  constexpr RequestId(Kind its_kind, int its_row = 0, int its_column = 0)
      : kind(static_cast<int>(its_kind)), row(its_row), column(its_column) {}

  template <class Kind>
  bool is_of(Kind its_kind) const {
    return kind == static_cast<int>(its_kind);
  }
  friend auto operator<=>(const RequestId&, const RequestId&) = default;
};

class Engine {
 public:
  /// The work of a request, all of it on the engine's thread. It must hold everything it needs by
  /// value.
  struct Job {
    /// One piece, some 100 ms at most; returns true while there is more to do. Requests of higher
    /// priority run between pieces.
    std::function<bool(const Backend& backend, std::stop_token stop, Progress& progress)> piece;
    /// Called when the job has ended by itself, with the message of the error that a piece threw,
    /// or with an empty text. Not called if the job was stopped or the device is lost. Called again
    /// if it throws std::bad_alloc: the part that was done must do no harm the second time.
    std::function<void(const std::string& error)> on_end = {};
    /// The priority of all but the first piece; without a value that of the first.
    std::optional<int> later = {};
  };

  /// `on_device_lost` is called on the engine's thread, once, and again if it throws
  /// std::bad_alloc; `on_start` runs there first.
  Engine(std::unique_ptr<Backend> backend,
         std::function<void(const std::string& message)> on_device_lost,
         std::function<void()> on_start = {});
  ~Engine();  // stops the running piece and waits for its end
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Higher priorities run first; among equals the newest. If it throws std::bad_alloc nothing has
  /// changed.
  void submit(const RequestId& id, int priority, Job job);
  void cancel(const RequestId& id);
  /// Gives a request that waits another priority; its place among equals stays.
  void set_priority(const RequestId& id, int priority);
  /// Stops the running piece of this request for others that cannot wait for its end. The piece
  /// starts again when its turn comes, so a stopped piece must leave nothing half done.
  void interrupt(const RequestId& id);
  void cancel_all();
  /// Why requests of low priority wait: the view moves, or a result has just arrived and may lead
  /// to requests of higher priority.
  enum class Hold : int { moving_view, ended_request };
  /// Starts no request with a priority below `below` for this time. Replaces an earlier hold for
  /// the same reason; 0 ms lifts it. A running piece goes on.
  void hold_back(Hold why, int below, std::chrono::milliseconds time);
  /// Frees `thing` on the engine's thread, between jobs: freeing a long head takes milliseconds.
  void discard(std::shared_ptr<const void> thing);

  struct Status {
    std::optional<RequestId> running;  // nullopt: the engine is idle
    double fraction = 0;               // of the running request, 0..1
    double seconds = 0;                // that it has run, all its pieces together
    std::size_t waiting = 0;
    bool device_lost = false;  // no job succeeds any more: make another engine

    bool busy() const { return running.has_value(); }
    template <class Kind>
    bool runs(Kind kind) const {
      return running && running->is_of(kind);
    }
    /// Seconds left of the running request. 0 if it is too early to say.
    double seconds_left() const {
      if (!busy() || fraction < 0.02 || seconds < 0.5) return 0;
      return seconds * (1 - fraction) / fraction;
    }
  };
  Status status() const;
  const Backend& backend() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fovea
