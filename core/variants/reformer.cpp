// Reformer: attention among tokens that hash alike, in chunks of a sorted order, for several
// rounds.
//
// The paper shares queries and keys (k_j = q_j / |q_j|). A head of another model has both, so here
// both are hashed by the same rotations and each query takes the place in the sorted order that it
// would have among the keys. For shared queries and keys that is its own place, and the pairs are
// those of the paper. Logits are the head's own. Where the paper lets a token attend itself only if
// it has nothing else, since q_i . k_i of shared vectors is the largest logit of nearly every row,
// here it attends itself as exact attention does.
#include <algorithm>
#include <cmath>
#include <memory>

#include "analysis/key_sets.h"
#include "analysis/leaf_skew.h"
#include "data/draw_purpose.h"
#include "data/error.h"
#include "data/number_text.h"
#include "data/random.h"
#include "variants/variant.h"

namespace fovea {
namespace {

constexpr std::int32_t most_buckets = 1 << 30;

struct ReformerParameters {
  int rounds = 4;
  Index chunk = 64;

  static std::vector<TypedField<ReformerParameters>> fields() {
    using P = ReformerParameters;
    auto rounds = int_field<P>("rounds", "Rounds", "", &P::rounds, 1, 16, Axis::linear,
                               "How often tokens are hashed and sorted. A pair that several rounds "
                               "find counts once.");
    rounds.field.worth_trying = [](Index) {
      return std::vector<Value>{std::int64_t{4}, std::int64_t{1}, std::int64_t{8}, std::int64_t{2}};
    };
    auto chunk = size_field<P>("chunk", "Chunk m", "tokens", &P::chunk, 1, 131072,
                               "Sorted keys of a chunk: a query attends its own chunk and the one "
                               "before. With chunk >= n the result is exact.",
                               [](Index n) { return short_size(n, 64); });
    chunk.field.worth_trying = try_sizes(chunk.field, 4, 4);
    return {rounds, chunk};
  }
};

// Sides of the product of hashes that tell apart about 2 n / m buckets, each an even number: one
// for up to 64 buckets, else two, as in the authors' program for long sequences.
std::vector<Index> bucket_factors(Index n, Index chunk) {
  const Index buckets = 2 * ((n + chunk - 1) / chunk);
  if (buckets <= 64) return {buckets};
  const auto even = [](double x) { return 2 * static_cast<Index>(std::ceil(x / 2)); };
  const Index first = even(std::sqrt(static_cast<double>(buckets)));
  return {first, even(static_cast<double>(buckets) / static_cast<double>(first))};
}

// h(x) = argmax [x R; -x R] of a row of products x R, the lowest index on ties.
std::int32_t largest_side(const float* product, Index count) {
  const float *most = std::max_element(product, product + count),
              *least = std::min_element(product, product + count);
  return static_cast<std::int32_t>(*most >= -*least ? most - product : count + (least - product));
}

class ReformerPlanner {
 public:
  ReformerPlanner(const Problem& problem, const ReformerParameters& parameters, Planning& planning)
      : problem_(problem),
        p_(parameters),
        planning_(planning),
        chunks_((problem.n() + p_.chunk - 1) / p_.chunk) {}

  Plan plan() {
    Plan plan{.lengths = {n(), n()}, .causal = problem_.causal, .form = TilePlan{}};
    hash(plan);
    std::vector<bool> attends(static_cast<std::size_t>(n()));
    std::vector<std::shared_ptr<const Chunks>> earlier;
    for (int round = 0; round < p_.rounds; ++round) {
      planning_.run.check();
      const auto stage = planning_.run.profile.stage("sort");
      auto chunks = std::make_shared<const Chunks>(chunks_of(round));
      Pass pass = pass_of(*chunks, attends);
      pass.earlier = earlier;
      std::get<TilePlan>(plan.form).passes.push_back(std::move(pass));
      earlier.push_back(std::move(chunks));
    }
    if (const auto alone = std::ranges::count(attends, false); alone > 0)
      plan.notes.push_back(std::to_string(alone) + " of " + std::to_string(n()) +
                           " queries share no chunk with a key that they may attend: Z = 0");
    plan.fitted_to_all_tokens = true;
    plan.groups = {"bucket", "query_bucket", "key_bucket", {}, buckets()};
    plan.structure.set({"query_bucket", {p_.rounds, n()}, std::move(query_bucket_)});
    plan.structure.set({"key_bucket", {p_.rounds, n()}, std::move(key_bucket_)});
    return plan;
  }

