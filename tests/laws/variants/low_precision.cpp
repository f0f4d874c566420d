// Low precision straight from the definitions of the formats: tables of all their numbers, of which
// the nearest is taken, among two the one whose code is even.
#include <cmath>
#include <vector>

#include "laws/formulas.h"

namespace fovea::test {
namespace {

/// A format's numbers from 0 on, in the order of their codes.
using Numbers = std::vector<double>;

Numbers whole_numbers(int most) {
  Numbers all;
  for (int i = 0; i <= most; ++i) all.push_back(i);
  return all;
}

/// Codes below `codes` with this many bits of fraction, and this bias of the exponent.
Numbers small_floats(int codes, int fraction_bits, int bias) {
  Numbers all;
  for (int code = 0; code < codes; ++code) {
    const int exponent = code >> fraction_bits, fraction = code & ((1 << fraction_bits) - 1);
    const double part = fraction / std::pow(2.0, fraction_bits);
    all.push_back(exponent == 0 ? part * std::pow(2.0, 1 - bias)
                                : (1 + part) * std::pow(2.0, exponent - bias));
  }
  return all;
}

const Numbers& numbers_of(const std::string& format) {
  static const Numbers int8 = whole_numbers(127), int4 = whole_numbers(7),
                       e4m3 = small_floats(127, 3, 7), e2m1 = small_floats(8, 1, 1);
  return format == "int8" ? int8 : format == "int4" ? int4 : format == "e4m3" ? e4m3 : e2m1;
}

double nearest(const Numbers& numbers, double x) {
  const double size = std::abs(x);
  std::size_t best = 0;
  for (std::size_t code = 1; code < numbers.size(); ++code) {
    const double apart = std::abs(numbers[code] - size), least = std::abs(numbers[best] - size);
    if (apart < least || (apart == least && code % 2 == 0)) best = code;
  }
  return std::copysign(numbers[best], x);
}

struct Rule {
  std::string format;
  Index rows, cols;
};

using Tensor = std::vector<std::vector<double>>;

double largest_in(const Tensor& x, Index row, Index col, const Rule& rule) {
  double largest = 0;
  for (Index i = row; i < std::min<Index>(row + rule.rows, std::ssize(x)); ++i) {
    const auto& its = x[static_cast<std::size_t>(i)];
    for (Index c = col; c < std::min<Index>(col + rule.cols, std::ssize(its)); ++c)
      largest = std::max(largest, std::abs(its[static_cast<std::size_t>(c)]));
  }
  return largest;
}

double in_float32(double x) {
  return static_cast<double>(static_cast<float>(x));
}

Tensor rounded(const Tensor& x, const Rule& rule) {
  const Numbers& numbers = numbers_of(rule.format);
  const bool two_levels = rule.format == "e2m1";
  const double whole =
      in_float32(largest_in(x, 0, 0, {"", std::ssize(x), Index{1} << 40}) / (448 * 6.0));
  Tensor out = x;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t c = 0; c < x[i].size(); ++c) {
      const double largest = largest_in(x, static_cast<Index>(i) / rule.rows * rule.rows,
                                        static_cast<Index>(c) / rule.cols * rule.cols, rule);
      const double scale = !two_levels  ? in_float32(largest / numbers.back())
                           : whole == 0 ? 0
                                        : whole * nearest(numbers_of("e4m3"), largest / 6 / whole);
      out[i][c] = scale == 0 ? 0 : in_float32(nearest(numbers, x[i][c] / scale) * scale);
    }
  return out;
}

Tensor tensor_of(MatrixView m) {
  Tensor out;
  for (Index i = 0; i < m.rows; ++i) {
    out.emplace_back();
    for (Index c = 0; c < m.cols; ++c) out.back().push_back(static_cast<double>(m(i, c)));
  }
  return out;
}

/// Subtracts the mean row from all, in float32, and returns it.
std::vector<double> centre(Tensor& x) {
  std::vector<double> mean(x.front().size());
  for (std::size_t c = 0; c < mean.size(); ++c) {
    for (const auto& row : x) mean[c] += row[c];
    mean[c] = in_float32(mean[c] / static_cast<double>(x.size()));
    for (auto& row : x) row[c] = in_float32(row[c] - mean[c]);
  }
  return mean;
}

/// The rules of queries (an empty format: as given) and keys.
std::pair<Rule, Rule> rules_of(const Instance& x) {
  const Parameters p{x};
  const Index all = Index{1} << 40;
  if (x.variant->id == "nvfp4") {
    const Rule rule{"e2m1", 1, 16};
    return {p.text("rounded") == "kv" ? Rule{} : rule, rule};
  }
  const bool fp8 = x.variant->id == "fp8", whole = fp8 && p.text("scale") == "tensor";
  const std::string format = fp8 ? "e4m3" : x.variant->id;
  const Rule queries{format, whole ? all : p.integer("query_block"), all},
      keys{format, whole ? all : p.integer("key_block"), all};
  return {fp8 && p.text("rounded") == "kv" ? Rule{} : queries, keys};
}

template <class Real>
Dense<Real> low_precision(const Instance& x) {
  const Problem& problem = x.problem;
  const auto [of_queries, of_keys] = rules_of(x);
  const Tensor given = tensor_of(problem.q);
  Tensor q = given, k = tensor_of(problem.k);
  const bool smooth = Parameters{x}.text("keys") == "smoothed";
  const std::vector<double> mean = smooth ? centre(k) : std::vector(q.front().size(), 0.0);
  if (!of_queries.format.empty()) q = rounded(q, of_queries);
  k = rounded(k, of_keys);
  const Index n = problem.n();
  Dense<Real> weight(n), logit(n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
      Real sum = 0;
      double of_mean = 0;
      for (std::size_t c = 0; c < mean.size(); ++c) {
        sum += static_cast<Real>(q[a][c]) * static_cast<Real>(k[b][c]);
        of_mean += given[a][c] * mean[c];
      }
      sum += static_cast<Real>(of_mean);
      weight(i, j) = sees(problem, i, j);
      logit(i, j) = ruled(problem, static_cast<Real>(problem.scale) * sum, i, j);
    }
  return softmax(weight, logit, sink_of(problem));
}

VariantLaws laws_of_precision(const char* id, std::vector<Case> cases) {
  for (Case& c : cases) c.leaks_the_future = true;  // by scales and means
  VariantLaws laws = laws_from(
      id, [](auto real, const Instance& x) { return low_precision<decltype(real)>(x); }, cases);
  laws.never_exact = true;
  laws.other_sums_elsewhere = true;  // laws/rounded_weights.cpp
  // Products with the mean key may cancel those with the rest.
  laws.largest_exponent = [](const Instance& x) {
    double longest[2]{};
    for (const MatrixView m : {x.problem.q, x.problem.k})
      for (Index i = 0; i < m.rows; ++i) {
        double square = 0;
        for (Index c = 0; c < m.cols; ++c)
          square += static_cast<double>(m(i, c)) * static_cast<double>(m(i, c));
        double& largest = longest[m.data == x.problem.k.data];
        largest = std::max(largest, std::sqrt(square));
      }
    return 4 * x.problem.scale * longest[0] * longest[1];
  };
  return laws;
}

std::vector<Case> integer_cases() {
  return {{.settings = {}},
          {.settings = {{"query_block", "8"},
                        {"key_block", "3"},
                        {"keys", "unsmoothed"},
                        {"values", "as_given"}}},
          {.settings = {{"query_block", "1"}, {"key_block", "1"}, {"values", "fp8"}}}};
}

}  // namespace

VariantLaws int8_laws() {
  return laws_of_precision("int8", integer_cases());
}

VariantLaws int4_laws() {
  return laws_of_precision("int4", integer_cases());
}

VariantLaws fp8_laws() {
  return laws_of_precision(
      "fp8", {{.settings = {}},
              {.settings = {{"scale", "block"}, {"query_block", "5"}, {"key_block", "7"}}},
              {.settings = {{"rounded", "kv"}, {"keys", "smoothed"}, {"value_scale", "channel"}}}});
}

VariantLaws nvfp4_laws() {
  return laws_of_precision(
      "nvfp4", {{.settings = {}}, {.settings = {{"rounded", "kv"}, {"keys", "unsmoothed"}}}});
}

}  // namespace fovea::test
