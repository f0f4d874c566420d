// DSA, DeepSeek sparse attention: the tokens of the largest scores of an indexer. The model's
// indexer has many small heads with weights of their own; a head alone has only its own queries and
// keys, which serve here as one.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>

#include "analysis/selected_recall.h"
#include "data/error.h"
#include "data/memory.h"
#include "data/number_text.h"
#include "variants/dot_products.h"
#include "variants/mask_tiles.h"
#include "variants/variant.h"

namespace fovea {
namespace {

enum class Activation { relu, none };

struct DsaParameters {
  Index tokens = 2048;
  Activation activation = Activation::relu;

  static std::vector<TypedField<DsaParameters>> fields() {
    using P = DsaParameters;
    auto tokens =
        size_field<P>("tokens", "Tokens k", "keys", &P::tokens, 1, 131072,
                      "Keys that a query attends, one by one. With tokens >= n the result "
                      "is exact.",
                      [](Index n) { return short_size(n, 2048); });
    tokens.field.worth_trying = try_sizes(tokens.field, 1, 3);
    return {tokens,
            choice_field("activation", "Scores", &P::activation, {"relu", "none"},
                         "relu: all products below 0 score 0, as in the model, and the first "
                         "of them are taken. none: the products themselves.")};
  }
};

void set_keys(std::span<const std::int32_t> keys, std::uint32_t* bits) {
  for (const Index j : keys)
    if (j >= 0) set_bits(bits, {j, j + 1});
}

/// Makes the pairs of a query from its selected keys.
class SelectedPairs final : public BitRows::Maker {
 public:
  SelectedPairs(std::vector<std::int32_t> selected, Index tokens)
      : selected_(std::move(selected)), tokens_(static_cast<std::size_t>(tokens)) {}

  void make(Index query, std::uint32_t* bits) const override {
    set_keys(std::span(selected_).subspan(static_cast<std::size_t>(query) * tokens_, tokens_),
             bits);
  }

 private:
  std::vector<std::int32_t> selected_;
  std::size_t tokens_;
};

class DsaPlanner {
 public:
  DsaPlanner(const Problem& problem, const DsaParameters& p, Planning& planning)
      : problem_(problem), p_(p), planning_(planning) {}

  Plan plan() {
    const Band band = band_of(problem_.causal, 0, problem_.lengths().offset());
    Plan plan{.lengths = problem_.lengths(), .causal = problem_.causal, .form = TilePlan{}};
    auto& passes = std::get<TilePlan>(plan.form).passes;
    if (p_.tokens >= keys()) {
      passes.push_back({.tiles = {{{0, queries()}, {0, keys()}, band}}});
      plan.notes.push_back("tokens >= n: computed exactly");
      return plan;
    }
    require_memory(static_cast<double>(queries()) *
                       (bytes_of_lists() + std::min(bytes_of_lists(), bytes_of_bits())),
                   "the selection of " + plural(p_.tokens, "key") + " for each of " +
                       std::to_string(queries()) + " queries, and their pairs",
                   std::string(fewer_tokens) + ", and so do fewer selected keys");
    std::vector<std::int32_t> selected = given();
    if (selected.empty()) selected = select(plan);
    plan.mask = mask_of(selected);
    plan.head_mask = problem_.mask;
    passes.push_back(tiles_of_mask(plan.mask->pairs(), band, planning_));
    plan.structure.set({"selected_keys", {queries(), p_.tokens}, std::move(selected)});
    return plan;
  }

 private:
  Index queries() const { return problem_.queries(); }
  Index keys() const { return problem_.keys(); }
  std::ptrdiff_t at(Index query) const { return query * p_.tokens; }
  IndexRange keys_of(Index query) const {
    return problem_.band().keys(query).intersected({0, keys()});
  }

  std::vector<std::int32_t> given() const {
    std::vector<std::int32_t> given =
        planning_.integers("selected_keys", {"nq", "k"}, {{"k", p_.tokens}});
    std::vector<Index> taken_by(static_cast<std::size_t>(keys()), -1);
    for (Index i = 0; i < queries() && !given.empty(); ++i)
      for (Index r = 0; r < p_.tokens; ++r) {
        const std::int32_t j = given[static_cast<std::size_t>(at(i) + r)];
        if (j == -1) continue;
        if (j < 0 || j >= keys() || !problem_.admits(i, j) ||
            taken_by[static_cast<std::size_t>(j)] == i)
          throw InputError("selected_keys",
                           std::to_string(j) + " for query " + std::to_string(i) +
                               "; expected -1 or a key that it may attend, not twice");
        taken_by[static_cast<std::size_t>(j)] = i;
      }
    return given;
  }

