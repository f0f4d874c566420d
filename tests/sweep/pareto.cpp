// The Pareto front against its definition, settings over heads and choices under a budget by hand.
#include "sweep/pareto.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/error.h"
#include "data/random.h"

using namespace fovea;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double not_a_number = std::nan("");

using Places = std::vector<std::size_t>;

bool counts(const ParetoPoint& p) {
  return p.x && p.y && std::isfinite(*p.x) && std::isfinite(*p.y);
}

/// As it is defined, in O(n^2).
Places front_by_definition(const std::vector<ParetoPoint>& points) {
  const auto dominates = [](const ParetoPoint& a, const ParetoPoint& b) {
    return counts(a) && *a.x <= *b.x && *a.y <= *b.y && (*a.x < *b.x || *a.y < *b.y);
  };
  Places front;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (counts(points[i]) && std::ranges::none_of(points, [&](const ParetoPoint& other) {
          return dominates(other, points[i]);
        }))
      front.push_back(i);
  return front;
}

std::size_t place_of_measure(const std::string& id) {
  return static_cast<std::size_t>(std::ranges::find(measures(), id, &Measure::id) -
                                  measures().begin());
}

/// With a cost (relative to exact) and an error, as if measured.
Trial trial(const std::string& id, Index head, std::optional<double> cost,
            std::optional<double> error) {
  const Variant& variant = find_variant(id);
  Trial made{.variant = &variant, .values = defaults(variant.schema), .head = head, .n = 64};
  made.measured.resize(measures().size());
  if (cost) made.measured[place_of_measure("ratio_to_exact")] = Measured{.value = *cost};
  if (error) made.measured[place_of_measure("output_rel_fro")] = Measured{.value = *error};
  return made;
}

Trial refused(const std::string& id, Index head) {
  Trial made = trial(id, head, {}, {});
  made.measured.clear();
  made.refused = "it cannot be";
  return made;
}

const Quantity cost("ratio_to_exact", "--x"), error("output_rel_fro", "--y");

}  // namespace

TEST_CASE("front: as it is defined, for random points with ties, NaN, infinity and gaps") {
  Random random(3, 1);
  for (int round = 0; round < 400; ++round) {
    std::vector<ParetoPoint> points;
    const int size = static_cast<int>(40 * random.uniform());
    const double grid = 1 + 12 * random.uniform();  // coarse: many ties
    const auto number = [&]() -> std::optional<double> {
      const double kind = random.uniform();
      if (kind < 0.04) return std::nullopt;
      if (kind < 0.08) return not_a_number;
      if (kind < 0.12) return kind < 0.1 ? infinity : -infinity;
      return std::floor(grid * random.uniform()) - 2;
    };
    for (int i = 0; i < size; ++i) points.push_back({number(), number()});
    Places front = pareto_front(points);
    for (std::size_t i = 1; i < front.size(); ++i)
      CHECK(*points[front[i - 1]].x <= *points[front[i]].x);
    std::ranges::sort(front);
    CHECK(front == front_by_definition(points));
  }
}

TEST_CASE("front: equal points are on it together, and what is not a number never") {
  CHECK(pareto_front({}).empty());
  CHECK(pareto_front({{1.0, 2.0}, {1.0, 2.0}, {2.0, 2.0}, {1.0, 3.0}}) == Places{0, 1});
  CHECK(pareto_front({{3.0, 0.0}, {1.0, 2.0}, {2.0, 1.0}, {2.0, 1.5}}) == Places{1, 2, 0});
  CHECK(pareto_front(
            {{not_a_number, 0.0}, {0.0, not_a_number}, {std::nullopt, 0.0}, {-infinity, 0.0}})
            .empty());
  CHECK(pareto_front({{not_a_number, -5.0}, {1.0, 1.0}, {0.5, infinity}}) == Places{1});
}

TEST_CASE("quantity: measures by their ids, and time where it was measured") {
  CHECK(error.of(trial("h1d", 0, 0.5, 0.25)) == 0.25);
  CHECK_FALSE(error.of(trial("h1d", 0, 0.5, {})));
  CHECK_FALSE(error.of(trial("h1d", 0, 0.5, not_a_number)));
  CHECK_FALSE(error.of(refused("h1d", 0)));
  CHECK(Quantity("time", "--x").measure().id == "total_ms");
  CHECK(Quantity("time", "--x").is_timed());
  CHECK(Quantity("total_speed_up", "--y").is_timed());
  CHECK_FALSE(error.is_timed());
  CHECK_FALSE(Quantity("time", "--x").of(trial("h1d", 0, 0.5, 0.25)));
  CHECK_THROWS_WITH_AS(
      Quantity("speed", "--x"),
      doctest::Contains("--x speed; expected one of output_rel_fro, output_rel_l1"), UsageError);
}

TEST_CASE("spread: quantiles by hand, also where some are infinite") {
  const Spread five = spread_of({5, 1, 4, 2, 3});
  CHECK(five.median == 3);
  CHECK(five.p10 == doctest::Approx(1.4));
  CHECK(five.p90 == doctest::Approx(4.6));
  CHECK(spread_of({7}).p90 == 7);
  const Spread some = spread_of({1, 2, infinity});
  CHECK(some.median == 2);
  CHECK(some.p10 == doctest::Approx(1.2));
  CHECK(some.p90 == infinity);
  CHECK(spread_of({infinity, infinity}).median == infinity);
}

