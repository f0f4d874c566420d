// Linformer: keys and values projected to a few, which do not depend on n.
#include <cmath>

#include "data/draw_purpose.h"
#include "data/error.h"
#include "data/memory.h"
#include "data/number_text.h"
#include "data/random.h"
#include "variants/variant.h"

namespace fovea {
namespace {

constexpr char projection_stage[] = "draw";

struct LinformerParameters {
  Index rank = 128;

  static std::vector<TypedField<LinformerParameters>> fields() {
    auto rank = int_field<LinformerParameters, Index>(
        "rank", "Rank k", "keys", &LinformerParameters::rank, 1, 65536, Axis::log2,
        "Projected keys and values. The projections are random unless they are given.");
    rank.field.for_short_head = [](Index n) {
      return Value(static_cast<std::int64_t>(short_size(n, 128)));
    };
    rank.field.worth_trying = try_sizes(rank.field, 1);
    return {rank};
  }
};

// [k, n], each entry normal with variance 1/k.
Matrix draw(Index k, Index n, std::uint64_t seed, std::uint64_t stream, const Run& run) {
  Random random(seed, stream);
  Matrix m = Matrix::uninitialised(k, n);
  const double size = 1 / std::sqrt(static_cast<double>(k));
  for (Index r = 0; r < k; ++r) {
    run.check();
    m.write_row(r, nullptr, 0);
    for (Index j = 0; j < n; ++j) m(r, j) = static_cast<float>(size * random.normal());
  }
  return m;
}

Matrix projection(const char* name, DrawPurpose purpose, Index& k, const Problem& problem,
                  Planning& planning) {
  const auto stage = planning.run.profile.stage(projection_stage);
  const Index n = problem.n();
  const auto& given = planning.reals(name, {"k", "n"});
  planning.run.check();
  if (given.empty())
    return draw(k, n, planning.seed, stream_of(purpose, problem.head), planning.run);
  k = static_cast<Index>(given.size()) / n;
  Matrix m = Matrix::uninitialised(k, n);
  for (Index r = 0; r < k; ++r) {
    planning.run.check();
    m.write_row(r, given.data() + r * n, n);
  }
  return m;
}

std::vector<float> values_of(const Matrix& m, const Run& run) {
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(m.rows() * m.cols()));
  for (Index r = 0; r < m.rows(); ++r) {
    run.check();
    values.insert(values.end(), m.row(r), m.row(r) + m.cols());
  }
  return values;
}

// The k of a given projection holds for both.
Index rank_of(const LinformerParameters& p, const Planning& planning, Index n) {
  Index rank = p.rank;
  for (const char* name : {"project_k", "project_v"})
    if (const auto& given = planning.reals(name, {"k", "n"}); !given.empty())
      rank = static_cast<Index>(given.size()) / n;
  return rank;
}

Plan plan_linformer(const Problem& problem, const LinformerParameters& p, Planning& planning) {
  const Index n = problem.n(), d = problem.d();
  const Index rank = rank_of(p, planning, n);
  require_memory(16.0 * static_cast<double>(rank) * static_cast<double>(n),  // two, in two copies
                 "projections of Linformer of " + plural(n, "token"), fewer_tokens);
  Plan plan{.lengths = {n, n}, .form = {}};
  if (rank != p.rank) plan.notes.push_back("projections as given: rank = " + std::to_string(rank));
  if (!planning.given.has("project_k") || !planning.given.has("project_v"))
    plan.notes.push_back(
        "random projections, which Linformer learns: Z says little about a trained model");
  Index key_rank = rank, value_rank = rank;
  const Matrix of_keys =
      projection("project_k", DrawPurpose::key_projection, key_rank, problem, planning);
  Matrix of_values =
      projection("project_v", DrawPurpose::value_projection, value_rank, problem, planning);
  if (key_rank != value_rank)
    throw InputError("project_v", "k = " + std::to_string(value_rank) + " found; expected " +
                                      std::to_string(key_rank) + " as in project_k");
  const auto stage = planning.run.profile.stage("project");
  const Matrix keys = planning.backend.product(of_keys, problem.k, planning.run);
  const Index positions = std::max(n, rank);
  Matrix projected_queries(positions, d), projected_keys(positions, d);
  for (Index i = 0; i < n; ++i) std::copy_n(problem.q.row(i), d, projected_queries.row(i));
  for (Index r = 0; r < rank; ++r) std::copy_n(keys.row(r), d, projected_keys.row(r));
  plan.structure.set({"project_k", {rank, n}, values_of(of_keys, planning.run)});
  plan.structure.set({"project_v", {rank, n}, values_of(of_values, planning.run)});
  ProjectedPlan projected;
  projected.tiles.passes.push_back({.tiles = {{{0, n}, {0, rank}, {}}}});
  projected.queries = std::move(projected_queries);
  projected.keys = std::move(projected_keys);
  projected.scale = problem.scale;
  projected.mix = std::move(of_values);
  plan.form = std::move(projected);
  plan.planning_multiply_adds = static_cast<double>(rank) * static_cast<double>(n * d);
  plan.planning_bytes = sizeof(float) * static_cast<double>(rank) * static_cast<double>(n);
  return plan;
}

}  // namespace

Variant linformer_variant() {
  return make_variant<LinformerParameters>(
      {.id = "linformer",
       .label = "Linformer",
       .paper = "Wang et al. 2020, Eq. 7",
       .formula = "P = softmax(s Q (E K)ᵀ) F",
       .summary = "k projected keys and values in place of all.",
       .mask = Mask::bidirectional_only,
       .conditions = Conditions::none,
       .why_not_all = "it mixes keys before a query meets them",
       .group = Group::baselines,
       .quick = true,
       .rows_sum_to_one = false,
       .signed_entries = true,
       .structure = {{.name = "project_k",
                      .element = Element::real,
                      .shapes = {{"k", "n"}},
                      .meaning = "E, which projects the keys."},
                     {.name = "project_v",
                      .element = Element::real,
                      .shapes = {{"k", "n"}},
                      .meaning = "F, which projects the values."}},
       .learning_stages = {projection_stage}},
      plan_linformer);
}

}  // namespace fovea
