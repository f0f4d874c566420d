#include "evaluate/resident_use.h"

#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "data/kept_blocks.h"

namespace fovea {
namespace {

double resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (!file) return 0;
  unsigned long all = 0, resident = 0;
  const int read = std::fscanf(file, "%lu %lu", &all, &resident);
  std::fclose(file);
  return read == 2 ? static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace

std::optional<ResidentUse> resident_use_of(const std::function<void()>& work) {
  free_kept_blocks();
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  const double before = resident_bytes();
  double peak = before;
  {
    const std::jthread looking([&peak](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        peak = std::max(peak, resident_bytes());
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      peak = std::max(peak, resident_bytes());
    });
    work();
  }
  if (before <= 0) return std::nullopt;
  return ResidentUse{before, peak};
}

}  // namespace fovea