  std::vector<std::int32_t> select(Plan& plan) {
    const auto stage = planning_.run.profile.stage("select");
    std::vector<std::int32_t> selected(static_cast<std::size_t>(at(queries())), -1);
    std::vector<double> pairs(static_cast<std::size_t>(queries()));
    constexpr Index strip = 32;
    DoubleKeys::require_room(problem_.k);
    const DoubleKeys all_keys(problem_.k);
    const double least = p_.activation == Activation::relu ? 0 : -HUGE_VAL;
    planning_.backend.share_out((queries() + strip - 1) / strip, planning_.run, [&](Index turn) {
      const IndexRange rows{turn * strip, std::min(queries(), (turn + 1) * strip)};
      const IndexRange cols{0, keys_of(rows.end - 1).end};
      std::vector<double> scores(static_cast<std::size_t>(rows.size() * cols.size()));
      all_keys.products(problem_.q, rows, cols, scores.data(), cols.size());
      std::vector<std::int32_t> some;
      for (Index i = rows.begin; i < rows.end; ++i) {
        const IndexRange near = keys_of(i);
        some.resize(static_cast<std::size_t>(std::max<Index>(0, near.size())));
        std::iota(some.begin(), some.end(), static_cast<std::int32_t>(near.begin));
        if (problem_.mask)
          std::erase_if(some, [&](std::int32_t j) { return !problem_.mask->admits(i, j); });
        pairs[static_cast<std::size_t>(i)] = static_cast<double>(some.size());
        keep_largest(some, scores.data() + (i - rows.begin) * cols.size(), p_.tokens, least);
        std::ranges::copy(some, selected.begin() + at(i));
      }
    });
    plan.planning_multiply_adds =
        std::accumulate(pairs.begin(), pairs.end(), 0.0) * static_cast<double>(problem_.d());
    return selected;
  }

  // Bytes for each query.
  double bytes_of_lists() const { return 4 * static_cast<double>(p_.tokens); }
  double bytes_of_bits() const { return static_cast<double>(keys()) / 8; }

  std::shared_ptr<const PairMask> mask_of(const std::vector<std::int32_t>& selected) const {
    return std::make_shared<const PairMask>(std::vector<std::int32_t>(),
                                            std::vector<std::int32_t>(), pairs_of(selected));
  }

  /// A bit for each pair, or where that takes more memory, the lists once more.
  BitRows pairs_of(const std::vector<std::int32_t>& selected) const {
    if (bytes_of_lists() < bytes_of_bits())
      return {queries(), keys(), std::make_shared<const SelectedPairs>(selected, p_.tokens)};
    BitMatrix bits(queries(), keys());
    const std::span all(selected);
    for (Index i = 0; i < queries(); ++i)
      set_keys(all.subspan(static_cast<std::size_t>(at(i)), static_cast<std::size_t>(p_.tokens)),
               bits.row(i));
    return bits;
  }

  const Problem& problem_;
  const DsaParameters& p_;
  Planning& planning_;
};

Plan plan_dsa(const Problem& problem, const DsaParameters& p, Planning& planning) {
  return DsaPlanner(problem, p, planning).plan();
}

}  // namespace

Variant dsa_variant() {
  return make_variant<DsaParameters>(
      {.id = "dsa",
       .label = "DSA",
       .paper = "DeepSeek-AI 2025 (DeepSeek-V3.2-Exp), section 2.1, Eq. 1-2, with the head's own q "
                "and k as indexer",
       .formula = "Pᵢⱼ = exp(Sᵢⱼ) / Σ exp over Sᵢ,  Sᵢ: the k keys of the largest ReLU(qᵢ·kⱼ)",
       .summary = "The single tokens of the largest products of query and key.",
       .mask = Mask::causal_in_paper,
       .unequal_lengths = UnequalLengths::all,
       .any_keys = true,
       .group = Group::selectors,
       .structure = {{.name = "selected_keys",
                      .shapes = {{"nq", "k"}},
                      .meaning =
                          "The keys that each query attends, ascending; -1 where there are no "
                          "more that it may attend.",
                      .minus_one = true}},
       .diagnostics = {selection_figures}},
      plan_dsa);
}

}  // namespace fovea
