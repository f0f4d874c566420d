// What holds for the operator of every variant, on every back end.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "backend/backends.h"
#include "laws/operator_cases.h"

using namespace fovea;
using namespace fovea::test;

namespace {

bool same_bits(const Matrix& a, const Matrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
  for (Index i = 0; i < a.rows(); ++i)
    if (std::memcmp(a.row(i), b.row(i), static_cast<std::size_t>(a.cols()) * sizeof(float)) != 0)
      return false;
  return true;
}

// `p` and `out`: all of P, and Z, of x.
void check_formula(const Instance& x, const Matrix& p, const Output& out,
                   const Dense<double>& truth, const Dense<float>& plain) {
  const Index n = x.problem.n(), dv = x.problem.dv();
  const double floor = floor_of(x);
  CHECK(distance(p, truth, n, n) <=
        2 * distance(plain, truth, n, n) +
            floor * std::max(1.0, largest_entry(p)));  // rows need not sum to 1

  const auto true_z = times(truth, x.problem.v);
  const auto plain_z = times(plain, x.problem.v);
  const double plain_error = distance(rows_of(plain_z, dv), rows_of(true_z, dv), n, dv);
  CHECK(distance(out.z, rows_of(true_z, dv), n, dv) <=
        2 * plain_error + floor * largest_entry(x.problem.v) * std::max(1.0, row_mass(p)));
}

// Z = P V, and rows that sum to 1 do.
void check_product(const Case& c, const Instance& x, const Matrix& p, const Output& out) {
  const Index n = x.problem.n(), dv = x.problem.dv();
  Dense<double> wide(n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) wide(i, j) = static_cast<double>(p(i, j));
  // Sums of n float32 products: n/2 ulps at worst beyond the error of the entries.
  const double slack = floor_of(x.problem) + static_cast<double>(n) * 0x1p-24;
  CHECK(distance(out.z, rows_of(times(wide, x.problem.v), dv), n, dv) <=
        slack * largest_entry(x.problem.v) * std::max(1.0, row_mass(p)));
  if (!c.rows_sum_to_one) {
    // A softmax that is not mixed afterwards has one, or an estimate of its sum.
    CHECK(out.lse.empty() == !std::holds_alternative<TilePlan>(x.plan->form));
    return;
  }
  const auto* projected = std::get_if<ProjectedPlan>(&x.plan->form);
  const bool mixed = projected && !projected->mix.empty();  // after the softmax
  REQUIRE(static_cast<Index>(out.lse.size()) == (mixed ? 0 : n));
  double worst = 0;
  for (Index i = 0; i < n; ++i) {
    double sum = 0;
    for (Index j = 0; j < n; ++j) sum += wide(i, j);
    const bool none =
        !mixed && out.lse[static_cast<std::size_t>(i)] == -std::numeric_limits<float>::infinity();
    worst = larger_error(worst, std::abs(sum - (none ? 0.0 : 1.0)));
    if (none)
      for (Index column = 0; column < dv; ++column) CHECK(out.z(i, column) == 0.0f);
  }
  CHECK(worst <= slack);
}

void check_stated_sums(const Case& c, const Instance& x, const Matrix& p,
                       const Dense<double>& truth, const Dense<float>& plain) {
  const auto stated = laws_of(c.id)->row_sum;
  const Index n = x.problem.n();
  // n entries of at most 2, each rounded to float32 after h + 1 additions. Of a formula of
  // logits, and of several softmaxes, as in check_formula.
  const bool of_logits = !stated || std::holds_alternative<GatedPlan>(x.plan->form);
  const double slack =
      static_cast<double>(n) * 0x1p-22 + (of_logits ? floor_of(x) * std::max(1.0, row_mass(p)) : 0);
  for (Index i = 0; i < n; ++i) {
    double sum = 0, expected = 0, of_plain = 0;
    for (Index j = 0; j < n; ++j) {
      sum += static_cast<double>(p(i, j));
      expected += truth(i, j);
      of_plain += static_cast<double>(plain(i, j));
    }
    const double plain_error = stated ? 0 : std::abs(of_plain - expected);
    if (stated) expected = stated(x, i);
    REQUIRE(std::abs(sum - expected) <= 2 * plain_error + slack);
  }
}

}  // namespace