TEST_CASE("settings over heads: medians of the heads that have both numbers, others are counted") {
  const std::vector<Trial> trials{trial("exact", 0, 1, 0),     trial("h1d", 0, 0.5, 0.3),
                                  trial("exact", 1, 1, 0),     trial("h1d", 1, 0.5, 0.1),
                                  trial("exact", 2, 1, 0),     trial("h1d", 2, 0.7, 0.2),
                                  trial("hyper", 0, 0.1, 0.2), trial("hyper", 1, 0.1, {}),
                                  refused("hyper", 2),         refused("tf", 0)};
  const auto settings = settings_over_heads(trials, cost, error);
  REQUIRE(settings.size() == 4);
  const SettingSpread &exact = settings[0], &h1d = settings[1], &hyper = settings[2],
                      &tf = settings[3];
  CHECK(exact.heads == 3);
  CHECK(exact.y.median == 0);
  CHECK(exact.on_front);
  CHECK(h1d.variant->id == "h1d");
  CHECK(h1d.heads == 3);
  CHECK(h1d.x.median == 0.5);
  CHECK(h1d.x.p90 == doctest::Approx(0.66));
  CHECK(h1d.y.median == 0.2);
  CHECK(h1d.y.p10 == doctest::Approx(0.12));
  CHECK(h1d.on_front);
  CHECK(hyper.heads == 1);
  CHECK(hyper.without == 1);
  CHECK(hyper.refused == 1);
  CHECK(hyper.refusal == "it cannot be");
  CHECK_FALSE(hyper.on_front);  // its medians are of one head, which may be an easy one
  CHECK(tf.heads == 0);
  CHECK_FALSE(tf.on_front);
}

TEST_CASE("settings over heads: of what is better when there is more, the most is on the front") {
  std::vector<Trial> trials{trial("exact", 0, 1, 0), trial("h1d", 0, 0.5, 0),
                            trial("hyper", 0, 0.5, 0)};
  for (std::size_t t = 0; t < trials.size(); ++t)
    trials[t].measured[place_of_measure("mass_kept")] = Measured{.value = t == 1 ? 0.9 : 0.8};
  const auto settings = settings_over_heads(trials, cost, Quantity("mass_kept", "--y"));
  CHECK_FALSE(settings[0].on_front);
  CHECK(settings[1].on_front);
  CHECK_FALSE(settings[2].on_front);
  CHECK(settings[1].y.median == 0.9);
}

TEST_CASE("settings over heads: other values, or another length, are another setting") {
  std::vector<Trial> trials(3, trial("h1d", 0, 0.5, 0.3));
  trials[1].values[0] = std::int64_t{32};
  trials[2].n = 128;
  CHECK(settings_over_heads(trials, cost, error).size() == 3);
  trials.push_back(trials.front());
  CHECK(settings_over_heads(trials, cost, error).front().heads == 2);
}

TEST_CASE("settings over heads: each length has a front of its own") {
  std::vector<Trial> trials{trial("h1d", 0, 0.1, 0.1), trial("tf", 0, 0.5, 0.5)};
  trials[1].n = 128;  // dearer and worse, but of a longer head
  for (const SettingSpread& setting : settings_over_heads(trials, cost, error))
    CHECK(setting.on_front);
  trials[1].n = 64;
  CHECK_FALSE(settings_over_heads(trials, cost, error)[1].on_front);
}

TEST_CASE("settings over heads: times of few runs and of a slowed machine are marked") {
  const Quantity time("time", "--x");
  std::vector<Trial> trials{trial("h1d", 0, 0.1, 0.1), trial("tf", 0, 0.5, 0.5)};
  for (Trial& one : trials) {
    one.time.emplace();
    one.time->timing.total.samples = enough_samples;
    one.measured[place_of_measure("total_ms")] = Measured{.value = 1};
  }
  trials[0].time->timing.total.samples = enough_samples - 1;
  trials[1].time->slow = true;
  const auto timed = settings_over_heads(trials, time, error);
  CHECK(timed[0].few_runs);
  CHECK_FALSE(timed[0].slow);
  CHECK_FALSE(timed[1].few_runs);
  CHECK(timed[1].slow);
  for (const SettingSpread& setting : settings_over_heads(trials, cost, error)) {
    CHECK_FALSE(setting.few_runs);  // no time is shown
    CHECK_FALSE(setting.slow);
  }
}

TEST_CASE("budget: the cheapest within an error, or the least error within a cost") {
  const std::vector<Trial> trials{trial("exact", 0, 1, 0),        trial("h1d", 0, 0.5, 0.04),
                                  trial("hyper", 0, 0.2, 0.05),   trial("tf", 0, 0.1, 0.3),
                                  trial("tc", 0, 0.05, infinity), trial("fixed", 0, 0.2, 0.03),
                                  trial("strided", 0, 0.01, {}),  refused("fixed", 0)};
  std::vector<const Trial*> all;
  for (const Trial& one : trials) all.push_back(&one);
  const auto place = [&](const Budget& budget) {
    const Trial* choice = best_choice(all, budget);
    return choice ? static_cast<int>(choice - trials.data()) : -1;
  };
  const auto best = [&](double most) { return place({"output_rel_fro", most, "ratio_to_exact"}); };
  CHECK(best(0.05) == 5);  // as cheap as hyper, and nearer
  CHECK(best(0.5) == 3);
  CHECK(best(0.01) == 0);  // only exact
  CHECK(best(infinity) == 4);
  CHECK(best(-1) == -1);
  const auto least = [&](double most) { return place({"ratio_to_exact", most, "output_rel_fro"}); };
  CHECK(least(0.3) == 5);
  CHECK(least(0.1) == 3);
  CHECK(least(1) == 0);
  CHECK(least(0.05) == -1);  // what is infinitely far is no choice
  CHECK_FALSE(best_choice({}, {"ratio_to_exact", 1, "output_rel_fro"}));
}
