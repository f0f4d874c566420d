#include "analysis/run_figures.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "analysis/rounding_budget.h"
#include "analysis/wrong_rows.h"
#include "data/larger.h"
#include "data/number_text.h"

namespace fovea {
namespace {

/// What other runs did to each row of the first one.
class RowsOfRuns {
 public:
  explicit RowsOfRuns(const Matrix& first) : first_(first), distances_(first.rows()) {
    for (Index i = 0; i < first.rows(); ++i)
      for (Index l = 0; l < first.cols(); ++l) norm_ += square(first(i, l));
    norm_ = std::sqrt(norm_);
  }

  void add(const Matrix& other) {
    double all = 0;
    for (Index i = 0; i < first_.rows(); ++i) {
      const auto bytes = static_cast<std::size_t>(first_.cols()) * sizeof(float);
      if (std::memcmp(first_.row(i), other.row(i), bytes) == 0) continue;
      double sum = 0;
      for (Index l = 0; l < first_.cols(); ++l) sum += square(double{other(i, l)} - first_(i, l));
      Row& row = distances_[i];
      row.differs = true;
      row.distance = larger_or_nan(row.distance, std::sqrt(sum));
      all += sum;
    }
    largest_ = larger_or_nan(largest_, std::sqrt(all));
  }

  std::vector<Index> that_differ() const {
    std::vector<Index> out;
    for (Index i = 0; i < first_.rows(); ++i)
      if (row(i).differs) out.push_back(i);
    return out;
  }
  /// Rows that a run moves by more than twice the budget, or makes NaN.
  std::vector<Index> beyond(const std::vector<float>& budget) const {
    std::vector<Index> out;
    for (const Index i : that_differ())
      if (!(row(i).distance <= 2.0 * budget[i])) out.push_back(i);
    return out;
  }
  /// The largest distance of a row over what rounding usually does to it.
  double over_usual(const std::vector<float>& usual) const {
    double most = 0;
    for (const Index i : that_differ()) most = std::max(most, row(i).distance / double{usual[i]});
    return most;
  }
  /// |Z_r - Z_1| / |Z_1| of the run that is farthest from the first.
  double spread() const { return largest_ == 0 ? 0 : largest_ / norm_; }

 private:
  struct Row {
    bool differs = false;
    double distance = 0;
  };
  static double square(double x) { return x * x; }

  const Row& row(Index i) const { return distances_[i]; }

  const Matrix& first_;
  std::vector<Row> distances_;
  double norm_ = 0, largest_ = 0;
};

/// The type with the largest rounding errors among those of the runs.
ElementType coarsest(ElementType first, const std::vector<HeadTensor>& others) {
  for (const HeadTensor& other : others)
    if (unit_roundoff(other.type) > unit_roundoff(first)) first = other.type;
  return first;
}

/// `over_usual`: the largest difference over what rounding usually does.
std::string finding(std::size_t runs, const std::vector<Index>& differing,
                    const std::vector<Index>& beyond, double over_usual, Index all, bool in_fp32) {
  const std::string subject = std::to_string(runs) + " runs of one input ";
  if (differing.empty())
    return subject + (in_fp32 ? "give the same numbers in fp32" : "give the same bits");
  constexpr double unusual = 4;
  if (beyond.empty() && over_usual > unusual)
    return subject + "differ in " + place_text(differing, all) + ", by up to " +
           format_drawn(over_usual, 2) +
           " times what another order of sums usually changes, though by less than rounding can "
           "change at most: look for another reason, too";
  if (beyond.empty())
    return subject + "differ in " + place_text(differing, all) +
           ", by no more than another order of sums usually changes";
  return subject + "differ by more than rounding explains in " + place_text(beyond, all) +
         ": no order of sums does that, but a race, memory that is read before it is written, or "
         "random numbers do";
}

}  // namespace

std::vector<Diagnostic> run_figures(const Diagnosis& of, Run& run) {
  const auto* plan = of.approximate.plan().as<ImportedPlan>();
  if (!plan || !of.exact.problem().imported || plan->result->z.empty()) return {};
  const ImportedResults& results = *of.exact.problem().imported;
  const std::vector<HeadTensor>& others = results.named(plan->result->name).z_runs;
  if (others.empty()) return {};
  RowsOfRuns rows(plan->result->z);
  for (const HeadTensor& other : others) {
    run.check();
    rows.add(other.read(results.head, run.stop));
  }
  const std::vector<Index> differing = rows.that_differ();
  const bool has_fp64 =
      plan->result->type == ElementType::f64 ||
      std::ranges::any_of(others, [](const HeadTensor& o) { return o.type == ElementType::f64; });
  const ElementType type = coarsest(plan->result->type, others);
  std::vector<Index> beyond;
  double over_usual = 0;
  if (!differing.empty()) {
    const RoundingOfRows rounding = rounding_of_rows(of.exact, of.exact_output, type, run);
    beyond = rows.beyond(rounding.most);
    over_usual = rows.over_usual(rounding.usual);
  }
  const std::size_t runs = others.size() + 1;
  return {
      {.id = "runs",
       .label = "Runs of one input",
       .value = static_cast<double>(runs),
       .meaning = "Outputs of the same program on the same input that the file holds."},
      {.id = "rows_that_differ",
       .label = "Rows that differ between runs",
       .value = static_cast<double>(differing.size()),
       .meaning =
           "Queries whose outputs are not bit by bit the same in all runs. Numbers of fp64 are "
           "compared in fp32."},
      {.id = "rows_that_differ_beyond_rounding",
       .label = "Rows that differ by more than rounding explains",
       .value = static_cast<double>(beyond.size()),
       .meaning = "Queries of which a run is farther from the first one than twice the bound "
                  "of rounding: no order of sums explains it."},
      {.id = "spread_of_runs",
       .label = "Largest relative difference of a run",
       .value = rows.spread(),
       .meaning = "max over runs of |Z_r − Z_1| / |Z_1| (Frobenius norms)."},
      {.id = "finding",
       .label = "Finding",
       .meaning = "",
       .words = finding(runs, differing, beyond, over_usual, plan->result->z.rows(), has_fp64)}};
}

}  // namespace fovea
