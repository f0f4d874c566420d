// Heads that are a recurrence: exact attention is their own, by states and by rows.
#include <doctest/doctest.h>

#include <Eigen/SVD>
#include <cmath>

#include "data/error.h"
#include "laws/operator_cases.h"
#include "variants/described_variant.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct Kind {
  std::string name;
  bool erases = true, of_channels = false, levels = false;
  double strongest_decay = 0.1;  // of a token, as a logarithm
  float reset = 0;               // the same of every seventh token; 0: none is another
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{{"gated delta rule"},
                                     {"delta rule of each channel", true, true},
                                     {"delta rule with weak decay", true, false, false, 1e-4},
                                     {"delta rule with strong decay", true, true, false, 400},
                                     {"delta rule of levels", true, false, true},
                                     {"linear", false},
                                     {"linear of each channel", false, true, false, 3},
                                     {"log-linear", false, true, true},
                                     {"delta rule that is reset", true, false, false, 0.1, -1e18f},
                                     {"linear that is reset", false, true, false, 0.1, -3.4e38f}};
  return all;
}

// Keys of length 1 that resemble one another, so that much is erased.
Problem recurrent_head(const Kind& kind, Index n, Index d, Index dv) {
  Matrix q = gaussian(n, d, 21), k = gaussian(n, d, 22);
  for (Index i = 0; i < n; ++i) k(i, 0) += 2;
  normalise_rows(q);
  normalise_rows(k);
  Problem problem = make_problem(std::move(q), std::move(k), gaussian(n, dv, 23), 0, true);
  Recurrence recurrence{.erases = kind.erases};
  const Matrix gates = gaussian(n, d + 1, 24), levels = gaussian(n, fenwick_levels(n), 25);
  for (Index i = 0; i < n; ++i) recurrence.beta.push_back(1 / (1 + std::exp(-gates(i, d))));
  recurrence.log_decay = Matrix(n, kind.of_channels ? d : 1);
  for (Index i = 0; i < n; ++i)
    for (Index c = 0; c < recurrence.log_decay.cols(); ++c)
      recurrence.log_decay(i, c) =
          kind.reset != 0 && i % 7 == 3
              ? kind.reset
              : -static_cast<float>(kind.strongest_decay / (1 + std::exp(-double{gates(i, c)})));
  if (kind.levels) recurrence.level_weights = Matrix::copy_of(levels);
  problem.recurrence = std::make_shared<const Recurrence>(std::move(recurrence));
  return problem;
}

double decay_of(const Recurrence& its, Index t, Index c) {
  return std::exp(double{its.log_decay(t, its.log_decay.cols() > 1 ? c : 0)});
}

// Row i of P, key by key backwards.
std::vector<double> row_of(const Problem& problem, Index i) {
  const Recurrence& its = *problem.recurrence;
  const auto d = static_cast<std::size_t>(problem.d());
  std::vector<double> r(d), p(static_cast<std::size_t>(problem.n()));
  for (std::size_t c = 0; c < d; ++c)
    r[c] = problem.scale * double{problem.q(i, static_cast<Index>(c))};
  for (Index j = i; j >= 0; --j) {
    double dot = 0;
    for (std::size_t c = 0; c < d; ++c) dot += r[c] * double{problem.k(j, static_cast<Index>(c))};
    const double written = double{its.beta[static_cast<std::size_t>(j)]} * dot;
    p[static_cast<std::size_t>(j)] = written * double{its.weight_of(i, j)};
    for (std::size_t c = 0; c < d; ++c) {
      const auto channel = static_cast<Index>(c);
      if (its.erases) r[c] -= written * double{problem.k(j, channel)};
      r[c] *= decay_of(its, j, channel);
    }
  }
  return p;
}

