// Vertical and slash lines: the columns and the diagonals in which the last queries have the most
// mass (MInference), or as many of them as have a share of it (FlexPrefill).
#include <algorithm>
#include <numeric>

#include "analysis/selected_recall.h"
#include "data/error.h"
#include "variants/line_masses.h"
#include "variants/variant.h"

namespace fovea {
namespace {

enum class LineRule { number, mass };

struct VerticalSlashParameters {
  Index vertical = 500, slash = 700, last = 64, first = 30, nearest = 100;
  LineRule rule = LineRule::number;
  double gamma = 0.9;

  static std::vector<TypedField<VerticalSlashParameters>> fields() {
    using P = VerticalSlashParameters;
    auto vertical = size_field<P>("vertical", "Columns V", "keys", &P::vertical, 1, 131072,
                                  "Keys that all queries attend. With vertical >= n the result is "
                                  "exact.",
                                  [](Index n) { return short_size(n, 500); });
    vertical.field.worth_trying = try_sizes(vertical.field, 1, 1);
    auto slash = size_field<P>("slash", "Diagonals U", "diagonals", &P::slash, 1, 131072,
                               "Distances of query and key at which all queries attend. With slash "
                               ">= n the result is exact.",
                               [](Index n) { return short_size(n, 700); });
    slash.field.worth_trying = try_sizes(slash.field, 1, 1);
    for (auto* of_number : {&vertical.field, &slash.field})
      of_number->only_with = {{"rule", "number"}};
    auto gamma =
        real_field<P>("gamma", "Mass γ", "", &P::gamma, 0, 1, Axis::linear,
                      "The least share of the last queries' mass in the columns, and in the "
                      "diagonals.");
    gamma.field.only_with = {{"rule", "mass"}};
    return {
        vertical,
        slash,
        size_field<P>("last", "Last queries L", "queries", &P::last, 1, 131072,
                      "Queries whose exact weights say which lines to keep.",
                      [](Index n) { return short_size(n, 64); }),
        size_field<P>("first", "First keys", "keys", &P::first, 0, 131072,
                      "The number of first keys that are columns, whatever their mass.",
                      [](Index n) { return short_size(n / 4, 30); }),
        size_field<P>("nearest", "Nearest", "diagonals", &P::nearest, 0, 131072,
                      "The number of nearest diagonals that are kept, whatever their mass.",
                      [](Index n) { return short_size(n / 4, 100); }),
        choice_field("rule", "Lines", &P::rule, {"number", "mass"},
                     "number: V columns and U diagonals (MInference). mass: as few of each as have "
                     "the mass γ (FlexPrefill)."),
        std::move(gamma)};
  }
};

using Lines = std::vector<std::int32_t>;

class VerticalSlashPlanner {
 public:
  VerticalSlashPlanner(const Problem& problem, const VerticalSlashParameters& p, Planning& planning)
      : problem_(problem), p_(p), planning_(planning) {}

  Plan plan() {
    Plan plan{.lengths = problem_.lengths(), .causal = problem_.causal, .form = TilePlan{}};
    plan.fitted_to_all_tokens = true;
    vertical_ = given("vertical");
    slash_ = given("slash");
    if (!planning_.given.has("vertical") || !planning_.given.has("slash"))
      select(plan);
    else
      for (const char* name : {"vertical_mass", "slash_mass"})
        if (const auto& mass = planning_.reals(name, {"n"}); !mass.empty())
          plan.structure.set(name, mass);
    auto& passes = std::get<TilePlan>(plan.form).passes;
    passes = {columns(), others()};
    std::erase_if(passes, [](const Pass& pass) { return pass.tiles.empty(); });
    plan.structure.set("vertical", marks_of(vertical_));
    plan.structure.set("slash", marks_of(slash_));
    return plan;
  }

 private:
  Index n() const { return problem_.n(); }

  Lines given(const char* name) const {
    const auto& marks = planning_.integers(name, {"n"});
    Lines lines;
    for (std::size_t line = 0; line < marks.size(); ++line)
      if (marks[line] == 1)
        lines.push_back(static_cast<std::int32_t>(line));
      else if (marks[line] != 0)
        throw InputError(name, std::to_string(marks[line]) + " of line " + std::to_string(line) +
                                   "; expected 0 or 1");
    return lines;
  }

  std::vector<std::int32_t> marks_of(const Lines& lines) const {
    std::vector<std::int32_t> marks(static_cast<std::size_t>(n()));
    for (const std::int32_t line : lines) marks[static_cast<std::size_t>(line)] = 1;
    return marks;
  }

