// A variant on a head: what is asked for, from exact attention that is computed once.
#include "evaluate/evaluate.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "data/error.h"
#include "harness.h"
#include "messages.h"
#include "same_values.h"
#include "session/session.h"
#include "window/backend.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr Index tokens = 64;

Problem some_head() {
  return make_data(Data::gaussian, tokens, 4, 3, false);
}

ComputeRequest request_of(const std::string& id, const Settings& settings = {}) {
  const Variant& variant = find_variant(id);
  if (settings.empty()) return {.variant = &variant, .values = values_for_length(variant, tokens)};
  return {.variant = &variant, .values = values_of(variant, settings)};
}

/// Sorts tokens into blocks, so that the paper's figures apply.
ComputeRequest sorted() {
  return request_of("hyper", {{"block", "8"}, {"samples", "8"}, {"min_length", "0"}});
}

/// Counts what is bound, once for each run.
class Counted : public CpuLike {
 public:
  std::unique_ptr<Operator> bind(std::shared_ptr<const Plan> plan, const Problem& problem,
                                 Run& run) const override {
    if (fails) throw UnavailableError("not enough memory on the device");
    bound += problem.n() == tokens;
    return CpuLike::bind(std::move(plan), problem, run);
  }
  mutable int bound = 0;
  bool fails = false;
};

struct Evaluating {
  Counted backend;
  Profile profile;
  Run run{profile};
  Reference reference;

  explicit Evaluating(Problem problem = some_head())
      : reference(reference_of(std::move(problem), backend, run)) {
    backend.bound = 0;
  }
  Evaluated operator()(const ComputeRequest& request, const EvaluateOptions& options) {
    return evaluate(reference, request, options, backend, run);
  }
};

}  // namespace

TEST_CASE("evaluate: the numbers are those of the steps, one by one") {
  Evaluating all;
  const Evaluated found = all(sorted(), {.metrics = true, .diagnostics = true});
  const Computation its = compute(all.reference.problem, sorted(), all.backend, all.run),
                    exact = compute_exact(all.reference.problem, all.backend, all.run);
  CHECK(same_values(found.computation->output.z, its.output.z));
  const Metrics metrics = compare(its, exact, all.run);
  REQUIRE(found.metrics);
  CHECK(found.metrics->output_rel_fro == metrics.output_rel_fro);
  CHECK(found.metrics->attention_tv.value == metrics.attention_tv.value);
  CHECK(found.metrics->output_rel_fro > 0);
  const auto diagnostics = diagnose(its, exact, all.backend, all.run);
  REQUIRE(found.diagnostics.size() == diagnostics.size());
  REQUIRE_FALSE(diagnostics.empty());
  for (std::size_t d = 0; d < diagnostics.size(); ++d) {
    CHECK(found.diagnostics[d].id == diagnostics[d].id);
    CHECK(found.diagnostics[d].value == diagnostics[d].value);
  }
  const MeasuredTime time{.slow = true};
  const Evaluation numbers = numbers_of(found, time);
  CHECK(numbers.cost == &found.computation->cost);
  CHECK(numbers.metrics == &*found.metrics);
  CHECK(numbers.time->slow);
  CHECK(numbers_of({.computation = found.computation}, {}).metrics == nullptr);
  CHECK(numbers_of({.computation = found.computation}, {}).time == nullptr);
}

TEST_CASE("evaluate: what is not asked for is not computed, and exact attention only once") {
  Evaluating all;
  const Evaluated alone = all(sorted(), {});
  CHECK(all.backend.bound == 1);
  CHECK(alone.computation->applied());
  CHECK_FALSE(alone.metrics);
  CHECK(alone.diagnostics.empty());
  CHECK(alone.rounds.rounds.empty());

  const Evaluated compared = all(sorted(), {.metrics = true});
  CHECK(all.backend.bound == 2);
  CHECK(compared.metrics);
  CHECK(compared.diagnostics.empty());
  CHECK(compared.rounds.rounds.empty());

  const Evaluated diagnosed = all(sorted(), {.diagnostics = true});
  CHECK_FALSE(diagnosed.metrics);
  CHECK_FALSE(diagnosed.diagnostics.empty());

  all.backend.bound = 0;
  const Evaluated exact = all(request_of("exact"), {.metrics = true});
  CHECK(all.backend.bound == 0);
  CHECK(exact.computation == all.reference.exact);
  CHECK(exact.metrics->output_rel_fro == 0);

  const auto computed = std::make_shared<const Computation>(
      compute(all.reference.problem, sorted(), all.backend, all.run));
  all.backend.bound = 0;
  const Evaluated known =
      evaluate(all.reference, sorted(), computed, {.metrics = true}, all.backend, all.run);
  CHECK(all.backend.bound == 0);
  CHECK(known.computation == computed);
  CHECK(known.metrics->output_rel_fro == compared.metrics->output_rel_fro);
}

