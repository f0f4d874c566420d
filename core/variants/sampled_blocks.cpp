#include "variants/sampled_blocks.h"

#include <algorithm>
#include <numeric>

#include "data/draw_purpose.h"
#include "data/error.h"
#include "data/random.h"

namespace fovea {
namespace {

std::vector<std::int32_t> identity(Index n) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

void check_order(std::span<const std::int32_t> order, const std::vector<IndexRange>& segments,
                 const std::string& name) {
  std::vector<bool> seen(order.size());
  for (std::size_t p = 0; p < order.size(); ++p) {
    const std::int32_t token = order[p];
    const std::string found = "[" + std::to_string(p) + "] is " + std::to_string(token);
    if (token < 0 || token >= static_cast<Index>(order.size()))
      throw InputError(name,
                       found + "; expected a token in [0, " + std::to_string(order.size()) + ")");
    if (seen[static_cast<std::size_t>(token)])
      throw InputError(name, found + " for the second time; expected a permutation");
    seen[static_cast<std::size_t>(token)] = true;
  }
  for (const IndexRange s : segments)
    for (Index p = s.begin; p < s.end; ++p)
      if (const Index token = order[static_cast<std::size_t>(p)]; !s.contains(token))
        throw InputError(name, "[" + std::to_string(p) + "] is " + std::to_string(token) +
                                   "; expected a token of the segment [" + std::to_string(s.begin) +
                                   ", " + std::to_string(s.end) + ")");
}

class Planner {
 public:
  Planner(const Problem& problem, const SampledBlocks& sizes,
          std::vector<std::vector<SubProblem>> depths, std::span<const double> probability,
          Planning& planning)
      : problem_(problem),
        p_(sizes),
        planning_(planning),
        depths_(std::move(depths)),
        probability_(probability) {
    double sum = 0;
    for (const double p : probability) running_.push_back(sum += p);
  }

  /// A block pass and a sample pass per depth.
  void plan(Plan& plan) {
    hash();
    sort();
    sample(plan);
    auto& passes = std::get<TilePlan>(plan.form).passes;
    Index node = 0;
    for (std::size_t depth = 0; depth < depths_.size(); ++depth) {
      planning_.run.check();
      Pass blocks{
          .rows = order(query_order_, depth), .cols = order(key_order_, depth), .unit = "block"};
      Pass samples{.rows = blocks.rows};
      for (const SubProblem& sub : depths_[depth]) {
        add_blocks(sub, blocks);
        if (p_.block < sub.keys.size()) add_samples(sub, blocks.cols, samples_of(node), samples);
        ++node;
      }
      passes.push_back(std::move(blocks));
      if (!samples.tiles.empty()) passes.push_back(std::move(samples));
    }
    plan.planning_multiply_adds = hashing();
    plan.fitted_to_all_tokens = true;
    plan.groups = {"bucket", "query_bucket", "key_bucket", {}, Index{1} << p_.projections};
    if (!problem_.causal) plan.samples = "sampled_keys";
    record(plan.structure);
  }

 private:
  Index n() const { return problem_.n(); }

  std::vector<std::int32_t> order(const std::vector<std::int32_t>& orders,
                                  std::size_t depth) const {
    const auto begin = orders.begin() + static_cast<std::ptrdiff_t>(depth) * n();
    return {begin, begin + n()};
  }

  // Buckets of whatever must be sorted; the directions are those of the head for all depths.
  void hash() {
    const auto stage = planning_.run.profile.stage("hash");
    Matrix directions(p_.projections, problem_.d());
    Random random(planning_.seed, stream_of(DrawPurpose::hash_directions, problem_.head));
    for (Index r = 0; r < directions.rows(); ++r)
      for (Index c = 0; c < directions.cols(); ++c)
        directions(r, c) = static_cast<float>(random.normal());
    const auto buckets = [&](MatrixView x, const char* name, const char* order) {
      std::vector<std::int32_t> known = planning_.integers(name, {"n"});
      check_below(known, Index{1} << p_.projections, name);
      if (known.empty() && !planning_.given.has(order))
        return planning_.backend.lsh_buckets(x, directions, planning_.run);
      return known;
    };
    query_bucket_ = buckets(problem_.q, "query_bucket", "query_order");
    key_bucket_ = buckets(problem_.k, "key_bucket", "key_order");
  }

  // Multiply-adds: every token of the sides that were hashed against every direction.
  double hashing() const {
    const Structure& given = planning_.given;
    const int sides = (!given.has("query_bucket") && !given.has("query_order")) +
                      (!given.has("key_bucket") && !given.has("key_order"));
    return sides * static_cast<double>(n() * problem_.d() * p_.projections);
  }

