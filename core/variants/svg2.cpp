// Sparse VideoGen 2: queries and keys in the order of clusters of their own, so that blocks hold
// what is alike wherever it is in the video, and blocks by the product of mean query and mean key.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "analysis/selected_recall.h"
#include "data/blocks.h"
#include "data/draw_purpose.h"
#include "data/error.h"
#include "variants/dot_products.h"
#include "variants/token_clusters.h"

namespace fovea {
namespace {

struct Svg2Parameters {
  Index query_size = 256, key_size = 64;
  double tau = 0.9, least = 0.1;
  int rounds = 10;

  static std::vector<TypedField<Svg2Parameters>> fields() {
    using P = Svg2Parameters;
    auto query_size = size_field<P>("query_size", "Queries per cluster", "tokens", &P::query_size,
                                    1, 131072, "The mean number of queries in a cluster.",
                                    [](Index n) { return short_size(n / 2, 256); });
    auto key_size = size_field<P>("key_size", "Keys per cluster", "tokens", &P::key_size, 1, 131072,
                                  "The mean number of keys in a cluster. With key_size >= n the "
                                  "result is exact.",
                                  [](Index n) { return short_size(n / 4, 64); });
    key_size.field.worth_trying = try_sizes(key_size.field, 2, 1);
    auto tau = real_field<P>("tau", "Mass τ", "", &P::tau, 0, 1, Axis::linear,
                             "Clusters of keys are kept up to the first with which their share of "
                             "the estimated mass exceeds this. With 1 the result is exact.");
    tau.field.worth_trying = [](Index) { return std::vector<Value>{0.9, 0.5, 0.7}; };
    auto least = real_field<P>("least", "Clusters at least", "share", &P::least, 0, 1, Axis::linear,
                               "The share of all clusters of keys that are kept in any case.");
    auto rounds = int_field<P>("rounds", "Rounds", "", &P::rounds, 1, 1000, Axis::log2,
                               "Rounds of k-means, which begins with random tokens as means.");
    return {query_size, key_size, tau, least, rounds};
  }
};

bool keeps_all(const Svg2Parameters& p, Index n) {
  return p.key_size >= n || p.tau >= 1 || p.least >= 1;
}

class Svg2Planner {
 public:
  Svg2Planner(const Problem& problem, const Svg2Parameters& p, Planning& planning)
      : problem_(problem), p_(p), planning_(planning) {}

  Plan plan() {
    const TokenClusters queries = clusters("query_cluster", problem_.q, p_.query_size,
                                           DrawPurpose::query_means),
                        keys = clusters("key_cluster", problem_.k, p_.key_size,
                                        DrawPurpose::key_means);
    Plan plan{.lengths = problem_.lengths(), .form = TilePlan{}};
    const auto stage = planning_.run.profile.stage("sort");
    multiply_adds_ += static_cast<double>(queries.count()) * static_cast<double>(keys.count()) *
                      static_cast<double>(problem_.d());
    std::get<TilePlan>(plan.form).passes.push_back(pass_of(queries, keys));
    plan.planning_multiply_adds = multiply_adds_;
    plan.fitted_to_all_tokens = true;
    if (blind_ > 0)
      plan.notes.push_back(std::to_string(blind_) + " of " + std::to_string(problem_.queries()) +
                           " queries keep no key that they may attend: Z = 0");
    plan.structure.set({"query_cluster", {problem_.queries()}, queries.of_token});
    plan.structure.set({"key_cluster", {problem_.keys()}, keys.of_token});
    return plan;
  }

 private:
  TokenClusters clusters(const char* name, MatrixView rows, Index size, DrawPurpose purpose) {
    const auto stage = planning_.run.profile.stage("cluster");
    if (const auto& given = planning_.integers(name, {"n"}); !given.empty()) {
      for (const std::int32_t cluster : given)
        if (cluster < 0 || cluster >= rows.rows)
          throw InputError(name, std::to_string(cluster) + "; expected a number in [0, " +
                                     std::to_string(rows.rows) + ")");
      return given_clusters(rows, given);
    }
    const Index count = number_of_blocks(rows.rows, size);
    multiply_adds_ += static_cast<double>(p_.rounds) * static_cast<double>(rows.rows) *
                      static_cast<double>(count) * static_cast<double>(rows.cols);
    return clusters_of(rows, count, p_.rounds, stream_of(purpose, problem_.head), planning_);
  }

