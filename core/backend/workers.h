// Workers are the threads of the CPU back end: they wait for a loop, share its turns, and wait
// again.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "data/matrix.h"

namespace fovea {

class Workers {
 public:
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int threads() const { return static_cast<int>(threads_.size()) + 1; }

  /// body(turn, worker) for every turn in [0, count), in any order, worker in [0, threads()). The
  /// caller takes part, and does not wait for threads that have not woken by the end. Throws
  /// Cancelled soon after `stop` is requested, and the first exception of a body. One loop at a
  /// time: concurrent callers wait for each other.
  void loop(Index count, std::stop_token stop,
            const std::function<void(Index turn, int worker)>& body);

 private:
  void serve(int worker);
  void take_turns(int worker);
  void end();

  std::mutex one_loop_, mutex_;
  std::condition_variable start_, done_;
  std::atomic<std::uint64_t> generation_ = 0;
  std::atomic<int> active_ = 0;       // threads that take turns, without the caller
  bool open_ = false, quit_ = false;  // a loop may be joined; there are no more loops
  const std::function<void(Index, int)>* body_ = nullptr;
  Index count_ = 0;
  std::atomic<Index> next_{0};
  std::stop_token stop_;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

}  // namespace fovea
