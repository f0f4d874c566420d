#include "engine/engine.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace fovea {
namespace {

using Clock = std::chrono::steady_clock;

struct Request {
  std::string tag;
  int priority = 0, later = 0;
  std::uint64_t number = 0;
  Engine::Piece piece;
  std::shared_ptr<Progress> progress = std::make_shared<Progress>();
  Clock::duration before{};  // of its pieces that are done
};

}  // namespace

struct Engine::Impl {
  std::unique_ptr<Backend> backend;
  OnError on_error;
  mutable std::mutex mutex;
  std::condition_variable_any wake;
  std::vector<Request> waiting;
  // Not wanted any more. What jobs hold may be large: the engine's thread frees it, without lock.
  std::vector<Request> dropped;
  std::vector<std::shared_ptr<const void>> discarded;
  std::uint64_t submitted = 0;
  bool busy = false, device_lost = false;
  bool interrupted = false;  // what runs was stopped, to be done again
  int held_below = 0;        // until held_until
  Clock::time_point held_until{};
  std::string running_tag;
  std::stop_source running_stop{std::nostopstate};
  Clock::time_point started;
  std::shared_ptr<Progress> progress = std::make_shared<Progress>();
  std::jthread thread;  // last: ends before what it uses

  void drop_waiting(const std::string& tag) {
    for (Request& request : waiting)
      if (request.tag == tag) dropped.push_back(std::move(request));
    std::erase_if(waiting, [](const Request& r) { return !r.piece; });
  }

  bool has_rubbish() const { return !dropped.empty() || !discarded.empty(); }

  void free_rubbish(std::unique_lock<std::mutex>& lock) {
    while (has_rubbish()) {
      auto old_jobs = std::exchange(dropped, {});
      auto old_things = std::exchange(discarded, {});
      lock.unlock();
      old_jobs.clear();
      old_things.clear();
      lock.lock();
    }
  }

  Request take_first() {
    auto best = waiting.begin();
    for (auto it = waiting.begin(); it != waiting.end(); ++it)
      if (std::pair(it->priority, it->number) > std::pair(best->priority, best->number)) best = it;
    Request request = std::move(*best);
    waiting.erase(best);
    return request;
  }

  bool has_work() const {
    if (Clock::now() >= held_until) return !waiting.empty();
    return std::ranges::any_of(waiting, [&](const Request& r) { return r.priority >= held_below; });
  }

  /// False: the engine ends.
  bool wait_for_work(std::unique_lock<std::mutex>& lock, const std::stop_token& quit) {
    const auto is_there = [this] { return has_work() || has_rubbish(); };
    while (!quit.stop_requested() && !is_there()) {
      if (waiting.empty())
        wake.wait(lock, quit, [&] { return is_there() || !waiting.empty(); });
      else  // what waits is held back
        wake.wait_until(lock, quit, held_until, is_there);
    }
    return !quit.stop_requested();
  }

  void work(std::stop_token quit) {
    std::unique_lock lock(mutex);
    while (wait_for_work(lock, quit)) {
      free_rubbish(lock);
      if (!has_work()) continue;
      Request request = take_first();
      busy = true;
      running_tag = request.tag;
      running_stop = std::stop_source();
      interrupted = false;
      progress = request.progress;
      started = Clock::now() - request.before;
      const std::stop_callback forward(quit,
                                       [stop = running_stop]() mutable { stop.request_stop(); });
      const auto stop = running_stop.get_token();
      lock.unlock();
      const End end = run(request, stop);
      if (end == End::done) request = {};  // what it held goes before anyone waits for the lock
      lock.lock();
      busy = false;
      running_tag.clear();
      if (end == End::done) continue;
      request.before = Clock::now() - started;
      if (end == End::more) request.priority = request.later;
      // Cancelled since, or another has taken its place.
      const bool goes_on = interrupted || (end == End::more && !stop.stop_requested());
      (goes_on ? waiting : dropped).push_back(std::move(request));
    }
  }

