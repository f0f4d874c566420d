// Work that is the same for each of some numbers, by all processors.
#pragma once

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace fovea::bench {

/// use(i) for each i < count. Throws what it throws.
template <class Use>
void for_each_of(int count, Use use) {
  std::atomic<int> next = 0;
  std::vector<std::future<void>> workers;
  for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
    workers.push_back(std::async(std::launch::async, [&] {
      for (int i = next++; i < count; i = next++) use(i);
    }));
  for (auto& worker : workers) worker.wait();
  for (auto& worker : workers) worker.get();
}

}  // namespace fovea::bench
