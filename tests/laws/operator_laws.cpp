// What holds for the operator of every variant, on every back end.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "laws/variant_laws.h"

using namespace fovea;
using namespace fovea::test;

namespace {

// Calls law(case, problem, instance) for every case, shape, mask and back end; the data alternate.
template <class Law>
void for_all(Law law, Index longest = 1 << 20) {
  int turn = 0;
  for (const Case& c : cases())
    for (const Shape& shape : shapes())
      for (bool causal : {false, true}) {
        if (shape.n > longest) continue;
        const auto data = static_cast<Data>(turn++ % 4);
        const Problem problem = make_data(data, shape.n, shape.d, shape.dv, causal, c.head);
        for (const auto& backend : backends()) {
          const std::string where = describe(c) + ", n = " + std::to_string(shape.n) +
                                    ", d = " + std::to_string(shape.d) +
                                    ", dv = " + std::to_string(shape.dv) +
                                    (causal ? ", causal, " : ", ") + backend->device() + ", data " +
                                    std::to_string(static_cast<int>(data));
          CAPTURE(where);
          law(c, make_instance(*backend, problem, c.id, c.settings));
        }
      }
}

bool same_bits(const Matrix& a, const Matrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
  for (Index i = 0; i < a.rows(); ++i)
    if (std::memcmp(a.row(i), b.row(i), static_cast<std::size_t>(a.cols()) * sizeof(float)) != 0)
      return false;
  return true;
}

// Largest |a - b| over the whole of both, both [rows, cols] by row.
template <class A, class B>
double distance(const A& a, const B& b, Index rows, Index cols) {
  double largest = 0;
  for (Index i = 0; i < rows; ++i)
    for (Index c = 0; c < cols; ++c)
      largest =
          std::max(largest, std::abs(static_cast<double>(a(i, c)) - static_cast<double>(b(i, c))));
  return largest;
}

// A vector seen as a matrix of `cols` columns.
template <class Real>
auto rows_of(const std::vector<Real>& values, Index cols) {
  return
      [&values, cols](Index i, Index c) { return values[static_cast<std::size_t>(i * cols + c)]; };
}

double largest_entry(MatrixView m) {
  double largest = 0;
  for (Index i = 0; i < m.rows; ++i)
    for (Index c = 0; c < m.cols; ++c)
      largest = std::max(largest, std::abs(static_cast<double>(m(i, c))));
  return largest;
}

// Largest sum over a row of |P_ij|: what an error of V or of the entries of P is multiplied by.
double row_mass(const Matrix& p) {
  double largest = 0;
  for (Index i = 0; i < p.rows(); ++i) {
    double sum = 0;
    for (Index j = 0; j < p.cols(); ++j) sum += std::abs(static_cast<double>(p(i, j)));
    largest = std::max(largest, sum);
  }
  return largest;
}

// The relative error of exp(S) in float32 beyond the plain formula's: the back ends work with
// S log2(e), which rounds the scale once more, and recompute S for entries of P, each a rounding of
// a number of size |S|; and an exp2 good to 2 ulps. In units of 1.
double floor_of(const Problem& problem) {
  return 0x1p-23 * (4 + 2 * largest_logit(problem));
}

}  // namespace

TEST_CASE("law: P is that of the formula, with at most twice the error of the formula in float32") {
  for_all([](const Case&, const Instance& x) {
    const auto truth = reference<double>(x);
    const auto plain = reference<float>(x);
    const Index n = x.problem.n(), dv = x.problem.dv();
    const double floor = floor_of(x.problem);
    const Matrix p = x.all();
    CHECK(distance(p, truth, n, n) <= 2 * distance(plain, truth, n, n) + floor);

    const auto true_z = times(truth, x.problem.v);
    const auto plain_z = times(plain, x.problem.v);
    const double plain_error = distance(rows_of(plain_z, dv), rows_of(true_z, dv), n, dv);
    CHECK(distance(x.apply(x.problem.v).z, rows_of(true_z, dv), n, dv) <=
          2 * plain_error + floor * largest_entry(x.problem.v) * std::max(1.0, row_mass(p)));
  });
}

