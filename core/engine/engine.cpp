#include "engine/engine.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "data/retry.h"

namespace fovea {
namespace {

using Clock = std::chrono::steady_clock;

struct Request {
  RequestId id;
  int priority = 0;
  std::uint64_t number = 0;
  Engine::Job job;
  std::shared_ptr<Progress> progress;
  Clock::duration before{};  // of its pieces that are done
};

// Requests are moved from list to list, which allocates nothing: the engine's thread needs memory
// only for what its jobs compute.
using RequestList = std::list<Request>;

void move_one(RequestList& from, RequestList::iterator which, RequestList& to) {
  to.splice(to.end(), from, which);
}

}  // namespace

struct Engine::Impl {
  std::unique_ptr<Backend> backend;
  std::function<void(const std::string& message)> on_device_lost;
  mutable std::mutex mutex;
  std::condition_variable_any wake;
  RequestList waiting;
  // Cancelled requests. What their jobs hold may be large: the engine's thread frees it, without
  // the lock.
  RequestList dropped;
  std::vector<std::shared_ptr<const void>> discarded;
  std::uint64_t submitted = 0;
  bool device_lost = false;
  bool interrupted = false;  // the running piece was stopped and is to start again
  struct Held {
    int below = 0;
    Clock::time_point until{};
  };
  std::array<Held, 2> held;  // by Hold
  std::optional<RequestId> running;
  std::stop_source running_stop{std::nostopstate};
  Clock::time_point started;
  std::shared_ptr<Progress> progress = std::make_shared<Progress>();
  std::jthread thread;  // last: ends before what it uses

  void drop_waiting(const RequestId& id) {
    for (auto next = waiting.begin(); next != waiting.end();) {
      const auto request = next++;
      if (request->id == id) move_one(waiting, request, dropped);
    }
  }

  bool has_garbage() const { return !dropped.empty() || !discarded.empty(); }

  void free_garbage(std::unique_lock<std::mutex>& lock) {
    while (has_garbage()) {
      auto old_jobs = std::exchange(dropped, {});
      auto old_things = std::exchange(discarded, {});
      lock.unlock();
      old_jobs.clear();
      old_things.clear();
      lock.lock();
    }
  }

  /// Takes the request that runs next out of the list, into a list of its own.
  RequestList take_first() {
    const auto rank = [](const Request& r) { return std::pair(r.priority, r.number); };
    RequestList taken;
    move_one(waiting, std::ranges::max_element(waiting, {}, rank), taken);
    return taken;
  }

  bool has_work() const {
    const auto now = Clock::now();
    return std::ranges::any_of(waiting, [&](const Request& r) {
      return std::ranges::none_of(
          held, [&](const Held& h) { return r.priority < h.below && now < h.until; });
    });
  }

  /// The end of the hold that ends next.
  Clock::time_point next_release() const {
    auto next = Clock::time_point::max();
    for (const Held& h : held)
      if (h.until > Clock::now()) next = std::min(next, h.until);
    return next;
  }

  /// Returns false when the engine ends.
  bool wait_for_work(std::unique_lock<std::mutex>& lock, const std::stop_token& quit) {
    const auto is_there = [this] { return has_work() || has_garbage(); };
    while (!quit.stop_requested() && !is_there()) {
      if (waiting.empty())
        wake.wait(lock, quit, [&] { return is_there() || !waiting.empty(); });
      else  // what waits is held back
        wake.wait_until(lock, quit, next_release(), is_there);
    }
    return !quit.stop_requested();
  }

  /// Frees what waits to be freed and runs one piece, if there is one. Returns false when the
  /// engine ends.
  bool take_turn(const std::stop_token& quit) {
    std::stop_source piece_stop(std::nostopstate);
    retry_until_allocated(quit, [&] { piece_stop = std::stop_source(); });
    std::unique_lock lock(mutex);
    if (!wait_for_work(lock, quit)) return false;
    free_garbage(lock);
    if (!has_work()) return true;
    RequestList taken = take_first();
    Request& request = taken.front();
    running = request.id;
    running_stop = piece_stop;
    interrupted = false;
    progress = request.progress;
    started = Clock::now() - request.before;
    const std::stop_callback forward(quit, [&piece_stop] { piece_stop.request_stop(); });
    const auto stop = piece_stop.get_token();
    lock.unlock();
    const End end = run(request, stop, quit);
    if (end == End::done) taken.clear();  // what it held goes before anyone waits for the lock
    lock.lock();
    running.reset();
    if (end == End::done) return true;
    request.before = Clock::now() - started;
    if (end == End::more) request.priority = request.job.later.value_or(request.priority);
    // The request may have been cancelled or replaced meanwhile.
    const bool goes_on = interrupted || (end == End::more && !stop.stop_requested());
    move_one(taken, taken.begin(), goes_on ? waiting : dropped);
    return true;
  }

