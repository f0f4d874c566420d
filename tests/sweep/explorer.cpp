// Settings tried on heads: the same whenever one stops, coarse first, and nothing lost.
#include "sweep/explorer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <thread>

#include "data/error.h"
#include "harness.h"
#include "session/session.h"
#include "session/settings.h"
#include "variants/learned_tree.h"
#include "window/backend.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr Index tokens = 72, features = 6;

std::vector<ExploredHead> some_heads() {
  std::vector<ExploredHead> heads;
  for (const Index layer : {0, 1})
    for (const Index head : {0, 1, 2})
      heads.push_back({.layer = layer,
                       .head = head,
                       .lengths = {tokens, tokens},
                       .d = features,
                       .dv = features});
  return heads;
}

Problem open_head(const ExploredHead& head, const std::stop_token& = {}) {
  return make_data(Data::gaussian, head.lengths.n(), head.d, head.dv, false, head.head,
                   static_cast<std::uint64_t>(10 * head.layer + head.head + 1));
}

// Those that have a form without a causal mask.
std::vector<const Variant*> all_variants() {
  std::vector<const Variant*> all;
  for (const Variant& variant : variants())
    if (variant.has_bidirectional_form()) all.push_back(&variant);
  return all;
}

const Backend& cpu() {
  return *backends().front();
}

void finish(Explorer& explorer, const Backend& backend = cpu()) {
  Profile profile;
  Run run{profile};
  while (explorer.step(backend, run)) continue;
}

std::string told(const Trial& trial) {
  std::string text = trial.variant->id + " " + std::to_string(trial.layer) + "/" +
                     std::to_string(trial.head) + " " + trial.refused;
  for (const Value& value : trial.values) text += " " + to_text(value);
  for (const auto& measured : trial.measured)
    text += " " + (measured ? std::to_string(measured->value) : "-");
  return text;
}

std::vector<std::string> told(const Explorer& explorer) {
  std::vector<std::string> all;
  for (const Trial& trial : explorer.trials()) all.push_back(told(trial));
  return all;
}

/// Whose memory is at an end whenever a tree is walked.
class WithoutTrees : public CpuLike {
 public:
  std::vector<std::int32_t> route(MatrixView, const Tree&, Run&) const override {
    throw UnavailableError("not enough memory on the device");
  }
};

/// Is stopped within every second piece of work.
class Stopping : public CpuLike {
 public:
  std::unique_ptr<Operator> bind(std::shared_ptr<const Plan> plan, const Problem& problem,
                                 Run& run) const override {
    if (++bound_ % 2 == 1) throw Cancelled();
    return CpuLike::bind(std::move(plan), problem, run);
  }

 private:
  mutable int bound_ = 0;
};

/// Exact attention and approximations take 3 ms more while `slow`.
class SlowAtTimes : public CpuLike {
 public:
  std::unique_ptr<Operator> bind(std::shared_ptr<const Plan> plan, const Problem& problem,
                                 Run& run) const override {
    return std::make_unique<Wrapped>(
        CpuLike::bind(std::move(plan), problem, run),
        [this] {
          if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(3));
        },
        [] {});
  }
  bool slow = false;
};

}  // namespace

TEST_CASE("explorer: every setting of every variant on every head, once, and exact first") {
  Explorer explorer(some_heads(), open_head, all_variants(), {.seed = 3, .most_settings = 6});
  std::size_t expected = 0;
  for (const Variant* variant : all_variants())
    expected += 6 * settings_worth_trying(*variant, tokens, 6).size();
  CHECK(explorer.total() == expected);
  CHECK(explorer.left() == expected);
  finish(explorer);
  CHECK(explorer.left() == 0);
  REQUIRE(explorer.trials().size() == expected);
  const auto all = told(explorer);
  CHECK(std::set<std::string>(all.begin(), all.end()).size() == expected);
  CHECK(explorer.trials().front().variant->reference);
  for (const Trial& trial : explorer.trials()) {
    CAPTURE(told(trial));
    if (!trial.refused.empty()) continue;
    CHECK(trial.measured.size() == measures().size());
    CHECK(trial.cost.multiply_adds > 0);
    CHECK_FALSE(trial.time);
    CHECK(trial.scale > 0);
    const double its = *Quantity("output_rel_fro", "").of(trial);
    if (trial.variant->reference) CHECK(its == 0);
  }
}

