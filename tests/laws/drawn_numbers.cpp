// Real numbers that planners draw: their mean and variance, and that no two draws are one.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "laws/operator_cases.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// The variance that the paper states for the tensors of each name, from their shape.
const std::map<std::string, std::function<double(const std::vector<Index>&)>>& variances() {
  const auto whole = [](Index size) { return static_cast<double>(size); };
  static const std::map<std::string, std::function<double(const std::vector<Index>&)>> all{
      {"project_k", [=](const auto& k_n) { return 1 / whole(k_n[0]); }},
      {"project_v", [=](const auto& k_n) { return 1 / whole(k_n[0]); }},
      // Products of k pairs of factors have variance 1.
      {"query_factors", [=](const auto& n_k) { return 1 / std::sqrt(whole(n_k[1])); }},
      {"key_factors", [=](const auto& k_n) { return 1 / std::sqrt(whole(k_n[0])); }},
      {"features", [](const auto&) { return 1.0; }},
      // Rows of length 1.
      {"tree_weight", [=](const auto& rows_d) { return 1 / whole(rows_d[1]); }},
  };
  return all;
}

struct Moments {
  double mean = 0, variance = 0;
};

Moments moments_of(const std::vector<float>& values) {
  const auto count = static_cast<double>(values.size());
  Moments moments;
  for (const float x : values) moments.mean += static_cast<double>(x) / count;
  for (const float x : values)
    moments.variance += std::pow(static_cast<double>(x) - moments.mean, 2) / count;
  return moments;
}

/// The correlation of as many numbers of both as the shorter has.
double correlation(const std::vector<float>& a, const std::vector<float>& b) {
  const std::size_t count = std::min(a.size(), b.size());
  const std::vector<float> x(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(count)),
      y(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(count));
  const Moments of_x = moments_of(x), of_y = moments_of(y);
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i)
    sum += (static_cast<double>(x[i]) - of_x.mean) * (static_cast<double>(y[i]) - of_y.mean);
  return sum / static_cast<double>(count) / std::sqrt(of_x.variance * of_y.variance);
}

}  // namespace

// The numbers are those of a fixed seed. Bounds are 5 standard errors of normal numbers: sigma /
// sqrt(N) of a mean, sigma^2 sqrt(2 / N) of a variance, and 1 / sqrt(N) of a correlation.
TEST_CASE("law: real tensors that are drawn have their mean and variance, and each its own draws") {
  std::map<std::string, int> seen;
  for (const Case& c : cases()) {
    const bool learned =
        std::ranges::count(c.settings, std::pair<std::string, std::string>("tree", "learned")) > 0;
    // What is learned from drawn rows is not drawn itself; the toy draws no mean of 0.
    if (!c.random || learned || c.id == "toy") continue;
    CAPTURE(describe(c));
    const Problem problem = make_data(Data::gaussian, 200, 8, 2, masks_of(c).back(), c.head);
    const auto drawn = [&](std::uint64_t seed) {
      return make_plan(*backends().front(), problem, c.id, c.settings, {}, seed)->structure;
    };
    const Structure structure = drawn(11), other = drawn(12);
    std::vector<std::vector<float>> before;
    for (const StructureTensor& tensor : structure.tensors()) {
      const auto* values = std::get_if<std::vector<float>>(&tensor.values);
      if (!values || tensor == *other.find(tensor.name)) continue;
      CAPTURE(tensor.name);
      const auto stated = variances().find(tensor.name);
      REQUIRE_MESSAGE(stated != variances().end(), "state the variance of this tensor above");
      const double variance = stated->second(tensor.shape),
                   error = 1 / std::sqrt(static_cast<double>(values->size()));
      const Moments moments = moments_of(*values);
      CHECK(std::abs(moments.mean) <= 5 * std::sqrt(variance) * error);
      CHECK(std::abs(moments.variance - variance) <= 5 * variance * std::sqrt(2.0) * error);
      for (const auto& earlier : before)
        CHECK(std::abs(correlation(*values, earlier)) <=
              5 / std::sqrt(static_cast<double>(std::min(values->size(), earlier.size()))));
      before.push_back(*values);
      ++seen[tensor.name];
    }
  }
  for (const auto& stated : variances()) {
    CAPTURE(stated.first);
    CHECK(seen[stated.first] > 0);
  }
}
