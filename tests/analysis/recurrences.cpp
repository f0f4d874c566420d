// What is said of heads whose weights have signs and whose rows have no sums.
#include <doctest/doctest.h>

#include <cmath>

#include "analysis/head_measures.h"
#include "analysis/imported_columns.h"
#include "evaluate/evaluate.h"
#include "harness.h"
#include "variants/variant.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Problem recurrent_head(Index n, Index dv, Index channels = 1) {
  Matrix q = gaussian(n, 6, 1), k = gaussian(n, 6, 2);
  normalise_rows(q);
  normalise_rows(k);
  Problem problem = make_problem(std::move(q), std::move(k), gaussian(n, dv, 3), 0, true);
  problem.recurrence = std::make_shared<const Recurrence>(
      Recurrence{.erases = true,
                 .beta = std::vector(static_cast<std::size_t>(n), 0.7f),
                 .log_decay = Matrix(n, channels, -0.05f),
                 .level_weights = {}});
  return problem;
}

Computation computed(const Problem& problem, const char* id) {
  Profile profile;
  Run run{profile};
  const Variant& variant = find_variant(id);
  return compute(problem, {.variant = &variant, .values = defaults(variant.schema)},
                 *backends().front(), run);
}

}  // namespace

TEST_CASE("metrics of a recurrence have errors, and no divergences") {
  const Problem problem = recurrent_head(90, 4);
  const Computation exact = computed(problem, "exact"), ssd = computed(problem, "ssd");
  Profile profile;
  Run run{profile};
  const Metrics m = compare(*ssd.op, ssd.output, *exact.op, exact.output, run);
  CHECK(m.output_rel_fro > 0.01);
  CHECK(m.attention_rel_fro.value > 0.01);
  CHECK(m.attention_tv.value > 0);
  CHECK(std::isnan(m.attention_kl.value));
  CHECK_FALSE(m.attention_reverse_kl);
  CHECK(m.mass_kept.value == 1);
  CHECK(m.dropped_mass.empty());
  // Few rows are read, larger ones more often.
  const Metrics sampled = compare(*ssd.op, ssd.output, *exact.op, exact.output, run, 900);
  CHECK(sampled.sampled());
  CHECK(sampled.attention_rel_fro.value > 0.01);
}

TEST_CASE("the cost of a recurrence is that of its own steps") {
  const Problem problem = recurrent_head(64, 4);
  CHECK(computed(problem, "exact").cost.ratio_to_exact() == 1);
  CHECK(computed(problem, "exact").cost.multiply_adds == 64 * 6 * 4 * 5);
  CHECK(computed(problem, "ssd").cost.multiply_adds == 64 * 6 * 4 * 3);
  CHECK(computed(problem, "ssd").cost.ratio_to_exact() == 0.6);
  CHECK(computed(recurrent_head(64, 0), "exact").cost.ratio_to_exact() == 1);
}

TEST_CASE("measures of rows are not known of a recurrence, its effective rank is") {
  const Problem problem = recurrent_head(40, 2);
  const Computation exact = computed(problem, "exact");
  const HeadToMeasure head{.lengths = problem.lengths(),
                           .read =
                               [&](IndexRange rows, Run& run) {
                                 return exact.op->tile(rows, {0, 40}, run);
                               },
                           .plan = &exact.op->plan()};
  Profile profile;
  Run run{profile};
  const MeasuredHead measured = measure_head(head, run);
  for (std::size_t m = 0; m < head_measures().size(); ++m) {
    CAPTURE(head_measures()[m].id);
    const bool of_rows = head_measures()[m].of_row != nullptr;
    CHECK(std::isnan(measured.values[m].estimate.value) == of_rows);
    CHECK(measured.values[m].missing.empty() == !of_rows);
  }
}

TEST_CASE("figures of gates: half-life, and the share that the delta rule erases") {
  const Problem problem = recurrent_head(40, 2);
  const Computation exact = computed(problem, "exact");
  Profile profile;
  Run run{profile};
  for (const char* id : {"delta", "ssd"}) {
    const Computation its = computed(problem, id);
    const auto figures = diagnose(
        find_variant(id), {*its.op, its.output, *exact.op, exact.output, *backends().front()}, run);
    REQUIRE(figures.size() == (std::string(id) == "delta" ? 2 : 1));
    CHECK(figures[0].value == doctest::Approx(std::log(2) / 0.05));
    if (figures.size() == 2) CHECK(figures[1].value == doctest::Approx(0.7));
  }
}

TEST_CASE("the half-life of a recurrence whose channels have their own decays is of their mean") {
  const Computation exact = computed(recurrent_head(40, 2, 6), "exact"),
                    its = computed(recurrent_head(40, 2, 6), "delta");
  Profile profile;
  Run run{profile};
  const auto figures =
      diagnose(find_variant("delta"),
               {*its.op, its.output, *exact.op, exact.output, *backends().front()}, run);
  REQUIRE(figures.front().id == "half_life");
  CHECK(figures.front().value == doctest::Approx(std::log(2) / 0.05));
}

TEST_CASE("z of a file is held against the recurrence, and without the erase term recognised") {
  const Problem problem = recurrent_head(60, 4);
  const auto findings = [&](const char* id) {
    const Problem with_z = with(problem, {.z = tensor(computed(problem, id).output.z)});
    return sentences_of(AgainstExact(with_z).figures);
  };
  CHECK(findings("exact").empty());
  CHECK(findings("ssd") ==
        std::vector<std::string>{"z is not what the recurrence gives, in rows 1 to 59, the last "
                                 "59; it equals the recurrence without what the delta rule "
                                 "erases, up to rounding to F32"});
}
