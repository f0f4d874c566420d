#include "backend/workers.h"

#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include "data/error.h"

namespace fovea {
namespace {

using Clock = std::chrono::steady_clock;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

// Waits a moment without sleeping: a loop often follows another within microseconds, sooner than a
// sleeping thread wakes. The thread does not yield: if other programs run, it would get its
// processor back only milliseconds later.
template <class Condition>
void wait_a_little(Condition condition) {
  const auto end = Clock::now() + std::chrono::microseconds(30);
  while (!condition() && Clock::now() < end) pause();
}

}  // namespace

Workers::Workers(int threads) {
  try {
    for (int worker = 1; worker < threads; ++worker)
      threads_.emplace_back([this, worker] { serve(worker); });
  } catch (const std::system_error&) {
    const std::size_t started = threads_.size();
    end();
    throw UnavailableError(std::to_string(threads) + " threads: this machine starts only " +
                           std::to_string(started + 1));
  }
}

void Workers::serve(int worker) {
  std::uint64_t seen = 0;
  for (;;) {
    wait_a_little([&] { return generation_ != seen; });
    std::unique_lock lock(mutex_);
    start_.wait(lock, [&] { return quit_ || generation_ != seen; });
    if (quit_) return;
    seen = generation_;
    if (!open_) continue;
    ++active_;
    lock.unlock();
    take_turns(worker);
    lock.lock();
    if (--active_ == 0) done_.notify_one();
  }
}

Workers::~Workers() {
  end();
}

void Workers::end() {
  {
    const std::scoped_lock lock(mutex_);
    quit_ = true;
  }
  start_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void Workers::take_turns(int worker) {
  try {
    for (Index turn = next_++; turn < count_; turn = next_++) {
      if (stop_.stop_requested()) throw Cancelled();
      (*body_)(turn, worker);
    }
  } catch (...) {
    next_ = count_;
    const std::scoped_lock lock(mutex_);
    if (!error_) error_ = std::current_exception();
  }
}

void Workers::loop(Index count, std::stop_token stop, const std::function<void(Index, int)>& body) {
  const std::scoped_lock turn(one_loop_);
  {
    const std::scoped_lock lock(mutex_);
    body_ = &body;
    count_ = count;
    next_ = 0;
    stop_ = std::move(stop);
    error_ = nullptr;
    open_ = true;
    ++generation_;
  }
  if (count > 1) start_.notify_all();
  take_turns(0);
  std::unique_lock lock(mutex_);
  open_ = false;
  if (active_ > 0) {
    lock.unlock();
    wait_a_little([&] { return active_ == 0; });
    lock.lock();
    done_.wait(lock, [&] { return active_ == 0; });
  }
  body_ = nullptr;
  stop_ = {};
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace fovea