TEST_CASE("evaluate: rounds are beside exact attention, where the reference has it") {
  Evaluating all;
  const EvaluateOptions timed{
      .times = RepeatOptions{.rounds = RoundOptions{.time = unlimited_time, .most_rounds = 2}}};
  const Evaluated found = all(sorted(), timed);
  // Once alone, and both in a round that warms up and in two that count. The pace is that of the
  // same number of tokens: exact attention is bound once more.
  CHECK(all.backend.bound == 1 + 2 * 3 + 1);
  REQUIRE(found.rounds.rounds.size() == 2);
  for (const TimedRuns::Round& round : found.rounds.rounds) CHECK(round.exact);
  const Evaluated exact = all(request_of("exact"), timed);
  REQUIRE(exact.rounds.rounds.size() == 2);
  for (const TimedRuns::Round& round : exact.rounds.rounds) CHECK_FALSE(round.exact);
  all.reference.exact = nullptr;
  all.backend.bound = 0;
  const Evaluated alone = all(sorted(), timed);
  CHECK(all.backend.bound == 1 + 3 + 1);
  for (const TimedRuns::Round& round : alone.rounds.rounds) CHECK_FALSE(round.exact);
}

TEST_CASE("evaluate: an imported result is compared but not timed") {
  Problem problem = some_head();
  std::vector<Matrix> z;
  z.push_back(gaussian(tokens, 3, 5));
  problem.imported = std::make_shared<const ImportedResults>(
      ImportedResults{{{.z = make_head_tensor(std::move(z))}}, 0});
  Evaluating all(std::move(problem));
  const Evaluated found =
      all(request_of("imported"), {.metrics = true, .diagnostics = true, .times = RepeatOptions{}});
  CHECK(all.backend.bound == 1);
  CHECK(found.rounds.rounds.empty());
  CHECK(found.metrics->output_rel_fro > 0);
  CHECK_FALSE(found.metrics->of_attention());
}

TEST_CASE("evaluate: rows that are not finite have no error, and notes say why") {
  const Problem clean = some_head();
  Matrix q = Matrix::copy_of(clean.q);
  q(5, 1) = std::numeric_limits<float>::quiet_NaN();
  Evaluating all(make_problem(std::move(q), Matrix::copy_of(clean.k), Matrix::copy_of(clean.v)));
  const Evaluated found = all(request_of("strided"), {.metrics = true});
  CHECK(std::isnan(found.metrics->output_rel_fro));
  CHECK(std::isnan(found.metrics->token_error[5]));
  CHECK(std::isfinite(found.metrics->token_error[4]));
  const Computation& its = *found.computation;
  const Computation* exact = all.reference.exact.get();
  const std::size_t planned = its.op->plan().notes.size();
  const auto notes = notes_of(its, exact);
  REQUIRE(notes.size() == planned + 2);
  CHECK(contains(notes[planned], "output row"));
  CHECK(contains(notes[planned], "of " + its.variant->label + ": "));
  CHECK(contains(notes[planned + 1], "NaN or Inf in 1 output row of Exact: "));
  CHECK(notes_of(its, nullptr).size() == planned + 1);
  CHECK(notes_of(*exact, exact).size() == 1);
  CHECK(notes_of(*reference_of(clean, all.backend, all.run).exact, nullptr).empty());
}

TEST_CASE("evaluate: errors reach the caller, and the reference serves the next request") {
  Evaluating all;
  const EvaluateOptions wanted{.metrics = true};
  const double before = all(sorted(), wanted).metrics->output_rel_fro;
  all.backend.fails = true;
  CHECK_THROWS_WITH_AS(all(sorted(), wanted), "not enough memory on the device", UnavailableError);
  all.backend.fails = false;
  CHECK_THROWS_AS(all(request_of("imported"), wanted), Error);  // the head has none
  std::stop_source stop;
  stop.request_stop();
  Run stopped{all.profile, stop.get_token()};
  CHECK_THROWS_AS(evaluate(all.reference, sorted(), wanted, all.backend, stopped), Cancelled);
  CHECK_THROWS_AS(reference_of(some_head(), all.backend, stopped), Cancelled);
  CHECK(all(sorted(), wanted).metrics->output_rel_fro == before);
}
