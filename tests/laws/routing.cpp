// Routing down a tree, on every back end: which way a vector goes where a formula leaves it open.
#include <doctest/doctest.h>

#include "harness.h"

using namespace fovea;
using namespace fovea::test;

namespace {

// One level whose scores are its biases, whatever the vector.
std::vector<std::int32_t> leaves(const Backend& backend, bool by_sign,
                                 const std::vector<float>& bias, Index n) {
  const auto rows = static_cast<Index>(bias.size());
  Tree tree;
  tree.levels.push_back({by_sign ? 2 : static_cast<int>(rows), by_sign, Matrix(rows, 3), bias});
  Profile profile;
  Run run{profile};
  return backend.route(gaussian(n, 3, 5), tree, run);
}

}  // namespace

TEST_CASE("of children with equal scores the first is taken, and 0 goes to the right") {
  for (const auto& backend : backends()) {
    CAPTURE(backend->device());
    for (const Index n : {1, 33, 100}) {
      using Leaves = std::vector<std::int32_t>;
      const auto all = [&](std::int32_t leaf) { return Leaves(static_cast<std::size_t>(n), leaf); };
      CHECK(leaves(*backend, false, {-1, 2, 2, 0}, n) == all(1));
      CHECK(leaves(*backend, false, {3, 3, 3}, n) == all(0));
      CHECK(leaves(*backend, false, {-1, -2, -1}, n) == all(0));
      CHECK(leaves(*backend, true, {0.0f}, n) == all(1));
      CHECK(leaves(*backend, true, {-0.0f}, n) == all(1));
      CHECK(leaves(*backend, true, {-0x1p-149f}, n) == all(0));
      CHECK(leaves(*backend, true, {0x1p-149f}, n) == all(1));
    }
  }
}
