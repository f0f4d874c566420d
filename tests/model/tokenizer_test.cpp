#include "model/tokenizer.h"

#include <doctest/doctest.h>
TEST_CASE("x") {
  CHECK(true);
}
