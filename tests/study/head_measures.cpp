// What heads do is found in the background, for all heads, while somebody wants it.
#include <doctest/doctest.h>

#include "session/measured_source.h"
#include "study/background.h"
#include "study/opened.h"
#include "views/views.h"

namespace fovea::test {
namespace {

const std::string three = "synthetic:clusters?n=64&d=8&heads=3&seed=1";

bool all_measured(Study& study) {
  for (Index head = 0; head < 3; ++head)
    if (!study.measured_head(0, head)) return false;
  return true;
}

double entropy_of(const MeasuredHead& head) {
  return head.values[*head_measure_with("entropy")].estimate.value;
}

}  // namespace

TEST_CASE("heads are measured only while it is wanted, and again under another mask") {
  Study study(make_low_priority_backend({.backend = "cpu"}));
  open(study, three, {"exact"}, {find_view("heatmap")});
  REQUIRE(wait_until([&] { return study.settled(); }));
  run_events(50);
  CHECK_FALSE(study.measured_head(0, 0));
  auto wanted = study.measure_heads();
  REQUIRE(wait_until([&] { return all_measured(study); }));
  Profile profile;
  Run run{profile};
  const auto expected = [&](Index head, bool causal) {
    return entropy_of(measure_head(*study.source(),
                                   {.layer = 0, .head = head, .conditions = {.causal = causal}},
                                   study.backend(), run));
  };
  for (Index head = 0; head < 3; ++head)
    CHECK(entropy_of(*study.measured_head(0, head)) == expected(head, false));
  const auto set_causal = [&](bool causal) {
    Session session = study.session();
    session.conditions.causal = causal;
    study.set_session(session);
  };
  set_causal(true);
  CHECK_FALSE(study.measured_head(0, 1));
  REQUIRE(wait_until([&] { return all_measured(study); }));
  for (Index head = 0; head < 3; ++head)
    CHECK(entropy_of(*study.measured_head(0, head)) == expected(head, true));
  wanted.reset();
  set_causal(false);
  REQUIRE(wait_until([&] { return study.settled(); }));
  run_events(50);
  CHECK_FALSE(study.measured_head(0, 1));
}

}  // namespace fovea::test
