#include "backend/memory_need.h"

#include <algorithm>

#include "backend/feature_operator.h"
#include "backend/gated_operator.h"
#include "backend/imported_operator.h"
#include "backend/isa/attend.h"
#include "backend/node_operator.h"
#include "backend/projected_operator.h"
#include "backend/recurrent_operator.h"
#include "backend/rounded_weights.h"
#include "backend/tile_operator.h"
#include "plan/visit_form.h"

namespace fovea {

MemoryNeed memory_need(const Plan& plan, const Problem& head, int threads) {
  const Problem problem = counted_in(plan, head);
  // Without values, P is applied to one column of zeros.
  const Extents extents{plan.queries(), plan.keys(), problem.d(), std::max<Index>(problem.dv(), 1),
                        plan.causal};
  MemoryNeed need =
      visit_form(plan, [&](const auto& form) { return operator_need(form, extents, threads); });
  if (plan.rounded && plan.rounded->weights) {
    const MemoryNeed its = rounded_weights_need(extents);
    need.bound += its.bound;
    need.applied += its.applied;
  }
  if (plan.mask && !plan.mask->pairs().held())  // rows of each thread's strip of queries
    need.applied += int_size * isa::max_lanes * threads * as_double(plan.mask->pairs().stride());
  return need;
}

std::string need_text(const Plan& plan) {
  return "attention, " + plan.lengths.text();
}

}  // namespace fovea
