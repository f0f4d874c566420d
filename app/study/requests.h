// Requests ask an Engine for results: what is known or already requested is not requested again,
// and what a person looks at goes before work in the background. Results arrive on the thread of
// the application, which never waits for them.
#pragma once

#include <QObject>
#include <any>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "study/background.h"
#include "study/request.h"
#include "study/result_cache.h"

namespace fovea {

struct CanvasCell;

class Requests : public QObject {
  Q_OBJECT

 public:
  /// One piece of work on the engine's thread; returns true while there is more to do. It must hold
  /// everything it needs by value.
  using Step = std::function<bool(const Backend& backend, Run& run)>;
  /// Called on the application's thread when a request has ended by itself, with the message of its
  /// error; empty: none. Not called for a request that was cancelled.
  using Done = std::function<void(const std::string& error)>;

  Requests(std::unique_ptr<Backend> backend, std::shared_ptr<Background> background);
  ~Requests() override;

  const Backend& backend() const { return engine_->backend(); }
  Engine::Status status() const { return engine_->status(); }
  /// Every request is lost. The old engine ends in the background.
  void use_backend(std::unique_ptr<Backend> backend);

  /// Between begin_round() and end_round() everything that is still wanted is requested again or
  /// named by want(); end_round() cancels the rest of what was requested in earlier rounds.
  void begin_round() { wanted_.clear(); }
  void want(const RequestId& id) { wanted_.insert(id); }
  void end_round();

  /// The cached answer, or nullptr: then `make` is requested, unless this key already is.
  /// `make(backend, run)` returns a Result. `on_arrival` is called when it has been cached, also if
  /// another key has been requested in the meantime.
  template <class Key, class Result, class Make>
  const typename ResultCache<Key, Result>::Answer* ask(ResultCache<Key, Result>& cache,
                                                       const RequestId& id, const Key& key,
                                                       Make make,
                                                       std::function<void()> on_arrival = {});

  /// Requests work in pieces, unless this key is already requested under this identity. `later`:
  /// the priority of all but the first piece. While paused nothing is started that was wanted in
  /// this round.
  template <class Key>
  void start(const RequestId& id, const Key& key, Step step, Done done,
             std::optional<int> later = {}) {
    if (is_pending(id, key) || (paused_ && wanted_.contains(id))) return;
    submit(id, key, std::move(step), std::move(done), later);
  }

  bool is_pending(const RequestId& id) const { return pending_.contains(id); }
  template <class Key>
  bool is_pending(const RequestId& id, const Key& key) const {
    const auto it = pending_.find(id);
    const Key* pending = it == pending_.end() ? nullptr : std::any_cast<Key>(&it->second.key);
    return pending && *pending == key;
  }
  bool any_pending(RequestKind kind) const;
  /// The running piece of minutes of work stops for what is requested next.
  void interrupt_long_work();
  void cancel(const RequestId& id);
  void cancel_all();

  /// Cancels everything; nothing of a round is requested until resume().
  void pause();
  void resume() { paused_ = false; }
  bool paused() const { return paused_; }

  void hold_back(int below, std::chrono::milliseconds time) { engine_->hold_back(below, time); }
  void discard(std::shared_ptr<const void> thing) { engine_->discard(std::move(thing)); }
  /// Runs `deliver` on the application's thread, from the engine's; not after use_backend() or the
  /// end of this object.
  using Post = std::function<void(std::function<void()> deliver)>;
  Post poster();
  /// An older key was left to finish: ask again when it has arrived. Reading it resets it.
  bool take_asks_again() { return std::exchange(asks_again_, false); }

 signals:
  /// Something that was wanted in a round has ended.
  void arrived();
  void device_lost(const QString& message);
  /// An error that no request could report itself.
  void failed(const QString& message);

 private:
  struct Pending {
    std::any key;
    std::uint64_t number = 0;
    bool of_round = false;
  };

  void start_engine(std::unique_ptr<Backend> backend);
  void end_engine();
  void submit(const RequestId& id, std::any key, Step step, Done done, std::optional<int> later);
  void finish(const RequestId& id, std::uint64_t number, bool of_round, const Done& done,
              const std::string& error);
  /// Whether to leave the running request of an older key to finish; else makes room for a new one.
  bool leave_running(const RequestId& id);

  std::shared_ptr<Background> background_;
  std::map<RequestId, Pending> pending_;
  std::set<RequestId> wanted_;  // in this round
  std::uint64_t submitted_ = 0;
  bool paused_ = false, asks_again_ = false;
  std::shared_ptr<const int> alive_;  // what an older engine still delivers is dropped
  std::shared_ptr<Engine> engine_;
};

/// Says in the cell how far the request is that it waits for.
void show_waiting(const Requests& requests, const RequestId& id, CanvasCell& cell);
/// ", 12 s left" of a running request.
std::string time_left_text(const Requests& requests, const RequestId& id);

template <class Key, class Result, class Make>
const typename ResultCache<Key, Result>::Answer* Requests::ask(ResultCache<Key, Result>& cache,
                                                               const RequestId& id, const Key& key,
                                                               Make make,
                                                               std::function<void()> on_arrival) {
  want(id);
  if (const auto* answer = cache.find(key)) return answer;
  if (paused_ || is_pending(id, key) || leave_running(id)) return nullptr;
  const auto result = std::make_shared<std::shared_ptr<const Result>>();
  submit(
      id, key,
      [result, make = std::move(make)](const Backend& backend, Run& run) {
        *result = std::make_shared<const Result>(make(backend, run));
        return false;
      },
      [&cache, key, result, on_arrival = std::move(on_arrival)](const std::string& error) {
        cache.put(key, {*result, error});
        if (*result && on_arrival) on_arrival();
      },
      {});
  return nullptr;
}

}  // namespace fovea