  // Without a causal mask there is one sub-problem, and its axis is left out.
  SymbolicShape shape(const char* parts, const char* each) const {
    return problem_.causal ? SymbolicShape{parts, each} : SymbolicShape{each};
  }
  std::vector<Index> shape(Index parts, Index each) const {
    return problem_.causal ? std::vector{parts, each} : std::vector{each};
  }
  Index depths() const { return static_cast<Index>(depths_.size()); }
  Index nodes() const {
    Index count = 0;
    for (const auto& depth : depths_) count += static_cast<Index>(depth.size());
    return count;
  }

  void record(Structure& s) {
    s.set({"query_order", shape(depths(), n()), std::move(query_order_)});
    s.set({"key_order", shape(depths(), n()), std::move(key_order_)});
    s.set({"sampled_keys", shape(nodes(), samples_), std::move(sampled_)});
    if (!query_bucket_.empty()) s.set("query_bucket", std::move(query_bucket_));
    if (!key_bucket_.empty()) s.set("key_bucket", std::move(key_bucket_));
  }

  void sort() {
    const auto stage = planning_.run.profile.stage("sort");
    query_order_ = orders(query_bucket_, &SubProblem::queries, "query_order");
    key_order_ = orders(key_bucket_, &SubProblem::keys, "key_order");
  }

  // [depths, n]: at each depth the segments concerned are sorted by bucket, the rest is in place.
  // One sort of all tokens serves all depths: dealing it out to the segments keeps their order.
  std::vector<std::int32_t> orders(const std::vector<std::int32_t>& bucket,
                                   IndexRange SubProblem::*side, const char* name) const {
    const auto& given = planning_.integers(name, shape("depths", "n"), {{"depths", depths()}});
    std::vector<std::int32_t> sorted;
    if (given.empty())
      sorted =
          planning_.backend.stable_order(bucket, std::int32_t{1} << p_.projections, planning_.run);
    std::vector<std::int32_t> all = given;
    for (std::size_t depth = 0; depth < depths_.size(); ++depth) {
      std::vector<IndexRange> segments;
      for (const SubProblem& sub : depths_[depth]) segments.push_back(sub.*side);
      if (given.empty()) {
        const auto dealt = deal(sorted, segments);
        all.insert(all.end(), dealt.begin(), dealt.end());
      } else {
        check_order(std::span(given).subspan(depth * static_cast<std::size_t>(n()),
                                             static_cast<std::size_t>(n())),
                    segments, name);
      }
    }
    return all;
  }

  std::vector<std::int32_t> deal(const std::vector<std::int32_t>& sorted,
                                 const std::vector<IndexRange>& segments) const {
    if (segments.size() == 1 && segments.front() == IndexRange{0, n()}) return sorted;
    std::vector<std::int32_t> order = identity(n()), segment_of(static_cast<std::size_t>(n()), -1);
    std::vector<Index> next;
    for (const IndexRange s : segments) {
      std::fill(segment_of.begin() + s.begin, segment_of.begin() + s.end,
                static_cast<std::int32_t>(next.size()));
      next.push_back(s.begin);
    }
    for (std::int32_t token : sorted)
      if (const std::int32_t s = segment_of[static_cast<std::size_t>(token)]; s >= 0)
        order[static_cast<std::size_t>(next[static_cast<std::size_t>(s)]++)] = token;
    return order;
  }

  // [nodes, m], nodes breadth first, drawn from one stream in that order.
  void sample(Plan& plan) {
    const auto stage = planning_.run.profile.stage("sample");
    const auto& given =
        planning_.integers("sampled_keys", shape("nodes", "m"), {{"nodes", nodes()}});
    samples_ = p_.samples;
    if (!given.empty()) {
      samples_ = static_cast<Index>(given.size()) / nodes();
      sampled_ = given;
      if (samples_ != p_.samples)
        plan.notes.push_back("sampled keys as given: samples = " + std::to_string(samples_));
    }
    Random random(planning_.seed, stream_of(DrawPurpose::sampled_keys, problem_.head));
    Index node = 0;
    for (const auto& depth : depths_)
      for (const SubProblem& sub : depth) {
        if (given.empty())
          for (Index k = 0; k < samples_; ++k)
            sampled_.push_back(static_cast<std::int32_t>(drawn_key(sub.keys, random)));
        check_samples(sub.keys, node++);
      }
  }

  // By its probability, or any key of the sub-problem.
  Index drawn_key(IndexRange keys, Random& random) const {
    if (running_.empty())
      return keys.begin + static_cast<Index>(random.below(static_cast<std::uint64_t>(keys.size())));
    const double at = random.uniform() * running_.back();
    return std::min<Index>(std::ranges::upper_bound(running_, at) - running_.begin(), keys.end - 1);
  }

  void check_samples(IndexRange keys, Index node) const {
    for (const std::int32_t key : samples_of(node))
      if (!keys.contains(key))
        throw InputError("sampled_keys", std::to_string(key) + " for sub-problem " +
                                             std::to_string(node) + "; expected a key in [" +
                                             std::to_string(keys.begin) + ", " +
                                             std::to_string(keys.end) + ")");
  }

