// HyperAttention's figures against float64: sums and norms over dense matrices, probabilities by
// counting codes, and the committed file of an H200.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>

#include "analysis/heavy_entries.h"
#include "jacobi_values.h"
#include "laws/variants/hyper_theory.h"
#include "papers/results.h"
#include "reference.h"

using namespace fovea;
using namespace fovea::test;

namespace {

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

/// Exact P of the pairs that a head has, by its definition.
Dense<double> softmax(const Problem& problem) {
  Dense<double> p(problem.n());
  for (Index i = 0; i < p.n; ++i) {
    double sum = 0;
    for (Index j = 0; j < p.n; ++j)
      if (problem.admits(i, j)) sum += p(i, j) = std::exp(problem.logit(i, j));
    for (Index j = 0; j < p.n; ++j) p(i, j) /= sum;
  }
  return p;
}

double norm_of(const Dense<double>& m) {
  return jacobi_values<double>(m.n, m.n, [&](Index i, Index j) { return m(i, j); })[0];
}

double norm_of(const std::vector<double>& m, Index cols) {
  return jacobi_values<double>(std::ssize(m) / cols, cols, [&](Index i, Index j) {
    return m[static_cast<std::size_t>(i * cols + j)];
  })[0];
}

}  // namespace

TEST_CASE("the column spread against n is that of the first tokens, the first 32 columns apart") {
  const std::string example = "synthetic:gaussian?n=180&d=4&heads=3";
  const Source source = open_source(example);
  const PaperResult result = result_of("column-growth", example);
  std::vector<std::pair<double, double>> medians;
  for (const Index n : {64, 90, 127, 180}) {  // 180 over the powers of the root of 2
    CAPTURE(n);
    std::vector<double> all, later;
    for (Index head = 0; head < 3; ++head) {
      const Dense<double> p =
          softmax(prefix_of(problem_of(source, {.head = head, .conditions = {.causal = true}}), n));
      double of_all = 0, of_later = 0;
      for (Index j = 0; j < n; ++j) {
        double sum = 0;
        for (Index i = 0; i < n; ++i) sum += p(i, j) * p(i, j);
        of_all = std::max(of_all, sum / double(n));
        if (j >= 32) of_later = std::max(of_later, sum / double(n));
      }
      all.push_back(of_all);
      later.push_back(of_later);
    }
    medians.emplace_back(std::log(n), std::log(median(later)));
    const auto found = [&](const std::string& id) {
      return number(result, id + "_" + std::to_string(n)).found;
    };
    // Entries of P are float32: n squares, each within a few roundings.
    CHECK(found("share_median") == doctest::Approx(median(later)).epsilon(1e-5));
    CHECK(found("share_max") == doctest::Approx(std::ranges::max(later)).epsilon(1e-5));
    CHECK(found("share_median_all") == doctest::Approx(median(all)).epsilon(1e-5));
    CHECK(median(all) > 1.5 * median(later));  // the first key has its query alone
  }
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const auto& [a, b] : medians) x += a / 4, y += b / 4, xx += a * a / 4, xy += a * b / 4;
  CHECK(number(result, "slope").found ==
        doctest::Approx((xy - x * y) / (xx - x * x)).epsilon(1e-4));
  CHECK(number(result, "falling").found >= 0);
  CHECK(number(result, "falling").found <= 1);
  for (const PaperNumber& found : result.numbers) CHECK_FALSE(found.published);
}

TEST_CASE("the errors of Eq. 1, 2 and 3 are those of dense matrices in float64") {
  const std::string example = "synthetic:gaussian?n=48&d=4";
  const Problem problem = problem_of(open_source(example), {});
  const PaperResult result = result_of("spectral-error", example);
  const Dense<double> p = softmax(problem);
  double squares = 0;
  for (const double x : p.values) squares += x * x;
  const double norm = norm_of(p);
  std::vector<double> v;
  for (Index i = 0; i < 48; ++i)
    for (Index c = 0; c < 4; ++c) v.push_back(double(problem.v(i, c)));
  const double norms = norm * norm_of(v, 4);
  for (const int m : {16, 256}) {
    CAPTURE(m);
    std::vector<double> eq1, eq2, eq3, capped;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Instance x = make_instance(
          *backends().front(), problem, "hyper",
          {{"block", "4"}, {"samples", std::to_string(m)}, {"min_length", "0"}, {"mode", "theory"}},
          {}, seed);
      const RowSumSteps<double> steps = row_sum_steps(0.0, x);
      Dense<double> both = reference<double>(x), sums = p, values = both;
      for (Index i = 0; i < 48; ++i) {
        double d = 0;
        for (Index j = 0; j < 48; ++j) d += std::exp(problem.logit(i, j));
        const double factor = d / std::exp(steps.d[static_cast<std::size_t>(i)]);
        for (Index j = 0; j < 48; ++j) {
          both(i, j) -= p(i, j);
          sums(i, j) *= factor - 1;
          values(i, j) -= factor * p(i, j);
        }
      }
      capped.push_back(double(steps.capped) / double(steps.sampled));
      eq1.push_back(norm_of(times(both, problem.v), 4) / norms);
      eq2.push_back(norm_of(sums) / norm);
      eq3.push_back(norm_of(times(values, problem.v), 4) / norms);
    }
    for (const auto& [name, truth] :
         {std::pair{"eq1", eq1}, {"eq2", eq2}, {"eq3", eq3}, {"capped", capped}}) {
      const std::string id = name + ("_" + std::to_string(m));
      CAPTURE(id);
      const double mean = std::reduce(truth.begin(), truth.end()) / 20;
      double variance = 0;
      for (const double x : truth) variance += (x - mean) * (x - mean) / 19;
      const PaperNumber& found = number(result, id);
      // Row sums and entries are float32; norms are found to 1e-6.
      CHECK(found.found == doctest::Approx(mean).epsilon(2e-5));
      CHECK(*found.standard_error == doctest::Approx(std::sqrt(variance / 20)).epsilon(1e-3));
    }
  }
  CHECK(number(result, "lemma_2").found ==
        doctest::Approx(4 * squares / (norm * norm)).epsilon(1e-5));
  CHECK(number(result, "lemma_1").found > 1);
  CHECK(number(result, "tokens").found == 48);
}

