#include "analysis/level_mass.h"

#include <algorithm>

#include "analysis/row_bands.h"
#include "analysis/support.h"

namespace fovea {
namespace {

int top_level(const Plan& plan) {
  int top = 0;
  if (const auto* tiles = plan.as<TilePlan>())
    for (const Pass& pass : tiles->passes) top = std::max(top, pass.key_level);
  return top;
}

double sum_of(const float* row, IndexRange keys) {
  double sum = 0;
  for (Index j = keys.begin; j < keys.end; ++j) sum += static_cast<double>(row[j]);
  return sum;
}

}  // namespace

std::vector<LevelMass> level_mass(const Operator& approximate, const Operator& exact, Run& run,
                                  double max_entries, std::uint64_t seed) {
  const Plan& plan = approximate.plan();
  const auto levels = static_cast<std::size_t>(top_level(plan)) + 1;
  if (levels == 1) return {};
  const Support support(plan);
  const IndexRange all{0, plan.keys()};
  const RowBands rows = row_bands(plan.lengths, max_entries, seed);
  std::vector<std::vector<double>> of_exact(levels), of_approximate(levels);  // a number a row
  Run quiet = run.quiet();  // progress counts rows
  Index done = 0;
  for (const IndexRange& band : rows.bands) {
    run.check();
    const Matrix p = exact.tile(band, all, quiet), q = approximate.tile(band, all, quiet);
    for (Index i = band.begin; i < band.end; ++i) {
      std::vector<double> exact_mass(levels), approximate_mass(levels);
      support.for_parts(i, all, [&](const Support::Part& part) {
        const auto level = static_cast<std::size_t>(part.pass->key_level);
        exact_mass[level] += sum_of(p.row(i - band.begin), part.keys);
        approximate_mass[level] += sum_of(q.row(i - band.begin), part.keys);
      });
      for (std::size_t l = 0; l < levels; ++l) {
        of_exact[l].push_back(std::min(1.0, exact_mass[l]));  // more only by rounding
        of_approximate[l].push_back(std::min(1.0, approximate_mass[l]));
      }
    }
    done += band.size();
    run.reached(static_cast<double>(done) / static_cast<double>(rows.rows));
  }
  std::vector<LevelMass> out;
  for (std::size_t l = 0; l < levels; ++l)
    out.push_back({static_cast<int>(l), mean_of(rows, of_exact[l]),
                   mean_of(rows, of_approximate[l]), rows.sampled()});
  return out;
}

std::vector<Diagnostic> level_mass_figures(const Diagnosis& of, Run& run) {
  std::vector<Diagnostic> figures;
  for (const LevelMass& mass : level_mass(of.approximate, of.exact, run)) {
    const std::string level = std::to_string(mass.level);
    figures.push_back({"level_mass_exact_" + level, "Exact attention, level " + level,
                       mass.exact.value,
                       "Exact attention that falls on the pairs of the level, mean over rows.",
                       mass.sampled, false, mass.exact.standard_error});
    figures.push_back({"level_mass_approximate_" + level, "Approximate attention, level " + level,
                       mass.approximate.value,
                       "Attention that the approximation gives to the pairs of the level, mean "
                       "over rows.",
                       mass.sampled, false, mass.approximate.standard_error});
  }
  return figures;
}

}  // namespace fovea