  std::span<const std::int32_t> samples_of(Index node) const {
    return std::span(sampled_).subspan(static_cast<std::size_t>(node * samples_),
                                       static_cast<std::size_t>(samples_));
  }

  // M_ij = [floor(pos_Q(i) / b) = floor(pos_K(j) / b)]; everything when one block holds all keys.
  void add_blocks(const SubProblem& sub, Pass& pass) const {
    if (p_.block >= sub.keys.size()) {
      pass.tiles.push_back({sub.queries, sub.keys, {}});
      return;
    }
    for (Index at = 0; at < std::min(sub.queries.size(), sub.keys.size()); at += p_.block)
      pass.tiles.push_back({block_of(sub.queries, at), block_of(sub.keys, at), {}});
  }

  IndexRange block_of(IndexRange side, Index at) const {
    return {side.begin + at, std::min(side.begin + at + p_.block, side.end)};
  }

  // Columns are the distinct samples by their position in the key order, so that those inside a
  // block follow one another and each block of rows takes what lies before and after its own.
  void add_samples(const SubProblem& sub, const std::vector<std::int32_t>& key_order,
                   std::span<const std::int32_t> drawn, Pass& pass) const {
    std::vector<std::int32_t> times(static_cast<std::size_t>(sub.keys.size()), 0);
    for (const std::int32_t key : drawn) ++times[static_cast<std::size_t>(key - sub.keys.begin)];
    const Index first = static_cast<Index>(pass.cols.size());
    const auto share =
        [&](std::int32_t key) {  // 1 / (m p_j), which is n / m where all p_j are equal
          if (probability_.empty())
            return static_cast<double>(sub.keys.size()) / static_cast<double>(samples_);
          return 1 / (static_cast<double>(samples_) * probability_[static_cast<std::size_t>(key)]);
        };
    std::vector<Index> position;  // of the columns of this sub-problem, in the key order
    for (Index p = sub.keys.begin; p < sub.keys.end; ++p) {
      const std::int32_t key = key_order[static_cast<std::size_t>(p)];
      const std::int32_t count = times[static_cast<std::size_t>(key - sub.keys.begin)];
      if (count == 0) continue;
      pass.cols.push_back(key);
      pass.weight.push_back(static_cast<float>(share(key) * count));
      position.push_back(p);
    }
    const Index last = static_cast<Index>(pass.cols.size());
    const auto column = [&](Index p) {
      return first + (std::ranges::lower_bound(position, p) - position.begin());
    };
    for (Index at = 0; at < sub.queries.size(); at += p_.block) {
      const IndexRange rows = block_of(sub.queries, at);
      const IndexRange own{column(sub.keys.begin + at), column(sub.keys.begin + at + p_.block)};
      if (first < own.begin) pass.tiles.push_back({rows, {first, own.begin}, {}});
      if (own.end < last) pass.tiles.push_back({rows, {own.end, last}, {}});
    }
  }

  static void check_below(const std::vector<std::int32_t>& given, Index count,
                          const std::string& name) {
    for (const std::int32_t x : given)
      if (x < 0 || x >= count)
        throw InputError(
            name, std::to_string(x) + "; expected a number in [0, " + std::to_string(count) + ")");
  }

  const Problem& problem_;
  const SampledBlocks& p_;
  Planning& planning_;
  std::vector<std::vector<SubProblem>> depths_;
  std::span<const double> probability_;  // [n] of each key to be drawn; empty if all alike
  std::vector<double> running_;          // its running sums
  Index samples_ = 0;
  std::vector<std::int32_t> query_bucket_, key_bucket_;  // [n]; empty where an order was given
  std::vector<std::int32_t> query_order_, key_order_;    // [depths, n]
  std::vector<std::int32_t> sampled_;                    // [nodes, m]
};

}  // namespace

void plan_sampled_blocks(const Problem& problem, const SampledBlocks& sizes,
                         std::vector<std::vector<SubProblem>> depths,
                         std::span<const double> probability, Planning& planning, Plan& plan) {
  Planner(problem, sizes, std::move(depths), probability, planning).plan(plan);
}

std::vector<TensorField> sampled_blocks_tensors() {
  const std::vector<SymbolicShape> order{{"n"}, {"depths", "n"}};
  return {{.name = "query_order",
           .shapes = order,
           .meaning = "The query at each sorted position; under a causal mask one permutation for "
                      "each depth of the halving."},
          {.name = "key_order", .shapes = order, .meaning = "The same of the keys."},
          {.name = "sampled_keys",
           .shapes = {{"m"}, {"nodes", "m"}},
           .meaning = "Keys as they were drawn; under a causal mask for each of the halving's "
                      "nodes, breadth first."},
          {.name = "query_bucket",
           .shapes = {{"n"}},
           .meaning = "Hash bucket of every query: its place in the Gray sequence."},
          {.name = "key_bucket", .shapes = {{"n"}}, .meaning = "The same of the keys."}};
}

}  // namespace fovea
