// Quest: the own page of keys, and those for which the least and the largest numbers of their keys
// bound the logits highest.
#include <Eigen/Core>
#include <algorithm>

#include "analysis/selected_recall.h"
#include "variants/selected_blocks.h"

namespace fovea {
namespace {

struct QuestParameters {
  Index page = 16, pages = 64;

  static std::vector<TypedField<QuestParameters>> fields() {
    using P = QuestParameters;
    auto page = size_field<P>("page", "Page l", "tokens", &P::page, 1, 131072,
                              "Keys per page: a query selects whole pages.",
                              [](Index n) { return short_size(n / 2, 16); });
    page.field.worth_trying = try_sizes(page.field, 1, 1);
    auto pages = size_field<P>("pages", "Pages k", "pages", &P::pages, 1, 131072,
                               "Pages that a query attends, its own included. With pages >= n / "
                               "page the result is exact.",
                               [](Index n) { return std::max<Index>(2, short_size(n / 4, 64)); });
    pages.field.span = {};
    pages.field.worth_trying = try_sizes(pages.field, 1, 2);
    return {page, pages};
  }
};

/// The least and the largest number of each page in each feature.
class PageBounds {
 public:
  PageBounds(MatrixView k, KeyBlocks pages)
      : pages_(pages.count()), least_(static_cast<std::size_t>(pages_ * k.cols)), most_(least_) {
    for (Index p = 0; p < pages_; ++p)
      for (Index c = 0; c < k.cols; ++c) {
        const IndexRange tokens = pages.tokens(p);
        auto &least = least_[at(p, c)], &most = most_[at(p, c)];
        least = most = static_cast<double>(k(tokens.begin, c));
        for (Index j = tokens.begin + 1; j < tokens.end; ++j) {
          least = std::min(least, static_cast<double>(k(j, c)));
          most = std::max(most, static_cast<double>(k(j, c)));
        }
      }
  }

  /// bounds[p] += max(x least, x most) for some pages.
  void add(float x, Index c, IndexRange pages, double* bounds) const {
    const double* side = (x < 0 ? least_ : most_).data() + at(pages.begin, c);
    Eigen::Map<Eigen::ArrayXd>(bounds, pages.size()) +=
        static_cast<double>(x) * Eigen::Map<const Eigen::ArrayXd>(side, pages.size());
  }

 private:
  std::size_t at(Index page, Index c) const { return static_cast<std::size_t>(c * pages_ + page); }

  Index pages_;
  std::vector<double> least_, most_;  // [d, pages]
};

Plan plan_quest(const Problem& problem, const QuestParameters& p, Planning& planning) {
  const PageBounds bounds(problem.k, {problem.keys(), p.page});
  const auto score = [&](IndexRange queries, IndexRange pages, double* scores) {
    std::fill_n(scores, queries.size() * pages.size(), 0.0);
    for (Index i = queries.begin; i < queries.end; ++i, scores += pages.size())
      for (Index c = 0; c < problem.d(); ++c) bounds.add(problem.q(i, c), c, pages, scores);
  };
  return plan_selected_blocks(problem,
                              {.size = p.page,
                               .blocks = p.pages,
                               .score = score,
                               .block_multiply_adds = 2 * static_cast<double>(problem.d())},
                              planning);
}

}  // namespace

Variant quest_variant() {
  return make_variant<QuestParameters>(
      {.id = "quest",
       .label = "Quest",
       .paper = "Tang et al. 2024, section 3.3 and algorithm 1, for every query as for a step of "
                "decoding",
       .formula = "Pᵢⱼ = exp(Sᵢⱼ) / Σ exp over Bᵢ,  Bᵢ: own page and those of the largest "
                  "Σ max(qᵢ min k, qᵢ max k) over channels, min and max over the page",
       .summary = "The own page, and the pages whose logits may be the largest.",
       .mask = Mask::causal_in_paper,
       .unequal_lengths = UnequalLengths::all,
       .group = Group::selectors,
       .structure = selected_block_tensors("a bound of every q.k of the page, not scaled"),
       .diagnostics = {selection_figures},
       .is_exact = blocks_hold_all},
      plan_quest);
}

}  // namespace fovea