TEST_CASE("law: Z = P V, and the rows of P sum to 1 or, without a key, to 0") {
  for_all([](const Case& c, const Instance& x) {
    const Index n = x.problem.n(), dv = x.problem.dv();
    const Matrix p = x.all();
    const Output out = x.apply(x.problem.v);
    Dense<double> wide(n);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) wide(i, j) = static_cast<double>(p(i, j));
    // Sums of n float32 products: n/2 ulps at worst beyond the error of the entries.
    const double slack = floor_of(x.problem) + static_cast<double>(n) * 0x1p-24;
    CHECK(distance(out.z, rows_of(times(wide, x.problem.v), dv), n, dv) <=
          slack * largest_entry(x.problem.v) * std::max(1.0, row_mass(p)));
    if (!c.rows_sum_to_one) {
      CHECK(out.lse.empty());
      return;
    }
    REQUIRE(static_cast<Index>(out.lse.size()) == n);
    double worst = 0;
    for (Index i = 0; i < n; ++i) {
      double sum = 0;
      for (Index j = 0; j < n; ++j) sum += wide(i, j);
      const bool none =
          out.lse[static_cast<std::size_t>(i)] == -std::numeric_limits<float>::infinity();
      worst = std::max(worst, std::abs(sum - (none ? 0.0 : 1.0)));
      if (none)
        for (Index column = 0; column < dv; ++column) CHECK(out.z(i, column) == 0.0f);
    }
    CHECK(worst <= slack);
  });
}

TEST_CASE("law: rows that need not sum to 1 sum to what the paper says") {
  for_all([](const Case& c, const Instance& x) {
    if (c.rows_sum_to_one) return;
    const auto row_sum = laws_of(c.id)->row_sum;
    REQUIRE(row_sum);
    const Matrix p = x.all();
    for (Index i = 0; i < x.problem.n(); ++i) {
      double sum = 0;
      for (Index j = 0; j < x.problem.n(); ++j) sum += static_cast<double>(p(i, j));
      // n entries of at most 2, each rounded to float32 after h + 1 additions.
      REQUIRE(std::abs(sum - row_sum(x, i)) <= static_cast<double>(x.problem.n()) * 0x1p-22);
    }
  });
}

TEST_CASE("law: a rectangle of P, and any pooling of it, is that of the whole") {
  for_all([](const Case&, const Instance& x) {
    const Index n = x.problem.n();
    const IndexRange rows{n / 3, n - n / 5}, cols{n / 4, n - n / 7};
    const Matrix part = x.tile(rows, cols);  // before anything is known of other rows
    const Matrix p = x.all();
    CHECK(distance(
              part, [&](Index i, Index j) { return p(rows.begin + i, cols.begin + j); },
              rows.size(), cols.size()) == 0);
    const Index grid_rows = (rows.size() + 4) / 5, grid_cols = (cols.size() + 2) / 3;
    const Matrix most = x.tile(rows, cols, {Pool::Kind::max, grid_rows, grid_cols});
    const Matrix mean = x.tile(rows, cols, {Pool::Kind::mean, grid_rows, grid_cols});
    double worst_most = 0, worst_mean = 0;
    for (Index r = 0; r < grid_rows; ++r)
      for (Index c = 0; c < grid_cols; ++c) {
        double largest = -1e30, sum = 0, mass = 0;
        Index count = 0;
        for (Index i = r * rows.size() / grid_rows; i < (r + 1) * rows.size() / grid_rows; ++i)
          for (Index j = c * cols.size() / grid_cols; j < (c + 1) * cols.size() / grid_cols;
               ++j, ++count) {
            largest = std::max(largest, static_cast<double>(part(i, j)));
            sum += static_cast<double>(part(i, j));
            mass += std::abs(static_cast<double>(part(i, j)));
          }
        // A float32 sum of up to 64 lanes: 64 roundings of its mass.
        const double unit = 64 * 0x1p-24 * std::max(mass / static_cast<double>(count), 0x1p-100);
        worst_most = std::max(worst_most, std::abs(static_cast<double>(most(r, c)) - largest));
        worst_mean = std::max(
            worst_mean,
            std::abs(static_cast<double>(mean(r, c)) - sum / static_cast<double>(count)) / unit);
      }
    CHECK(worst_most == 0);
    CHECK(worst_mean <= 1);
  });
}

