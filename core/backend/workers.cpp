#include "backend/workers.h"

#include <string>
#include <system_error>
#include <utility>

#include "data/error.h"

namespace fovea {
namespace {

// A loop often follows another within microseconds, sooner than a sleeping thread wakes.
template <class Condition>
void wait_a_little(Condition condition) {
  constexpr int looks = 64;
  for (int look = 0; look < looks && !condition(); ++look) std::this_thread::yield();
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
    lock.unlock();
    take_turns(worker);
    lock.lock();
    if (--running_ == 0) done_.notify_one();
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
    running_ = static_cast<int>(threads_.size());
    ++generation_;
  }
  start_.notify_all();
  take_turns(0);
  wait_a_little([&] { return running_ == 0; });
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return running_ == 0; });
  body_ = nullptr;
  stop_ = {};
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace fovea