TEST_CASE("explorer: the numbers are those of compute and compare") {
  const std::vector<ExploredHead> heads = some_heads();
  Explorer explorer({heads[4]}, open_head, {&find_variant("hyper")},
                    {.seed = 5, .most_settings = 3});
  finish(explorer);
  const Problem problem = open_head(heads[4]);
  Profile profile;
  Run run{profile};
  const Computation exact = compute_exact(problem, cpu(), run);
  REQUIRE(explorer.trials().size() == 4);
  for (const Trial& trial : explorer.trials()) {
    const Computation its =
        compute(problem, {.variant = trial.variant, .values = trial.values, .seed = 5}, cpu(), run);
    const Metrics metrics = compare(its, exact, run);
    CHECK(*Quantity("output_rel_fro", "").of(trial) == metrics.output_rel_fro);
    CHECK(*Quantity("attention_tv", "").of(trial) == metrics.attention_tv.value);
    CHECK(trial.cost.multiply_adds == its.cost.multiply_adds);
  }
}

TEST_CASE("explorer: the first settings of all variants come on all heads before any second one") {
  Explorer explorer(some_heads(), open_head, all_variants(), {.most_settings = 4});
  finish(explorer);
  CHECK_FALSE(explorer.head_by_head());
  std::size_t round = 0;
  for (const Trial& trial : explorer.trials()) {
    const auto settings = settings_worth_trying(*trial.variant, tokens, 4);
    const auto its =
        static_cast<std::size_t>(std::ranges::find(settings, trial.values) - settings.begin());
    CHECK(its >= round);
    round = its;
  }
  CHECK(round == 3);
}

TEST_CASE("explorer: stops between and within trials change nothing, nor does less memory") {
  const auto make = [](double bytes) {
    return Explorer(some_heads(), open_head, all_variants(),
                    {.seed = 7, .most_settings = 5, .most_bytes = bytes});
  };
  Explorer whole = make(1e9), stopped = make(1e9), by_head = make(1);
  finish(whole, CpuLike());
  const Stopping backend;
  Profile profile;
  Run run{profile};
  std::size_t stops = 0;
  while (stopped.left() > 0) {
    const std::size_t left = stopped.left();
    const double spent = stopped.seconds_spent();
    try {
      stopped.step(backend, run);
      CHECK(stopped.left() == left - 1);
    } catch (const Cancelled&) {
      ++stops;
      CHECK(stopped.left() == left);
    }
    CHECK(stopped.seconds_spent() > spent);  // also where it was stopped
  }
  CHECK(stops > stopped.total() / 2);
  CHECK(told(stopped) == told(whole));
  CHECK(by_head.head_by_head());
  finish(by_head, CpuLike());
  auto sorted = [](std::vector<std::string> texts) {
    std::ranges::sort(texts);
    return texts;
  };
  CHECK(sorted(told(by_head)) == sorted(told(whole)));
}

TEST_CASE("explorer: each head is opened once, and one is held where memory is short") {
  for (const bool enough : {false, true}) {
    std::vector<std::weak_ptr<const void>> opened;
    std::ptrdiff_t most = 0;
    const auto held = [&] {
      return std::ranges::count_if(opened, [](const auto& head) { return !head.expired(); });
    };
    const auto open = [&](const ExploredHead& head, const std::stop_token& stop) {
      most = std::max(most, held() + 1);
      Problem problem = open_head(head, stop);
      opened.emplace_back(problem.owner);
      return problem;
    };
    Explorer explorer(some_heads(), open, {&find_variant("h1d")},
                      {.most_settings = 2, .most_bytes = enough ? 1e9 : 1});
    finish(explorer);
    CHECK(opened.size() == 6);
    CHECK(most == (enough ? 6 : 1));
  }
}

TEST_CASE("explorer: a trial that cannot be keeps the reason, and the others go on") {
  Explorer explorer({some_heads()[0]}, open_head, all_variants(), {.most_settings = 40});
  const WithoutTrees backend;
  Profile profile;
  Run run{profile};
  while (explorer.step(backend, run)) continue;
  for (const Trial& trial : explorer.trials()) {
    CAPTURE(told(trial));
    const bool routed =
        std::ranges::count(trial.variant->structure, "query_leaf", &TensorField::name) > 0;
    CHECK((trial.refused == "not enough memory on the device") == routed);
    CHECK(trial.measured.empty() == !trial.refused.empty());
    if (!routed && !trial.refused.empty())  // values that exclude each other
      CHECK(trial.refused.find("expected") != std::string::npos);
  }
}