TEST_CASE("law: where one row stands for a row of pixels, it is pooled alone, and drawn alike") {
  for_all([](const Case&, const Instance& x) {
    const Index n = x.problem.n();
    const IndexRange rows{n / 4, n}, cols{0, n - n / 5};
    const Index grid_rows = (rows.size() + 6) / 7, grid_cols = (cols.size() + 3) / 4;
    const Pool most_of{Pool::Kind::max, grid_rows, grid_cols, 5},
        mean_of{Pool::Kind::mean, grid_rows, grid_cols, 5};
    const Matrix early = x.tile(rows, cols, mean_of);  // before anything is known of any row
    const Matrix p = x.all();
    const Matrix most = x.tile(rows, cols, most_of), mean = x.tile(rows, cols, mean_of);
    // In one pass weights meet their sum by a factor, not in the exponent: see the next law.
    double worst_early = 0;
    for (Index r = 0; r < grid_rows; ++r)
      for (Index c = 0; c < grid_cols; ++c) {
        const auto late = static_cast<double>(mean(r, c));
        worst_early = std::max(worst_early, std::abs(static_cast<double>(early(r, c)) - late) /
                                                (std::abs(late) + 0x1p-100));
      }
    CHECK(worst_early <= floor_of(x.problem) + 64 * 0x1p-23);
    double worst_most = 0, worst_mean = 0;
    for (Index r = 0; r < grid_rows; ++r) {
      const Index i = drawn_row(rows, most_of, r);
      REQUIRE(i >= rows.begin + r * rows.size() / grid_rows);
      REQUIRE(i < rows.begin + (r + 1) * rows.size() / grid_rows);
      for (Index c = 0; c < grid_cols; ++c) {
        double largest = -1e30, sum = 0, mass = 0x1p-100;
        const Index begin = c * cols.size() / grid_cols, end = (c + 1) * cols.size() / grid_cols;
        for (Index j = begin; j < end; ++j) {
          largest = std::max(largest, static_cast<double>(p(i, j)));
          sum += static_cast<double>(p(i, j));
          mass += std::abs(static_cast<double>(p(i, j)));
        }
        const auto keys = static_cast<double>(end - begin);
        worst_most = std::max(worst_most, std::abs(static_cast<double>(most(r, c)) - largest));
        worst_mean = std::max(worst_mean,
                              std::abs(static_cast<double>(mean(r, c)) - sum / keys) * keys / mass);
      }
    }
    CHECK(worst_most == 0);
    // A float32 sum of up to 64 entries: 64 roundings of its mass.
    CHECK(worst_mean <= 64 * 0x1p-24);
  });
}

