// BigBird: blocks of a window, the first and the last block with all, and random blocks.
#include <algorithm>
#include <set>

#include "analysis/key_sets.h"
#include "data/draw_purpose.h"
#include "data/error.h"
#include "data/random.h"
#include "variants/variant.h"

namespace fovea {
namespace {

struct BigBirdParameters {
  Index block = 64;
  Index window = 3, random = 3;

  static std::vector<TypedField<BigBirdParameters>> fields() {
    using P = BigBirdParameters;
    auto block = size_field<P>("block", "Block B", "tokens", &P::block, 1, 131072,
                               "Tokens of a block. With no more than three blocks the result is "
                               "exact.",
                               [](Index n) { return short_size(n, 64); });
    block.field.worth_trying = try_sizes(block.field, 1, 3);
    auto window = int_field<P, Index>("window", "Window", "blocks", &P::window, 1, 4095, Axis::log2,
                                      "Blocks around the own one that a query attends, the own one "
                                      "included; odd.");
    auto random = int_field<P, Index>(
        "random", "Random blocks r", "blocks", &P::random, 0, 4096, Axis::linear,
        "Blocks that the queries of a block attend beside those, drawn "
        "without repetition.");
    random.field.worth_trying = [](Index) {
      return std::vector<Value>{std::int64_t{3}, std::int64_t{0}, std::int64_t{6}, std::int64_t{1},
                                std::int64_t{12}};
    };
    return {block, window, random};
  }
};

class BigBirdPlanner {
 public:
  BigBirdPlanner(const Problem& problem, const BigBirdParameters& parameters, Planning& planning)
      : problem_(problem),
        p_(parameters),
        planning_(planning),
        blocks_((problem.n() + p_.block - 1) / p_.block) {}

  Plan plan() {
    Plan plan{.lengths = problem_.lengths(), .causal = problem_.causal, .form = {}};
    std::vector<std::int32_t> random = given();
    if (random.empty()) random = draw();
    Pass pass{.unit = "block"};
    for (Index row = 0; row < blocks_; ++row) {
      planning_.run.check();
      add_tiles(row, std::span(random).subspan(at(row), at(1)), pass);
    }
    plan.form = TilePlan{.passes = {std::move(pass)}};
    if (p_.random > 0)
      plan.structure.set({"random_blocks", {blocks_, p_.random}, std::move(random)});
    return plan;
  }

 private:
  std::size_t at(Index row) const { return static_cast<std::size_t>(row * p_.random); }
  bool global(Index block) const { return block == 0 || block == blocks_ - 1; }
  Index reach() const { return (p_.window - 1) / 2; }

  // The blocks that a row of blocks can draw: before its window, and after it.
  std::pair<IndexRange, IndexRange> drawable(Index row) const {
    const Index last = blocks_ - 1;
    IndexRange before{1, std::max<Index>(1, row - reach())},
        after{std::min(last, row + reach() + 1), last};
    if (global(row)) before = after = {1, 1};
    if (problem_.causal) after.begin = after.end;
    return {before, after};
  }

  // [blocks, r], ascending in each row; -1 where there are fewer than r to draw. Each set of r
  // blocks is equally likely (Floyd's algorithm).
  std::vector<std::int32_t> draw() const {
    const auto stage = planning_.run.profile.stage("sample");
    Random random(planning_.seed, stream_of(DrawPurpose::random_blocks, problem_.head));
    std::vector<std::int32_t> all(at(blocks_), -1);
    for (Index row = 0; row < blocks_; ++row) {
      const auto [before, after] = drawable(row);
      const Index count = before.size() + after.size();
      std::set<std::int32_t> drawn;
      for (Index top = count - std::min(p_.random, count); top < count; ++top) {
        const auto place = [&before = before, &after = after](Index k) {
          return static_cast<std::int32_t>(k < before.size() ? before.begin + k
                                                             : after.begin + k - before.size());
        };
        const auto k = static_cast<Index>(random.below(static_cast<std::uint64_t>(top + 1)));
        drawn.insert(drawn.contains(place(k)) ? place(top) : place(k));
      }
      std::ranges::copy(drawn, all.begin() + static_cast<std::ptrdiff_t>(at(row)));
    }
    return all;
  }

