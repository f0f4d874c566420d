#include "variants/selected_blocks.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "data/error.h"
#include "data/group_by.h"
#include "data/memory.h"
#include "data/number_text.h"
#include "variants/dot_products.h"

namespace fovea {
namespace {

constexpr float unknown_score = -std::numeric_limits<float>::infinity();

class BlockPlanner {
 public:
  BlockPlanner(const Problem& problem, const BlockSelector& selector, Planning& planning)
      : problem_(problem),
        selector_(selector),
        planning_(planning),
        blocks_{problem.keys(), selector.size},
        most_(std::min(selector.blocks, blocks_.count())) {}

  Plan plan() {
    Plan plan{.lengths = problem_.lengths(), .causal = problem_.causal, .form = TilePlan{}};
    auto& passes = std::get<TilePlan>(plan.form).passes;
    if (selector_.blocks >= blocks_.count()) {
      plan.notes.push_back("the blocks hold all keys: computed exactly");
      passes.push_back(
          {.tiles = {{{0, queries()}, {0, problem_.keys()}, band()}}, .unit = "block"});
      return plan;
    }
    chosen_ = given();
    if (chosen_.empty())
      select(plan);
    else
      scores_ = planning_.reals("selected_scores", {"nq", "k"}, {{"k", most_}});
    for (Index rank = 0; rank < most_; ++rank) {
      planning_.run.check();
      Pass pass = pass_of(rank);
      if (!pass.tiles.empty()) passes.push_back(std::move(pass));
    }
    plan.structure.set({"selected_blocks", {queries(), most_}, std::move(chosen_)});
    if (!scores_.empty())
      plan.structure.set({"selected_scores", {queries(), most_}, std::move(scores_)});
    return plan;
  }

 private:
  Index queries() const { return problem_.queries(); }
  std::size_t at(Index query) const { return static_cast<std::size_t>(query * most_); }
  // The head's window is common to all variants.
  Band band() const { return band_of(problem_.causal, 0, problem_.lengths().offset()); }

  // The block of the query's own place among the keys; -1 if it is not wanted, or before them.
  Index own_block(Index query) const {
    const Index place = query + problem_.lengths().offset();
    return selector_.own && place >= 0 ? place / blocks_.size : -1;
  }

  IndexRange keys_of(Index query) const {
    return problem_.band().keys(query).intersected({0, problem_.keys()});
  }

  bool can_select(Index query, Index block) const {
    const IndexRange keys = keys_of(query).intersected(blocks_.tokens(block));
    return keys.size() > 0 && (!problem_.mask || problem_.mask->next_run(query, keys).size() > 0);
  }

  void select(Plan& plan) {
    const auto stage = planning_.run.profile.stage("select");
    require_memory(
        static_cast<double>(at(queries())) * 16,
        "the choice of " + plural(most_, "block") + " for each of " + plural(queries(), "query"),
        "Fewer blocks need less");
    chosen_.assign(at(queries()), -1);
    scores_.assign(at(queries()), unknown_score);
    constexpr Index strip = 64;
    const Index strips = (queries() + strip - 1) / strip;
    std::vector<double> costs(static_cast<std::size_t>(strips));
    planning_.backend.share_out(strips, planning_.run, [&](Index turn) {
      costs[static_cast<std::size_t>(turn)] =
          select_in({turn * strip, std::min(queries(), (turn + 1) * strip)});
    });
    for (const double cost : costs) plan.planning_multiply_adds += cost;
  }

  // The multiply-adds that it takes.
  double select_in(IndexRange queries) {
    IndexRange keys = keys_of(queries.begin);
    for (Index i = queries.begin + 1; i < queries.end; ++i) {
      const IndexRange its = keys_of(i);
      if (its.size() <= 0) continue;
      keys = keys.size() <= 0
                 ? its
                 : IndexRange{std::min(keys.begin, its.begin), std::max(keys.end, its.end)};
    }
    if (keys.size() <= 0) return 0;
    const IndexRange near = blocks_.around(keys);
    std::vector<double> scores(static_cast<std::size_t>(queries.size() * near.size()));
    selector_.score(queries, near, scores.data());
    double cost = 0;
    std::vector<std::int32_t> some;
    for (Index i = queries.begin; i < queries.end; ++i) {
      some.clear();
      for (Index b = near.begin; b < near.end; ++b)
        if (can_select(i, b)) some.push_back(static_cast<std::int32_t>(b));
      cost += selector_.block_multiply_adds * static_cast<double>(some.size());
      if (selector_.pair_multiply_adds > 0)
        cost += selector_.pair_multiply_adds *
                static_cast<double>(problem_.mask ? problem_.mask->count(i, keys_of(i))
                                                  : keys_of(i).size());
      double* its = scores.data() + (i - queries.begin) * near.size() - near.begin;
      keep_most(some, its, own_block(i));
      for (std::size_t r = 0; r < some.size(); ++r) {
        chosen_[at(i) + r] = some[r];
        scores_[at(i) + r] = static_cast<float>(its[some[r]]);
      }
    }
    return cost;
  }