  // Of a piece.
  enum class End { done, more, stopped };

  End run(const Request& request, const std::stop_token& stop) {
    try {
      return request.piece(*backend, stop, *request.progress) ? End::more : End::done;
    } catch (const Cancelled&) {
      return End::stopped;
    } catch (const DeviceLostError& error) {
      const bool known = [this] {
        const std::scoped_lock lock(mutex);
        return std::exchange(device_lost, true);  // before anyone hears of it
      }();
      if (!known) on_error(request.tag, error.what());
    } catch (const std::bad_alloc&) {
      on_error(request.tag, "not enough memory");
    } catch (const std::exception& error) {
      on_error(request.tag, error.what());
    }
    return End::done;
  }

  void stop_running(const std::string& tag, bool to_go_on) {
    if (!busy || running_tag != tag) return;
    if (to_go_on && running_stop.stop_requested()) return;  // it was cancelled
    interrupted = to_go_on;
    running_stop.request_stop();
  }
};

Engine::Engine(std::unique_ptr<Backend> backend, OnError on_error)
    : impl_(std::make_unique<Impl>()) {
  impl_->backend = std::move(backend);
  impl_->on_error = std::move(on_error);
  impl_->thread = std::jthread([impl = impl_.get()](std::stop_token quit) { impl->work(quit); });
}

Engine::~Engine() {
  cancel_all();
  impl_->thread.request_stop();
  impl_->thread.join();
}

void Engine::submit(const std::string& tag, int priority, Job job) {
  submit_pieces(
      tag, priority,
      [job = std::move(job)](const Backend& backend, std::stop_token stop, Progress& progress) {
        job(backend, stop, progress);
        return false;
      });
}

void Engine::submit_pieces(const std::string& tag, int priority, Piece piece,
                           std::optional<int> later) {
  {
    const std::scoped_lock lock(impl_->mutex);
    impl_->drop_waiting(tag);
    impl_->stop_running(tag, false);
    impl_->waiting.push_back({.tag = tag,
                              .priority = priority,
                              .later = later.value_or(priority),
                              .number = ++impl_->submitted,
                              .piece = std::move(piece)});
  }
  impl_->wake.notify_one();
}

void Engine::cancel(const std::string& tag) {
  {
    const std::scoped_lock lock(impl_->mutex);
    impl_->drop_waiting(tag);
    impl_->stop_running(tag, false);
  }
  impl_->wake.notify_one();
}

void Engine::interrupt(const std::string& tag) {
  const std::scoped_lock lock(impl_->mutex);
  impl_->stop_running(tag, true);
}

void Engine::cancel_all() {
  {
    const std::scoped_lock lock(impl_->mutex);
    std::ranges::move(impl_->waiting, std::back_inserter(impl_->dropped));
    impl_->waiting.clear();
    impl_->stop_running(impl_->running_tag, false);
  }
  impl_->wake.notify_one();
}

void Engine::hold_back(int below, std::chrono::milliseconds time) {
  const std::scoped_lock lock(impl_->mutex);
  impl_->held_below = below;
  impl_->held_until = Clock::now() + time;
}

void Engine::discard(std::shared_ptr<const void> thing) {
  {
    const std::scoped_lock lock(impl_->mutex);
    impl_->discarded.push_back(std::move(thing));
  }
  impl_->wake.notify_one();
}

Engine::Status Engine::status() const {
  const std::scoped_lock lock(impl_->mutex);
  Status status{.busy = impl_->busy,
                .tag = impl_->running_tag,
                .waiting = impl_->waiting.size(),
                .device_lost = impl_->device_lost};
  if (impl_->busy) {
    status.fraction = impl_->progress->fraction;
    status.seconds = std::chrono::duration<double>(Clock::now() - impl_->started).count();
  }
  return status;
}

const Backend& Engine::backend() const {
  return *impl_->backend;
}

}  // namespace fovea
