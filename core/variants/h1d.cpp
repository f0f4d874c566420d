// H-Transformer-1D: near pairs one by one, far pairs as means of ever larger clusters.
#include <algorithm>

#include "analysis/block_spread.h"
#include "analysis/level_mass.h"
#include "variants/variant.h"

namespace fovea {
namespace {

enum class Hierarchy { banded, nested };
enum class CausalQuery { first, fine, mean };

struct H1dParameters {
  Index block = 16;
  Hierarchy structure = Hierarchy::banded;
  CausalQuery causal_query = CausalQuery::first;

  static std::vector<TypedField<H1dParameters>> fields() {
    using P = H1dParameters;
    auto block =
        size_field<P>("block", "Block Nᵣ", "tokens", &P::block, 2, 131072,
                      "Tokens of a block at level 0, and clusters of a block at every level; "
                      "even. With block >= n the result is exact.",
                      [](Index n) { return short_size(n, 16); });
    block.field.must_be_even = true;
    block.field.worth_trying = try_sizes(block.field, 2);
    auto causal_query =
        choice_field("causal_query", "Causal query", &P::causal_query, {"first", "fine", "mean"},
                     "What stands for a cluster of queries under a causal mask: its first "
                     "query, every query by itself, or their mean, which leaks the future. "
                     "Without a mask it is the mean.");
    causal_query.field.causal_only = true;
    return {block,
            choice_field("structure", "Structure", &P::structure, {"banded", "nested"},
                         "banded: the level of a pair is the finest at which its blocks are "
                         "neighbours (Eq. 21-23). nested: the finest at which they are siblings "
                         "(appendix A.5)."),
            causal_query};
  }
};

struct H1dPlanner {
  Index n, block;
  bool causal, fine_queries;

  // Levels 0 .. levels() - 1; the top one has two blocks.
  int levels() const {
    int count = 1;
    while ((block << count) < n) ++count;
    return count;
  }

  // Rows [begin, end) of clusters of `level` against columns of clusters of the same level, cut off
  // at the clusters that exist.
  void add(Pass& pass, IndexRange rows, IndexRange cols, Band band = {}) const {
    const Index count = clusters(n, pass.key_level);
    cols = {std::max<Index>(cols.begin, 0), std::min(cols.end, count)};
    rows.end = std::min(rows.end, count);
    if (fine_queries)
      rows = {rows.begin << pass.key_level, std::min(rows.end << pass.key_level, n)};
    if (rows.begin < rows.end && cols.begin < cols.end) pass.tiles.push_back({rows, cols, band});
  }

  Pass level_0(Hierarchy hierarchy) const {
    Pass pass;
    const Band band = causal ? Band{.lo = 0} : Band{};
    if (hierarchy == Hierarchy::nested) {
      for (Index begin = 0; begin < n; begin += 2 * block)
        add(pass, {begin, begin + 2 * block}, {begin, begin + 2 * block}, band);
    } else {
      for (Index begin = 0; begin < n; begin += block)
        add(pass, {begin, begin + block}, {begin - block, begin + (causal ? 1 : 2) * block}, band);
    }
    return pass;
  }

  Pass level_up(int level, Hierarchy hierarchy) const {
    Pass pass{.query_level = fine_queries ? 0 : level, .key_level = level};
    const Index count = clusters(n, level);
    if (hierarchy == Hierarchy::nested) {
      for (Index b = 0; b * block < count; ++b) {
        const Index sibling = b ^ 1;
        if (!causal || sibling < b)
          add(pass, {b * block, (b + 1) * block}, {sibling * block, (sibling + 1) * block});
      }
      return pass;
    }
    // The level below owns the half-blocks next to the diagonal: a half-block meets the rest of the
    // block on either side.
    const Index half = block / 2;
    for (Index r = 0; r * half < count; ++r) {
      const Index own = r / 2 * 2;  // the first half-block of the own block
      const IndexRange rows{r * half, (r + 1) * half};
      add(pass, rows, {(own - 2) * half, (r - 1) * half});
      if (!causal) add(pass, rows, {(r + 2) * half, (own + 4) * half});
    }
    return pass;
  }
};

Plan plan_h1d(const Problem& problem, const H1dParameters& p, Planning&) {
  const bool causal = problem.causal;
  const H1dPlanner planner{problem.n(), p.block, causal,
                           causal && p.causal_query == CausalQuery::fine};
  TilePlan tiles;
  tiles.coarse_query =
      causal && p.causal_query != CausalQuery::mean ? CoarseQuery::first : CoarseQuery::mean;
  tiles.passes.push_back(planner.level_0(p.structure));
  for (int level = 1; level < planner.levels(); ++level)
    if (Pass pass = planner.level_up(level, p.structure); !pass.tiles.empty())
      tiles.passes.push_back(std::move(pass));
  Plan plan{.lengths = problem.lengths(), .causal = causal, .form = {}};
  if (causal && p.causal_query == CausalQuery::mean && tiles.passes.size() > 1)
    plan.notes.push_back(
        "causal_query = mean leaks the future: a coarse query averages later tokens");
  plan.form = std::move(tiles);
  return plan;
}

}  // namespace

Variant h1d_variant() {
  return make_variant<H1dParameters>(
      {.id = "h1d",
       .label = "H-Transformer-1D",
       .paper = "Zhu & Soricut 2021, Eq. 21-23 and appendix A.5",
       .formula = "Pᵢⱼ = exp(s·Q̃(I)·K̃(J)) / Dᵢ,  I = ⌊i/2ˡ⌋, J = ⌊j/2ˡ⌋, l = l(i,j)",
       .summary =
           "Near pairs exactly, far pairs as means of clusters that double with the distance.",
       .conditions = Conditions::cap_and_sink,
       .why_not_all = "its levels attend clusters of keys, not single ones",
       .quick = true,
       .diagnostics = {block_spread_figures, level_mass_figures}},
      plan_h1d);
}

}  // namespace fovea
