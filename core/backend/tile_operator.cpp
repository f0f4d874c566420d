#include "backend/tile_operator.h"

#include <numbers>

#include "backend/bound_tiles.h"
#include "backend/tile_entries.h"
#include "backend/tile_sweep.h"

namespace fovea {
namespace {

class TileOperator final : public Operator {
 public:
  TileOperator(std::shared_ptr<const Plan> plan, const Problem& problem, const isa::Loops& loops,
               std::shared_ptr<Workers> workers, Run& run)
      : Operator(std::move(plan), problem),
        workers_(std::move(workers)),
        tiles_(bind(*this, loops, *workers_, run)) {}

 private:
  static BoundTiles bind(const Operator& self, const isa::Loops& loops, Workers& workers,
                         Run& run) {
    const auto stage = run.profile.stage("upload");
    return BoundTiles(self.plan(), self.problem(), loops, workers, run.stop);
  }

  Output do_apply(MatrixView v, Run& run) const override {
    Matrix padded;
    MatrixView values = v;
    const bool pad = v.cols % 16 != 0;  // the loops read whole vectors of a row
    if (pad) {
      padded = Matrix::padded(v.rows, v.cols);
      for (Index i = 0; i < v.rows; ++i) std::copy_n(v.row(i), v.cols, padded.row(i));
      values = padded;
    }
    TileSweep::Result result = TileSweep(tiles_, values, *workers_, run).attend();
    Output out{pad ? Matrix::copy_of(result.z) : std::move(result.z), result.log2_sums};
    for (float& sum : out.lse) sum *= std::numbers::ln2_v<float>;
    if (log2_sums_.empty()) log2_sums_ = std::move(result.log2_sums);
    return out;
  }

  Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const override {
    // From the first apply, else found now without values.
    if (log2_sums_.empty())
      log2_sums_ = TileSweep(tiles_, {nullptr, plan().n, 0, 0}, *workers_, run).attend().log2_sums;
    const auto stage = run.profile.stage("entries");
    tiles_.complete(*workers_, run.stop);
    return tile_entries(tiles_, rows, cols, pool, log2_sums_, *workers_, run);
  }

  std::shared_ptr<Workers> workers_;
  // Made when first needed; an Operator is used from one thread at a time.
  mutable BoundTiles tiles_;
  mutable std::vector<float> log2_sums_;  // [n]
};

}  // namespace

std::unique_ptr<Operator> make_tile_operator(std::shared_ptr<const Plan> plan,
                                             const Problem& problem, const isa::Loops& loops,
                                             std::shared_ptr<Workers> workers, Run& run) {
  return std::make_unique<TileOperator>(std::move(plan), problem, loops, std::move(workers), run);
}

}  // namespace fovea
