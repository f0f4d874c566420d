// What a plan is said to need is above what binding and applying it allocate, and below a few times
// that.
#include "backend/memory_need.h"

#include <doctest/doctest.h>

#include "allocations.h"
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
  for (std::size_t i = 0; i < cases().size(); ++i)
    for (const bool causal : masks_of(cases()[i]))
      for (const auto& [d, dv] : {std::pair<Index, Index>{64, 64}, {24, 40}}) {
        const Case& c = cases()[i];
        if (!tried(i, d == 64, causal)) continue;
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
      }
  MESSAGE("need over peak: ", least, " to ", most);
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
