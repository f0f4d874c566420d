// What waits for what: the emulated device does what is asked of a stream when that is waited for.
#include <doctest/doctest.h>

#include <vector>

#include "harness.h"
#include "memory.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("a step of learning does not wait for what else the back end computes") {
  const Backend& backend = *backends().front();
  const Problem problem = make_data(Data::gaussian, 64, 8, 8, false);
  const auto not_freed_yet = [] { return emulation::allocations().size(); };
  Profile profile;
  Run run{profile};
  auto bound = std::make_unique<const Instance>(make_instance(backend, problem, "tc", {}));
  bound->apply(problem.v);
  const std::size_t held = not_freed_yet();
  bound.reset();  // its memory is freed in the order of the stream, on which nothing waits now
  REQUIRE(not_freed_yet() == held);

  const Matrix tokens = gaussian(4, 3, 1);
  const std::vector<std::int32_t> leaf(4, 0);
  const std::vector<Index> place{0, 1, 2, 3}, begin{0, 4};
  const TokenBatch batch{.queries = tokens,
                         .targets = tokens,
                         .query_leaf = leaf,
                         .keys = tokens,
                         .values = tokens,
                         .place = place,
                         .leaf_begin = begin,
                         .scale = 1};
  REQUIRE(backend.leaf_loss(batch, run));
  CHECK(not_freed_yet() >= held);

  const std::vector<std::int32_t> keys{2, 0, 1};  // a step on the other stream does wait
  backend.stable_order(keys, 3, run);
  CHECK(not_freed_yet() < held);
}
