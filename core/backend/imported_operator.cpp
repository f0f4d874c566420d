#include "backend/imported_operator.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "backend/entry_tiles.h"
#include "backend/tile_operator.h"
#include "data/error.h"

namespace fovea {
namespace {

// Softmax over the kept pairs.
std::shared_ptr<const Plan> kept_plan(const Plan& plan) {
  return std::make_shared<const Plan>(
      Plan{.lengths = plan.lengths,
           .causal = plan.causal,
           .window = plan.window,
           .mask = plan.mask,
           .form = TilePlan{.passes = {*std::get<ImportedPlan>(plan.form).kept}}});
}

bool same_values(MatrixView a, MatrixView b) {
  if (a.rows != b.rows || a.cols != b.cols) return false;
  for (Index i = 0; i < a.rows; ++i)
    if (std::memcmp(a.row(i), b.row(i), sizeof(float) * static_cast<std::size_t>(a.cols)) != 0)
      return false;
  return true;
}

class ImportedOperator final : public Operator {
 public:
  ImportedOperator(std::shared_ptr<const Plan> plan, const Problem& problem, const Backend& backend,
                   Run& run)
      : Operator(std::move(plan), problem),
        result_(*std::get<ImportedPlan>(this->plan().form).result) {
    if (!result_.p.empty() || !has_entries(this->plan())) return;
    Problem kept = problem;
    kept.mask = this->plan().mask;
    kept_ = backend.bind(kept_plan(this->plan()), kept, run);
  }

 private:
  Output do_apply(MatrixView v, Run& run) const override {
    if (!result_.z.empty() && same_values(v, problem().v))
      return {Matrix::copy_of(result_.z), result_.lse};
    if (kept_) return kept_->apply(v, run);
    require_entries();
    return {product(v, run), result_.lse};
  }

  // P V in double.
  Matrix product(MatrixView v, Run& run) const {
    Matrix z(plan().queries(), v.cols);
    std::vector<double> sums(v.cols);
    for (Index i = 0; i < z.rows(); ++i) {
      run.check();
      std::ranges::fill(sums, 0.0);
      for (Index j = 0; j < v.rows; ++j)
        if (const double p = result_.p(i, j); p != 0)
          for (Index c = 0; c < v.cols; ++c) sums[c] += p * static_cast<double>(v(j, c));
      for (Index c = 0; c < v.cols; ++c) z(i, c) = static_cast<float>(sums[c]);
    }
    return z;
  }

  Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const override {
    if (kept_) return kept_->tile(rows, cols, pool, run);
    require_entries();
    const ColumnEntries entries = [this](IndexRange some) -> RowEntries {
      return [this, some](IndexRange its) {
        Matrix out(its.size(), some.size());
        for (Index i = 0; i < out.rows(); ++i)
          std::copy_n(result_.p.row(its.begin + i) + some.begin, some.size(), out.row(i));
        return out;
      };
    };
    return tile_of_entries(rows, cols, pool, plan().keys(), entries, run);
  }

  void require_entries() const {
    if (!has_entries(plan()))
      throw UsageError(
          "the file holds z alone of this result, not its weights p nor the pairs it kept");
  }

  const ImportedResult& result_;
  std::unique_ptr<Operator> kept_;  // null if P is known, or nothing of it
};

}  // namespace

std::unique_ptr<Operator> make_imported_operator(std::shared_ptr<const Plan> plan,
                                                 const Problem& problem, const Backend& backend,
                                                 Run& run) {
  return std::make_unique<ImportedOperator>(std::move(plan), problem, backend, run);
}

MemoryNeed operator_need(const ImportedPlan& plan, const Extents& extents, int threads) {
  if (plan.result->p.empty() && plan.kept)
    return operator_need(TilePlan{.passes = {*plan.kept}}, extents, threads);
  return {.bound = 0,
          .applied = float_size * as_double(extents.queries) * as_double(padded_width(extents.dv)) +
                     double_size * as_double(extents.dv)};
}

}  // namespace fovea
