// The self-test: it passes on the CUDA back end, and notices one that is wrong.
#include "session/self_test.h"

#include <doctest/doctest.h>

#include "backend/backends.h"
#include "harness.h"

using namespace fovea;
using namespace fovea::test;

namespace {

std::string self_test_of(const std::string& precision, const SelfTestLengths& lengths) {
  std::string why_not;
  const auto cuda = make_cuda_backend({.precision = precision, .poison = true}, &why_not);
  REQUIRE_MESSAGE(cuda, why_not);
  const auto cpu = make_cpu_backend();
  Profile profile;
  Run run{profile};
  return self_test(*cuda, *cpu, run, lengths);
}

#ifdef FOVEA_ON_DEVICE
const SelfTestLengths lengths;
#else
const SelfTestLengths lengths{.tokens = 90, .many_queries = 300};
#endif

}  // namespace

TEST_CASE("the self-test passes in fp32") {
  CHECK(self_test_of("fp32", lengths) == "");
}

TEST_CASE("the self-test passes on tensor cores") {
  CHECK(self_test_of("fp32-split", lengths) == "");
  CHECK(self_test_of("bf16", lengths) == "");
  CHECK(self_test_of("fp16", lengths) == "");
}