TEST_CASE("heavy entries: pairs, mass and kappa are those of the definition in float64") {
  const std::string example = "synthetic:gaussian?n=48&d=4",
                    clusters = "synthetic:clusters?n=256&d=32";
  const PaperResult result = result_of("heavy-entries", example);
  for (const bool own : {true, false}) {
    const Problem problem = problem_of(open_source(own ? example : clusters), {});
    const Dense<double> p = softmax(problem);
    const Index n = p.n;
    for (const int tau : {32, 64, 128}) {
      CAPTURE(own);
      CAPTURE(tau);
      double pairs = 0, negative = 0, mass = 0;
      std::vector<double> outside(static_cast<std::size_t>(n));
      for (Index j = 0; j < n; ++j) {
        double column = 0;
        for (Index i = 0; i < n; ++i) column += std::pow(problem.logit(i, j), 2);
        for (Index i = 0; i < n; ++i) {
          const double logit = problem.logit(i, j);
          const bool heavy = logit * logit >= column / tau;
          pairs += heavy;
          negative += heavy && logit < 0;
          if (heavy) mass += p(i, j) / double(n);
          if (!heavy) outside[static_cast<std::size_t>(i)] += std::exp(logit);
        }
      }
      const auto found = [&](const std::string& id) {
        return number(result, (own ? "" : "clusters_") + id + "_" + std::to_string(tau)).found;
      };
      CHECK(found("pairs") == pairs);
      CHECK(found("negative") == negative);
      // Row sums are float32: n terms, each within a few roundings.
      CHECK(found("mass") == doctest::Approx(mass).epsilon(1e-5));
      CHECK(found("kappa") ==
            doctest::Approx(std::ranges::max(outside) / std::ranges::min(outside)).epsilon(1e-5));
      CHECK(found("block_kappa") >= 1);
    }
  }
}

TEST_CASE("hashes collide as often as codes of a Gray sequence do by counting") {
  const PaperResult result = result_of("hash-collisions", "synthetic:golden");
  for (const int r : {2, 7})
    for (const int degrees : {10, 20, 36, 60, 90, 120}) {
      CAPTURE(r);
      CAPTURE(degrees);
      const double turned = degrees / 180.0;  // the probability that a bit differs
      double same = 0, adjacent = 0;
      const unsigned count = 1U << r;
      for (unsigned at = 0; at < count; ++at)
        for (unsigned to = 0; to < count; ++to) {
          const int bits = std::popcount((at ^ at >> 1) ^ (to ^ to >> 1));
          const double p = std::pow(turned, bits) * std::pow(1 - turned, r - bits) / count;
          if (at == to) same += p;
          if ((at + 1) % count == to || (to + 1) % count == at) adjacent += p;
        }
      for (const auto& [name, p] : {std::pair{"same_", same}, {"adjacent_", adjacent}}) {
        const std::string id = name + (std::to_string(r) + "_" + std::to_string(degrees));
        CAPTURE(id);
        const PaperNumber& found = number(result, id);
        CHECK(*found.expected == doctest::Approx(p).epsilon(1e-12));
        const double error = std::sqrt(p * (1 - p) / 1000);
        CHECK(*found.standard_error == doctest::Approx(error).epsilon(1e-12));
        // All of 24 shares lie within four standard errors in 998 of 1000 seeds.
        CHECK(std::abs(found.found - p) < 4 * error);
      }
    }
}

TEST_CASE("the ratios of an H200 are of the times in its committed file, beside those of Fig. 4") {
  std::ifstream file(std::string(FOVEA_TESTS) + "/gpu/results/nvidia-h200.json");
  const auto document = nlohmann::json::parse(file);
  const PaperResult result = result_of("running-time", "synthetic:golden", 256);
  for (const bool causal : {false, true}) {
    std::map<std::string, nlohmann::json> row;
    for (const auto& figure : document["figures"])
      if (figure["step"] == "attention-131k" && figure["heads"] == 12 && figure["d"] == 64 &&
          figure["precision"] == "bf16" && figure["causal"] == causal)
        row[figure["what"]] = figure;
    const auto commit_of = [&](const char* what) {
      return row.at(what).value("commit", document["commit"].get<std::string>());
    };
    CHECK(commit_of("exact") == commit_of("hyper"));
    CHECK(std::ranges::any_of(result.notes, [&](const std::string& note) {
      return note.find(commit_of("exact")) != std::string::npos;
    }));
    const auto ratio = [&](const char* time) {
      return row.at("exact")[time]["median"].get<double>() /
             row.at("hyper")[time]["median"].get<double>();
    };
    const std::string mask = causal ? "causal" : "bidirectional";
    const PaperNumber &kernels = number(result, "speed_up_h200_" + mask),
                      &all = number(result, "speed_up_h200_end_to_end_" + mask);
    CHECK(kernels.found == doctest::Approx(ratio("kernel_ms")).epsilon(1e-12));
    CHECK(kernels.published == (causal ? 5.4 : 54));
    CHECK_FALSE(kernels.apart.empty());
    CHECK(all.found == doctest::Approx(ratio("end_to_end_ms")).epsilon(1e-12));
    CHECK_FALSE(all.published);
  }
}