 private:
  Index n() const { return problem_.n(); }

  // The buckets of a round: those of the hash, or more if given tensors name more.
  Index buckets() const {
    Index count = 1;
    for (const Index factor : bucket_factors(n(), p_.chunk)) count *= factor;
    for (const auto* side : {&query_bucket_, &key_bucket_})
      count = std::max(count, Index{std::ranges::max(*side)} + 1);
    return count;
  }

  // Every round has rotations of its own, which queries and keys share.
  void hash(Plan& plan) {
    const auto stage = planning_.run.profile.stage("hash");
    query_bucket_ = given("query_bucket");
    key_bucket_ = given("key_bucket");
    const bool queries = query_bucket_.empty(), keys = key_bucket_.empty();
    const std::vector<Index> factors = bucket_factors(n(), p_.chunk);
    Index directions = 0;
    for (const Index factor : factors) directions += factor / 2;
    Random random(planning_.seed, stream_of(DrawPurpose::hash_rotations, problem_.head));
    for (int round = 0; round < p_.rounds && (queries || keys); ++round) {
      Matrix rotation(problem_.d(), directions);
      for (Index r = 0; r < directions; ++r)
        for (Index c = 0; c < problem_.d(); ++c)
          rotation(c, r) = static_cast<float>(random.normal());
      if (queries) append_buckets(problem_.q, rotation, factors, query_bucket_);
      if (keys) append_buckets(problem_.k, rotation, factors, key_bucket_);
    }
    plan.planning_multiply_adds = static_cast<double>((queries + keys) * p_.rounds) *
                                  static_cast<double>(n() * problem_.d() * directions);
  }

  std::vector<std::int32_t> given(const char* name) const {
    const auto& all =
        planning_.integers(name, {"rounds", "n"}, {{"rounds", static_cast<Index>(p_.rounds)}});
    for (const std::int32_t bucket : all)
      if (bucket < 0 || bucket >= most_buckets)
        throw InputError(name, std::to_string(bucket) + "; expected a number in [0, " +
                                   std::to_string(most_buckets) + ")");
    return all;
  }

  void append_buckets(MatrixView x, const Matrix& rotation, const std::vector<Index>& factors,
                      std::vector<std::int32_t>& buckets) const {
    const Matrix products = planning_.backend.product(x, rotation, planning_.run);
    const std::size_t first = buckets.size();
    buckets.resize(first + static_cast<std::size_t>(n()));
    constexpr Index piece = 1024;
    planning_.backend.share_out((n() + piece - 1) / piece, planning_.run, [&](Index turn) {
      for (Index i = turn * piece; i < std::min(n(), (turn + 1) * piece); ++i) {
        std::int32_t bucket = 0;
        const float* row = products.row(i);
        for (const Index factor : factors) {
          bucket = bucket * static_cast<std::int32_t>(factor) + largest_side(row, factor / 2);
          row += factor / 2;
        }
        buckets[first + static_cast<std::size_t>(i)] = bucket;
      }
    });
  }

  // Keys in the order of (bucket, position), and each query where it would stand among them.
  Chunks chunks_of(int round) const {
    const auto of_round = [&](const std::vector<std::int32_t>& all) {
      return std::span(all).subspan(static_cast<std::size_t>(round * n()),
                                    static_cast<std::size_t>(n()));
    };
    const auto query_bucket = of_round(query_bucket_), key_bucket = of_round(key_bucket_);
    const std::int32_t buckets =
        std::max(std::ranges::max(query_bucket), std::ranges::max(key_bucket)) + 1;
    const auto queries = planning_.backend.stable_order(query_bucket, buckets, planning_.run),
               keys = planning_.backend.stable_order(key_bucket, buckets, planning_.run);
    Chunks chunks{std::vector<std::int32_t>(queries.size()),
                  std::vector<std::int32_t>(keys.size())};
    const auto chunk_at = [&](std::size_t place) {
      return static_cast<std::int32_t>(std::min(static_cast<Index>(place), n() - 1) / p_.chunk);
    };
    for (std::size_t at = 0; at < keys.size(); ++at) chunks.key[at_token(keys, at)] = chunk_at(at);
    std::size_t place = 0;
    for (const std::int32_t i : queries) {
      const auto before = [&](std::int32_t j) {
        const std::int32_t of_key = key_bucket[static_cast<std::size_t>(j)],
                           of_query = query_bucket[static_cast<std::size_t>(i)];
        return of_key < of_query || (of_key == of_query && j < i);
      };
      while (place < keys.size() && before(keys[place])) ++place;
      chunks.query[static_cast<std::size_t>(i)] = chunk_at(place);
    }
    return chunks;
  }