TEST_CASE("law: rows that are had by themselves are those of the whole, and P pooled in passing") {
  int had = 0;
  for_all([&](const Case&, const Instance& x) {
    // Back ends take keys in steps of 64 or 96: of 3 tokens no pixel lies across two, of 7 some do.
    const Index n = x.problem.n(), pixel = n > 96 ? 7 : 3;
    const Index begin = n / 3 / pixel * pixel;
    for (const IndexRange rows : {IndexRange{begin, n}, {0, (n / 2 + pixel) / pixel * pixel}}) {
      if (rows.end > n || rows.end == rows.begin) continue;
      if (!x.bound->has_rows()) return;
      ++had;
      const RowsOutput part = x.apply_rows(rows, pixel);
      const Output whole = x.apply(x.problem.v);
      const Matrix p = x.all();
      CHECK(distance(
                part.output.z, [&](Index i, Index c) { return whole.z(rows.begin + i, c); },
                rows.size(), x.problem.dv()) == 0);
      double worst = 0, worst_most = 0, worst_mean = 0;
      for (Index i = rows.begin; i < rows.end; ++i)
        worst = std::max(
            worst,
            static_cast<double>(std::abs(part.output.lse[static_cast<std::size_t>(i - rows.begin)] -
                                         whole.lse[static_cast<std::size_t>(i)])));
      CHECK(worst == 0);
      for (Index r = 0; r < part.most.rows(); ++r)
        for (Index c = 0; c < part.most.cols(); ++c) {
          double largest = 0, sum = 0;
          Index count = 0;
          for (Index i = rows.begin + r * pixel; i < std::min(rows.begin + (r + 1) * pixel, n); ++i)
            for (Index j = c * pixel; j < std::min((c + 1) * pixel, n); ++j, ++count) {
              largest = std::max(largest, static_cast<double>(p(i, j)));
              sum += static_cast<double>(p(i, j));
            }
          worst_most =
              std::max(worst_most, std::abs(static_cast<double>(part.most(r, c)) - largest) /
                                       (largest + 0x1p-100));
          worst_mean = std::max(
              worst_mean,
              std::abs(static_cast<double>(part.mean(r, c)) * static_cast<double>(count) - sum) /
                  (sum + 0x1p-100));
        }
      // exp2 is monotone but for an ulp.
      CHECK(worst_most <= 0x1p-23);
      // A weight and its reference each through exp2 (2 ulps), their product, 9 or 49 sums; and the
      // sum of the row, which the entries divide by as a difference of logarithms.
      CHECK(worst_mean <= floor_of(x.problem) + double(7 + pixel * pixel) * 0x1p-23);
    }
  });
  CHECK((had > 0 || backends().empty()));
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
    const double unit = 3 * static_cast<double>(n + 16) * 0x1p-24, mass = c.rows_sum_to_one ? 1 : 2;
    CHECK(distance(
              zs,
              [&](Index i, Index k) {
                return 2.0 * static_cast<double>(zv(i, k)) - static_cast<double>(zw(i, k));
              },
              n, dv) <= unit * mass * (2 * largest_entry(x.problem.v) + largest_entry(w)));
    double worst = 0;
    for (Index i = 0; i < n && c.rows_sum_to_one; ++i)
      if (std::isfinite(zc.lse[static_cast<std::size_t>(i)]))
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
    for (bool causal : {false, true}) {
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
TEST_CASE("law: a query that is not finite has NaN for Z and P, and no other query notices") {
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
              others = std::max(others, std::abs(static_cast<double>(out.z(i, c)) -
                                                 static_cast<double>(expected.z(i, c))));
        CHECK(others == 0);
      }
}

TEST_CASE("law: a pixel with an entry that is not a number is none either, at any size") {
  const Index n = 70, bad = 33;
  for (const char* id : {"exact", "strided"})
    for (const auto& backend : backends()) {
      const Problem clean = make_data(Data::gaussian, n, 3, 5, false);
      Matrix q = Matrix::copy_of(clean.q);
      q(bad, 1) = std::numeric_limits<float>::quiet_NaN();
      const Instance x = make_instance(*backend,
                                       make_problem(std::move(q), Matrix::copy_of(clean.k),
                                                    Matrix::copy_of(clean.v), clean.scale, false),
                                       id, {});
      const Matrix p = x.all();
      for (const Pool::Kind kind : {Pool::Kind::max, Pool::Kind::mean})
        for (const Index pixels : {1, 2, 7, 35}) {
          CAPTURE(id);
          CAPTURE(pixels);
          CAPTURE(backend->device());
          const Index side = n / pixels;
          const Matrix pooled = x.tile({0, n}, {0, n}, {kind, pixels, pixels});
          Index wrong = 0;
          for (Index r = 0; r < pixels; ++r)
            for (Index c = 0; c < pixels; ++c) {
              bool broken = false;
              for (Index j = c * side; r == bad / side && j < (c + 1) * side; ++j)
                broken = broken || std::isnan(p(bad, j));
              wrong += std::isnan(pooled(r, c)) != broken;
            }
          CHECK(wrong == 0);
        }
    }
}

TEST_CASE("law: one level may have several passes, below one that they all go on from") {
  // Coarse queries meet coarse keys of the other half; then two passes of single tokens meet those
  // of the own half, one the first quarter of it, one the second.
  const Index n = 8;
  Plan plan{.n = n, .causal = false, .form = {}, .structure = {}, .notes = {}};
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
        worst = std::max(worst, std::abs(z - double(output.z(i, c))));
      }
    // Eight products of numbers of about 1, in float.
    CHECK(worst <= 32 * 0x1p-24);
  }
}
