// What the program holds of the machine.
#pragma once

#include <cstddef>
#include <string>

namespace fovea::test {

struct Resources {
  double resident_mib = 0;   // VmRSS
  double anonymous_mib = 0;  // of it, without what lies in files
  double allocated_mib = 0;  // by malloc and for large matrices, and not freed
  int threads = 0, descriptors = 0;

  static Resources now();
  std::string text() const;
};

}  // namespace fovea::test
