// The choice for each head against its definition, for trials drawn at random.
#include "sweep/head_table.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "data/random.h"

using namespace fovea;

namespace {

std::size_t number_of_measure(const std::string& id) {
  return static_cast<std::size_t>(std::ranges::find(measures(), id, &Measure::id) -
                                  measures().begin());
}

Trial trial_of(const char* id, const ExploredHead& head, std::uint64_t seed, double cost,
               double error) {
  const Variant& variant = find_variant(id);
  Trial out{.variant = &variant,
            .values = defaults(variant.schema),
            .seed = seed,
            .layer = head.layer,
            .head = head.head,
            .n = 64};
  out.measured.resize(measures().size());
  out.measured[number_of_measure("ratio_to_exact")] = Measured{.value = cost};
  out.measured[number_of_measure("output_rel_fro")] = Measured{.value = error};
  return out;
}

}  // namespace

TEST_CASE("law: a head takes the best trial of its own that is no repetition, else exact") {
  const std::vector<ExploredHead> heads{{.layer = 0, .head = 0},
                                        {.layer = 0, .head = 1},
                                        {.layer = 1, .head = 0},
                                        {.layer = 1, .head = 1}};
  const std::vector<const char*> ids{"hyper", "h1d", "window"};
  for (std::uint64_t draw = 0; draw < 40; ++draw) {
    CAPTURE(draw);
    Random random(draw, 0);
    std::vector<Trial> trials;
    for (const ExploredHead& head : heads)
      if (head.layer == 0 || head.head == 0)  // exact attention of the last one is not tried yet
        trials.push_back(trial_of("exact", head, 0, 1, 0));
    for (int i = 0; i < 60; ++i) {
      Trial& made =
          trials.emplace_back(trial_of(ids[random.below(3)], heads[random.below(4)],
                                       random.below(3), 0.05 + random.uniform(), random.uniform()));
      if (made.seed > 0) made.repeats = 0;
    }
    for (const Budget& budget :
         {error_budget(0.2), error_budget(0.01), cost_budget(0.3), cost_budget(0.06)}) {
      const std::string text = to_text(budget);
      CAPTURE(text);
      const HeadTable table = head_table(trials, heads, budget);
      const bool by_error = budget.measure == "output_rel_fro";
      const auto best_of = [&](const ExploredHead& head, const Variant* of) {
        const Trial* best = nullptr;
        std::pair<double, double> least;
        for (const Trial& one : trials) {
          if (one.layer != head.layer || one.head != head.head || one.repeats) continue;
          if (of && one.variant != of) continue;
          const double cost = one.measured[number_of_measure("ratio_to_exact")]->value,
                       error = one.measured[number_of_measure("output_rel_fro")]->value;
          const std::pair now = by_error ? std::pair(cost, error) : std::pair(error, cost);
          if (now.second > budget.most || (best && now >= least)) continue;
          best = &one;
          least = now;
        }
        return best;
      };
      REQUIRE(table.rows.size() == 3);
      for (std::size_t h = 0; h < 3; ++h) {
        CAPTURE(h);
        const HeadTable::Row& row = table.rows[h];
        const Trial* best = best_of(heads[h], nullptr);
        CHECK(row.head.layer == heads[h].layer);
        CHECK(row.head.head == heads[h].head);
        CHECK(row.kept == (best != nullptr));
        CHECK(row.choice == (best ? best : &trials[h]));  // exact attention of the head
        REQUIRE(row.best_of.size() == table.variants.size());
        for (std::size_t v = 0; v < table.variants.size(); ++v)
          CHECK(row.best_of[v] == best_of(heads[h], table.variants[v]));
      }
    }
  }
}
