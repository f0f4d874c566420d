#include "effect/head_estimates.h"

#include <cmath>
#include <utility>

#include "evaluate/computation.h"
#include "session/session.h"

namespace fovea {
namespace {

double squared_norm(const Matrix& z) {
  double sum = 0;
  for (Index i = 0; i < z.rows(); ++i)
    for (Index j = 0; j < z.cols(); ++j) sum += double{z(i, j)} * double{z(i, j)};
  return sum;
}

double squared_distance(const Matrix& a, const Matrix& b) {
  double sum = 0;
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < a.cols(); ++j) {
      const double difference = double{a(i, j)} - double{b(i, j)};
      sum += difference * difference;
    }
  return sum;
}

}  // namespace

HeadEstimates::HeadEstimates(std::shared_ptr<const Source> source, ReplacedPart part,
                             ChosenHeads chosen)
    : source_(std::move(source)),
      part_(std::move(part)),
      chosen_(std::move(chosen)),
      found_(chosen_.layers() * chosen_.heads()) {}

void HeadEstimates::step(const Backend& backend, Run& run) {
  if (complete()) return;
  const Index layer = chosen_.layers() - 1 - next_, heads = chosen_.heads();
  const bool any = [&] {
    for (Index head = 0; head < heads; ++head)
      if (chosen_.has(layer, head)) return true;
    return false;
  }();
  double whole = 0;
  std::vector<double> changes(heads);
  for (Index head = 0; any && head < heads; ++head) {
    const Problem problem = problem_of(*source_, {.layer = layer, .head = head}, run.stop);
    const auto output_of = [&](const ComputeRequest& request) {
      TimedRun timed;
      return plan_and_bind(problem, request, backend, run, timed)->apply(run).z;
    };
    const Matrix exact = output_of({.variant = &find_variant("exact"), .values = {}});
    whole += squared_norm(exact);
    if (!chosen_.has(layer, head)) continue;
    const Values values = values_for_length(*part_.variant, problem.keys(), part_.settings);
    changes[head] = squared_distance(
        output_of({.variant = part_.variant, .values = values, .seed = part_.seed}), exact);
  }
  for (Index head = 0; head < heads; ++head)
    if (chosen_.has(layer, head))
      found_[layer * heads + head] = whole > 0 ? std::sqrt(changes[head] / whole) : 0;
  ++next_;
}

std::optional<double> HeadEstimates::of(Index layer, Index head) const {
  return found_[layer * chosen_.heads() + head];
}

}  // namespace fovea