// P and Z take most of the time, so that one case checks all that they are needed for.
TEST_CASE("law: P is that of the formula, Z = P V, and rows of P have the sums that are stated") {
  for_all([](const Case& c, const Instance& x) {
    const Matrix p = x.all();
    const Output out = x.apply(x.problem.v);
    const auto truth = reference<double>(x);
    const auto plain = reference<float>(x);
    check_formula(x, p, out, truth, plain);
    check_product(c, x, p, out);
    if (!c.rows_sum_to_one) check_stated_sums(c, x, p, truth, plain);
  });
}

TEST_CASE("law: Z is linear in V, and a constant V comes back times the row sum") {
  for_all([](const Case& c, const Instance& x) {
    const Index n = x.problem.n(), dv = x.problem.dv();
    const Matrix w = gaussian(n, dv, 77);
    Matrix sum(n, dv), constant(n, dv);
    for (Index i = 0; i < n; ++i)
      for (Index k = 0; k < dv; ++k) {
        sum(i, k) = 2 * x.problem.v(i, k) - w(i, k);
        constant(i, k) = static_cast<float>(k + 1);
      }
    const Matrix zv = x.apply(x.problem.v).z, zw = x.apply(w).z, zs = x.apply(sum).z;
    const Output zc = x.apply(constant);
    // P is the same for all V, bit for bit; sums of n products differ by n/2 ulps each, three
    // times.
    const double unit = 3 * static_cast<double>(n + 16) * 0x1p-24,
                 mass = c.rows_sum_to_one ? 1 : std::max(2.0, row_mass(x.all()));
    CHECK(distance(
              zs,
              [&](Index i, Index k) {
                return 2.0 * static_cast<double>(zv(i, k)) - static_cast<double>(zw(i, k));
              },
              n, dv) <= unit * mass * (2 * largest_entry(x.problem.v) + largest_entry(w)));
    double worst = 0;
    for (Index i = 0; i < n && c.rows_sum_to_one; ++i)
      if (zc.lse.empty() || std::isfinite(zc.lse[static_cast<std::size_t>(i)]))
        for (Index k = 0; k < dv; ++k)
          worst = std::max(
              worst, std::abs(static_cast<double>(zc.z(i, k)) / static_cast<double>(k + 1) - 1));
    CHECK(worst <= unit);
  });
}

// The structure is that of the first plan: where tokens are sorted, split at medians or counted, it
// depends on all of them, and it is the structure that is held still when a token changes.
TEST_CASE("law: under a causal mask a token leaves the outputs before it unchanged, bit for bit") {
  int tried = 0, moved = 0;  // does the changed token itself notice? Not under a spike before it
  for_all(
      [&](const Case& c, const Instance& x) {
        const Index n = x.problem.n(), t = n / 2;
        if (!x.problem.causal || n < 2 || c.leaks_the_future) return;
        Matrix q = Matrix::copy_of(x.problem.q), k = Matrix::copy_of(x.problem.k),
               v = Matrix::copy_of(x.problem.v);
        for (Index i : {t, n - 1}) {
          for (Index e = 0; e < q.cols(); ++e) {
            q(i, e) = -3 * q(i, e) + 1;
            k(i, e) = 5 - k(i, e);
          }
          for (Index e = 0; e < v.cols(); ++e) v(i, e) += 100;
        }
        const Problem changed =
            make_problem(std::move(q), std::move(k), std::move(v), x.problem.scale, true, c.head);
        for (const auto& backend : backends()) {
          const Instance before =
              make_instance(*backend, x.problem, c.id, c.settings, x.plan->structure);
          const Instance after =
              make_instance(*backend, changed, c.id, c.settings, x.plan->structure);
          const Output a = before.apply(before.problem.v), b = after.apply(after.problem.v);
          bool same = true;
          for (Index i = 0; i < t; ++i)
            same = same && std::memcmp(a.z.row(i), b.z.row(i),
                                       static_cast<std::size_t>(a.z.cols()) * sizeof(float)) == 0;
          CHECK(same);
          ++tried;
          moved += a.z(t, 0) != b.z(t, 0);
        }
      },
      200);
  CHECK(4 * moved > 3 * tried);
}

