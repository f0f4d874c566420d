// The answer to which attention to use, from points made by hand.
#include "sweep/recommendation.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "variants/learned_tree.h"

using namespace fovea;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

const Quantity output_error("output_rel_fro", "");

void put_measure(Trial& trial, const std::string& id, double value) {
  const auto place = std::ranges::find(measures(), id, &Measure::id) - measures().begin();
  trial.measured[static_cast<std::size_t>(place)] = Measured{.value = value};
}

/// A setting with a share of exact attention's cost and an error, as if measured.
Trial point(const std::string& id, double cost, double error, Index head = 0) {
  const Variant& variant = find_variant(id);
  Trial trial{.variant = &variant, .values = defaults(variant.schema), .head = head, .n = 64};
  trial.measured.resize(measures().size());
  put_measure(trial, "ratio_to_exact", cost);
  put_measure(trial, "output_rel_fro", error);
  return trial;
}

Trial refused_point(const std::string& id) {
  Trial trial = point(id, 0, 0);
  trial.measured.clear();
  trial.refused = "it needs a causal mask";
  return trial;
}

std::string answer(const std::vector<Trial>& trials, double at_most,
                   const Quantity& error = output_error) {
  return to_text(recommend(trials, error, at_most));
}

bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("answer: the least error within the budget, the next best variant, the cheapest near") {
  Trial better = point("h1d", 0.3, 0.2);
  better.values[0] = std::int64_t{32};
  const std::vector<Trial> trials{
      point("exact", 1, 0),           point("h1d", 0.2, 0.372),   better,
      point("longformer", 0.19, 0.4), point("hyper", 0.08, 0.55), point("window", 0.61, 0.08),
      point("reformer", 0.9, 0.01)};
  const Recommendation found = recommend(trials, output_error, 0.25);
  REQUIRE(found.best);
  CHECK(found.best->variant->id == "h1d");
  CHECK(found.best->x.median == 0.2);
  REQUIRE(found.next);
  CHECK(found.next->variant->id == "longformer");
  REQUIRE(found.near);
  CHECK(found.near->variant->id == "window");  // the cheapest, not the best
  CHECK_FALSE(found.undecided);
  const std::string text = to_text(found);
  CHECK(text.starts_with("H-Transformer-1D, "));
  CHECK(says(text, ": relative output error 0.37 at 20 % of the cost of exact attention."));
  CHECK(says(text, " Next best: Longformer"));
  CHECK(says(text, ": 0.4 at 19 %."));
  CHECK(says(text, " Nothing at 25 % or less is within 0.1; the cheapest that is: "));
  CHECK(says(text, ": 0.08 at 61 %."));
  // Another search may try more: how many were compared belongs to the answer.
  CHECK(text.ends_with(" Compared: 6 settings of 5 variants."));
  // It follows the budget, and a setting at its limit fits.
  CHECK(recommend(trials, output_error, 0.3).best->y.median == 0.2);
  CHECK(recommend(trials, output_error, 0.19).best->variant->id == "longformer");
  const std::string all = answer(trials, 1);
  CHECK(says(all, "Reformer"));
  CHECK(says(all, "The cheapest that is as near as 0.1: "));
  CHECK(says(all, "Exact attention itself fits this budget."));
}

TEST_CASE("answer: of equal errors the cheaper setting is best, and the other one as good") {
  const std::vector<Trial> trials{point("exact", 1, 0), point("h1d", 0.2, 0.5),
                                  point("hyper", 0.1, 0.5)};
  const Recommendation found = recommend(trials, output_error, 0.25);
  CHECK(found.best->variant->id == "hyper");
  CHECK(says(to_text(found), " As good: H-Transformer-1D"));
  CHECK(says(to_text(found),
             "Nothing that was tried and costs less than exact attention is within 0.1."));
}

TEST_CASE("answer: a bound is no attention to use, and stands on no front") {
  const std::vector<Trial> trials{point("exact", 1, 0), point("h1d", 0.2, 0.372),
                                  point("oracle", 0.1, 0.05)};
  const Recommendation found = recommend(trials, output_error, 0.25);
  REQUIRE(found.best);
  CHECK(found.best->variant->id == "h1d");
  CHECK_FALSE(found.near);
  for (const SettingSpread& setting :
       settings_over_heads(trials, quantity_named("ratio_to_exact"), output_error))
    CHECK(setting.on_front == (setting.variant->id != "oracle"));
  std::vector<const Trial*> some;
  for (const Trial& trial : trials) some.push_back(&trial);
  const Trial* choice =
      best_choice(some, {.measure = "ratio_to_exact", .most = 0.25, .least = "output_rel_fro"});
  REQUIRE(choice);
  CHECK(choice->variant->id == "h1d");
}

TEST_CASE("answer: without a best setting it says why") {
  CHECK(answer({}, 0.25).empty());
  CHECK(answer({point("exact", 1, 0)}, 0.25).empty());  // nothing else was tried yet
  const std::vector<Trial> dear{point("exact", 1, 0), point("h1d", 0.5, 0.1),
                                point("hyper", 0.4, 0.3)};
  CHECK(answer(dear, 0.25)
            .starts_with("Nothing that was tried costs at most 25 % of exact attention. The "
                         "cheapest: HyperAttention"));
  CHECK(says(answer(dear, 0.25), ": 0.3 at 40 %."));
  CHECK(answer({point("exact", 1, 0), refused_point("h1d"), refused_point("hyper")}, 0.25) ==
        "Every setting that was tried was refused. H-Transformer-1D: it needs a causal mask.");
  for (const double error : {std::nan(""), infinite})
    CHECK(answer({point("exact", 1, 0), point("h1d", 0.2, error)}, 0.25) ==
          "No setting that was tried has a finite relative output error on all heads.");
  // One that has no number is never the best.
  CHECK(recommend({point("exact", 1, 0), point("h1d", 0.2, std::nan("")), point("tf", 0.2, 0.9)},
                  output_error, 0.25)
            .best->variant->id == "tf");
}

