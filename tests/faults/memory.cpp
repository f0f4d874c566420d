// Whichever allocation of a computation is refused, on whatever thread: it ends with an error, and
// the next one is right.
#include <doctest/doctest.h>

#include <cstring>

#include "allocations.h"
#include "backend/backends.h"
#include "data/error.h"
#include "harness.h"
#include "laws/cases.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct Results {
  Output output;
  Matrix pooled;
};

Results compute(const Backend& backend, const Problem& problem, const Case& c) {
  const Instance x = make_instance(backend, problem, c.id, c.settings);
  const Index n = problem.n();
  Results results{x.apply(problem.v), x.tile({0, n}, {0, n}, {Pool::Kind::mean, 5, 5})};
  if (x.bound->has_rows()) x.apply_rows({16, n}, 8);
  return results;
}

bool same_bits(const Matrix& a, const Matrix& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         std::memcmp(a.data(), b.data(),
                     static_cast<std::size_t>(a.rows() * a.cols()) * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE(
    "memory: whichever allocation of a computation is refused, an error says so, and the next one "
    "is right") {
  const auto backend = make_cpu_backend({.threads = 2});
  for (const Case& c : cases()) {
    CAPTURE(describe(c));
    const bool causal = mask_of(c, true);
    const Problem problem = make_data(Data::gaussian, 37, 5, 3, causal, c.head);
    const Results expected = compute(*backend, problem, c);
    CHECK(refuse_each_allocation<Error>([&] { compute(*backend, problem, c); }) > 0);
    const Results again = compute(*backend, problem, c);
    CHECK(same_bits(again.output.z, expected.output.z));
    CHECK(again.output.lse == expected.output.lse);
    CHECK(same_bits(again.pooled, expected.pooled));
  }
}
