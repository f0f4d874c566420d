// Weights that are rounded to few bits before they meet the values. Their definition is applied to
// the weights as they are, which other laws hold against formulas.
#include "backend/rounded_weights.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/number_format.h"
#include "laws/compressed_heads.h"
#include "laws/operator_cases.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct Rounding {
  const char* variant;
  const char* format;  // what `weights` is set to
  double top;
  Index share;
};
constexpr Rounding roundings[]{
    {"int8", "fp8", 448, 0},
    {"int4", "fp8", 448, 0},
    {"fp8", "fp8", 256, 0},
    {"nvfp4", "nvfp4", 2688, 16},
};

/// What a weight may become, as float32 gives the weight and the largest of its row or of those
/// with one scale up to a few units in the last place.
struct Bounds {
  double low, high;
};

Bounds rounded(const Rounding& rule, double weight, double largest, double largest_of_share) {
  constexpr double ulps = 8 * std::numeric_limits<float>::epsilon();
  Bounds out{std::numeric_limits<double>::infinity(), 0};
  const double x = rule.top * weight / largest;
  for (const double a : {1 - ulps, 1.0, 1 + ulps})
    for (const double b : {1 - ulps, 1.0, 1 + ulps}) {
      double scale = 1, value = rounded_to(NumberFormat::e4m3, x * b);
      if (rule.share > 0) {
        scale = rounded_to(NumberFormat::e4m3, rule.top * largest_of_share / largest / 6 * a);
        value = scale > 0 ? rounded_to(NumberFormat::e2m1, x / scale * b) : 0;
      }
      out.low = std::min(out.low, value * scale * largest / rule.top);
      out.high = std::max(out.high, value * scale * largest / rule.top);
    }
  return {out.low * (1 - ulps), out.high * (1 + ulps)};
}

/// Checks entries that begin at `first` and `from`, against the weights `p` of the whole head.
void check_entries(const Rounding& rule, const Matrix& found, const Matrix& p, Index first,
                   Index from) {
  for (Index r = 0; r < found.rows(); ++r) {
    const float* const row = p.row(first + r);
    const double largest = double{*std::max_element(row, row + p.cols())};
    for (Index c = 0; c < found.cols(); ++c) {
      const Index j = from + c, share = std::max<Index>(rule.share, 1), begin = j / share * share;
      if (largest == 0) {
        CHECK(found(r, c) == 0);
        continue;
      }
      const double of_share =
          double{*std::max_element(row + begin, row + std::min(begin + share, p.cols()))};
      const Bounds bounds = rounded(rule, double{row[j]}, largest, of_share);
      CAPTURE(r);
      CAPTURE(j);
      CHECK(double{found(r, c)} >= bounds.low);
      CHECK(double{found(r, c)} <= bounds.high);
    }
  }
}

std::vector<Problem> heads() {
  std::vector<Problem> all;
  for (const bool causal : {false, true}) {
    Problem head = make_data(Data::gaussian, 77, 8, 5, causal);
    head.rule = std::make_shared<const LogitRule>(LogitRule{.soft_cap = 3, .sink = 0.5});
    all.push_back(std::move(head));
  }
  const Problem data = make_data(Data::gaussian, 61, 8, 5, true);
  Problem last = data;  // more keys than queries, whose first ones see nothing of the window's
  last.q = data.q.slice({50, 61});
  all.push_back(last);
  // Logits so far apart that most weights become 0.
  Problem sharp = make_data(Data::gaussian, 40, 8, 5, false);
  sharp.scale = 6;
  all.push_back(sharp);
  const CompressedHead entries{.tokens = 40, .queries = 40, .size = 4, .window = 3};
  all.push_back(entries.of(make_data(Data::gaussian, 40, 8, 5, false)));
  // Queries that see no key.
  Problem blind = make_data(Data::gaussian, 33, 8, 5, false);
  BitMatrix pairs(33, 33);
  for (Index i = 0; i < 33; i += 2)
    for (Index j = i % 3; j < 33; j += 3) pairs.set(i, j);
  blind.mask = std::make_shared<const PairMask>(std::vector<std::int32_t>(),
                                                std::vector<std::int32_t>(), std::move(pairs));
  all.push_back(blind);
  return all;
}

template <class Law>
void for_heads(Law law) {
  for (const auto& backend : backends())
    for (const Rounding& rule : roundings)
      for (const Problem& head : heads()) {
        CAPTURE(backend->device());
        CAPTURE(rule.variant);
        CAPTURE(head.lengths().text());
        const Instance plain = make_instance(*backend, head, rule.variant, {}),
                       x = make_instance(*backend, head, rule.variant, {{"weights", rule.format}});
        law(rule, plain, x, *backend);
      }
}

}  // namespace

TEST_CASE("law: rounded weights are numbers of the format relative to the largest of their row") {
  for_heads(
      [](const Rounding& rule, const Instance& plain, const Instance& x, const Backend& backend) {
        const Matrix p = plain.all();
        check_entries(rule, x.all(), p, 0, 0);
        // In any rectangle, also where it cuts keys that share a scale, and before the whole is
        // known.
        for (const IndexRange cols : {IndexRange{0, 5}, {7, 30}, {16, 32}, {17, p.cols()}}) {
          const Instance fresh =
              make_instance(backend, x.problem, rule.variant, {{"weights", rule.format}});
          const IndexRange rows{2, std::min<Index>(9, p.rows())};
          for (const Instance* its : {&fresh, &x})
            check_entries(rule, its->tile(rows, cols), p, rows.begin, cols.begin);
        }
      });
}