TEST_CASE("answer: over heads it is of medians, with an interval, and says what is not decided") {
  std::vector<Trial> trials;
  for (Index head = 0; head < 12; ++head) {
    const double up = 0.01 * static_cast<double>(head);
    trials.push_back(point("exact", 1, 0, head));
    trials.push_back(point("h1d", 0.2, 0.301 + up, head));
    trials.push_back(point("hyper", 0.2, (head % 2 ? 0.25 : 0.36) + up, head));
    trials.push_back(point("tf", 0.1, 0.6 + up, head));
    if (head == 0) trials.push_back(point("window", 0.1, 0.01, head));  // only on an easy head
  }
  Recommendation found = recommend(trials, output_error, 0.25);
  REQUIRE(found.best);
  CHECK(found.best->variant->id == "h1d");
  REQUIRE(found.best->interval);
  CHECK(found.best->interval->low == doctest::Approx(0.321));  // the third of twelve
  CHECK(found.best->interval->high == doctest::Approx(0.391));
  CHECK(found.undecided);
  const std::string text = to_text(found);
  CHECK(says(text, "median relative output error 0.36 over 12 heads (95 % interval 0.32 – 0.39)"));
  CHECK(says(text, "The 12 heads do not tell which of the two is better."));
  CHECK(interval_text(*found.best, output_error) == "12 heads");
  std::erase_if(trials, [](const Trial& trial) { return trial.variant->id == "hyper"; });
  found = recommend(trials, output_error, 0.25);
  CHECK(found.next->variant->id == "tf");
  CHECK_FALSE(found.undecided);  // on every head it is worse
  std::erase_if(trials, [](const Trial& trial) { return trial.head > 2; });
  found = recommend(trials, output_error, 0.25);
  CHECK_FALSE(found.best->interval);
  CHECK(interval_text(*found.best, output_error) == "no interval: 3 heads, and it takes 6");
}

TEST_CASE("answer: of a learned tree it says the error on what was held out") {
  std::vector<Trial> trials{point("exact", 1, 0), point("tf", 0.1, 0.3)};
  set_learned(*trials[1].variant, trials[1].values, 100);
  trials[1].notes = {"tree learned in 100 steps: output error on held-out rows 0.4"};
  CHECK(says(answer(trials, 0.25),
             " Its tree was learned in 100 steps: output error on held-out rows 0.4."));
  trials.push_back(point("exact", 1, 0, 1));
  trials.push_back(trials[1]);
  trials.back().head = 1;
  CHECK(says(answer(trials, 0.25), " Its trees were learned on these heads."));
}

TEST_CASE("answer: several seeds on one head give an interval, if they differ") {
  std::vector<Trial> trials{point("exact", 1, 0), point("h1d", 0.2, 0.7)};
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    trials.push_back(point("hyper", 0.2, 0.401 + 0.01 * static_cast<double>(seed)));
    trials.back().seed = seed;
    if (seed > 0) trials.back().repeats = 0;
  }
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    trials.push_back(point("tf", 0.3, 0.8));
    trials.back().seed = seed;
    if (seed > 0) trials.back().repeats = 0;
  }
  const auto settings = settings_over_heads(trials, quantity_named("ratio_to_exact"), output_error);
  REQUIRE(settings.size() == 4);
  const SettingSpread &h1d = settings[1], &hyper = settings[2], &tf = settings[3];
  CHECK(hyper.heads == 1);
  CHECK(hyper.seeds == 6);
  CHECK(hyper.y.median == doctest::Approx(0.426));
  REQUIRE(hyper.interval);
  CHECK(hyper.interval->low == doctest::Approx(0.401));
  CHECK(hyper.interval->high == doctest::Approx(0.451));
  CHECK(interval_text(hyper, output_error) == "6 seeds");
  CHECK(interval_text(h1d, output_error) == "no interval: one head, and no random choices");
  CHECK_FALSE(tf.interval);
  CHECK(interval_text(tf, output_error) == "no interval: one head, and no random choices");
  CHECK(says(answer(trials, 0.25),
             "median relative output error 0.43 over 6 seeds (95 % interval 0.4 – 0.45)"));
}

TEST_CASE("answer: of what is better when there is more, the most is best") {
  std::vector<Trial> trials{point("exact", 1, 0), point("h1d", 0.2, 0.5), point("tf", 0.2, 0.4)};
  put_measure(trials[1], "mass_kept", 0.95);
  put_measure(trials[2], "mass_kept", 0.6);
  const Quantity mass("mass_kept", "");
  CHECK(recommend(trials, mass, 0.25).best->variant->id == "h1d");
  CHECK(says(answer({trials[0], trials[2]}, 0.25, mass),
             "Nothing that was tried and costs less than exact attention reaches 0.9."));
}
