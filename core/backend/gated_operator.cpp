#include "backend/gated_operator.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "backend/entry_tiles.h"
#include "backend/tile_operator.h"

namespace fovea {
namespace {

class GatedOperator final : public Operator {
 public:
  GatedOperator(std::shared_ptr<const Plan> plan, const Problem& problem, const Backend& backend,
                Run& run)
      : Operator(std::move(plan), problem), gated_(std::get<GatedPlan>(this->plan().form)) {
    for (const TilePlan& branch : gated_.branches)
      branches_.push_back(backend.bind(
          std::make_shared<const Plan>(
              Plan{.lengths = this->plan().lengths, .causal = this->plan().causal, .form = branch}),
          problem, run));
  }

 private:
  // Adds the rows of a branch to those of the sum, which begin at query `first`.
  void add(std::size_t branch, MatrixView rows, Index first, Matrix& sum) const {
    for (Index r = 0; r < rows.rows; ++r) {
      const float gate = gated_.gates(first + r, static_cast<Index>(branch));
      for (Index c = 0; c < rows.cols; ++c) sum(r, c) += gate * rows.row(r)[c];
    }
  }

  Output do_apply(MatrixView v, Run& run) const override {
    Output out{Matrix(plan().queries(), v.cols), {}};
    for (std::size_t b = 0; b < branches_.size(); ++b) {
      const double turn = b, turns = branches_.size();
      Run part = run.part(turn / turns, (turn + 1) / turns);
      const Output its = branches_[b]->apply(v, part);
      run.check();
      add(b, its.z, 0, out.z);
    }
    return out;
  }

  Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const override {
    const auto stage = run.profile.stage("entries");
    const auto of = [&](IndexRange queries, IndexRange keys) {
      return entries(queries, keys, run);
    };
    return tile_of_entries(rows, cols, pool, of, run);
  }

  Matrix entries(IndexRange rows, IndexRange cols, Run& run) const {
    Run quiet = run.quiet();
    Matrix sum(rows.size(), cols.size());
    for (std::size_t b = 0; b < branches_.size(); ++b) {
      run.check();
      const Matrix its = branches_[b]->tile(rows, cols, quiet);
      add(b, its, rows.begin, sum);
    }
    return sum;
  }

  const GatedPlan& gated_;
  std::vector<std::unique_ptr<Operator>> branches_;
};

}  // namespace

std::unique_ptr<Operator> make_gated_operator(std::shared_ptr<const Plan> plan,
                                              const Problem& problem, const Backend& backend,
                                              Run& run) {
  return std::make_unique<GatedOperator>(std::move(plan), problem, backend, run);
}

MemoryNeed operator_need(const GatedPlan& plan, const Extents& extents, int threads) {
  MemoryNeed need;
  for (const TilePlan& branch : plan.branches) {
    const MemoryNeed its = operator_need(branch, extents, threads);
    need.bound += its.bound;
    for (const Pass& pass : branch.passes) need.bound += bytes_of(pass);  // of the inner plan
    need.applied = std::max(need.applied, its.applied);
  }
  need.applied += float_size * as_double(extents.queries) * as_double(extents.dv);
  return need;
}

}  // namespace fovea
