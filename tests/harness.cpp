#include "harness.h"

#include <cmath>

#include "data/random.h"

namespace fovea::test {

bool tried(std::size_t i, std::size_t j, bool causal) {
  return thorough() || (i + j + (causal ? 1 : 0)) % 2 == 0;
}

Matrix gaussian(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed, 99);
  Matrix m(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index c = 0; c < cols; ++c) m(i, c) = static_cast<float>(random.normal());
  return m;
}

Problem make_data(Data data, Index n, Index d, Index dv, bool causal, Index head,
                  std::uint64_t seed) {
  Matrix q = gaussian(n, d, 3 * seed), k = gaussian(n, d, 3 * seed + 1),
         v = gaussian(n, dv, 3 * seed + 2);
  const double scale = 1.0 / std::sqrt(static_cast<double>(d));
  if (data == Data::equal)
    for (Index i = 0; i < n; ++i)
      for (Index c = 0; c < d; ++c) {
        q(i, c) = q(0, c);
        k(i, c) = k(0, c);
      }
  if (data == Data::huge)
    for (Index i = 0; i < n; ++i)
      for (Index c = 0; c < d; ++c) q(i, c) *= 40.0f;
  if (data == Data::spike) {
    const Index i = n / 2, j = n / 3;
    for (Index c = 0; c < d; ++c)
      q(i, c) = k(j, c) = static_cast<float>(std::sqrt(60.0 / (scale * static_cast<double>(d))));
  }
  return make_problem(std::move(q), std::move(k), std::move(v), scale, causal, head);
}

Problem golden_problem(bool causal) {
  const auto a = [](Index i) { return static_cast<float>((3 * i) % 5 - 2); };
  const auto b = [](Index i) { return static_cast<float>((2 * i + 1) % 7 - 3); };
  Matrix q(8, 2), k(8, 2), v(8, 2);
  for (Index i = 0; i < 8; ++i) {
    q(i, 0) = a(i) / 2;
    q(i, 1) = b(i) / 2;
    k(i, 0) = b(i) / 2;
    k(i, 1) = a(7 - i) / 2;
    v(i, 0) = static_cast<float>(i);
    v(i, 1) = i % 2 == 0 ? 1.0f : -1.0f;
  }
  return make_problem(std::move(q), std::move(k), std::move(v), 1.0 / std::sqrt(2.0), causal);
}

Output Instance::apply(MatrixView v, Profile* profile) const {
  Profile own;
  Run run{profile ? *profile : own};
  return bound->apply(v, run);
}

RowsOutput Instance::apply_rows(IndexRange rows, Index pixel, Profile* profile) const {
  Profile own;
  Run run{profile ? *profile : own};
  return bound->apply_rows(problem.v, rows, pixel, run);
}

Matrix Instance::tile(IndexRange rows, IndexRange cols, Pool pool) const {
  Profile profile;
  Run run{profile};
  return bound->tile(rows, cols, pool, run);
}

Values values_of(const Variant& variant, const Settings& settings) {
  Values values = defaults(variant.schema);
  for (const auto& [id, text] : settings) set_value(variant.schema, values, id, text);
  return values;
}

std::shared_ptr<const Plan> make_plan(const Backend& backend, const Problem& problem,
                                      const std::string& id, const Settings& settings,
                                      const Structure& given, std::uint64_t seed) {
  const Variant& variant = find_variant(id);
  Profile profile;
  Run run{profile};
  Planning planning{backend, run, seed, given};
  return std::make_shared<const Plan>(
      variant.plan(problem, values_of(variant, settings), planning));
}

Instance make_instance(const Backend& backend, const Problem& problem, const std::string& id,
                       const Settings& settings, const Structure& given, std::uint64_t seed) {
  const Variant& variant = find_variant(id);
  Profile profile;
  Run run{profile};
  auto plan = make_plan(backend, problem, id, settings, given, seed);
  auto bound = backend.bind(plan, problem, run);
  return {&variant, values_of(variant, settings), problem, std::move(plan), std::move(bound)};
}

}  // namespace fovea::test
