// visit_form calls the case for the form of a plan. Some case must name every form: a function that
// misses a new form does not compile.
#pragma once

#include "data/overloads.h"
#include "plan/plan.h"

namespace fovea {

/// Cases for several forms are written [](const one_of<NodePlan, FeaturePlan> auto& form) { ... }.
template <class... Cases>
requires handles_all<Overloads<Cases...>, PlanForm>
auto visit_form(const Plan& plan, Cases... cases) {
  return std::visit(Overloads{std::move(cases)...}, plan.form);
}

}  // namespace fovea