TEST_CASE("explorer: of a head that cannot be opened all trials are refused, others go on") {
  const auto heads = some_heads();
  const auto open = [&](const ExploredHead& head, const std::stop_token& stop) -> Problem {
    if (head.layer == heads[1].layer && head.head == heads[1].head)
      throw InputError("head 1", "NaN");
    return open_head(head, stop);
  };
  Explorer explorer({heads[0], heads[1]}, open, {&find_variant("h1d")}, {.most_settings = 2});
  finish(explorer);
  REQUIRE(explorer.trials().size() == explorer.total());
  for (const Trial& trial : explorer.trials()) {
    const bool bad = trial.layer == heads[1].layer && trial.head == heads[1].head;
    CHECK(trial.refused.empty() == !bad);
    if (bad) CHECK(trial.refused.find("NaN") != std::string::npos);
  }
  Explorer none({}, open_head, all_variants());
  CHECK(none.total() == 0);
  Profile profile;
  Run run{profile};
  CHECK_FALSE(none.step(cpu(), run));
}

TEST_CASE("explorer: times are measured beside exact where they are wanted") {
  // A round takes all the time, so that each trial has one, and two are too few to leave any out.
  SlowAtTimes backend;
  backend.slow = true;
  Explorer explorer(
      {some_heads()[0]}, open_head, {&find_variant("h1d")},
      {.most_settings = 2, .timed = true, .round_time = std::chrono::milliseconds(1)});
  finish(explorer, backend);
  REQUIRE(explorer.trials().size() == 3);
  for (const Trial& trial : explorer.trials()) {
    REQUIRE(trial.time);
    CHECK(trial.time->timing.total.median_ms > 0);
    CHECK(trial.time->total_speed_up.has_value() == !trial.variant->reference);
    CHECK(*Quantity("time", "").of(trial) == trial.time->timing.total.median_ms);
  }
  // The times of exact are of the rounds of the other trials: by itself it would have one.
  int beside = 0;
  for (const Trial& trial : explorer.trials())
    if (trial.time->total_speed_up) beside += trial.time->total_speed_up->samples;
  CHECK(explorer.trials()[0].time->timing.total.samples == beside);
}

TEST_CASE("explorer: a faster pace at another head tells which trials were slowed down") {
  for (const std::vector<const Variant*>& variants :
       {std::vector<const Variant*>{}, {&find_variant("h1d")}}) {
    SlowAtTimes backend;
    const OpenHead open = [&](const ExploredHead& head, const std::stop_token& stop) {
      backend.slow = head.head == 0;
      return open_head(head, stop);
    };
    Explorer explorer(
        {some_heads()[0], some_heads()[1]}, open, variants,
        {.most_settings = 1, .timed = true, .round_time = std::chrono::milliseconds(1)});
    finish(explorer, backend);
    REQUIRE(explorer.trials().size() == 2 * (1 + variants.size()));
    int slow = 0;
    for (const Trial& trial : explorer.trials()) {
      REQUIRE(trial.time);
      if (trial.head == 0) slow += trial.time->slow;
    }
    CHECK(slow == 1 + static_cast<int>(variants.size()));
  }
}

TEST_CASE("explorer: what it holds compares all settings on the same heads, wherever it stops") {
  for (const double bytes : {1e9, 1.0}) {  // round by round, and head by head
    Explorer explorer(some_heads(), open_head, {&find_variant("h1d"), &find_variant("fixed")},
                      {.most_settings = 3, .most_bytes = bytes});
    Profile profile;
    Run run{profile};
    std::size_t steps_with_more = 0, before = 0;
    do {
      const std::size_t count = explorer.comparable();
      CHECK(count <= explorer.trials().size());
      CHECK(count >= before);
      steps_with_more += count > before;
      before = count;
      std::map<std::pair<const Variant*, Values>, std::set<std::pair<Index, Index>>> heads;
      for (const Trial& trial : std::span(explorer.trials()).first(count))
        heads[{trial.variant, trial.values}].emplace(trial.layer, trial.head);
      for (const auto& [setting, its] : heads) CHECK(its == heads.begin()->second);
    } while (explorer.step(cpu(), run));
    CHECK(explorer.comparable() == explorer.total());
    CHECK(steps_with_more >= some_heads().size());  // it grows while the first round goes on
  }
  Explorer one({some_heads()[2]}, open_head, {&find_variant("h1d")}, {.most_settings = 3});
  Profile profile;
  Run run{profile};
  one.step(cpu(), run);
  CHECK(one.comparable() == 1);
}

