// The Engine is the one thread that owns the back end and computes. Requests are tagged; a newer
// one of the same tag replaces a waiting one and stops a running one; the newest tag runs first.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "backend/backend.h"

namespace fovea {

class Engine {
 public:
  /// Runs on the engine's thread. Everything it needs it holds by value.
  using Job = std::function<void(const Backend& backend, std::stop_token stop, Progress& progress)>;
  /// One piece of a long job, some 100 ms at most; true: there is more to do. Between pieces
  /// others of higher priority have their turn.
  using Piece =
      std::function<bool(const Backend& backend, std::stop_token stop, Progress& progress)>;
  /// Called on the engine's thread with the message of an error a job threw (never for Cancelled;
  /// once for a lost device).
  using OnError = std::function<void(const std::string& tag, const std::string& message)>;

  Engine(std::unique_ptr<Backend> backend, OnError on_error);
  ~Engine();  // stops the running job and waits for it: within 200 ms
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Higher priority first; among equals the newest.
  void submit(const std::string& tag, int priority, Job job);
  /// `later`: the priority of all but the first piece; as that one when left out.
  void submit_pieces(const std::string& tag, int priority, Piece piece,
                     std::optional<int> later = {});
  void cancel(const std::string& tag);
  /// Stops the piece that runs under this tag, for others that cannot wait for its end: it is begun
  /// again when its turn comes. A piece that was stopped must leave nothing half done.
  void interrupt(const std::string& tag);
  void cancel_all();
  /// What is of lower priority is not begun within this time from now; what runs goes on.
  void hold_back(int below, std::chrono::milliseconds time);
  /// Lets go of it on the engine's thread, between jobs: freeing a long head takes milliseconds.
  void discard(std::shared_ptr<const void> thing);

  struct Status {
    bool busy = false;
    std::string tag;      // of the running job
    double fraction = 0;  // 0..1
    double seconds = 0;   // since it started; of its pieces alone
    std::size_t waiting = 0;
    bool device_lost = false;  // no job succeeds any more: make another engine
  };
  Status status() const;
  const Backend& backend() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fovea
