#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <set>

#include "data/synthetic.h"
#include "messages.h"
#include "temporary_directory.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Problem problem(const std::string& spec, Index head = 0) {
  return problem_of(make_synthetic(spec), {.head = head});
}

double dot(const float* a, const float* b, Index d) {
  double sum = 0;
  for (Index c = 0; c < d; ++c) sum += double{a[c]} * b[c];
  return sum;
}

/// Row i of exact attention in double precision.
std::vector<double> row_of(const Problem& p, Index i) {
  std::vector<double> row(static_cast<std::size_t>(p.n()));
  double most = -INFINITY, sum = 0;
  for (Index j = 0; j < p.n(); ++j)
    most = std::max(
        most, row[static_cast<std::size_t>(j)] = p.scale * dot(p.q.row(i), p.k.row(j), p.d()));
  for (double& x : row) sum += x = std::exp(x - most);
  for (double& x : row) x /= sum;
  return row;
}

}  // namespace

TEST_CASE("golden: Z and checksum are those of the variants reference") {
  const Problem p = problem("synthetic:golden");
  REQUIRE(p.n() == 8);
  REQUIRE(p.d() == 2);
  double chk = 0, z5[2] = {};
  for (Index i = 0; i < 8; ++i) {
    const auto row = row_of(p, i);
    for (Index c = 0; c < 2; ++c) {
      double z = 0;
      for (Index j = 0; j < 8; ++j) z += row[static_cast<std::size_t>(j)] * p.v(j, c);
      chk += z * static_cast<double>(2 * i + c + 1);
      if (i == 5) z5[c] = z;
    }
  }
  // The inputs are exact in float; the reference has six decimals.
  CHECK(std::abs(chk - 229.333898) < 1e-6);
  CHECK(std::abs(z5[0] - 3.218265) < 1e-6);
  CHECK(std::abs(z5[1] + .151889) < 1e-6);
}

TEST_CASE("hmatrix is exp(2 exp(-(i-j)^2) - 1), alone") {
  const Source source = make_synthetic("synthetic:hmatrix");
  REQUIRE(source.layers.size() == 1);
  CHECK(!source.layers[0].has_qk());
  CHECK(source.layers[0].lengths().n() == 16);
  const Matrix a = source.layers[0].attention.read(0);
  CHECK(a(3, 3) == static_cast<float>(std::exp(1.0)));
  CHECK(a(3, 4) == static_cast<float>(std::exp(2 * std::exp(-1.0) - 1)));
  CHECK(a(0, 15) == static_cast<float>(std::exp(2 * std::exp(-225.0) - 1)));
  CHECK(make_synthetic("synthetic:hmatrix?n=5").layers[0].lengths().n() == 5);
}

TEST_CASE("a spec always gives the same numbers, another seed or head others") {
  for (const std::string name : {"gaussian", "clusters", "smooth", "needle"}) {
    CAPTURE(name);
    const std::string spec = "synthetic:" + name + "?n=2500&d=8&dv=5&heads=2&seed=7";
    const Problem a = problem(spec), b = problem(spec), other = problem(spec, 1),
                  reseeded = problem("synthetic:" + name + "?n=2500&d=8&dv=5&heads=2&seed=8");
    CHECK(a.n() == 2500);
    CHECK(a.d() == 8);
    CHECK(a.dv() == 5);
    CHECK(a.scale == doctest::Approx(1 / std::sqrt(8.0)));
    CHECK(std::equal(a.q.data, a.q.data + 2500 * 8, b.q.data));
    CHECK(std::equal(a.v.data, a.v.data + 2500 * 5, b.v.data));
    CHECK(!std::equal(a.q.data, a.q.data + 2500 * 8, other.q.data));
    CHECK(!std::equal(a.q.data, a.q.data + 2500 * 8, reseeded.q.data));
  }
}

