#include "backend/projected_operator.h"

#include <algorithm>

#include "backend/entry_tiles.h"
#include "backend/padded.h"
#include "backend/product.h"
#include "backend/tile_operator.h"

namespace fovea {
namespace {

// The head of the tiles: other queries and keys, which the plan owns.
Problem inner_problem(std::shared_ptr<const Plan> plan, const Problem& outer) {
  const auto& projected = std::get<ProjectedPlan>(plan->form);
  Problem inner = outer;
  inner.owner = plan;
  inner.q = projected.queries;
  inner.k = inner.v = projected.keys;
  inner.scale = projected.scale;
  return inner;
}

std::shared_ptr<const Plan> inner_plan(const Plan& plan) {
  const auto& projected = std::get<ProjectedPlan>(plan.form);
  return std::make_shared<const Plan>(
      Plan{.lengths = {projected.queries.rows(), projected.queries.rows()},
           .causal = plan.causal,
           .form = projected.tiles});
}

// V as [blocks, block * dv], so that one product mixes all places of a block.
Matrix in_blocks(MatrixView v, Index block, const Run& run) {
  const Index blocks = (v.rows + block - 1) / block;
  Matrix out(blocks, block * v.cols);
  for (Index j = 0; j < v.rows; ++j) {
    if (j % block == 0) run.check();
    std::copy_n(v.row(j), v.cols, out.row(j / block) + j % block * v.cols);
  }
  return out;
}

class ProjectedOperator final : public Operator {
 public:
  ProjectedOperator(std::shared_ptr<const Plan> plan, const Problem& problem,
                    const Backend& backend, Product product, Run& run)
      : Operator(plan, problem),
        projected_(std::get<ProjectedPlan>(this->plan().form)),
        product_(std::move(product)),
        inner_(backend.bind(inner_plan(this->plan()), inner_problem(plan, problem), run)) {}

 private:
  bool mixed() const { return !projected_.mix.empty(); }
  IndexRange mixtures() const { return {projected_.own, projected_.own + projected_.mixtures()}; }

  Output do_apply(MatrixView v, Run& run) const override {
    if (!mixed()) return inner_->apply(v, run);
    const Matrix values = mixed_values(v, run);
    const Output inner = inner_->apply(values, run);
    run.check();
    return {Matrix::copy_of(inner.z.view().slice({0, plan().queries()})), {}};
  }

  // [N, dv]: the tokens, if they are columns, then the mixtures.
  Matrix mixed_values(MatrixView v, Run& run) const {
    const auto stage = run.profile.stage("mix values");
    const Index block = projected_.block;
    const Matrix blocks = block == 1 ? Matrix() : in_blocks(v, block, run);
    const Matrix mixes = product_(projected_.mix, block == 1 ? v : blocks.view(), run);
    Matrix values = Matrix::uninitialised(projected_.queries.rows(), v.cols);
    for (Index j = 0; j < values.rows(); ++j) {
      if (j % 1024 == 0) run.check();
      const Index u = j - projected_.own;
      const bool own = u < 0, mixture = !own && u < projected_.mixtures();
      values.write_row(j,
                       own       ? v.row(j)
                       : mixture ? mixes.row(u / block) + u % block * v.cols
                                 : nullptr,
                       v.cols);
    }
    return values;
  }

  Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const override {
    if (!mixed()) return inner_->tile(rows, cols, pool, run);
    const auto stage = run.profile.stage("entries");
    const auto of = [&](IndexRange queries, IndexRange keys) {
      return entries(queries, keys, run);
    };
    return tile_of_entries(rows, cols, pool, of, run);
  }

  Matrix entries(IndexRange rows, IndexRange cols, Run& run) const {
    run.check();
    Run quiet = run.quiet();
    const Matrix weights = inner_->tile(rows, mixtures(), quiet);
    Matrix out =
        projected_.block == 1 ? product_(weights, mix_of(cols), quiet) : spread(weights, cols);
    if (projected_.own > 0) {
      const Matrix own = inner_->tile(rows, cols, quiet);
      for (Index r = 0; r < rows.size(); ++r)
        for (Index c = 0; c < cols.size(); ++c) out(r, c) += own(r, c);
    }
    return out;
  }

  MatrixView mix_of(IndexRange cols) const {
    MatrixView part = projected_.mix;
    part.data += cols.begin;
    part.cols = cols.size();
    return part;
  }

  // A query attends few mixtures, each of which is spread over the same place of all blocks.
  Matrix spread(const Matrix& weights, IndexRange cols) const {
    const Index block = projected_.block;
    Matrix out(weights.rows(), cols.size());
    for (Index r = 0; r < weights.rows(); ++r)
      for (Index u = 0; u < weights.cols(); ++u) {
        const float weight = weights(r, u);
        if (weight == 0) continue;
        const float* mix = projected_.mix.row(u / block);
        const Index place = u % block;
        const Index first = (cols.begin - place + block - 1) / block;
        for (Index b = std::max<Index>(first, 0); b * block + place < cols.end; ++b)
          out(r, b * block + place - cols.begin) += weight * mix[b];
      }
    return out;
  }

  const ProjectedPlan& projected_;
  Product product_;
  std::unique_ptr<Operator> inner_;
};

}  // namespace

std::unique_ptr<Operator> make_projected_operator(std::shared_ptr<const Plan> plan,
                                                  const Problem& problem, const Backend& backend,
                                                  Product product, Run& run) {
  return std::make_unique<ProjectedOperator>(std::move(plan), problem, backend, std::move(product),
                                             run);
}

MemoryNeed operator_need(const ProjectedPlan& plan, const Extents& extents, int threads) {
  const Index positions = plan.queries.rows();
  MemoryNeed need =
      operator_need(plan.tiles, {positions, positions, plan.queries.cols(), extents.dv}, threads);
  for (const Pass& pass : plan.tiles.passes)  // of the inner plan
    need.bound += bytes_of(pass);
  if (plan.mix.empty()) return need;
  // The memory that mixes the values is kept for other matrices while the mixtures are attended:
  // blocks of V, V with whole vectors as rows, and the sums of the product.
  const Index width = padded_width(extents.dv);
  const double rows = (plan.block > 1 ? as_double(extents.keys) : 0) + as_double(positions) +
                      as_double(extents.queries);
  need.applied +=
      float_size * (rows * as_double(width) +
                    product_sums(plan.mix.rows(), plan.block * width, plan.mix.cols())) +
      Padded::need(plan.mix.cols(), plan.block * extents.dv);
  return need;
}

}  // namespace fovea