TEST_CASE("law: the output of rounded weights is their product with the values") {
  for_heads([](const Rounding&, const Instance& plain, const Instance& x, const Backend&) {
    const Matrix p = x.all();
    const MatrixView v = x.problem.v;
    const Output out = x.apply(v), before = plain.apply(v);
    for (Index i = 0; i < p.rows(); ++i) {
      for (Index c = 0; c < v.cols; ++c) {
        double sum = 0, size = 0;
        for (Index j = 0; j < p.cols(); ++j) {
          sum += double{p(i, j)} * double{v(j, c)};
          size += std::abs(double{p(i, j)} * double{v(j, c)});
        }
        // Each of the products and of the additions is rounded once.
        const double bound =
            size * static_cast<double>(p.cols() + 1) * std::numeric_limits<float>::epsilon();
        CHECK(std::abs(double{out.z(i, c)} - sum) <= bound);
      }
      // Rows are divided by the sums of weights that are not rounded.
      CHECK(out.lse[static_cast<std::size_t>(i)] == before.lse[static_cast<std::size_t>(i)]);
    }
  });
}

TEST_CASE("law: a pooled rectangle of rounded weights is pooled of its entries") {
  for_heads([](const Rounding&, const Instance&, const Instance& x, const Backend&) {
    const Matrix p = x.all();
    const Index rows = p.rows() / 3 * 3, cols = p.cols() / 4 * 4;
    for (const Pool::Kind kind : {Pool::Kind::max, Pool::Kind::mean}) {
      const Matrix pooled =
          x.tile({0, rows}, {0, cols}, {.kind = kind, .rows = rows / 3, .cols = cols / 4});
      for (Index r = 0; r < pooled.rows(); ++r)
        for (Index c = 0; c < pooled.cols(); ++c) {
          double sum = 0, largest = 0;
          for (Index i = 3 * r; i < 3 * r + 3; ++i)
            for (Index j = 4 * c; j < 4 * c + 4; ++j) {
              sum += double{p(i, j)};
              largest = std::max(largest, double{p(i, j)});
            }
          // A weight that is near a tie may be rounded otherwise in a rectangle of another shape.
          const double expected = kind == Pool::Kind::max ? largest : sum / 12;
          CHECK(std::abs(double{pooled(r, c)} - expected) <= 0.13 * expected);
        }
    }
  });
}

TEST_CASE("all numbers of the formats, and those between them, are rounded to the nearest") {
  for (const double top : {256.0, 448.0}) {
    std::vector<float> x;
    for (std::uint32_t bits = 0; bits <= 0x3f800000U; bits += 4093)
      x.push_back(std::bit_cast<float>(bits));
    // Ties of the smallest numbers, which are multiples of 2^-9.
    for (int i = 0; i < 32; ++i) x.push_back(static_cast<float>(std::ldexp(i, -10) / top));
    x.push_back(1);
    std::vector<float> found = x;
    round_weights({.top = top}, 1, found);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto scaled = static_cast<double>(x[i] * static_cast<float>(top));
      CHECK(double{found[i]} ==
            doctest::Approx(rounded_to(NumberFormat::e4m3, scaled) / top).epsilon(1e-7));
    }
  }
  // With a largest number of 6 times 64, the scale is 64: the rest are numbers of FP4.
  std::vector<float> x{1};
  for (int i = 0; i < 15; ++i) x.push_back(static_cast<float>(i) / 14);
  for (float& one : x) one *= 384.0F / 2688;
  std::vector<float> found = x;
  round_weights({.top = 2688, .share = 16}, 1, found);
  for (std::size_t i = 0; i < x.size(); ++i)
    CHECK(double{found[i]} ==
          doctest::Approx(rounded_to(NumberFormat::e2m1, double{x[i]} * 2688 / 64) * 64 / 2688)
              .epsilon(1e-6));
}

TEST_CASE("rounded weights change a head little in 8 bits, and more in 4") {
  const Problem head = make_data(Data::gaussian, 128, 16, 8, false);
  for (const Rounding& rule : roundings) {
    const Instance plain = make_instance(*backends().front(), head, rule.variant, {}),
                   x = make_instance(*backends().front(), head, rule.variant,
                                     {{"weights", rule.format}});
    const Matrix p = plain.all(), rounded = x.all();
    double error = 0, norm = 0;
    for (Index i = 0; i < p.rows(); ++i)
      for (Index j = 0; j < p.cols(); ++j) {
        error += std::pow(double{rounded(i, j)} - double{p(i, j)}, 2);
        norm += std::pow(double{p(i, j)}, 2);
      }
    CAPTURE(rule.variant);
    // Half a step is 1/16 of a number of FP8 at most, and 1/4 of one of FP4 in range.
    CHECK(std::sqrt(error / norm) <= (rule.share > 0 ? 1.0 / 4 : 1.0 / 16));
    CHECK(std::sqrt(error / norm) >= (rule.share > 0 ? 0.02 : 0.005));
  }
}
