// Requests ask an Engine for results: what is known or already requested is not requested again,
// and what a person looks at goes before work in the background. Results arrive on the thread of
// the application, which never waits for them.
#pragma once

#include <QObject>
#include <QTimer>
#include <algorithm>
#include <any>
#include <functional>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "study/background.h"
#include "study/request_kinds.h"

namespace fovea {

class AnyCache;

/// What a person looks at: the selected column, and the rows and columns of the canvas in sight.
struct Attended {
  int selected_column = -1;
  IndexRange rows{0, std::numeric_limits<Index>::max()}, columns = rows;
  friend bool operator==(const Attended&, const Attended&) = default;
};

/// ", 12 s left" of the running request; empty if too early to say, or it ends soon.
std::string time_left_text(const Engine::Status& status);

class Requests : public QObject {
  Q_OBJECT

 public:
  /// One piece of work on the engine's thread; returns true while there is more to do. It must hold
  /// everything it needs by value.
  using Step = std::function<bool(const Backend& backend, Run& run)>;
  /// Called on the application's thread when a request has ended by itself, with the message of its
  /// error; empty if none. Not called for a request that was cancelled, even if it had just ended.
  using Done = std::function<void(const std::string& error)>;

  Requests(std::unique_ptr<Backend> backend, std::shared_ptr<Background> background);
  ~Requests() override;

  const Backend& backend() const { return engine_->backend(); }
  Engine::Status status() const { return engine_->status(); }
  /// Another one after each use_backend().
  int engine_number() const { return engine_number_; }
  /// Every request is lost. The old engine ends in the background.
  void use_backend(std::unique_ptr<Backend> backend);

  /// An update requests all that is missing: what is still needed is asked for again, or named by
  /// need(). end_update() cancels the rest of what earlier updates requested. What the table of
  /// kinds calls `apart` (opening, hashes, sweeps, trials, learning, validation, timings) is
  /// requested apart from updates, and no update ends it.
  void begin_update() { needed_.clear(); }
  void need(const RequestId& id) { needed_.insert(id); }
  void end_update();

  /// Requests work in pieces, unless this key is already requested under this identity. `later`:
  /// the priority of all but the first piece. While paused nothing of an update is started.
  template <class Key>
  void start_pieces(const RequestId& id, const Key& key, Step step, Done done,
                    std::optional<int> later = {}) {
    need(id);
    if (!is_pending(id, key) && may_start(id))
      submit(id, key, std::move(step), std::move(done), later);
  }

  /// The same in one piece: `make(backend, run)` returns a result. `take(result, error)` gets it as
  /// an optional, which is empty after an error.
  template <class Key, class Make, class Take>
  void start(const RequestId& id, const Key& key, Make make, Take take) {
    const auto result =
        std::make_shared<std::optional<std::invoke_result_t<Make, const Backend&, Run&>>>();
    start_pieces(
        id, key,
        [result, make = std::move(make)](const Backend& backend, Run& run) {
          result->emplace(make(backend, run));
          return false;
        },
        [result, take = std::move(take)](const std::string& error) { take(*result, error); });
  }

  bool is_pending(const RequestId& id) const { return pending_.contains(id); }
  template <class Key>
  bool is_pending(const RequestId& id, const Key& key) const {
    const auto it = pending_.find(id);
    const Key* pending = it == pending_.end() ? nullptr : std::any_cast<Key>(&it->second.key);
    return pending && *pending == key;
  }
  bool any_pending(std::initializer_list<RequestKind> kinds) const;
  /// What waits gets its priority by this from now on.
  void attend(const Attended& attended);
  /// A running piece of minutes of work stops for what is requested next.
  void interrupt_long_work();
  void cancel(const RequestId& id);
  void cancel_all();

  /// Cancels everything; nothing of an update is started until resume().
  void pause();
  /// What has failed can be requested again.
  void resume();
  bool paused() const { return paused_; }

  /// Drops every cached result.
  void clear_caches();
  /// While the view moves the cores are for what is seen, and for drawing it.
  void hold_back_for_view();
  /// Frees it on the engine's thread: that of a long head takes milliseconds.
  void discard(std::shared_ptr<const void> thing) { engine_->discard(std::move(thing)); }
  /// Runs `deliver` on the application's thread, from the engine's; not after use_backend() or the
  /// end of this object.
  using Post = std::function<void(std::function<void()> deliver)>;
  Post poster();

 signals:
  /// Something that an update requested has ended, or a part of it is there. `ask_again`: a newer
  /// key waits to be requested, or pictures can be made of what has ended and the engine has
  /// nothing more urgent to do until they are requested.
  void arrived(bool ask_again);
  void device_lost(const QString& message);

 private:
  int engine_number_ = 0;
  friend AnyCache;
  template <class Key, class Result>
  friend class ResultCache;

  struct Pending {
    std::any key;
    std::uint64_t number = 0;
    // Shared with the requests of this id that it replaced: cancelling it silences those, too.
    std::shared_ptr<bool> cancelled = std::make_shared<bool>(false);
  };

