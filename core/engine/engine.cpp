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

  void work(std::stop_token quit) {
    std::unique_lock lock(mutex);
    while (wake.wait(lock, quit, [&] { return !waiting.empty() || has_rubbish(); })) {
      free_rubbish(lock);
      if (waiting.empty()) continue;
      Request request = take_first();
      busy = true;
      running_tag = request.tag;
      running_stop = std::stop_source();
      progress = request.progress;
      started = Clock::now() - request.before;
      const std::stop_callback forward(quit,
                                       [stop = running_stop]() mutable { stop.request_stop(); });
      const auto stop = running_stop.get_token();
      lock.unlock();
      const bool more = run(request, stop);
      if (!more) request = {};  // what it held goes before anyone has to wait for the lock
      lock.lock();
      busy = false;
      running_tag.clear();
      if (!more) continue;
      request.before = Clock::now() - started;
      request.priority = request.later;
      // Cancelled since, or another has taken its place.
      (stop.stop_requested() ? dropped : waiting).push_back(std::move(request));
    }
  }

  bool run(const Request& request, const std::stop_token& stop) {
    try {
      return request.piece(*backend, stop, *request.progress);
    } catch (const Cancelled&) {
    } catch (const DeviceLostError& error) {
      {
        const std::scoped_lock lock(mutex);
        device_lost = true;  // before anyone hears of it
      }
      on_error(request.tag, error.what());
    } catch (const std::bad_alloc&) {
      on_error(request.tag, "not enough memory");
    } catch (const std::exception& error) {
      on_error(request.tag, error.what());
    }
    return false;
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
    if (impl_->busy && impl_->running_tag == tag) impl_->running_stop.request_stop();
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
    if (impl_->busy && impl_->running_tag == tag) impl_->running_stop.request_stop();
  }
  impl_->wake.notify_one();
}

void Engine::cancel_all() {
  {
    const std::scoped_lock lock(impl_->mutex);
    std::ranges::move(impl_->waiting, std::back_inserter(impl_->dropped));
    impl_->waiting.clear();
    if (impl_->busy) impl_->running_stop.request_stop();
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