  void select(Plan& plan) {
    const auto stage = planning_.run.profile.stage("select");
    const LineMasses masses = line_masses(problem_, p_.last, planning_.backend, planning_.run);
    plan.planning_multiply_adds = masses.pairs * static_cast<double>(problem_.d());
    if (!planning_.given.has("vertical"))
      vertical_ = largest(masses.of_keys, p_.first, p_.vertical);
    if (!planning_.given.has("slash")) slash_ = largest(masses.of_distances, p_.nearest, p_.slash);
    const auto floats = [](const std::vector<double>& mass) {
      return std::vector<float>(mass.begin(), mass.end());
    };
    plan.structure.set("vertical_mass", floats(masses.of_keys));
    plan.structure.set("slash_mass", floats(masses.of_distances));
  }

  // The first `forced` lines and then those of the largest mass, the lower line first among equal
  // ones: `count` in all, or as few as have the share gamma.
  Lines largest(const std::vector<double>& mass, Index forced, Index count) const {
    Lines order = lines_by_mass(mass, forced);
    if (p_.rule == LineRule::mass) {
      const double enough = p_.gamma * std::accumulate(mass.begin(), mass.end(), 0.0);
      double sum = 0;
      for (count = 0; count < n() && (count < forced || sum < enough || count == 0); ++count)
        sum += mass[static_cast<std::size_t>(order[static_cast<std::size_t>(count)])];
    }
    order.resize(static_cast<std::size_t>(std::min(count, n())));
    std::ranges::sort(order);
    return order;
  }

  Pass columns() const {
    Pass pass{.cols = vertical_};
    if (!vertical_.empty())
      pass.tiles.push_back(
          {{0, n()}, {0, std::ssize(vertical_)}, problem_.causal ? Band{.lo = 0} : Band{}});
    return pass;
  }

  // The diagonals, over the keys that are in no column.
  Pass others() const {
    Pass pass;
    for (std::int32_t j = 0; j < n(); ++j)
      if (!std::ranges::binary_search(vertical_, j)) pass.cols.push_back(j);
    const std::vector<Band> bands = bands_of_lines();
    const auto position = [&](Index key) {
      return std::ranges::lower_bound(pass.cols, key) - pass.cols.begin();
    };
    constexpr Index strip = 64;  // rows of a tile: as many as one strip of the back ends
    for (Index begin = 0; begin < n(); begin += strip) {
      const IndexRange rows{begin, std::min(begin + strip, n())};
      for (const Band& band : bands) {
        const IndexRange cols{position(rows.begin - band.hi), position(rows.end - band.lo)};
        if (cols.size() > 0) pass.tiles.push_back({rows, cols, band});
      }
    }
    return pass;
  }

  // Adjacent distances are one band; without a causal mask they lie on both sides of the diagonal.
  std::vector<Band> bands_of_lines() const {
    std::vector<Band> bands;
    for (std::size_t begin = 0, end = 0; begin < slash_.size(); begin = end) {
      while (end < slash_.size() &&
             slash_[end] - slash_[begin] == static_cast<std::int32_t>(end - begin))
        ++end;
      const Index least = slash_[begin], most = slash_[end - 1];
      if (!problem_.causal && least == 0) {
        bands.push_back({.lo = -most, .hi = most});
        continue;
      }
      bands.push_back({.lo = least, .hi = most});
      if (!problem_.causal) bands.push_back({.lo = -most, .hi = -least});
    }
    return bands;
  }

  const Problem& problem_;
  const VerticalSlashParameters& p_;
  Planning& planning_;
  Lines vertical_, slash_;  // ascending
};

Plan plan_vertical_slash(const Problem& problem, const VerticalSlashParameters& p,
                         Planning& planning) {
  return VerticalSlashPlanner(problem, p, planning).plan();
}

}  // namespace

Variant vertical_slash_variant() {
  return make_variant<VerticalSlashParameters>(
      {.id = "vertical_slash",
       .label = "Vertical-slash",
       .paper =
           "Jiang et al. 2024 (MInference), section 3.2 and algorithm 2; mass: Lai et al. 2025 "
           "(FlexPrefill), section 4",
       .formula = "Pᵢⱼ = exp(Sᵢⱼ) / Σ exp over Sᵢ,  Sᵢ = {j ∈ V or i−j ∈ U},  V, U: columns and "
                  "diagonals of the largest mass in the last L rows",
       .summary = "The columns and the diagonals in which the last queries have the most mass.",
       .mask = Mask::causal_in_paper,
       .group = Group::selectors,
       .quick = true,
       .structure = {{.name = "vertical",
                      .shapes = {{"n"}},
                      .meaning = "1 for the keys that all queries attend, else 0."},
                     {.name = "slash",
                      .shapes = {{"n"}},
                      .meaning =
                          "1 for the distances of query and key at which all queries attend, "
                          "else 0; without a causal mask to both sides."},
                     {.name = "vertical_mass",
                      .element = Element::real,
                      .shapes = {{"n"}},
                      .meaning = "Sums of the last queries' weights at each key."},
                     {.name = "slash_mass",
                      .element = Element::real,
                      .shapes = {{"n"}},
                      .meaning = "Sums of the last queries' weights at each distance."}},
       .diagnostics = {selection_figures}},
      plan_vertical_slash);
}

}  // namespace fovea
