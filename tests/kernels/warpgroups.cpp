// Attention by products of warpgroups: what holds for tensor_cores.cpp holds for it.
#include <map>

#include "backend/backends.h"
#include "kernels/checks_16.h"
#include "kernels/hopper.h"
#include "laws/conditions.h"
#include "session/self_test.h"

using namespace fovea;
using namespace fovea::test;

namespace {

std::vector<Format> formats() {
  std::vector<Format> list;
  list.push_back({"bf16", to_bf16, from_bf16, on_gpu("bf16")});
  list.push_back({"fp16", to_fp16, from_fp16, on_gpu("fp16")});
  return list;
}

void check(const Format& format, Data data, Shape shape, bool causal) {
  CAPTURE(format.name);
  CAPTURE(static_cast<int>(data));
  CAPTURE(shape.n);
  CAPTURE(shape.d);
  CAPTURE(shape.dv);
  CAPTURE(causal);
  Profile profile;
  check_error(make_instance(*format.backend, make_data(data, shape.n, shape.d, shape.dv, causal),
                            "exact", {}),
              format, &profile);
  CHECK(by_warpgroups(profile));
}

Output apply(const Backend& backend, const Problem& problem) {
  return make_instance(backend, problem, "exact", {}).apply(problem.v);
}

/// Logits rise by `rise`, in log2 units, from key to key, so that the maximum of a row moves in
/// every KV tile.
Problem rising(Index n, double rise) {
  constexpr double ln2 = 0.69314718055994531;
  const Index d = 64;
  Matrix q(n, d), k(n, d), v = gaussian(n, 8, 3);
  for (Index i = 0; i < n; ++i) {
    q(i, 0) = 1;
    k(i, 0) = static_cast<float>(rise * static_cast<double>(i) * ln2);
  }
  return make_problem(q, k, v, 1, false);
}

}  // namespace

TEST_CASE("warpgroups: Z has at most twice the error of the formula on 16-bit numbers") {
  const Hopper hopper;
  const std::vector<Format> both = formats();
  int turn = 0;
  for (const Shape shape : {Shape{130, 64, 64},
                            {256, 64, 64},
                            {300, 40, 24},
                            {200, 128, 128},
                            {140, 100, 33},
                            {260, 20, 128}})
    for (const Data data : {Data::gaussian, Data::huge}) {
      check(both[static_cast<std::size_t>(turn % 2)], data, shape, turn / 2 % 2 == 1);
      ++turn;
    }
  check(both[0], Data::equal, {150, 64, 64}, true);
  check(both[1], Data::spike, {150, 64, 64}, false);
}

TEST_CASE("warpgroups: the same for every variant, with ordered and with gathered keys") {
  const Hopper hopper;
  const std::vector<Format> both = formats();
  std::map<std::string, bool> warpgroups;
  std::map<std::string, int> seen;
  int turn = 0;
  for (const Case& c : cases()) {
    if (++seen[c.id] > 2) continue;
    const bool causal = mask_of(c, turn % 3 == 0);
    const Format& format = both[static_cast<std::size_t>(turn++ % 2)];
    CAPTURE(format.name);
    CAPTURE(describe(c));
    CAPTURE(causal);
    const Problem problem =
        make_data(causal ? Data::huge : Data::gaussian, 140, 16, 9, causal, c.head);
    Profile profile;
    check_error(make_instance(*format.backend, problem, c.id, c.settings), format, &profile);
    warpgroups[c.id] |= by_warpgroups(profile);
  }
  for (const char* id : {"exact", "h1d", "tf", "hyper", "bigbird", "reformer"}) {
    CAPTURE(std::string(id));
    CHECK(warpgroups[id]);
  }
}

TEST_CASE("warpgroups: weights are right where the maximum of a row moves a little or far") {
  const Hopper hopper;
  for (const double rise : {0.01, 0.05, 0.3, 3.0}) {
    const Problem problem = rising(400, rise);
    for (const Format& format : formats()) {
      CAPTURE(format.name);
      CAPTURE(rise);
      check_error(make_instance(*format.backend, problem, "exact", {}), format);
    }
  }
}

