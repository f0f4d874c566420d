#include "endurance/resources.h"

#include <malloc.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "data/kept_blocks.h"

namespace fovea::test {

Resources Resources::now() {
  constexpr double kib = 1024, mib = 1024 * 1024;
  Resources found;
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key;) {
    double value = 0;
    if (key == "VmRSS:" && status >> value) found.resident_mib = value / kib;
    if (key == "RssAnon:" && status >> value) found.anonymous_mib = value / kib;
    if (key == "Threads:" && status >> value) found.threads = int(value);
  }
  const struct mallinfo2 heap = mallinfo2();
  found.allocated_mib = double(heap.uordblks + heap.hblkhd + mapped_matrix_bytes()) / mib;
  const std::filesystem::directory_iterator files("/proc/self/fd");
  found.descriptors = int(std::distance(begin(files), end(files))) - 1;  // without this one
  return found;
}

std::string Resources::text() const {
  char text[200];
  std::snprintf(
      text, sizeof text,
      "resident %.1f MiB, anonymous %.1f MiB, allocated %.1f MiB, %d threads, %d descriptors",
      resident_mib, anonymous_mib, allocated_mib, threads, descriptors);
  return text;
}

}  // namespace fovea::test
