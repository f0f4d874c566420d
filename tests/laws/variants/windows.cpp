#include <cstdlib>

#include "laws/formulas.h"

namespace fovea::test {
namespace {

template <class Real>
Dense<Real> window(const Instance& x) {
  const Parameters p{x};
  const Index w = p.integer("width"), s = p.integer("sinks");
  return weighted<Real>(x.problem, [&](Index i, Index j) { return std::abs(i - j) <= w || j < s; });
}

template <class Real>
Dense<Real> longformer(const Instance& x) {
  const Parameters p{x};
  const Index w = p.integer("width"), g = p.integer("globals");
  return weighted<Real>(x.problem,
                        [&](Index i, Index j) { return std::abs(i - j) <= w || i < g || j < g; });
}

template <class Real>
Dense<Real> bigbird(const Instance& x) {
  const Parameters p{x};
  const Index block = p.integer("block"), reach = (p.integer("window") - 1) / 2,
              r = p.integer("random"), last = (x.problem.n() - 1) / block;
  const auto& random = x.plan->structure.integers("random_blocks");
  return weighted<Real>(x.problem, [&](Index i, Index j) {
    const Index row = i / block, col = j / block;
    bool drawn = false;
    for (Index k = 0; k < r; ++k)
      drawn = drawn || random[static_cast<std::size_t>(row * r + k)] == col;
    const bool global = row == 0 || row == last || col == 0 || col == last;
    return global || std::abs(row - col) <= reach || drawn;
  });
}

}  // namespace

VariantLaws window_laws() {
  VariantLaws laws =
      laws_from("window", [](auto real, const Instance& x) { return window<decltype(real)>(x); },
                {{.settings = {{"width", "0"}}},
                 {.settings = {{"width", "5"}}},
                 {.settings = {{"width", "70"}}},
                 {.settings = {{"width", "3"}, {"sinks", "4"}}},
                 {.settings = {{"width", "0"}, {"sinks", "70"}}}});
  laws.exact_settings = {{{{"width", "63"}}}, {{{"width", "0"}, {"sinks", "63"}}}};
  return laws;
}

VariantLaws longformer_laws() {
  VariantLaws laws = laws_from(
      "longformer", [](auto real, const Instance& x) { return longformer<decltype(real)>(x); },
      {{.settings = {{"width", "3"}, {"globals", "1"}}},
       {.settings = {{"width", "0"}, {"globals", "20"}}},
       {.settings = {{"width", "70"}, {"globals", "0"}}}});
  laws.exact_settings = {{{{"width", "63"}}}, {{{"width", "1"}, {"globals", "63"}}}};
  return laws;
}

VariantLaws bigbird_laws() {
  VariantLaws laws =
      laws_from("bigbird", [](auto real, const Instance& x) { return bigbird<decltype(real)>(x); },
                {{.settings = {{"block", "4"}}, .random = true},
                 {.settings = {{"block", "7"}, {"window", "5"}, {"random", "8"}}, .random = true},
                 {.settings = {{"block", "1"}, {"window", "1"}, {"random", "2"}}, .random = true},
                 {.settings = {{"block", "16"}, {"random", "0"}}}});
  laws.exact_settings = {{{{"block", "21"}}}, {{{"block", "9"}, {"random", "7"}}}};
  return laws;
}

}  // namespace fovea::test
