// What a tree learns from, and what a plan says of its learning, against sums by hand.
#include "learning/learning_set.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "data/number_text.h"
#include "learning/sets.h"
#include "reference.h"
#include "variants/learned_tree.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("targets are rows of exact attention, and their mean square is of those learned from") {
  for (const bool causal : {false, true}) {
    CAPTURE(causal);
    const Problem problem = make_data(Data::gaussian, 61, 6, 3, causal);
    const LearningSet set = learning_set(problem);
    REQUIRE(set.learned_from > 0);
    REQUIRE(set.learned_from < set.queries.rows());
    const Instance exact = make_instance(*backends().front(), problem, "exact", {});
    const auto z = times(reference<double>(exact), problem.v);
    double squares = 0, worst = 0;
    for (Index i = 0; i < set.queries.rows(); ++i)
      for (Index c = 0; c < 3; ++c) {
        const auto token = set.query_token[static_cast<std::size_t>(i)];
        const double target = z[static_cast<std::size_t>(token * 3 + c)];
        worst = std::max(worst, std::abs(static_cast<double>(set.targets(i, c)) - target));
        if (i < set.learned_from) squares += target * target;
      }
    CHECK(worst < 1e-5);  // means of numbers up to 4, of some 61 roundings of 2^-24
    CHECK(set.target_square ==
          doctest::Approx(squares / static_cast<double>(set.learned_from)).epsilon(1e-5));
  }
}

TEST_CASE(
    "the notes of a learned tree say the errors on held-out rows, not on those learned from") {
  const Problem problem = make_data(Data::gaussian, 200, 8, 4, false);
  const Settings settings{{"tree", "learned"}, {"height", "3"}, {"steps", "20"}};
  for (const char* id : {"tf", "tc"}) {
    CAPTURE(id);
    const auto plan = make_plan(*backends().front(), problem, id, settings);
    const Variant& variant = find_variant(id);
    const Fit fit = fit_of(variant, values_of(variant, settings));
    constexpr std::uint64_t seed = 7;  // of make_plan
    Profile profile;
    Run run{profile};
    Trainer trainer = make_trainer(fit, learning_options(fit.parameters, fit.goal, seed, 0),
                                   problem, seed, *backends().front(), run);
    trainer.learn(20, run, backends().front().get());
    const MeasuredTree &best = trainer.best().measured, &start = trainer.start().measured;
    REQUIRE(format_number(best.held_out_error) != format_number(best.error));
    REQUIRE(format_number(start.held_out_error) != format_number(start.error));
    const std::string note = "tree learned in 20 steps: output error on held-out rows " +
                             format_number(best.held_out_error) +
                             " (median tree: " + format_number(start.held_out_error) + ")";
    CAPTURE(note);
    CHECK(std::ranges::count(plan->notes, note) == 1);
  }
}
