// The back end under test here: CUDA's, on a device or on the emulated one.
#include <cstdio>
#include <cstdlib>

#include "harness.h"

namespace fovea::test {

const std::vector<std::unique_ptr<Backend>>& backends() {
  static const auto made = [] {
    std::vector<std::unique_ptr<Backend>> list;
    std::string why_not;
    list.push_back(make_cuda_backend({}, &why_not));
    if (!list.back()) {
      std::fprintf(stderr, "%s\n", why_not.c_str());
      std::abort();
    }
    return list;
  }();
  return made;
}

}  // namespace fovea::test