TEST_CASE("gaussian has mean 0 and variance 1, and no stream repeats") {
  const Problem p = problem("synthetic:gaussian?n=4096&d=16");
  double sum = 0, square = 0;
  std::set<float> first;
  for (Index i = 0; i < p.n(); ++i) {
    first.insert(p.q(i, 0));
    for (Index c = 0; c < 16; ++c) sum += p.q(i, c), square += double{p.q(i, c)} * p.q(i, c);
  }
  // 65536 draws: six standard errors are .023 of the mean and .033 of the variance.
  CHECK(std::abs(sum / 65536) < .023);
  CHECK(std::abs(square / 65536 - 1) < .033);
  CHECK(first.size() > 4000);  // chunks of rows with the same stream would halve it at least
}

TEST_CASE("clusters: a row attends mostly to tokens of its own kind") {
  const Problem p = problem("synthetic:clusters?n=1024&d=64");
  for (const Index i : {0, 500, 1023}) {
    const auto row = row_of(p, i);
    double near = 0;
    for (Index j = 0; j < p.n(); ++j)
      // Kinds are about orthogonal, tokens of a kind about parallel.
      if (dot(p.q.row(i), p.k.row(j), 64) >
          .5 * std::sqrt(dot(p.q.row(i), p.q.row(i), 64) * dot(p.k.row(j), p.k.row(j), 64)))
        near += row[static_cast<std::size_t>(j)];
    CHECK(near > .8);  // e^3 : 1 is .95; other kinds at random angles take some
  }
}

TEST_CASE("smooth: neighbours are nearly equal and the logit is 8 on the diagonal") {
  const Problem p = problem("synthetic:smooth?n=1024&d=32");
  for (Index i = 0; i + 1 < p.n(); ++i) {
    CHECK(p.scale * dot(p.q.row(i), p.k.row(i), 32) == doctest::Approx(8).epsilon(1e-4));
    CHECK(p.scale * dot(p.q.row(i), p.k.row(i + 1), 32) > 7.9);
  }
}

TEST_CASE("needle: every row has one large entry, every column too, and hashing is misled") {
  const Problem p = problem("synthetic:needle?n=512&d=64");
  std::set<Index> columns;
  for (Index i = 0; i < p.n(); ++i) {
    const auto row = row_of(p, i);
    const Index j = std::max_element(row.begin(), row.end()) - row.begin();
    CHECK(row[static_cast<std::size_t>(j)] > .5);
    CHECK(dot(p.q.row(i), p.k.row(j), 64) < 0);
    columns.insert(j);
  }
  CHECK(columns.size() == 512);
}

TEST_CASE("a bad spec is refused with the known ones") {
  auto message = [](const std::string& spec) {
    return message_of<UsageError>([&] { make_synthetic(spec); });
  };
  check_says(message("synthetic:nonsense"), {"'nonsense'", "hmatrix", "golden"});
  check_says(message("synthetic:"), {"''", "gaussian"});
  check_says(message("synthetic:gaussian?m=3"), {"'m'", "n, d, dv, heads, seed"});
  check_says(message("synthetic:golden?n=9"), {"'n'", "none"});
  check_says(message("synthetic:gaussian?n=0"), {"n is 0", "1 to 131072"});
  check_says(message("synthetic:gaussian?n=131073"), {"131073"});
  check_says(message("synthetic:gaussian?n=-5"), {"'-5'", "whole number"});
  check_says(message("synthetic:gaussian?n=1e3"), {"'1e3'"});
  check_says(message("synthetic:gaussian?n"), {"''"});
  check_says(message("synthetic:gaussian?n=4&n=5"), {"twice"});
  check_says(message("synthetic:gaussian?seed=99999999999999999999"), {"99999999999999999999"});
  check_says(message("synthetic:gaussian?n=131072&d=1024&heads=256"), {"GiB"});
  check_says(message("synthetic:needle?d=1"), {"d is 1"});
  check_says(message("synthetic:hmatrix?n=5000"), {"4096"});
}
