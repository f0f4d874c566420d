#include "analysis/kept_softmax.h"

#include <utility>

namespace fovea {

std::unique_ptr<Operator> bind_softmax(const Problem& head, const Pass& pass,
                                       const Backend& backend, Run& run) {
  return backend.bind(std::make_shared<const Plan>(Plan{.lengths = head.lengths(),
                                                        .causal = head.causal,
                                                        .window = head.window,
                                                        .mask = head.mask,
                                                        .form = TilePlan{.passes = {pass}}}),
                      head, run);
}

std::optional<KeptSoftmax> kept_softmax(const Diagnosis& of, Run& run) {
  const Plan& plan = of.approximate.plan();
  const auto* imported = plan.as<ImportedPlan>();
  const Problem& head = of.exact.problem();
  if (!imported || !imported->kept || !head.imported || head.recurrence) return {};
  if (!head.imported->named(imported->result->name).kept.present()) return {};
  Problem kept = head;
  kept.mask = plan.mask;
  KeptSoftmax made{bind_softmax(kept, *imported->kept, of.backend, run), {}};
  made.output = made.op->apply(head.v, run);
  return made;
}

}  // namespace fovea