// Z by one state, forwards. Only without levels.
Dense<double> states_of(const Problem& problem) {
  const Recurrence& its = *problem.recurrence;
  const Index n = problem.n(), d = problem.d(), dv = problem.dv();
  std::vector<double> state(static_cast<std::size_t>(d * dv));
  Dense<double> z(std::max(n, dv));
  for (Index t = 0; t < n; ++t) {
    const double b = double{its.beta[static_cast<std::size_t>(t)]};
    for (Index e = 0; e < dv; ++e) {
      const auto at = [&](Index c) -> double& {
        return state[static_cast<std::size_t>(c * dv + e)];
      };
      double held = 0, out = 0;
      for (Index c = 0; c < d; ++c) at(c) *= decay_of(its, t, c);
      for (Index c = 0; c < d && its.erases; ++c) held += double{problem.k(t, c)} * at(c);
      for (Index c = 0; c < d; ++c)
        at(c) += b * double{problem.k(t, c)} * (double{problem.v(t, e)} - held);
      for (Index c = 0; c < d; ++c) out += double{problem.q(t, c)} * at(c);
      z(t, e) = problem.scale * out;
    }
  }
  return z;
}

/// Rounding of a number of size 1 after some hundred products in float32.
constexpr double unit = 64 * 0x1p-24;

}  // namespace

TEST_CASE("recurrence: rows of exact attention are those of the steps, in one tile or in parts") {
  for (const auto& backend : backends())
    for (const Kind& kind : kinds())
      for (const Index n : {1, 64, 65, 300}) {
        CAPTURE(kind.name);
        CAPTURE(n);
        const Problem problem = recurrent_head(kind, n, 20, 3);
        const Instance x = make_instance(*backend, problem, "exact", {});
        const Matrix p = x.all();
        double worst = 0, apart = 0;
        for (Index i = 0; i < n; ++i) {
          const std::vector<double> row = row_of(problem, i);
          for (Index j = 0; j < n; ++j)
            worst = larger_error(worst, double{p(i, j)} - row[static_cast<std::size_t>(j)]);
        }
        CHECK(worst <= unit);
        for (const auto& [rows, cols] :
             {std::pair{IndexRange{n / 3, n}, IndexRange{n / 5, n}},
              std::pair{IndexRange{n - 1, n}, IndexRange{0, 1}},
              std::pair{IndexRange{0, n}, IndexRange{n / 2, n / 2 + 1}}}) {
          const Matrix part = x.tile(rows, cols);
          for (Index i = rows.begin; i < rows.end; ++i)
            for (Index j = cols.begin; j < cols.end; ++j)
              apart = larger_error(apart,
                                   double{part(i - rows.begin, j - cols.begin)} - double{p(i, j)});
        }
        CHECK(apart <= unit);
      }
}

TEST_CASE("recurrence: Z is that of the states, and P V with levels") {
  for (const auto& backend : backends())
    for (const Kind& kind : kinds())
      for (const Index n : {1, 63, 129, 700}) {
        CAPTURE(kind.name);
        CAPTURE(n);
        const Problem problem = recurrent_head(kind, n, 20, 33);
        const Output out = make_instance(*backend, problem, "exact", {}).apply(problem.v);
        CHECK(out.lse.empty());
        double worst = 0;
        if (!kind.levels) {
          const Dense<double> z = states_of(problem);
          for (Index i = 0; i < n; ++i)
            for (Index c = 0; c < 33; ++c)
              worst = larger_error(worst, double{out.z(i, c)} - z(i, c));
        }
        for (Index i = 0; i < n && kind.levels; i += 7) {
          const std::vector<double> row = row_of(problem, i);
          for (Index c = 0; c < 33; ++c) {
            double z = 0;
            for (Index j = 0; j <= i; ++j)
              z += row[static_cast<std::size_t>(j)] * double{problem.v(j, c)};
            worst = larger_error(worst, double{out.z(i, c)} - z);
          }
        }
        CHECK(worst <= 4 * unit);  // values of up to 4
      }
}

TEST_CASE("recurrence: a tile far from the diagonal takes transitions over many chunks") {
  constexpr Index n = 5200;
  const Kind& slow = kinds()[2];
  for (const auto& backend : backends()) {
    const Problem problem = recurrent_head(slow, n, 6, 1);
    const Instance x = make_instance(*backend, problem, "exact", {});
    for (const IndexRange cols : {IndexRange{0, 40}, IndexRange{700, 1500}}) {
      const Matrix far = x.tile({n - 3, n}, cols);
      double worst = 0, largest = 0;
      for (Index i = n - 3; i < n; ++i) {
        const std::vector<double> row = row_of(problem, i);
        for (Index j = cols.begin; j < cols.end; ++j) {
          const double p = row[static_cast<std::size_t>(j)];
          worst = larger_error(worst, double{far(i - n + 3, j - cols.begin)} - p);
          largest = std::max(largest, std::abs(p));
        }
      }
      CHECK(largest > 0);
      CHECK(worst <= unit * std::max(largest, 1e-3));
    }
  }
}

