// Maps of P by products of warpgroups: what row_maps.cpp says of the other kernels holds for them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/hopper.h"
#include "kernels/maps_16.h"
#include "laws/conditions.h"

using namespace fovea;
using namespace fovea::test;

namespace {

// Z of narrow heads is computed in query tiles of 192 queries without maps, whose keys may be
// divided otherwise: weights are then rounded relative to other references.
void check_same(const Output& found, const Output& all, const Problem& problem, Index first) {
  if (std::max(problem.d(), problem.dv()) > 64) {
    CHECK(same_rows(found.z, all.z, first));
    CHECK(same_sums(found.lse, all.lse, first));
    return;
  }
  double largest = 0, apart = 0, sums_apart = 0;
  for (Index i = 0; i < found.z.rows(); ++i) {
    const float ours = found.lse[static_cast<std::size_t>(i)],
                theirs = all.lse[static_cast<std::size_t>(first + i)];
    if (ours != theirs) sums_apart = larger_error(sums_apart, std::abs(double{ours} - theirs));
    for (Index c = 0; c < found.z.cols(); ++c) {
      const double z = all.z(first + i, c);
      largest = larger_error(largest, std::abs(z));
      apart = larger_error(apart, std::abs(found.z(i, c) - z));
    }
  }
  CHECK(apart <= 0x1p-7 * std::max(largest, 1.0));  // twice half a unit of bf16
  CHECK(sums_apart <= 0x1p-20 * (largest_logit(problem) + 16));
}

// Those of all queries, in tiles of 128, and of the last 60 or less, in tiles of 64.
void check(const char* precision, const Problem& problem, Index pixel) {
  CAPTURE(precision);
  CAPTURE(problem.queries());
  CAPTURE(problem.d());
  CAPTURE(problem.dv());
  CAPTURE(pixel);
  const auto backend = on_gpu(precision);
  const Instance x = make_instance(*backend, problem, "exact", {});
  const Output all = x.apply(problem.v);
  const Index n = problem.queries(), last = (n - 60 + pixel - 1) / pixel * pixel;
  for (const IndexRange rows : {IndexRange{0, n}, IndexRange{last, n}}) {
    Profile profile;
    const RowsOutput found = x.apply_rows(rows, pixel, &profile);
    CHECK(by_warpgroups(profile));
    CHECK(kernels_of(profile) == std::vector<std::string>{"wgmma"});
    check_maps(found, precision, problem, rows, pixel);
    check_same(found.output, all, problem, rows.begin);
  }
}

}  // namespace

// Columns of pixels that are wider and narrower than a KV tile of 128 keys, that begin in the
// middle of one and of the 8 keys of an instruction.
TEST_CASE("warpgroup maps: they are of Z's own logits, and leave Z as it is, bit for bit") {
  const Hopper hopper;
  check("bf16", make_data(Data::gaussian, 300, 64, 64, true), 128);
  check("bf16", make_data(Data::spike, 300, 20, 9, false), 256);
  check("fp16", make_data(Data::gaussian, 260, 64, 128, false), 37);
  check("bf16", make_data(Data::huge, 200, 128, 64, true), 20);
  check("fp16", make_data(Data::gaussian, 340, 128, 128, true), 150);
  check("bf16", make_data(Data::equal, 180, 100, 33, false), 64);
  check("fp16", make_data(Data::huge, 130, 16, 8, false), 1);
}

TEST_CASE("warpgroup maps: queries without keys, and keys that a mask leaves out") {
  const Hopper hopper;
  Problem problem = make_data(Data::gaussian, 300, 16, 8, true);
  set_mask(problem, std::vector<std::int32_t>(300), padded_at_both_ends(300));
  check("bf16", problem, 30);
  check("bf16", problem, 128);
}

TEST_CASE("warpgroup maps: a query that is not finite is NaN where it attends, and nowhere else") {
  const Hopper hopper;
  const Index n = 150, broken = 71;
  const Problem good = make_data(Data::gaussian, n, 8, 3, true);
  const Problem bad = with_number_of_query(good, broken, std::numeric_limits<float>::quiet_NaN());
  const auto backend = on_gpu("bf16");
  for (const Index pixel : {Index{8}, Index{128}}) {
    const RowsOutput found = make_instance(*backend, bad, "exact", {}).apply_rows({0, n}, pixel),
                     right = make_instance(*backend, good, "exact", {}).apply_rows({0, n}, pixel);
    int wrong = 0;
    for (Index r = 0; r < found.most.rows(); ++r)
      for (Index c = 0; c < found.most.cols(); ++c) {
        const bool attends = r == broken / pixel && c * pixel <= broken;
        wrong += std::isnan(found.most(r, c)) != attends;
        wrong += std::isnan(found.mean(r, c)) != attends;
        if (r == broken / pixel) continue;
        wrong += found.most(r, c) != right.most(r, c);
        wrong += found.mean(r, c) != right.mean(r, c);
      }
    CHECK(wrong == 0);
  }
}

TEST_CASE("warpgroup maps: keys that are divided among blocks") {
  const Hopper many(132);
  const Problem problem = make_data(Data::gaussian, 700, 64, 64, false);
  const auto backend = on_gpu("bf16");
  const Instance x = make_instance(*backend, problem, "exact", {});
  for (const Index pixel : {90, 128}) {
    Profile profile;
    const RowsOutput found = x.apply_rows({0, 700}, pixel, &profile);
    CHECK(by_warpgroups(profile));
    CHECK(kernels_of(profile) == std::vector<std::string>{"wgmma"});
    check_maps(found, "bf16", problem, {0, 700}, pixel);
  }
}

TEST_CASE("warpgroup maps: values of more columns have Z and maps by warps") {
  const Hopper hopper;
  const Problem problem = make_data(Data::gaussian, 150, 16, 140, true);
  const auto backend = on_gpu("bf16");
  const Instance x = make_instance(*backend, problem, "exact", {});
  Profile profile;
  const RowsOutput found = x.apply_rows({0, 150}, 50, &profile);
  CHECK(kernels_of(profile) == std::vector<std::string>{"mma"});
  CHECK(same_rows(found.output.z, x.apply(problem.v).z, 0));
  check_maps(found, "bf16", problem, {0, 150}, 50);
}
