#include "analysis/section_mass.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "analysis/support.h"

namespace fovea {

std::optional<SectionMass> section_mass(const Operator& op, const RowBands& rows, Run& run) {
  const auto& compressed = op.problem().compressed;
  if (!compressed || !has_entries(op.plan())) return {};
  const auto& rule = op.problem().rule;
  const Index keys = op.plan().keys();
  std::vector<double> of_tokens, of_entries, of_sink, counts;  // a number a row
  Run quiet = run.quiet();
  for (const IndexRange& band : rows.bands) {
    run.check();
    const Matrix p = op.tile(band, {0, keys}, quiet);
    for (Index i = band.begin; i < band.end; ++i) {
      const float* row = p.row(i - band.begin);
      const bool counted = admissible_keys(op.plan(), i) > 0;
      const auto sum = [&](IndexRange some) {
        return counted ? std::accumulate(row + some.begin, row + some.end, 0.0) : 0.0;
      };
      of_tokens.push_back(sum({0, compressed->tokens}));
      of_entries.push_back(sum({compressed->tokens, keys}));
      of_sink.push_back(counted ? std::max(0.0, 1 - of_tokens.back() - of_entries.back()) : 0);
      counts.push_back(counted);
    }
  }
  if (std::ranges::find(counts, 1.0) == counts.end()) return {};
  SectionMass mass{.tokens = ratio_of_sums(rows, of_tokens, counts),
                   .entries = ratio_of_sums(rows, of_entries, counts)};
  if (rule && rule->sink) mass.sink = ratio_of_sums(rows, of_sink, counts);
  return mass;
}

}  // namespace fovea
