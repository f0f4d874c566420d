// A device runs the blocks of a launch in any order. On the emulated device, which can be told in
// which.
#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <bit>

#include "laws/cases.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct Results {
  Output output;
  Matrix entries, most, mean;
};

Results results_of(const Instance& x, bool descending) {
  emulation::set_descending_blocks(descending);
  const Index n = x.problem.n();
  Results out{x.apply(x.problem.v), x.all(), x.tile({0, n}, {0, n}, {Pool::Kind::max, 3, 3}),
              x.tile({0, n}, {0, n}, {Pool::Kind::mean, 3, 3})};
  emulation::set_descending_blocks(false);
  return out;
}

bool same_bits(const Matrix& a, const Matrix& b) {
  bool same = a.rows() == b.rows() && a.cols() == b.cols();
  for (Index i = 0; i < a.rows() && same; ++i)
    for (Index c = 0; c < a.cols(); ++c)
      same &= std::bit_cast<std::uint32_t>(a(i, c)) == std::bit_cast<std::uint32_t>(b(i, c));
  return same;
}

}  // namespace

TEST_CASE("every result has the same bits, whichever blocks of a launch run first") {
  for (const Case& c : cases()) {
    CAPTURE(describe(c));
    const Problem problem = make_data(Data::gaussian, 150, 8, 5, masks_of(c).front(), c.head);
    const Instance x = make_instance(*backends().front(), problem, c.id, c.settings);
    const Results first = results_of(x, false), other = results_of(x, true);
    CHECK(same_bits(first.output.z, other.output.z));
    CHECK(first.output.lse == other.output.lse);
    CHECK(same_bits(first.entries, other.entries));
    CHECK(same_bits(first.most, other.most));
    CHECK(same_bits(first.mean, other.mean));
  }
}
