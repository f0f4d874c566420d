// The back ends under test where no other program says so: the CPU's.
#include "backend/backends.h"
#include "harness.h"
#include "laws/cases.h"

namespace fovea::test {

const std::vector<std::unique_ptr<Backend>>& backends() {
  static const auto made = [] {
    std::vector<std::unique_ptr<Backend>> list;
    for (const char* isa : {"sse2", "avx2", "avx512"}) try {
        list.push_back(make_cpu_backend({.threads = 2, .isa = isa}));
      } catch (
          const UnavailableError&) {  // "instruction set ..." among the tests is shown as skipped
      }
    return list;
  }();
  return made;
}

const std::vector<Case>& cases() {
  return all_cases();
}
const std::vector<Shape>& shapes() {
  return all_shapes();
}
RandomHeads random_heads() {
  return {3000, 150};
}

}  // namespace fovea::test