  // How a piece ends.
  enum class End { done, more, stopped };

  End run(const Request& request, const std::stop_token& stop, const std::stop_token& quit) {
    const auto report = [&](const char* error) {
      if (request.job.on_end) retry_until_allocated(quit, [&] { request.job.on_end(error); });
      return End::done;
    };
    try {
      if (request.job.piece(*backend, stop, *request.progress)) return End::more;
    } catch (const Cancelled&) {
      return End::stopped;
    } catch (const DeviceLostError& error) {
      lose_device(error.what(), quit);
      return End::done;
    } catch (const std::bad_alloc&) {
      return report("not enough memory");
    } catch (const std::exception& error) {
      return report(error.what());
    }
    return report("");
  }

  void lose_device(const char* message, const std::stop_token& quit) {
    const bool known = [this] {
      const std::scoped_lock lock(mutex);
      return std::exchange(device_lost, true);  // before it is reported
    }();
    if (!known) retry_until_allocated(quit, [&] { on_device_lost(message); });
  }

  void stop_running(const RequestId& id, bool start_again) {
    if (running != id) return;
    if (start_again && running_stop.stop_requested()) return;  // it was cancelled
    interrupted = start_again;
    running_stop.request_stop();
  }
};

Engine::Engine(std::unique_ptr<Backend> backend,
               std::function<void(const std::string& message)> on_device_lost,
               std::function<void()> on_start)
    : impl_(std::make_unique<Impl>()) {
  impl_->backend = std::move(backend);
  impl_->on_device_lost = std::move(on_device_lost);
  impl_->thread =
      std::jthread([impl = impl_.get(), on_start = std::move(on_start)](std::stop_token quit) {
        if (on_start) on_start();
        while (impl->take_turn(quit)) continue;
      });
}

Engine::~Engine() {
  cancel_all();
  impl_->thread.request_stop();
  impl_->thread.join();
}

void Engine::submit(const RequestId& id, int priority, Job job) {
  RequestList submitted;  // made before the older request is dropped, as memory may be refused
  submitted.push_back({.id = id,
                       .priority = priority,
                       .job = std::move(job),
                       .progress = std::make_shared<Progress>()});
  {
    const std::scoped_lock lock(impl_->mutex);
    impl_->drop_waiting(id);
    impl_->stop_running(id, false);
    submitted.front().number = ++impl_->submitted;
    impl_->waiting.splice(impl_->waiting.end(), submitted);
  }
  impl_->wake.notify_one();
}

void Engine::cancel(const RequestId& id) {
  {
    const std::scoped_lock lock(impl_->mutex);
    impl_->drop_waiting(id);
    impl_->stop_running(id, false);
  }
  impl_->wake.notify_one();
}

void Engine::set_priority(const RequestId& id, int priority) {
  const std::scoped_lock lock(impl_->mutex);
  for (Request& request : impl_->waiting)
    if (request.id == id) request.priority = priority;
}

void Engine::interrupt(const RequestId& id) {
  const std::scoped_lock lock(impl_->mutex);
  impl_->stop_running(id, true);
}

void Engine::cancel_all() {
  {
    const std::scoped_lock lock(impl_->mutex);
    impl_->dropped.splice(impl_->dropped.end(), impl_->waiting);
    if (impl_->running) impl_->stop_running(*impl_->running, false);
  }
  impl_->wake.notify_one();
}

void Engine::hold_back(Hold why, int below, std::chrono::milliseconds time) {
  {
    const std::scoped_lock lock(impl_->mutex);
    impl_->held[static_cast<std::size_t>(why)] = {below, Clock::now() + time};
  }
  impl_->wake.notify_one();
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
  Status status{.running = impl_->running,
                .waiting = impl_->waiting.size(),
                .device_lost = impl_->device_lost};
  if (impl_->running) {
    status.fraction = impl_->progress->fraction;
    status.seconds = std::chrono::duration<double>(Clock::now() - impl_->started).count();
  }
  return status;
}

const Backend& Engine::backend() const {
  return *impl_->backend;
}

}  // namespace fovea
