// Heads that are made for one pattern of sparse prefill.
#pragma once

#include <cmath>
#include <functional>
#include <numbers>
#include <set>

#include "data/random.h"
#include "harness.h"

namespace fovea::test {

inline constexpr Index made_n = 1024, made_d = 64;

struct MadeHead {
  Matrix q{made_n, made_d}, k{made_n, made_d};
  MadeHead() {
    for (Matrix* x : {&q, &k})
      for (Index i = 0; i < made_n; ++i) std::fill_n(x->row(i), made_d, 0.0f);
  }

  Problem problem(bool causal = true) const {
    return make_problem(Matrix::copy_of(q.view()), Matrix::copy_of(k.view()),
                        gaussian(made_n, 2, 5), 1.0, causal);
  }
  /// Adds a logit that is largest where a key is `distance` tokens before the query: a sum of
  /// waves of these frequencies and sizes over distances.
  void add_diagonal(Index distance, double logit, const std::function<double(int)>& frequency,
                    const std::function<double(int)>& size) {
    constexpr int waves = 28;
    double all = 0;
    for (int f = 0; f < waves; ++f) all += size(f);
    for (Index i = 0; i < made_n; ++i)
      for (int f = 0; f < waves; ++f) {
        const double each = std::sqrt(logit * size(f) / all), turn = frequency(f);
        q(i, 2 * f) = static_cast<float>(each * std::cos(turn * double(i)));
        q(i, 2 * f + 1) = static_cast<float>(each * std::sin(turn * double(i)));
        k(i, 2 * f) = static_cast<float>(each * std::cos(turn * double(i + distance)));
        k(i, 2 * f + 1) = static_cast<float>(each * std::sin(turn * double(i + distance)));
      }
  }
  void add_columns(const std::set<Index>& columns, float logit) {
    for (Index i = 0; i < made_n; ++i) {
      q(i, made_d - 1) = 1;
      k(i, made_d - 1) = columns.contains(i) ? logit : 0.0f;
    }
  }
};

/// Its window falls off as a Gaussian does.
inline Problem sinks_and_window(bool causal = true) {
  MadeHead head;
  head.add_diagonal(
      0, 16, [](int f) { return 2 * std::numbers::pi * f / 1200; },
      [](int f) { return std::exp(-f * f / 180.0); });
  head.add_columns({0, 1, 2, 3}, 16);
  return head.problem(causal);
}

inline Problem columns_and_diagonals() {
  MadeHead head;
  head.add_diagonal(
      300, 20, [](int f) { return std::numbers::pi * std::fmod((f + 1) * std::numbers::phi, 1.0); },
      [](int) { return 1.0; });
  head.add_columns({5, 200, 555}, 20);
  return head.problem();
}

/// The queries of each block attend the keys of one block, drawn at random.
inline Problem random_blocks_head() {
  constexpr Index side = 32;
  MadeHead head;
  Random random(4, 0);
  Matrix codes(made_n / side, made_d);
  for (Index b = 0; b < codes.rows(); ++b)
    for (Index c = 0; c < made_d; ++c) codes(b, c) = random.below(2) ? 0.5f : -0.5f;
  for (Index row = 0; row < codes.rows(); ++row) {
    const auto wanted = Index(random.below(std::uint64_t(row + 1)));
    for (Index i = row * side; i < (row + 1) * side; ++i)
      for (Index c = 0; c < made_d; ++c) {
        head.q(i, c) = codes(wanted, c);
        head.k(i, c) = codes(row, c);
      }
  }
  return head.problem();
}

}  // namespace fovea::test
