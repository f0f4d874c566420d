// What holds for the settings that every variant states as worth trying.
#include <doctest/doctest.h>

#include <algorithm>

#include "data/error.h"
#include "harness.h"
#include "session/session.h"
#include "session/settings.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("law: settings worth trying are valid, different, and begin with those for the length") {
  for (const Variant& variant : variants())
    for (const Index n : {1, 2, 3, 16, 63, 197, 341, 512, 4095, 4096, 20000, 131072, 1 << 20}) {
      CAPTURE(variant.id);
      CAPTURE(n);
      const std::vector<Values> settings = settings_worth_trying(variant, n);
      REQUIRE_FALSE(settings.empty());
      CHECK(settings.size() <= 40);
      CHECK(settings.front() == values_for_length(variant, n));
      for (std::size_t s = 0; s < settings.size(); ++s) {
        CHECK_NOTHROW(check_values(variant.schema, settings[s]));
        CHECK(std::count(settings.begin(), settings.end(), settings[s]) == 1);
      }
      if (variant.reference) CHECK(settings.size() == 1);
      // Fewer are the first of them.
      const std::vector<Values> few = settings_worth_trying(variant, n, 3);
      REQUIRE(few.size() == std::min<std::size_t>(3, settings.size()));
      CHECK(std::equal(few.begin(), few.end(), settings.begin()));
    }
}

TEST_CASE("law: settings worth trying can be planned, or the planner says why not") {
  const Backend& backend = *backends().front();
  for (const Variant& variant : variants())
    for (const Index n : {5, 40, 197, 600}) {
      CAPTURE(variant.id);
      CAPTURE(n);
      const Problem problem = make_data(Data::gaussian, n, 4, 4, !variant.has_bidirectional_form());
      std::size_t planned = 0;
      const std::vector<Values> settings = settings_worth_trying(variant, n);
      for (const Values& values : settings) {
        Profile profile;
        Run run{profile};
        Planning planning{backend, run, 0, {}};
        try {
          variant.plan(problem, values, planning);
          ++planned;
        } catch (const UsageError& refusal) {
          CHECK(std::string(refusal.what()).find("expected") != std::string::npos);
          CHECK(values != settings.front());
        }
      }
      CHECK(2 * planned > settings.size());  // else the stated values exclude each other
    }
}

TEST_CASE(
    "law: every variant with parameters has several settings to compare, cheaper and dearer") {
  const Backend& backend = *backends().front();
  const Index n = 341;
  for (const Variant& variant : variants()) {
    const Problem problem = make_data(Data::gaussian, n, 8, 8, !variant.has_bidirectional_form());
    // Exact and linear: there is nothing to choose. Recurrences and low precision: no setting
    // changes the cost.
    if (variant.schema.empty() || variant.has_recurrent_form || variant.group == Group::precisions)
      continue;
    CAPTURE(variant.id);
    std::vector<double> costs;
    for (const Values& values : settings_worth_trying(variant, n)) {
      Profile profile;
      Run run{profile};
      Planning planning{backend, run, 0, {}};
      try {
        costs.push_back(
            count_cost(variant.plan(problem, values, planning), problem.d(), problem.dv())
                .multiply_adds);
      } catch (const UsageError&) {
      }
    }
    REQUIRE(costs.size() >= 4);
    CHECK(*std::ranges::min_element(costs) < costs.front());
    CHECK(*std::ranges::max_element(costs) > costs.front());
  }
}
