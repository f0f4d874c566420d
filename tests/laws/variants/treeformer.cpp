#include "laws/formulas.h"
#include "variants/tree_tensors.h"

namespace fovea::test {
namespace {

// Leaves under a node of each depth, root first.
std::vector<Index> leaves_below(const Plan& plan) {
  std::vector<Index> below{1};
  for (std::size_t l = plan.groups.branching.size(); l > 0; --l)
    below.insert(below.begin(), below.front() * plan.groups.branching[l - 1]);
  return below;
}

template <class Real>
Dense<Real> tf(const Instance& x) {
  const Parameters p{x};
  const Structure& s = x.plan->structure;
  const auto &query_leaf = s.integers("query_leaf"), &key_leaf = s.integers("key_leaf");
  const auto below = leaves_below(*x.plan);
  const auto same = [&](Index i, Index j, Index leaves) {
    return query_leaf[static_cast<std::size_t>(i)] / leaves ==
           key_leaf[static_cast<std::size_t>(j)] / leaves;
  };
  std::vector<Index> reach;  // of each query: leaves under the node whose keys it attends
  for (Index i = 0; i < x.problem.n(); ++i) {
    std::size_t depth = below.size() - 1;
    const auto found = [&] {
      for (Index j = 0; j < x.problem.n(); ++j)
        if (x.problem.admits(i, j) && same(i, j, below[depth])) return true;
      return false;
    };
    if (p.text("empty") == "ancestor")
      while (depth > 0 && !found()) --depth;
    reach.push_back(below[depth]);
  }
  return weighted<Real>(
      x.problem, [&](Index i, Index j) { return same(i, j, reach[static_cast<std::size_t>(i)]); });
}

// As chosen, or the mean over the depths; learned with the tree, it is what the plan says.
double alpha_of(const Instance& x, std::size_t depth, std::size_t depths) {
  if (Parameters{x}.text("tree") == "learned")
    return static_cast<double>(x.plan->structure.reals("alpha").at(depth));
  const auto& chosen = std::get<std::vector<double>>(Parameters{x}.value("alpha"));
  return chosen.empty() ? 1.0 / static_cast<double>(depths) : chosen[depth];
}

template <class Real>
Dense<Real> tc(const Instance& x) {
  const Structure& s = x.plan->structure;
  const auto &query_leaf = s.integers("query_leaf"), &key_leaf = s.integers("key_leaf");
  const auto below = leaves_below(*x.plan);
  Dense<Real> p(x.problem.n());
  for (Index i = 0; i < p.n; ++i)
    for (std::size_t depth = 0; depth < below.size(); ++depth) {
      const auto shares = [&](Index j) {
        return query_leaf[static_cast<std::size_t>(i)] / below[depth] ==
               key_leaf[static_cast<std::size_t>(j)] / below[depth];
      };
      const Index end = x.problem.causal ? i + 1 : p.n;
      Index count = 0;
      for (Index j = 0; j < end; ++j) count += shares(j);
      for (Index j = 0; j < end; ++j)
        if (shares(j))
          p(i, j) += static_cast<Real>(alpha_of(x, depth, below.size())) / static_cast<Real>(count);
    }
  return p;
}

// The alphas of the nodes on the query's path that hold a key it may attend.
double tc_row_sum(const Instance& x, Index i) {
  const Structure& s = x.plan->structure;
  const auto &query_leaf = s.integers("query_leaf"), &key_leaf = s.integers("key_leaf");
  const auto below = leaves_below(*x.plan);
  double sum = 0;
  for (std::size_t depth = 0; depth < below.size(); ++depth)
    for (Index j = 0; j < (x.problem.causal ? i + 1 : x.problem.n()); ++j)
      if (key_leaf[static_cast<std::size_t>(j)] / below[depth] ==
          query_leaf[static_cast<std::size_t>(i)] / below[depth]) {
        sum += alpha_of(x, depth, below.size());
        break;
      }
  return sum;
}

// w = 0, b > 0 everywhere: Lemma 1.
Structure one_leaf(Index d) {
  Tree tree;
  tree.levels.push_back({2, true, Matrix(1, d), {1.0f}});
  Structure given;
  set_tree(given, tree);
  return given;
}

}  // namespace

VariantLaws tf_laws() {
  VariantLaws laws = laws_from(
      "tf", [](auto real, const Instance& x) { return tf<decltype(real)>(x); },
      {{.settings = {{"height", "3"}}},
       {.settings = {{"height", "5"}, {"tree", "random"}, {"empty", "ancestor"}}, .random = true},
       {.settings = {{"branching", "3,4"}, {"empty", "ancestor"}}},
       {.settings = {{"branching", "5"}, {"tree", "random"}}, .random = true},
       {.settings = {{"height", "3"}, {"tree", "learned"}, {"steps", "5"}, {"cost", "4"}},
        .random = true},
       {.settings = {{"branching", "3,3"}, {"tree", "learned"}, {"steps", "5"}, {"cost", "4"}},
        .random = true},
       {.settings = {{"height", "3"}, {"tree", "single"}}}});
  laws.exact_settings = {{{{"height", "0"}}},
                         {{}, one_leaf(exact_settings_d)},
                         {{{"tree", "single"}}},
                         {{{"branching", "3,4"}, {"tree", "single"}}}};
  return laws;
}

VariantLaws tc_laws() {
  VariantLaws laws =
      laws_from("tc", [](auto real, const Instance& x) { return tc<decltype(real)>(x); },
                {{.settings = {{"height", "3"}}},
                 {.settings = {{"height", "4"}, {"alpha", "0.5,-0.25,1,0,0.125"}}},
                 {.settings = {{"branching", "3,2"}, {"tree", "random"}}, .random = true},
                 {.settings = {{"branching", "3,2"}, {"tree", "single"}}},
                 {.settings = {{"height", "3"}, {"tree", "learned"}, {"steps", "5"}, {"cost", "4"}},
                  .random = true}});
  for (Case& c : laws.cases) c.rows_sum_to_one = false;
  laws.row_sum = tc_row_sum;
  laws.never_exact = true;  // the weights of a leaf do not depend on q and k
  return laws;
}

}  // namespace fovea::test