TEST_CASE("law: the number of threads changes nothing, bit for bit") {
  int turn = 0;
  for (const Case& c : cases())
    for (const bool causal : masks_of(c)) {
      const Problem problem = make_data(static_cast<Data>(turn++ % 4), 257, 20, 33, causal, c.head);
      CAPTURE(describe(c));
      CAPTURE(causal);
      Output first;
      Matrix p;
      for (int threads : {1, 2, 3}) {
        const auto backend = make_cpu_backend({.threads = threads});
        const Instance x = make_instance(*backend, problem, c.id, c.settings);
        Output out = x.apply(problem.v);
        Matrix pooled = x.tile({0, 257}, {0, 257}, {Pool::Kind::mean, 20, 20});
        if (threads == 1) {
          first = std::move(out);
          p = std::move(pooled);
        } else {
          CHECK(same_bits(out.z, first.z));
          CHECK(out.lse == first.lse);
          CHECK(same_bits(pooled, p));
        }
      }
    }
}

// Where the user insists on computing with NaN or Inf, a row they reach must not look like a
// result.
TEST_CASE("law: a query that is not finite has NaN for Z and P, and no other query changes") {
  const Index n = 70, bad = 33;
  for (const char* id : {"exact", "strided", "h1d"})
    for (const float value :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
      for (const auto& backend : backends()) {
        Problem clean = make_data(Data::gaussian, n, 3, 5, true);
        Matrix q = Matrix::copy_of(clean.q);
        q(bad, 1) = value;
        const Problem problem = make_problem(std::move(q), Matrix::copy_of(clean.k),
                                             Matrix::copy_of(clean.v), clean.scale, true);
        const Settings settings = std::string(id) == "h1d"
                                      ? Settings{{"block", "4"}, {"causal_query", "fine"}}
                                      : Settings{};
        const Instance x = make_instance(*backend, problem, id, settings);
        const Instance y = make_instance(*backend, clean, id, settings);
        const Output out = x.apply(problem.v), expected = y.apply(clean.v);
        const Matrix p = x.all();
        CAPTURE(id);
        CAPTURE(value);
        CAPTURE(backend->device());
        CHECK(std::isnan(out.z(bad, 0)));
        bool reached = false;
        for (Index j = 0; j < n; ++j) reached = reached || std::isnan(p(bad, j));
        CHECK(reached);
        CHECK_FALSE(out.lse[bad] == -std::numeric_limits<float>::infinity());
        double others = 0;
        for (Index i = 0; i < n; ++i)
          if (i != bad)
            for (Index c = 0; c < 5; ++c)
              others = larger_error(others, std::abs(static_cast<double>(out.z(i, c)) -
                                                     static_cast<double>(expected.z(i, c))));
        CHECK(others == 0);
      }
}

TEST_CASE("law: one level may have several passes, below one that they all go on from") {
  // Coarse queries meet coarse keys of the other half; then two passes of single tokens meet those
  // of the own half, one the first quarter of it, one the second.
  const Index n = 8;
  Plan plan{.lengths = {n, n}, .causal = false, .form = {}, .structure = {}, .notes = {}};
  TilePlan tiles;
  tiles.passes.push_back({.query_level = 1, .key_level = 1});
  tiles.passes.back().tiles = {{{0, 2}, {2, 4}, {}}, {{2, 4}, {0, 2}, {}}};
  tiles.passes.push_back({});
  tiles.passes.back().tiles = {{{0, 4}, {0, 2}, {}}, {{4, 8}, {4, 6}, {}}};
  tiles.passes.push_back({});
  tiles.passes.back().tiles = {{{0, 4}, {2, 4}, {}}, {{4, 8}, {6, 8}, {}}};
  plan.form = std::move(tiles);
  check_disjoint(plan);
  const auto shared = std::make_shared<const Plan>(std::move(plan));
  const Problem problem = make_data(Data::gaussian, n, 3, 5, false);
  for (const auto& backend : backends()) {
    CAPTURE(backend->device());
    Profile profile;
    Run run{profile};
    const auto op = backend->bind(shared, problem, run);
    const Output output = op->apply(problem.v, run);
    const Matrix p = op->tile({0, n}, {0, n}, run);
    double worst = 0;
    for (Index i = 0; i < n; ++i)
      for (Index c = 0; c < 5; ++c) {
        double z = 0;
        for (Index j = 0; j < n; ++j) z += double(p(i, j)) * double(problem.v(j, c));
        worst = larger_error(worst, std::abs(z - double(output.z(i, c))));
      }
    // Eight products of numbers of about 1, in float.
    CHECK(worst <= 32 * 0x1p-24);
  }
}
