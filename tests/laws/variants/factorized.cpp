#include <cstdlib>

#include "laws/formulas.h"

namespace fovea::test {
namespace {

std::string sets_of(const Parameters& p, Index head) {
  const std::string sets = p.text("heads");
  return sets != "split" ? sets : head % 2 == 0 ? "first" : "second";
}

template <class Real>
Dense<Real> fixed(const Instance& x) {
  const Parameters p{x};
  const Index l = p.integer("stride"), c = p.integer("summary"),
              group = x.problem.head % p.integer("subblocks"), s = p.integer("sinks");
  const std::string sets = sets_of(p, x.problem.head);
  return weighted<Real>(x.problem, [&](Index i, Index j) {
    const bool first = i / l == j / l;
    const bool second = j % l >= l - (group + 1) * c && j % l < l - group * c;
    return j < s || (sets != "second" && first) || (sets != "first" && second);
  });
}

template <class Real>
Dense<Real> strided(const Instance& x) {
  const Parameters p{x};
  const Index l = p.integer("stride"), s = p.integer("sinks");
  const std::string sets = sets_of(p, x.problem.head);
  return weighted<Real>(x.problem, [&](Index i, Index j) {
    const bool first = std::abs(i - j) < l, second = (i - j) % l == 0;
    return j < s || (sets != "second" && first) || (sets != "first" && second);
  });
}

}  // namespace

VariantLaws fixed_laws() {
  VariantLaws laws =
      laws_from("fixed", [](auto real, const Instance& x) { return fixed<decltype(real)>(x); },
                {{.settings = {{"stride", "4"}, {"summary", "1"}}},
                 {.settings = {{"stride", "16"}, {"summary", "3"}, {"heads", "split"}}, .head = 1},
                 {.settings = {{"stride", "8"}, {"summary", "2"}, {"subblocks", "3"}}, .head = 2},
                 {.settings = {{"stride", "70"}, {"summary", "70"}, {"heads", "first"}}},
                 {.settings = {{"stride", "5"}, {"summary", "2"}, {"sinks", "4"}}},
                 {.settings = {{"stride", "9"}, {"heads", "second"}, {"sinks", "12"}}}});
  laws.exact_settings = {{{{"stride", "63"}}},
                         {{{"stride", "4"}, {"summary", "1"}, {"sinks", "63"}}}};
  return laws;
}

VariantLaws strided_laws() {
  VariantLaws laws =
      laws_from("strided", [](auto real, const Instance& x) { return strided<decltype(real)>(x); },
                {{.settings = {{"stride", "4"}}},
                 {.settings = {{"stride", "7"}, {"heads", "second"}}},
                 {.settings = {{"stride", "1"}}},
                 {.settings = {{"stride", "100"}, {"heads", "split"}}, .head = 2},
                 {.settings = {{"stride", "5"}, {"sinks", "3"}}},
                 {.settings = {{"stride", "4"}, {"heads", "second"}, {"sinks", "9"}}}});
  laws.exact_settings = {{{{"stride", "63"}}}, {{{"stride", "4"}, {"sinks", "63"}}}};
  return laws;
}

}  // namespace fovea::test