TEST_CASE("recurrence: no block below the diagonal has a larger rank than a key has channels") {
  constexpr Index n = 192, d = 5;
  for (const Kind& kind : kinds()) {
    if (kind.levels) continue;
    CAPTURE(kind.name);
    const Problem problem = recurrent_head(kind, n, d, 1);
    const Matrix p =
        make_instance(*backends().front(), problem, "exact", {}).tile({96, 192}, {0, 96});
    Eigen::MatrixXd block(96, 96);
    for (Index i = 0; i < 96; ++i)
      for (Index j = 0; j < 96; ++j) block(i, j) = double{p(i, j)};
    const Eigen::VectorXd values = Eigen::JacobiSVD<Eigen::MatrixXd>(block).singularValues();
    CHECK(values(d) <= 96 * unit * std::max(values(0), 1e-3));
  }
}

TEST_CASE(
    "recurrence: SSD of a head that erases nothing is exact, and log-linear with levels of 1") {
  const Problem linear = recurrent_head(kinds()[5], 150, 8, 4),
                levels = recurrent_head(kinds()[7], 150, 8, 4);
  const Backend& backend = *backends().front();
  const auto same = [&](const Problem& problem, const char* id, const Settings& settings) {
    const Matrix a = make_instance(backend, problem, "exact", {}).all(),
                 b = make_instance(backend, problem, id, settings).all();
    return std::equal(a.data(), a.data() + 150 * 150, b.data());
  };
  CHECK(same(linear, "ssd", {}));
  CHECK(same(linear, "loglinear", {{"fall", "0"}}));
  CHECK(same(levels, "loglinear", {}));
  CHECK_FALSE(same(levels, "ssd", {}));
  CHECK(same(recurrent_head(kinds()[0], 150, 8, 4), "delta", {}));
  CHECK_FALSE(same(recurrent_head(kinds()[0], 150, 8, 4), "ssd", {}));
}

TEST_CASE("recurrence: the delta rule on a head without it has keys of length 1, and stays small") {
  Problem problem = recurrent_head({"linear", false}, 300, 20, 3);
  Matrix k = Matrix::copy_of(problem.k);
  for (Index i = 0; i < k.rows(); ++i)
    for (Index c = 0; c < k.cols(); ++c) k(i, c) *= 5;
  problem.k = k;
  const Matrix p = make_instance(*backends().front(), problem, "delta", {}).all();
  double largest = 0;
  for (Index i = 0; i < p.rows(); ++i)
    for (Index j = 0; j < p.cols(); ++j) largest = larger_error(largest, double{p(i, j)});
  CHECK(largest <= problem.scale * 1.001);  // |q| = |k| = 1, and nothing grows on the way
}

TEST_CASE("recurrence: a pixel has the mean of all its pairs, those of the future being 0") {
  for (const auto& backend : backends())
    for (const Kind& kind : kinds()) {
      CAPTURE(kind.name);
      constexpr Index n = 400, side = 200;
      const Problem problem = recurrent_head(kind, n, 20, 3);
      const Instance x = make_instance(*backend, problem, "exact", {});
      const Matrix p = x.all(), pixels = x.tile({0, n}, {0, n}, {Pool::Kind::mean, 2, 2});
      for (Index r = 0; r < 2; ++r)
        for (Index c = 0; c < 2; ++c) {
          double sum = 0;
          for (Index i = r * side; i < (r + 1) * side; ++i)
            for (Index j = c * side; j < (c + 1) * side; ++j) sum += double{p(i, j)};
          CHECK(std::abs(double{pixels(r, c)} - sum / (side * side)) <= unit);
        }
    }
}