TEST_CASE("warpgroups: log-sum-exp is that of warps within the rounding of sums") {
  const Hopper hopper;
  for (const char* precision : {"bf16", "fp16"})
    for (const Data data : {Data::gaussian, Data::huge}) {
      const Problem problem = make_data(data, 270, 64, 8, true);
      const Output ours = apply(*on_gpu(precision), problem),
                   theirs = apply(*on_gpu(precision, false), problem);
      // Both add the same products, and then up to 270 weights, in other orders.
      const double most = 0x1p-23 * (4 * largest_logit(problem) + 270);
      double worst = 0;
      for (std::size_t i = 0; i < ours.lse.size(); ++i)
        worst = larger_error(worst, std::abs(double{ours.lse[i]} - double{theirs.lse[i]}));
      CHECK(worst <= most);
    }
}

TEST_CASE("warpgroups: what a query may not see leaves its Z unchanged, bit for bit") {
  const Hopper hopper;
  const auto backend = on_gpu("bf16");
  const Index n = 290, changed = 201;
  const Problem before = make_data(Data::gaussian, n, 20, 12, true);
  Matrix q = Matrix::copy_of(before.q), k = Matrix::copy_of(before.k),
         v = Matrix::copy_of(before.v);
  for (Index c = 0; c < 20; ++c) {
    q(changed, c) = std::numeric_limits<float>::quiet_NaN();
    k(changed, c) *= 50;
  }
  for (Index c = 0; c < 12; ++c) v(changed, c) = -100;
  const Problem after = make_problem(std::move(q), std::move(k), std::move(v), 0, true);
  const Output a = apply(*backend, before), b = apply(*backend, after);
  bool same = true, finite = true;
  for (Index c = 0; c < 12; ++c) {
    for (Index i = 0; i < changed; ++i) same &= a.z(i, c) == b.z(i, c);
    for (Index i = changed + 1; i < n; ++i) finite &= std::isfinite(b.z(i, c));
    CHECK(std::isnan(b.z(changed, c)));
  }
  CHECK(same);
  CHECK(finite);
}

TEST_CASE("warpgroups: keys that are divided among blocks") {
  const Hopper many(132);
  const std::vector<Format> both = formats();
  for (const Format& format : both) {
    const Problem problem = make_data(Data::gaussian, 700, 64, 64, false);
    Profile profile;
    check_rows(problem, format, &profile);
    CHECK(by_warpgroups(profile));
  }
}

// The heads have seven KV tiles or more, so stages and slots are used several times.
TEST_CASE("warpgroups: long heads, masked and gathered") {
  const Hopper hopper;
  const Format bf16{"bf16", to_bf16, from_bf16, on_gpu("bf16")};
  Problem masked = make_data(Data::gaussian, 900, 16, 8, true);
  std::vector<std::int32_t> documents(900);
  for (std::size_t i = 0; i < documents.size(); ++i)
    documents[i] = static_cast<std::int32_t>(i / 250);
  set_mask(masked, documents, documents);
  Profile ordered, gathered;
  check_error(make_instance(*bf16.backend, masked, "exact", {}), bf16, &ordered);
  CHECK(by_warpgroups(ordered));
  check_error(make_instance(*bf16.backend, make_data(Data::gaussian, 1800, 16, 8, false), "tf",
                            {{"height", "1"}}),
              bf16, &gathered);
  CHECK(by_warpgroups(gathered));
}

TEST_CASE("warpgroups: query tiles for few columns of V take V of more") {
  const Hopper hopper;
  const auto backend = on_gpu("bf16");
  const Problem problem = make_data(Data::gaussian, 400, 64, 8, false);
  const Instance x = make_instance(*backend, problem, "exact", {});
  const Matrix v = gaussian(400, 100, 5);
  Profile profile;
  const Output all = x.apply(v, &profile);
  CHECK(by_warpgroups(profile));
  for (const Index first : {0, 64}) {
    const Index cols = std::min<Index>(64, 100 - first);
    const MatrixView part{v.row(0) + first, 400, cols, v.stride()};
    const Output its = x.apply(part);
    for (Index i = 0; i < 400; ++i)
      for (Index c = 0; c < cols; ++c) REQUIRE(all.z(i, first + c) == its.z(i, c));
  }
}

TEST_CASE("warpgroups: the self-test passes") {
  const Hopper hopper;
  std::string why_not;
  const auto tested = make_cuda_backend({.precision = "bf16", .poison = true}, &why_not);
  REQUIRE_MESSAGE(tested, why_not);
  const auto cpu = make_cpu_backend();
  Profile profile;
  Run run{profile};
  CHECK(self_test(*tested, *cpu, run, {.tokens = 60, .many_queries = 150}) == "");
  CHECK(by_warpgroups(profile));
}
