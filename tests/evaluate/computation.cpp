// What a computation measures: its first run.
#include "evaluate/computation.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "harness.h"
#include "session/session.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("a computation knows the stages of its first run, learning apart") {
  const Problem problem = make_data(Data::gaussian, 64, 4, 2, false);
  Profile profile;
  Run run{profile};
  const auto has = [](const Profile& part, const std::string& stage) {
    return std::ranges::count(part.stages(), stage, &StageTime::name) == 1;
  };
  for (const char* id : {"exact", "tf", "hyper"}) {
    CAPTURE(id);
    const Variant& variant = find_variant(id);
    const ComputeRequest request{.variant = &variant, .values = values_for_length(variant, 64)};
    Computation computation = prepare(problem, request, *backends().front(), run);
    CHECK(computation.first_run.apply.stages().empty());
    apply(computation, run);
    CHECK_FALSE(computation.first_run.apply.stages().empty());
    CHECK(has(computation.first_run.plan, "tiles"));
    for (const std::string& stage : variant.learning_stages) {
      CHECK(has(computation.first_run.learning, stage));
      CHECK_FALSE(has(computation.first_run.plan, stage));
    }
    CHECK(computation.first_run.learning.stages().empty() == variant.learning_stages.empty());
    // Another run has the same stages.
    const TimedRun again = time_run(problem, request, *backends().front(), run);
    CHECK(summarise(std::vector{again}).apply.size() ==
          summarise(std::vector{computation.first_run}).apply.size());
    CHECK(again.learning.stages().size() == computation.first_run.learning.stages().size());
  }
}
