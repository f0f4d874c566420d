// The part of the matrices that is seen follows the crosshair no further than it must.
#include "canvas/viewport.h"

#include <doctest/doctest.h>

namespace fovea::canvas {

TEST_CASE("a token that is not wholly in view is brought to the nearer edge of it") {
  const Lengths lengths{100, 80};
  const Viewport v{20, 30, 40, 60};
  const auto moved = [&](Index query, Index key) { return showing(v, query, key, lengths); };
  for (const auto& [query, key] : {std::pair{20, 40}, {29, 59}, {25, 50}})
    CHECK(moved(query, key) == v);
  CHECK(moved(30, 50) == Viewport{21, 31, 40, 60});  // the first token below
  CHECK(moved(25, 60) == Viewport{20, 30, 41, 61});  // and on the right
  CHECK(moved(19, 39) == Viewport{19, 29, 39, 59});  // above and on the left
  CHECK(moved(99, 79) == Viewport{90, 100, 60, 80});
  CHECK(moved(0, 0) == Viewport{0, 10, 0, 20});
  // Tokens that are seen in part.
  CHECK(showing({20.5, 30.5, 40, 60}, 30, 50, lengths) == Viewport{21, 31, 40, 60});
  CHECK(showing({20.5, 30.5, 40, 60}, 20, 50, lengths) == Viewport{20, 30, 40, 60});
}

}  // namespace fovea::canvas