  // Leaves the own block and those of the largest scores, ascending. scores[b] is that of block b.
  void keep_most(std::vector<std::int32_t>& some, const double* scores, Index own) const {
    const bool has_own = std::erase(some, static_cast<std::int32_t>(own)) > 0;
    keep_largest(some, scores, has_own ? most_ - 1 : most_);
    if (has_own) some.insert(std::ranges::lower_bound(some, own), static_cast<std::int32_t>(own));
  }

  std::vector<std::int32_t> given() const {
    std::vector<std::int32_t> given =
        planning_.integers("selected_blocks", {"nq", "k"}, {{"k", most_}});
    std::vector<Index> taken_by(static_cast<std::size_t>(blocks_.count()), -1);
    for (Index i = 0; i < queries() && !given.empty(); ++i) {
      if (i % 256 == 0) planning_.run.check();
      for (Index r = 0; r < most_; ++r) {
        const std::int32_t block = given[at(i) + static_cast<std::size_t>(r)];
        if (block == -1) continue;
        if (block < 0 || block >= blocks_.count() || !can_select(i, block) ||
            taken_by[static_cast<std::size_t>(block)] == i)
          throw InputError("selected_blocks",
                           std::to_string(block) + " for query " + std::to_string(i) +
                               "; expected -1 or a block with a key that it may attend, not twice");
        taken_by[static_cast<std::size_t>(block)] = i;
      }
    }
    return given;
  }

  // The blocks of this rank of all queries, and the queries of each block together.
  Pass pass_of(Index rank) const {
    const Index none = blocks_.count(), offset = problem_.lengths().offset();
    std::vector<std::int32_t> block_of(static_cast<std::size_t>(queries()));
    for (Index i = 0; i < queries(); ++i) {
      const std::int32_t block = chosen_[at(i) + static_cast<std::size_t>(rank)];
      block_of[static_cast<std::size_t>(i)] = block < 0 ? static_cast<std::int32_t>(none) : block;
    }
    Grouped grouped = group_by(block_of, none + 1);
    Pass pass{.unit = "block"};
    for (Index b = 0; b < none; ++b) {
      const IndexRange rows = grouped.positions(b), cols = blocks_.tokens(b);
      if (rows.size() <= 0) continue;
      const Index first = grouped.order[static_cast<std::size_t>(rows.begin)] + offset;
      pass.tiles.push_back({rows, cols, cols.end - 1 > first ? band() : Band{}});
    }
    grouped.order.resize(static_cast<std::size_t>(grouped.positions(none).begin));
    pass.rows = std::move(grouped.order);
    return pass;
  }

  const Problem& problem_;
  const BlockSelector& selector_;
  Planning& planning_;
  KeyBlocks blocks_;
  Index most_;
  std::vector<std::int32_t> chosen_;  // [queries, most]
  std::vector<float> scores_;         // the same; empty if they are not known
};

}  // namespace

Matrix block_means(MatrixView rows, KeyBlocks blocks) {
  Matrix means(blocks.count(), rows.cols);
  std::vector<double> sum(static_cast<std::size_t>(rows.cols));
  for (Index b = 0; b < blocks.count(); ++b) {
    std::ranges::fill(sum, 0.0);
    const IndexRange tokens = blocks.tokens(b);
    for (Index i = tokens.begin; i < tokens.end; ++i)
      for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += static_cast<double>(rows.row(i)[c]);
    for (std::size_t c = 0; c < sum.size(); ++c)
      means(b, static_cast<Index>(c)) =
          static_cast<float>(sum[c] / static_cast<double>(tokens.size()));
  }
  return means;
}

Plan plan_selected_blocks(const Problem& problem, const BlockSelector& selector,
                          Planning& planning) {
  return BlockPlanner(problem, selector, planning).plan();
}

std::vector<TensorField> selected_block_tensors(const std::string& score) {
  return {
      {.name = "selected_blocks",
       .shapes = {{"nq", "k"}},
       .meaning = "The blocks of keys that each query attends, ascending; -1 where there are no "
                  "more that it may attend.",
       .minus_one = true},
      {.name = "selected_scores",
       .element = Element::real,
       .shapes = {{"nq", "k"}},
       .meaning = "The scores of these blocks: " + score + ".",
       .minus_infinity = true}};
}

}  // namespace fovea