  void start_engine(std::unique_ptr<Backend> backend);
  void end_engine();
  bool may_start(const RequestId& id) const;
  int priority_of(const RequestId& id) const;
  void submit(const RequestId& id, std::any key, Step step, Done done, std::optional<int> later);
  void finish(const RequestId& id, std::uint64_t number, const Done& done,
              const std::string& error);
  bool lets_older_finish(const RequestId& id);
  void make_way_for(const RequestId& id);
  /// Whether running work is cancelled for a request.
  bool makes_way(const RequestId& running, const RequestId& id) const;
  /// Background work that runs is cancelled, or gets the rest of yield_seconds to end by itself.
  void end_background_work_soon(const RequestId& running, double seconds);
  /// Whether there is work of the priority of metrics or a higher one.
  bool has_urgent_work() const;

  std::shared_ptr<Background> background_;
  std::set<AnyCache*> caches_;
  std::map<RequestId, Pending> pending_;
  std::set<RequestId> needed_;  // in this update
  Attended attended_;
  std::uint64_t submitted_ = 0;
  std::uint64_t updates_ = 0;  // that have ended
  bool paused_ = false, ask_again_ = false;
  bool input_ended_ = false;          // since the last update
  QTimer yield_timer_;                // until background work that had just begun makes way
  std::shared_ptr<const int> alive_;  // what an older engine still delivers is dropped
  std::shared_ptr<Engine> engine_;
};

/// What Requests do with every ResultCache.
class AnyCache {
 public:
  explicit AnyCache(Requests& requests) : requests_(requests) { requests_.caches_.insert(this); }
  virtual ~AnyCache() { requests_.caches_.erase(this); }
  AnyCache(const AnyCache&) = delete;
  AnyCache& operator=(const AnyCache&) = delete;

  virtual void clear() = 0;
  /// Results stay; what failed can be requested again.
  virtual void forget_errors() = 0;

 protected:
  Requests& requests_;
};

/// A ResultCache keeps the results of one kind of request, each under its key, the struct of
/// everything it depends on, and asks for those that are missing. Beyond its capacity the least
/// recently used are dropped, but none that was used since the last update began: however much a
/// person looks at, nothing of it is computed again and again. A result may also be an error. It
/// must end before its Requests.
template <class Key, class Result>
class ResultCache : public AnyCache {
 public:
  struct Answer {
    Key key;
    std::shared_ptr<Result> result;  // null: `error` says why
    std::string error = {};
    RequestId id = {};          // by which it was last asked for
    std::uint64_t updates = 0;  // that had ended when it was last used
  };

  ResultCache(Requests& requests, std::size_t capacity) : AnyCache(requests), capacity_(capacity) {}

  /// The answer, or nullptr: then `make` is requested, unless this key already is.
  /// `make(backend, run)` returns a Result. It is kept also if another key has been requested in
  /// the meantime.
  template <class Make>
  const Answer* ask(const RequestId& id, const Key& key, Make make);

  void set_capacity(std::size_t capacity) {
    capacity_ = capacity;
    drop_unused();
  }
  /// nullptr: not known. Valid until the next change of the cache.
  Answer* find(const Key& key) {
    const auto it = std::ranges::find(answers_, key, &Answer::key);
    if (it == answers_.end()) return nullptr;
    answers_.splice(answers_.begin(), answers_, it);
    answers_.front().updates = requests_.updates_;
    return &answers_.front();
  }
  std::shared_ptr<Result> result(const Key& key) {
    const Answer* answer = find(key);
    return answer ? answer->result : nullptr;
  }
  const std::list<Answer>& answers() const { return answers_; }  // the last used first
  Answer& put(Answer answer) {
    std::erase_if(answers_, [&](const Answer& old) { return old.key == answer.key; });
    answers_.push_front(std::move(answer));
    answers_.front().updates = requests_.updates_;
    drop_unused();
    return answers_.front();
  }

  void clear() override {
    while (!answers_.empty()) drop_last();
  }
  void forget_errors() override {
    std::erase_if(answers_, [](const Answer& answer) { return !answer.result; });
    for (Answer& answer : answers_) answer.error.clear();
  }

 private:
  void drop_unused() {
    while (answers_.size() > capacity_ && answers_.back().updates + 1 < requests_.updates_)
      drop_last();
  }
  void drop_last() {
    if (answers_.back().result) requests_.discard(std::move(answers_.back().result));
    answers_.pop_back();
  }

  std::size_t capacity_;
  std::list<Answer> answers_;
};

template <class Key, class Result>
template <class Make>
auto ResultCache<Key, Result>::ask(const RequestId& id, const Key& key, Make make)
    -> const Answer* {
  requests_.need(id);
  if (Answer* answer = find(key)) {
    answer->id = id;
    return answer;
  }
  if (requests_.is_pending(id, key) || !requests_.may_start(id)) return nullptr;
  if (requests_.lets_older_finish(id)) return nullptr;
  requests_.make_way_for(id);
  requests_.start(
      id, key,
      [make = std::move(make)](const Backend& backend, Run& run) {
        return std::make_shared<Result>(make(backend, run));
      },
      [this, id, key](const auto& result, const std::string& error) {
        put({key, result.value_or(nullptr), error, id});
      });
  return nullptr;
}

}  // namespace fovea