TEST_CASE("recurrence: gates that are given go before those of the head") {
  constexpr Index n = 40, levels = 7;  // ⌈log₂ n⌉ + 1
  const Problem problem = recurrent_head({"log-linear", false, true, true}, n, 20, 3);
  REQUIRE(problem.recurrence->level_weights.cols() == levels);
  Structure given;
  given.set({"level_weights", {n, levels}, std::vector<float>(n * levels, 0.5f)});
  given.set({"log_decay", {n}, std::vector<float>(n, -0.25f)});
  given.set("beta", std::vector<float>(n, 0.75f));
  for (const auto& backend : backends()) {
    const auto plan = make_plan(*backend, problem, "loglinear", {}, given);
    const Recurrence& its = *std::get<RecurrentPlan>(plan->form).recurrence;
    CHECK(its.level_weights(3, 2) == 0.5f);
    CHECK(its.log_decay(3, 0) == -0.25f);
    CHECK(its.beta[3] == 0.75f);
  }
}

TEST_CASE("recurrence: without writing there is no weight and no output") {
  const Problem problem = make_data(Data::gaussian, 100, 6, 3, true);
  for (const char* id : {"delta", "ssd", "loglinear"}) {
    const Instance x = make_instance(*backends().front(), problem, id, {{"beta", "0"}});
    CHECK(largest_entry(x.all()) == 0);
    CHECK(largest_entry(x.apply(problem.v).z) == 0);
  }
}

TEST_CASE("recurrence: variants that replace a softmax have no form for such a head, and say why") {
  const Problem problem = recurrent_head(kinds()[0], 40, 4, 2);
  for (const Variant& variant : variants()) {
    CAPTURE(variant.id);
    const std::string why = variant.refusal(problem);
    CHECK(why.empty() == variant.has_recurrent_form);
    if (!why.empty())
      CHECK(why == variant.label +
                       " replaces softmax attention; this head is a recurrence (gated delta rule)");
  }
  const auto plan = make_plan(*backends().front(), problem, "ssd", {});
  CHECK(plan->notes ==
        std::vector<std::string>{
            "with the gates of the head",
            "without the delta rule of the head: the error shows what that rule erases"});
}

TEST_CASE("recurrence: exact attention of such a head has the formula of its own variant") {
  const Variant& exact = reference_variant();
  const auto described = [&](std::size_t kind) {
    const Problem problem = recurrent_head(kinds()[kind], 20, 4, 2);
    return described_variant(exact, &problem).id;
  };
  CHECK(described(0) == "delta");
  CHECK(described(5) == "ssd");
  CHECK(described(7) == "loglinear");
  CHECK(described_variant(exact, nullptr).id == "exact");
  const Problem softmax = make_data(Data::gaussian, 8, 2, 1, true);
  CHECK(described_variant(exact, &softmax).id == "exact");
}

TEST_CASE("recurrence: a prefix of a head has the gates of its first tokens") {
  const Problem whole = recurrent_head(kinds()[7], 90, 5, 2), first = prefix_of(whole, 41);
  const Matrix a = make_instance(*backends().front(), whole, "exact", {}).tile({0, 41}, {0, 41}),
               b = make_instance(*backends().front(), first, "exact", {}).all();
  CHECK(std::equal(a.data(), a.data() + 41 * 41, b.data()));
}

TEST_CASE("recurrence: gates of other sizes or ranges are refused") {
  const auto message = [](auto change) {
    Recurrence its{
        .beta = std::vector(8, 1.0f), .log_decay = Matrix(8, 1), .level_weights = Matrix(8, 4)};
    change(its);
    try {
      check_recurrence(its, 8, 3, "file");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK(message([](Recurrence&) {}) == "no error");
  CHECK(message([](Recurrence& its) { its.beta.pop_back(); }) ==
        "file: beta of 7 tokens; expected 8");
  CHECK(message([](Recurrence& its) { its.log_decay = Matrix(8, 2); }) ==
        "file: log_decay has 2 channels; expected 1, or d = 3");
  CHECK(message([](Recurrence& its) { its.level_weights = Matrix(8, 3); }) ==
        "file: level_weights have 3 levels; expected 4 or more for n = 8");
  CHECK(message([](Recurrence& its) { its.log_decay(2, 0) = 0.5f; }) ==
        "file: log_decay of token 2 is 0.5; expected a finite number up to 0");
  CHECK(message([](Recurrence& its) { its.beta[3] = std::nanf(""); }) ==
        "file: beta of token 3 is NaN; expected a finite number");
}