  /// The clusters of keys that a cluster of queries keeps, ascending.
  std::vector<Index> kept(const TokenClusters& queries, Index cluster,
                          const TokenClusters& keys) const {
    std::vector<double> mass(keys.sizes.size());
    dot_products(queries.means, {cluster, cluster + 1}, keys.means, {0, keys.count()}, mass.data());
    for (std::size_t c = 0; c < mass.size(); ++c)
      mass[c] = problem_.scale * mass[c] + std::log(static_cast<double>(keys.sizes[c]));
    to_weights(mass.data(), keys.count());
    std::vector<std::size_t> order;
    for (std::size_t c = 0; c < mass.size(); ++c)
      if (keys.sizes[c] > 0) order.push_back(c);
    std::ranges::stable_sort(order,
                             [&](std::size_t a, std::size_t b) { return mass[a] > mass[b]; });
    const auto least = static_cast<Index>(p_.least * static_cast<double>(keys.count()));
    std::vector<Index> out;
    double sum = 0;
    for (const std::size_t c : order) {
      if (p_.tau < 1 && sum > p_.tau && std::ssize(out) >= least) break;
      out.push_back(static_cast<Index>(c));
      sum += mass[c];
    }
    std::ranges::sort(out);
    return out;
  }

  Pass pass_of(const TokenClusters& queries, const TokenClusters& keys) {
    Pass pass{.rows = order_of(queries), .cols = order_of(keys), .unit = "block"};
    const std::vector<Index> row_ends = ends_of(queries), col_ends = ends_of(keys);
    const auto places = [](const std::vector<Index>& ends, Index cluster) {
      const auto at = static_cast<std::size_t>(cluster);
      return IndexRange{at == 0 ? 0 : ends[at - 1], ends[at]};
    };
    for (Index c = 0; c < queries.count(); ++c) {
      planning_.run.check();
      const IndexRange rows = places(row_ends, c);
      if (rows.size() == 0) continue;
      const std::size_t first = pass.tiles.size();
      for (const Index cluster : kept(queries, c, keys)) {
        const IndexRange cols = places(col_ends, cluster);
        if (pass.tiles.size() > first && pass.tiles.back().cols.end == cols.begin)
          pass.tiles.back().cols.end = cols.end;
        else
          pass.tiles.push_back({rows, cols, problem_.band()});
      }
      count_blind(pass, rows, first);
    }
    return pass;
  }

  /// Counts the queries of the tiles from `first` on that may attend none of their keys.
  void count_blind(const Pass& pass, IndexRange rows, std::size_t first) {
    if (!problem_.mask && problem_.band() == Band{}) return;
    std::vector<std::int32_t> keys;
    for (std::size_t t = first; t < pass.tiles.size(); ++t) {
      const IndexRange cols = pass.tiles[t].cols;
      keys.insert(keys.end(), pass.cols.begin() + cols.begin, pass.cols.begin() + cols.end);
    }
    std::ranges::sort(keys);
    for (Index r = rows.begin; r < rows.end; ++r)
      blind_ += !problem_.admits_any(pass.rows[static_cast<std::size_t>(r)], keys);
  }

  std::vector<std::int32_t> order_of(const TokenClusters& clusters) const {
    return planning_.backend.stable_order(
        clusters.of_token, static_cast<std::int32_t>(clusters.count()), planning_.run);
  }

  static std::vector<Index> ends_of(const TokenClusters& clusters) {
    std::vector<Index> ends(clusters.sizes.size());
    std::partial_sum(clusters.sizes.begin(), clusters.sizes.end(), ends.begin());
    return ends;
  }

  const Problem& problem_;
  const Svg2Parameters& p_;
  Planning& planning_;
  double multiply_adds_ = 0;
  Index blind_ = 0;
};

}  // namespace

Variant svg2_variant() {
  return make_variant<Svg2Parameters>(
      {.id = "svg2",
       .label = "Sparse VideoGen 2",
       .paper = "Yang et al. 2025 (Sparse VideoGen2)",
       .formula = "Pᵢⱼ = exp(Sᵢⱼ) / Σ exp over Kᵢ,  Kᵢ: clusters c of the largest |c| exp(s q̄·k̄), "
                  "to τ of their sum",
       .summary = "Queries and keys in clusters of their own; blocks by the product of mean query "
                  "and mean key.",
       .mask = Mask::bidirectional_only,
       .group = Group::grids,
       .structure =
           {{.name = "query_cluster", .shapes = {{"n"}}, .meaning = "Cluster of every query."},
            {.name = "key_cluster", .shapes = {{"n"}}, .meaning = "Cluster of every key."}},
       .diagnostics = {selection_figures},
       .is_exact =
           [](const Values& values, Index n) {
             return keeps_all(typed_values(Svg2Parameters::fields(), values), n);
           }},
      [](const Problem& problem, const Svg2Parameters& p, Planning& planning) {
        return Svg2Planner(problem, p, planning).plan();
      });
}

}  // namespace fovea