  static std::size_t at_token(const std::vector<std::int32_t>& order, std::size_t at) {
    return static_cast<std::size_t>(order[at]);
  }

  // Within a chunk the order is free: tokens ascend, so that a causal mask leaves out runs of keys.
  Pass pass_of(const Chunks& chunks, std::vector<bool>& attends) const {
    const auto count = static_cast<std::int32_t>(chunks_);
    Pass pass{.rows = planning_.backend.stable_order(chunks.query, count, planning_.run),
              .cols = planning_.backend.stable_order(chunks.key, count, planning_.run),
              .unit = "chunk"};
    const Band band = problem_.causal ? Band{.lo = 0} : Band{};
    const auto keys_of = [&](Index chunk) {
      return IndexRange{chunk * p_.chunk, std::min(n(), (chunk + 1) * p_.chunk)};
    };
    for (Index begin = 0, end = 0; begin < n(); begin = end) {
      const Index chunk = chunks.query[at_token(pass.rows, static_cast<std::size_t>(begin))];
      while (end < n() && chunks.query[at_token(pass.rows, static_cast<std::size_t>(end))] == chunk)
        ++end;
      for (Index its = std::max<Index>(0, chunk - 1); its <= chunk; ++its) {
        const IndexRange cols = keys_of(its);
        pass.tiles.push_back({{begin, end}, cols, band});
        const auto keys = std::span(pass.cols).subspan(static_cast<std::size_t>(cols.begin),
                                                       static_cast<std::size_t>(cols.size()));
        for (Index p = begin; p < end; ++p) {
          const std::size_t i = at_token(pass.rows, static_cast<std::size_t>(p));
          attends[i] = attends[i] || problem_.admits_any(static_cast<Index>(i), keys);
        }
      }
    }
    return pass;
  }

  const Problem& problem_;
  const ReformerParameters& p_;
  Planning& planning_;
  Index chunks_;
  std::vector<std::int32_t> query_bucket_, key_bucket_;  // [rounds, n]
};

Plan plan_reformer(const Problem& problem, const ReformerParameters& p, Planning& planning) {
  const Index n = problem.n();
  if (p.chunk < n) return ReformerPlanner(problem, p, planning).plan();
  Plan plan{.lengths = {n, n}, .causal = problem.causal, .form = TilePlan{}};
  plan.notes.push_back("chunk >= n: computed exactly");
  std::get<TilePlan>(plan.form).passes.push_back(
      {.tiles = {{{0, n}, {0, n}, problem.causal ? Band{.lo = 0} : Band{}}}, .unit = "chunk"});
  return plan;
}

}  // namespace

Variant reformer_variant() {
  return make_variant<ReformerParameters>(
      {.id = "reformer",
       .label = "Reformer",
       .paper = "Kitaev et al. 2020, section 2 (LSH attention, several rounds), for a head with "
                "queries and keys of its own",
       .formula = "Pᵢⱼ = exp(Sᵢⱼ) / Σ exp over ∪ᵣ Sᵢʳ,  j ∈ Sᵢʳ: ⌊sᵢ/m⌋ − ⌊sⱼ/m⌋ ∈ {0, 1},  "
                  "s: places sorted by (h, position),  h(x) = argmax [xR; −xR]",
       .summary = "Queries and keys that one hash sorts into the same or adjacent chunks, with the "
                  "logits of the head.",
       .group = Group::baselines,
       .quick = true,
       .structure = {{.name = "query_bucket",
                      .shapes = {{"rounds", "n"}},
                      .meaning = "Hash bucket of every query in each round."},
                     {.name = "key_bucket",
                      .shapes = {{"rounds", "n"}},
                      .meaning = "The same of the keys."}},
       .diagnostics = {key_set_figures, leaf_skew_figures}},
      plan_reformer);
}

}  // namespace fovea
