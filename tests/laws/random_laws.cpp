// Every variant on every back end against its formula in float64, on heads that are drawn at random
// (random_heads.h).
//
// FOVEA_HEAD=417 tries the head of this number alone, FOVEA_HEADS=100000 as many.
#include <doctest/doctest.h>

#include <cstdlib>
#include <map>

#include "data/error.h"
#include "laws/formulas.h"
#include "laws/operator_cases.h"
#include "laws/random_heads.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// The largest sum over c of |q_ic k_jc|, scaled: what a rounding of a logit is relative to.
double largest_magnitude(const Problem& problem) {
  double largest = 0;
  for (Index i = 0; i < problem.q.rows; ++i)
    for (Index j = 0; j < problem.k.rows; ++j) {
      double sum = 0;
      for (Index c = 0; c < problem.d(); ++c)
        sum +=
            std::abs(static_cast<double>(problem.q(i, c)) * static_cast<double>(problem.k(j, c)));
      largest = std::max(largest, problem.scale * sum);
    }
  return largest;
}

/// Features whose products are summed; 0 where there are none.
double features_of(const Instance& x) {
  const auto* plan = std::get_if<FeaturePlan>(&x.plan->form);
  return plan ? static_cast<double>(plan->features(x.problem.d())) : 0;
}

/// By how much the roundings of values grow that a state takes up before queries meet it; 1 where
/// weights meet the values.
double growth_in_states(const Instance& x) {
  if (!std::holds_alternative<RecurrentPlan>(x.plan->form)) return 1;
  const double terms = static_cast<double>(x.problem.d()) * largest_entry(x.problem.q);
  return std::max(1.0, x.problem.scale * terms);
}

/// Whether what a key erases from a state makes the state larger, so that it overflows after many
/// keys, and is no number where a query of zeros meets it.
bool state_explodes(const Instance& x) {
  const auto* plan = std::get_if<RecurrentPlan>(&x.plan->form);
  if (!plan || plan->unit_vectors || !plan->recurrence->erases) return false;
  for (Index j = 0; j < x.problem.n(); ++j) {
    double square = 0;
    for (Index c = 0; c < x.problem.d(); ++c)
      square += std::pow(static_cast<double>(x.problem.k(j, c)), 2);
    if (static_cast<double>(plan->recurrence->beta_of(j)) * square > 2) return true;
  }
  return false;
}

/// As in the laws of operators and conditions, with the magnitude of the products in place of the
/// logit, since products of large numbers may cancel; d roundings of which about the root of d add
/// up; the roundings of a sum of n; and those of two sums over features, one divided by the other.
double floor_of_random(const Instance& x) {
  const double d = static_cast<double>(x.problem.d());
  const auto& largest_exponent = laws_of(x.variant->id)->largest_exponent;
  const double magnitude =
      std::max(largest_magnitude(x.problem), largest_exponent ? largest_exponent(x) : 0.0);
  return floor_of(x) + 2e-6 * largest_logit(x.problem) + 0x1p-24 * (4 + std::sqrt(d)) * magnitude +
         0x1p-24 * (static_cast<double>(x.problem.n()) + 2 * std::sqrt(features_of(x)));
}

void check_against_formula(const Instance& x) {
  const auto truth = reference<double>(x);
  const auto plain = reference<float>(x);
  const Index n = x.problem.n(), dv = x.problem.dv();
  const double floor = floor_of_random(x);
  const Matrix p = x.all();
  CHECK(distance(p, truth, n, n) <=
        2 * distance(plain, truth, n, n) + floor * std::max(1.0, largest_entry(p)));
  if (state_explodes(x)) return;
  const auto true_z = times(truth, x.problem.v);
  const auto plain_z = times(plain, x.problem.v);
  const double plain_error = distance(rows_of(plain_z, dv), rows_of(true_z, dv), n, dv);
  // And the products of all keys or features, each of which may be rounded to a multiple of the
  // smallest denormal number.
  const double smallest =
      std::max(static_cast<double>(n), features_of(x)) * growth_in_states(x) * 0x1p-149;
  CHECK(distance(x.apply(x.problem.v).z, rows_of(true_z, dv), n, dv) <=
        2 * plain_error +
            (floor + static_cast<double>(n) * 0x1p-24) * largest_entry(x.problem.v) *
                std::clamp(row_mass(p), 1.0, 1e30) +  // theory mode may divide by next to nothing
            smallest);
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace

TEST_CASE("law: heads drawn at random have the P and Z of the formula") {
  const std::uint64_t only = number_from("FOVEA_HEAD", 0);
  const std::uint64_t last = only ? only : number_from("FOVEA_HEADS", random_heads().count);
  std::map<std::string, int> tried;
  std::uint64_t refused = 0;
  for (std::uint64_t number = only ? only : 1; number <= last; ++number) {
    const RandomHead head = random_head(number, random_heads().longest);
    CAPTURE(head.text);
    for (const auto& backend : backends()) {
      CAPTURE(backend->device());
      try {
        check_against_formula(make_instance(*backend, head.problem, head.c.id, head.c.settings));
        ++tried[head.c.id];
      } catch (const UsageError& refusal) {  // values that do not go together
        CHECK(std::string(refusal.what()).find("expected") != std::string::npos);
        ++refused;
      }
    }
  }
  if (only) return;
  CHECK(4 * refused < last * backends().size());
  for (const Case& c : cases()) CHECK(tried[c.id] > 0);
}
