// What a plan is said to need is above what binding and applying it allocate, and below a few times
// that.
#include "backend/memory_need.h"

#include <doctest/doctest.h>

#include "allocations.h"
#include "analysis/cost.h"
#include "data/kept_blocks.h"
#include "laws/operator_cases.h"

using namespace fovea;
using namespace fovea::test;

namespace {

// The back ends of the harness have two threads.
constexpr int threads = 2;
constexpr Index token_count = 3000;

struct Used {
  double need = 0, peak = 0;
};

Used used_by(const Case& c, const Problem& problem, const Backend& backend) {
  const auto plan = make_plan(backend, problem, c.id, c.settings);
  Profile profile;
  Run run{profile};
  free_kept_blocks();  // those of the last case would be used again, uncounted
  begin_peak();
  const auto bound = backend.bind(plan, problem, run);
  const Output out = bound->apply(problem.v, run);
  return {memory_need(*plan, problem, threads).total(), static_cast<double>(peak_bytes())};
}

}  // namespace

TEST_CASE("law: the memory that a plan is said to need is above its peak, below three times it") {
  double least = 1e9, most = 0;
  const auto check = [&](const Case& c, bool causal, Index d, Index dv) {
    const std::string where =
        describe(c) + (causal ? ", causal" : "") + ", d = " + std::to_string(d);
    CAPTURE(where);
    const Problem problem = make_data(Data::gaussian, token_count, d, dv, causal, c.head);
    const Used used = used_by(c, problem, *backends().back());
    const double ratio = used.need / used.peak;
    CAPTURE(used.need);
    CAPTURE(used.peak);
    CHECK(ratio >= 1);
    CHECK(ratio <= 3);
    least = std::min(least, ratio);
    most = std::max(most, ratio);
  };
  for (std::size_t i = 0; i < cases().size(); ++i)
    for (const bool causal : masks_of(cases()[i]))
      for (const auto& [d, dv] : {std::pair<Index, Index>{64, 64}, {24, 40}}) {
        if (tried(i, d == 64, causal)) check(cases()[i], causal, d, dv);
      }
  // Their cases are laws of their own (laws/rounded_weights.cpp).
  check({.id = "fp8", .settings = {{"weights", "fp8"}}}, true, 24, 40);
  check({.id = "nvfp4", .settings = {{"weights", "nvfp4"}}}, false, 64, 64);
  MESSAGE("need over peak: ", least, " to ", most);
}

TEST_CASE("law: each column of values needs as much memory as another, and no values that of one") {
  for (const Case& c : cases())
    for (const bool causal : masks_of(c)) {
      if (c.id == "sinkhorn" || c.id == "linformer") continue;  // copy values of odd widths
      const std::string where = describe(c) + (causal ? ", causal" : "");
      CAPTURE(where);
      const auto head = [&](Index dv) {
        return make_data(Data::gaussian, 64, 8, dv, causal, c.head);
      };
      const auto plan = make_plan(*backends().back(), head(4), c.id, c.settings);
      const auto need = [&](Index dv) { return memory_need(*plan, head(dv), threads).total(); };
      CHECK(need(0) == need(1));
      CHECK(need(3) - need(2) == need(2) - need(1));  // 0 if rows are padded
    }
}

TEST_CASE("law: where values are nearly all that a mixed plan takes, its need is near its peak") {
  for (const std::string id : {"linformer", "sinkhorn"})
    for (const Index dv : {512, 520}) {  // rows of whole vectors, and others
      const Problem problem = make_data(Data::gaussian, token_count, 4, dv, false);
      const Used used = used_by({id, {}}, problem, *backends().back());
      CAPTURE(id);
      CAPTURE(dv);
      CAPTURE(used.need);
      CAPTURE(used.peak);
      CHECK(used.need >= used.peak);
      CHECK(used.need <= 1.25 * used.peak);
    }
}

TEST_CASE("law: lists of few keys take memory in proportion to them, not to all pairs") {
  constexpr Index n = 16384, keys = 8;
  constexpr double list = 4.0 * n * keys, bits = 1.0 * n * n / 8;  // 512 KiB and 32 MiB
  std::vector<Matrix> one;
  one.emplace_back(n, keys);
  for (Index i = 0; i < n; ++i)
    for (Index e = 0; e < keys; ++e) one.front()(i, e) = static_cast<float>((i * 7919 + e) % n);
  Problem problem = make_data(Data::gaussian, n, 4, 4, false);
  std::vector<ImportedTensors> results{
      {.kept = {.lists = {.where = "", .entries = make_head_tensor(std::move(one))}}}};
  problem.imported =
      std::make_shared<const ImportedResults>(ImportedResults{std::move(results), 0});
  free_kept_blocks();
  begin_peak();
  const auto plan = make_plan(*backends().back(), problem, "imported", {});
  CHECK(count_cost(*plan, 4, 4).pairs == n * keys);
  // Each thread keeps up to 192 rows of bits.
  const double of_threads = threads * 192.0 * n / 8;
  const double of_planning = static_cast<double>(peak_bytes());
  CHECK(of_planning <= 8 * list + of_threads);
  Profile profile;
  Run run{profile};
  const auto bound = backends().back()->bind(plan, problem, run);
  (void)bound->apply(problem.v, run);
  const double need = memory_need(*plan, problem, threads).total();
  CHECK(static_cast<double>(peak_bytes()) <= of_planning + need);
  CHECK(of_planning + need < bits);
}