TEST_CASE("explorer: settings of the user's own come first, once, and learned trees last") {
  const Variant& banded = find_variant("h1d");
  const Variant& tree = find_variant("tf");
  Values odd = values_of(banded, {{"block", "6"}});
  Values learned = values_for_length(tree, tokens);
  set_learned(tree, learned, 7);
  const auto standard = settings_worth_trying(banded, tokens, 1).front();
  Explorer explorer(
      {some_heads()[0], some_heads()[4]}, open_head, {&banded, &tree},
      {.seed = 3,
       .most_settings = 2,
       .learned_steps = 2,
       .own = {{.variant = &banded, .values = odd, .seed = 8},
               {.variant = &banded, .values = standard, .seed = 3},
               {.variant = &tree, .values = learned, .only = std::pair(Index{1}, Index{1})},
               {.variant = &reference_variant()}}});
  finish(explorer);
  const auto& trials = explorer.trials();
  int own = 0, of_tree = 0;
  std::map<std::string, int> seen;
  for (const Trial& trial : trials) {
    CAPTURE(told(trial));
    CHECK(trial.refused == "");
    CHECK(++seen[told(trial) + std::to_string(trial.seed)] == 1);
    own += trial.own;
    const auto steps = learned_steps(*trial.variant, trial.values);
    if (trial.own && steps) {
      ++of_tree;
      CHECK(std::pair(trial.layer, trial.head) == std::pair(Index{1}, Index{1}));
    }
    if (trial.own && trial.values == odd) CHECK(trial.seed == 8);
  }
  CHECK(of_tree == 1);
  CHECK(own == 5);  // two on both heads, the tree on its own; exact attention is no column
  // The first settings are own ones; each setting of the tree is tried learned, after all others.
  CHECK(trials[0].variant->reference);
  CHECK(trials[1].own);
  CHECK(trials[2].own);
  std::size_t first_learned = trials.size();
  for (std::size_t t = 0; t < trials.size(); ++t)
    if (!trials[t].own && learned_steps(*trials[t].variant, trials[t].values) == Index{2})
      first_learned = std::min(first_learned, t);
  CHECK(first_learned == trials.size() - 2 * settings_worth_trying(tree, tokens, 2).size());
}

TEST_CASE("explorer: settings with random choices are tried with several seeds on one head") {
  const ExploreOptions options{.seed = 3, .most_settings = 2, .seeds = 6};
  Explorer one({some_heads()[0]}, open_head, all_variants(), options);
  finish(one);
  CHECK(one.trials().size() == one.total());
  std::map<std::pair<const Variant*, Values>, std::set<std::uint64_t>> seeds;
  for (const Trial& trial : one.trials()) {
    CHECK(trial.repeats.has_value() == (trial.seed != 3));
    if (trial.repeats) CHECK(*trial.repeats == 3);
    seeds[{trial.variant, trial.values}].insert(trial.seed);
  }
  const auto tried = [&](const char* id) {
    const Variant& variant = find_variant(id);
    return seeds[{&variant, values_for_length(variant, tokens)}].size();
  };
  CHECK(tried("h1d") == 1);    // draws nothing
  CHECK(tried("tf") == 2);     // a median tree: the second seed makes no difference
  CHECK(tried("hyper") == 6);  // draws hashes and samples
  // Other seeds come last, and none on several heads.
  const auto first = std::ranges::find_if(one.trials(), [](const Trial& t) { return t.seed != 3; });
  CHECK(std::all_of(first, one.trials().end(), [](const Trial& t) { return t.seed != 3; }));
  Explorer several({some_heads()[0], some_heads()[1]}, open_head, all_variants(), options);
  finish(several);
  CHECK(
      std::ranges::none_of(several.trials(), [](const Trial& t) { return t.repeats.has_value(); }));
}