  std::vector<std::int32_t> given() const {
    const auto& given = planning_.integers("random_blocks", {"blocks", "r"},
                                           {{"blocks", blocks_}, {"r", p_.random}});
    for (std::size_t k = 0; k < given.size(); ++k) {
      if (given[k] == -1) continue;
      const Index row = static_cast<Index>(k) / p_.random;
      const auto [before, after] = drawable(row);
      const auto begin = given.begin() + static_cast<std::ptrdiff_t>(at(row)),
                 here = given.begin() + static_cast<std::ptrdiff_t>(k);
      if ((!before.contains(given[k]) && !after.contains(given[k])) ||
          std::find(begin, here, given[k]) != here)
        throw InputError("random_blocks",
                         std::to_string(given[k]) + " for block " + std::to_string(row) +
                             "; expected -1 or a block beyond its window that is not global, not "
                             "twice" +
                             (problem_.causal ? ", and not later" : ""));
    }
    return given;
  }

  IndexRange tokens(IndexRange blocks) const {
    return {blocks.begin * p_.block, std::min(blocks.end * p_.block, problem_.n())};
  }

  // The blocks that a row of blocks attends, joined where they are adjacent.
  void add_tiles(Index row, std::span<const std::int32_t> random, Pass& pass) const {
    const IndexRange rows = tokens({row, row + 1});
    const Index end = problem_.causal ? row + 1 : blocks_;
    std::vector<IndexRange> parts{
        {0, 1}, {std::max<Index>(0, row - reach()), row + reach() + 1}, {blocks_ - 1, blocks_}};
    if (global(row)) parts = {{0, blocks_}};
    for (const std::int32_t block : random)
      if (block >= 0) parts.push_back({block, block + 1});
    std::ranges::sort(parts, {}, &IndexRange::begin);
    IndexRange run{0, 0};
    const auto add = [&] {
      run.end = std::min(run.end, end);
      if (run.size() <= 0) return;
      const bool diagonal = problem_.causal && run.end > row;
      pass.tiles.push_back({rows, tokens(run), diagonal ? Band{.lo = 0} : Band{}});
    };
    for (const IndexRange part : parts) {
      if (part.begin > run.end) {
        add();
        run = part;
      }
      run.end = std::max(run.end, part.end);
    }
    add();
  }

  const Problem& problem_;
  const BigBirdParameters& p_;
  Planning& planning_;
  Index blocks_;
};

Plan plan_bigbird(const Problem& problem, const BigBirdParameters& p, Planning& planning) {
  if (p.window % 2 == 0)
    throw UsageError("window is " + std::to_string(p.window) +
                     "; expected an odd number of blocks");
  return BigBirdPlanner(problem, p, planning).plan();
}

}  // namespace

Variant bigbird_variant() {
  return make_variant<BigBirdParameters>(
      {.id = "bigbird",
       .label = "BigBird",
       .paper =
           "Zaheer et al. 2020, section 2 and appendix D (block sparse, internal global tokens)",
       .formula = "Pᵢⱼ = exp(Sᵢⱼ) / Σ exp over Sᵢ,  Sᵢ: window, first, last and r random blocks",
       .summary = "Blocks around each query, the first and the last block, and random blocks.",
       .mask = Mask::bidirectional_in_paper,
       .unequal_lengths = UnequalLengths::last_queries,
       .group = Group::baselines,
       .quick = true,
       .structure = {{.name = "random_blocks",
                      .shapes = {{"blocks", "r"}},
                      .meaning = "The random blocks that each block of queries attends, ascending; "
                                 "-1 where there are no more to draw.",
                      .minus_one = true}},
       .diagnostics = {key_set_figures}},
      plan_bigbird);
}

}  // namespace fovea
