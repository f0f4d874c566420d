// What holds for learning: who is learned from, what stays the same, and what is refused.
#include "learning/trainer.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "backend/backends.h"
#include "learning/sets.h"
#include "messages.h"
#include "reference.h"
#include "variants/learned_tree.h"
#include "variants/tree_builder.h"
#include "variants/tree_tensors.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Tree median_of(const LearningSet& set, std::vector<int> branching, bool by_sign = true) {
  Profile profile;
  Run run{profile};
  return median_tree(set.keys, {std::move(branching), by_sign}, *backends().front(), run);
}

Trainer make_trainer(const LearningSet& set, LearningOptions options = {},
                     std::vector<int> branching = {2, 2, 2}, bool by_sign = true) {
  Profile profile;
  Run run{profile};
  return Trainer(std::make_shared<LearningSet>(set), median_of(set, std::move(branching), by_sign),
                 std::move(options), run);
}

LearnedTree current(const Trainer& trainer) {
  Profile profile;
  Run run{profile};
  return trainer.current(run);
}

void restore(Trainer& trainer, const TrainerState& state) {
  Profile profile;
  Run run{profile};
  trainer.restore(state, run);
}

void learn(Trainer& trainer, Index steps) {
  Profile profile;
  Run run{profile};
  trainer.learn(steps, run);
}

bool same_tree(const LearnedTree& a, const LearnedTree& b) {
  Structure x, y;
  set_tree(x, a.tree);
  set_tree(y, b.tree);
  return x == y && a.alpha == b.alpha;
}

/// Every way to learn.
std::vector<LearningOptions> all_ways() {
  return {{.seed = 3},
          {.coarse = true, .seed = 3},
          {.credit = Credit::dense, .seed = 3},
          {.bootstrap = 5, .seed = 3}};
}

}  // namespace

TEST_CASE("targets are exact attention, whatever the mask") {
  for (const bool causal : {false, true}) {
    const Problem problem = make_data(Data::gaussian, 90, 5, 3, causal);
    const LearningSet set = learning_set(problem);
    const Instance exact = make_instance(*backends().front(), problem, "exact", {});
    const std::vector<double> z = times(reference<double>(exact), problem.v);
    REQUIRE(set.queries.rows() == 90);
    CHECK(set.learned_from == 90 - 18);
    double worst = 0;
    for (Index i = 0; i < 90; ++i)
      for (Index c = 0; c < 3; ++c) {
        const auto token = static_cast<std::size_t>(set.query_token[static_cast<std::size_t>(i)]);
        worst = std::max(worst, std::abs(static_cast<double>(set.targets(i, c)) -
                                         z[token * 3 + static_cast<std::size_t>(c)]));
      }
    CHECK(worst <= 90 * 4 * 0x1p-24);  // a rounding for each key of values of up to 4
  }
}

TEST_CASE("long heads are learned from some of their tokens, and targets are of all their keys") {
  const Problem problem = make_data(Data::gaussian, 5000, 2, 1, true);
  const LearningSet set = learning_set(problem);
  CHECK(set.queries.rows() == LearningSet::most_queries);
  CHECK(set.keys.rows() == LearningSet::most_keys);
  CHECK(std::ranges::is_sorted(set.key_token));
  CHECK(std::ranges::adjacent_find(set.key_token) == set.key_token.end());
  const Instance exact = make_instance(*backends().front(), problem, "exact", {});
  const Matrix z = exact.apply(problem.v).z;
  double worst = 0;
  for (Index i = 0; i < set.queries.rows(); ++i)
    worst = std::max(
        worst, std::abs(static_cast<double>(set.targets(i, 0)) -
                        static_cast<double>(z(set.query_token[static_cast<std::size_t>(i)], 0))));
  // Two sums of up to 5000 rounded terms, whose roundings partly cancel: 5000^(1/2) of them.
  CHECK(worst <= 2 * 72 * 4 * 0x1p-23);
}

TEST_CASE("Lemma 1: with w = 0 and b > 0 everywhere TF is exact, and learning keeps it") {
  for (const bool causal : {false, true}) {
    const LearningSet set = learning_set(70, 4, 3, causal);
    Tree one_leaf;
    one_leaf.levels.push_back({2, true, Matrix(1, 4), {1.0f}});
    one_leaf.levels.push_back({2, true, Matrix(2, 4), {1.0f, 1.0f}});
    Profile profile;
    Run run{profile};
    const MeasuredTree measured = measure_tree(set, one_leaf, {}, run);
    CHECK(measured.error <= 70 * 0x1p-23);  // both sums are rounded once a key
    CHECK(measured.held_out_error <= 70 * 0x1p-23);
    CHECK(measured.skew.chi == 1);
    Trainer trainer(std::make_shared<LearningSet>(set), one_leaf, {.cost = 4}, run);
    learn(trainer, 10);
    CHECK(trainer.best().measured.error <= 70 * 0x1p-23);
  }
}

TEST_CASE("a tree of no levels is measured as exact attention too, and has nothing to learn") {
  const LearningSet set = learning_set(40, 3, 2);
  Trainer trainer = make_trainer(set, {}, {});
  learn(trainer, 5);
  CHECK(trainer.best().measured.error <= 40 * 0x1p-23);
  CHECK(trainer.best().tree.height() == 0);
}

TEST_CASE("learning lowers the error over rows held out, within the limit of cost") {
  // Values that follow from the keys, so that there is something to learn.
  Matrix q = gaussian(400, 8, 1), k = gaussian(400, 8, 2), v(400, 2);
  for (Index i = 0; i < 400; ++i)
    for (Index c = 0; c < 8; ++c) {
      q(i, c) *= 2;
      if (c < 2) v(i, c) = k(i, c) > 0 ? 1.0f : -1.0f;
    }
  const LearningSet set = learning_set(make_problem(std::move(q), std::move(k), std::move(v)));
  for (const bool coarse : {false, true})
    for (const bool by_sign : {false, true}) {
      Trainer trainer = make_trainer(set, {.coarse = coarse},
                                     by_sign ? std::vector{2, 2, 2} : std::vector{4, 2}, by_sign);
      learn(trainer, 150);
      CAPTURE(coarse);
      CAPTURE(by_sign);
      CHECK(trainer.best().measured.held_out_error < 0.8 * trainer.start().measured.held_out_error);
      CHECK(trainer.best().measured.cost(8) <= 1.15);
      CHECK(trainer.best().step > 0);
    }
}

TEST_CASE("one seed gives one tree bit for bit, for any number of threads, and another another") {
  const Problem problem = make_data(Data::gaussian, 150, 6, 3, false);
  for (const LearningOptions& way : all_ways()) {
    std::vector<LearnedTree> trees;
    std::vector<TrainerState> states;
    for (const int threads : {1, 2, 3}) {
      Profile profile;
      Run run{profile};
      const auto backend = make_cpu_backend({.threads = threads});
      Trainer trainer = make_trainer(make_learning_set(problem, 3, *backend, run), way);
      learn(trainer, 20);
      trees.push_back(current(trainer));
      states.push_back(trainer.state());
    }
    CHECK(same_tree(trees[0], trees[1]));
    CHECK(same_tree(trees[0], trees[2]));
    CHECK(states[0] == states[1]);
    CHECK(states[0] == states[2]);
    LearningOptions other = way;
    other.seed = 4;
    other.batch = 32;
    LearningOptions small = way;
    small.batch = 32;
    Trainer one = make_trainer(learning_set(problem), small),
            two = make_trainer(learning_set(problem), other);
    learn(one, 20);
    learn(two, 20);
    CHECK_FALSE(same_tree(current(one), current(two)));
  }
}

TEST_CASE("law: every option of learning has a say in what is learned") {
  const LearningSet set = learning_set(150, 5, 3);
  const std::pair<const char*, void (*)(LearningOptions&)> changes[] = {
      {"alpha",
       [](LearningOptions& o) {
         o.alpha = {0.4f, 0.3f, 0.2f, 0.1f};
       }},
      {"cost", [](LearningOptions& o) { o.cost = 1.001; }},
      {"batch", [](LearningOptions& o) { o.batch = 31; }},
      {"rate", [](LearningOptions& o) { o.rate = 0.01; }},
      {"credit", [](LearningOptions& o) { o.credit = Credit::dense; }},
      {"bootstrap", [](LearningOptions& o) { o.bootstrap = 3; }},
      {"seed", [](LearningOptions& o) { o.seed = 4; }},
      {"head", [](LearningOptions& o) { o.head = 1; }}};
  for (const bool coarse : {false, true}) {
    const LearningOptions plain{.coarse = coarse, .batch = 32, .seed = 3};
    Trainer before = make_trainer(set, plain);
    learn(before, 12);
    for (const auto& one : changes) {
      const std::string name = one.first;
      if (!coarse && name == "alpha") continue;  // of TC alone
      LearningOptions options = plain;
      one.second(options);
      Trainer after = make_trainer(set, options);
      learn(after, 12);
      CHECK_MESSAGE(!(before.state() == after.state()), name);
    }
  }
}

TEST_CASE("rows held out have no say in the tree") {
  LearningSet set = learning_set(120, 5, 3);
  for (const LearningOptions& way : all_ways()) {
    Trainer before = make_trainer(set, way);
    LearningSet changed = set;
    for (Index i = set.learned_from; i < set.queries.rows(); ++i)
      for (Index c = 0; c < 3; ++c) changed.targets(i, c) += 10;
    Trainer after = make_trainer(changed, way);
    learn(before, 30);
    learn(after, 30);
    CHECK(same_tree(before.best(), after.best()));
    CHECK(before.best().measured.error == after.best().measured.error);
    CHECK(before.best().measured.held_out_error != after.best().measured.held_out_error);
  }
}

TEST_CASE("a trainer that is restored goes on as if it had not stopped") {
  const LearningSet set = learning_set(100, 5, 3);
  for (const LearningOptions& way : all_ways())
    for (const Index stopped : {5, 7, 10, 13, 20}) {
      Trainer straight = make_trainer(set, way), first = make_trainer(set, way),
              second = make_trainer(set, way);
      learn(straight, 40);
      learn(first, stopped);
      restore(second, first.state());
      CHECK(same_tree(first.best(), second.best()));
      learn(second, 40);
      CHECK(second.state() == straight.state());
      CHECK(same_tree(second.best(), straight.best()));
    }
}

TEST_CASE("a state of another tree is refused") {
  const LearningSet set = learning_set(60, 5, 3);
  Trainer trainer = make_trainer(set);
  CHECK_SAYS(restore(trainer, make_trainer(set, {}, {2, 2}).state()), "18 numbers at height 2",
             "expected 42 at height 1 to 3");
  CHECK_SAYS(restore(trainer, make_trainer(set, {.coarse = true}).state()), "46 numbers",
             "expected 42");
}

TEST_CASE("whenever learning is cancelled, whole steps have been done") {
  const LearningSet set = learning_set(150, 5, 3, true);
  LearningOptions growing{.coarse = true, .bootstrap = 3};
  for (const LearningOptions& way : {LearningOptions{.bootstrap = 3}, growing}) {
    // What each step leads to.
    std::vector<TrainerState> after;
    Trainer whole = make_trainer(set, way);
    after.push_back(whole.state());
    for (Index steps = 1; steps <= 12; ++steps) {
      Profile profile;
      Run run{profile};
      whole.step(run);
      after.push_back(whole.state());
    }
    for (int microseconds = 0; microseconds < 20000; microseconds += 250) {
      std::stop_source stop;
      const std::jthread other([&] {
        std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
        stop.request_stop();
      });
      Profile profile;
      Run run{profile, stop.get_token()};
      for (bool cancelled = false; !cancelled;) {  // again and again until it is
        Trainer trainer = make_trainer(set, way);
        try {
          while (trainer.steps() < 12) trainer.step(run);
        } catch (const Cancelled&) {
          cancelled = true;
        }
        REQUIRE(trainer.state() == after[static_cast<std::size_t>(trainer.steps())]);
      }
    }
  }
}

TEST_CASE("learning that diverges stops, says so and keeps the best tree") {
  LearningSet set = learning_set(60, 5, 3);
  Trainer trainer = make_trainer(set, {.rate = 1e30});
  learn(trainer, 10);
  CHECK(trainer.diverged());
  const Index steps = trainer.steps();
  CHECK(steps < 10);
  learn(trainer, 20);
  CHECK(trainer.steps() == steps);
  CHECK(trainer.state().diverged);
  const LearnedTree& best = trainer.best();
  CHECK(std::isfinite(best.measured.error));
  for (const TreeLevel& level : best.tree.levels)
    for (const float b : level.bias) CHECK(std::isfinite(b));
}

TEST_CASE("values beyond the range of float32 squares diverge at once, and the start is the best") {
  Problem problem = make_data(Data::gaussian, 50, 4, 2, false);
  Matrix v = Matrix::copy_of(problem.v);
  for (Index i = 0; i < 50; ++i) v(i, 0) *= 1e30f;
  Trainer trainer = make_trainer(learning_set(
      make_problem(Matrix::copy_of(problem.q), Matrix::copy_of(problem.k), std::move(v))));
  learn(trainer, 10);
  CHECK(trainer.diverged());
  CHECK(same_tree(trainer.best(), trainer.start()));
}

TEST_CASE("any number of tokens can be learned from, with finite weights and numbers") {
  for (const Index n : {1, 2, 3, 5, 17, 97})
    for (const Data data : {Data::gaussian, Data::equal, Data::huge, Data::spike})
      for (const bool causal : {false, true})
        for (LearningOptions way : all_ways()) {
          CAPTURE(n);
          CAPTURE(causal);
          Trainer trainer = make_trainer(learning_set(make_data(data, n, 4, 3, causal)), way);
          learn(trainer, 12);
          CHECK_FALSE(trainer.diverged());
          CHECK(trainer.steps() == 12);
          const LearnedTree now = current(trainer);
          CHECK(std::isfinite(now.measured.error));
          CHECK((n == 1) == std::isnan(now.measured.held_out_error));
          for (const float x : trainer.state().parameters) CHECK(std::isfinite(x));
        }
}

TEST_CASE(
    "the curve has a point every few steps, and the best is the least error within the cost") {
  Trainer trainer = make_trainer(learning_set(200, 6, 3), {.cost = 1.1});
  learn(trainer, 60);
  REQUIRE(trainer.curve().size() == 13);
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t p = 0; p < trainer.curve().size(); ++p) {
    const CurvePoint& point = trainer.curve()[p];
    CHECK(point.step == static_cast<Index>(5 * p));
    CHECK(point.effective_leaves <= 8 * (1 + 1e-12));
    if (p == 0 || p + 1 == trainer.curve().size()) {
      const LeafSkew skew = (p == 0 ? trainer.start() : current(trainer)).measured.skew;
      REQUIRE(skew.keys.effective_leaves != skew.queries.effective_leaves);
      CHECK(point.effective_leaves == skew.keys.effective_leaves);
      CHECK(point.chi == skew.chi);
    }
    if (point.chi * 8 <= 1.1) least = std::min(least, point.error);
  }
  CHECK(trainer.best().measured.error == least);
  CHECK(current(trainer).measured.error == trainer.curve().back().error);
}

TEST_CASE("the curve has the norm of the gradient, which the first step of Adam keeps too") {
  for (LearningOptions way : all_ways()) {
    way.measured_every = 1;
    Trainer trainer = make_trainer(learning_set(120, 5, 3), way);
    CHECK_FALSE(trainer.curve().back().gradient_norm);
    learn(trainer, 1);
    double squares = 0;
    for (const float m : trainer.state().first) squares += static_cast<double>(m) * m;
    // Moments are float32: a rounding of each.
    CHECK(trainer.curve().back().gradient_norm.value() ==
          doctest::Approx(std::sqrt(squares) / (1 - Adam::first_decay)).epsilon(1e-6));
    learn(trainer, 30);
    CHECK(std::isfinite(trainer.curve().back().gradient_norm.value()));
  }
}

TEST_CASE("learning that begins with all tokens in one leaf begins without an error") {
  const Variant& tf = find_variant("tf");
  Values values = defaults(tf.schema);
  set_value(tf.schema, values, "tree", "single");
  Profile profile;
  Run run{profile};
  const Fit fit = fit_of(tf, values);
  const Trainer trainer = fovea::make_trainer(fit, {}, make_data(Data::gaussian, 70, 4, 3, false),
                                              0, *backends().front(), run);
  CHECK(trainer.start().measured.error <= 70 * 0x1p-23);  // both sums are rounded once a key
  CHECK(trainer.start().measured.skew.chi == 1);
}

TEST_CASE("where no tree is within the cost, the best is the one of least chi") {
  Trainer trainer = make_trainer(learning_set(200, 6, 3), {.cost = 0.01});
  learn(trainer, 60);
  double least = 1;
  for (const CurvePoint& point : trainer.curve()) least = std::min(least, point.chi);
  CHECK(least > 0.01 / 8);
  CHECK(trainer.best().measured.skew.chi == least);
}

TEST_CASE("with bootstrapping the tree begins at height 1 and gets a level every few steps") {
  Trainer trainer = make_trainer(learning_set(150, 6, 3), {.bootstrap = 10});
  for (const auto& [steps, height] :
       {std::pair<Index, int>{10, 1}, {11, 2}, {20, 2}, {21, 3}, {60, 3}}) {
    learn(trainer, steps);
    CHECK(current(trainer).tree.height() == height);
    CHECK(trainer.best().tree.height() == 3);
  }
}

TEST_CASE("alpha is learned, or kept as it was given") {
  const LearningSet set = learning_set(100, 5, 3);
  Trainer free = make_trainer(set, {.coarse = true}),
          fixed = make_trainer(set, {.coarse = true, .alpha = {0.5f, 0.25f, 0.0f, 1.0f}});
  learn(free, 20);
  learn(fixed, 20);
  CHECK(free.start().alpha == std::vector<float>(4, 0.25f));
  CHECK(current(free).alpha != free.start().alpha);
  CHECK(current(fixed).alpha == std::vector<float>{0.5f, 0.25f, 0.0f, 1.0f});
}

TEST_CASE("what cannot be learned is refused with what was found and expected") {
  const LearningSet set = learning_set(60, 5, 3);
  const auto refusal = [&](LearningOptions options, std::vector<int> branching) {
    return message_of<UsageError>([&] { make_trainer(set, options, branching, false); });
  };
  CHECK(refusal({}, {64, 32}) ==
        "the tree has 2048 leaves; expected at most 1024 in a tree that learns");
  CHECK(refusal({.coarse = true, .alpha = {1, 2}}, {2, 2}) ==
        "alpha has 2 values; expected h + 1 = 3");
  Problem problem = make_data(Data::gaussian, 20, 3, 2, false);
  Matrix k = Matrix::copy_of(problem.k);
  k(7, 1) = std::numeric_limits<float>::infinity();
  CHECK_SAYS(learning_set(make_problem(Matrix::copy_of(problem.q), std::move(k),
                                       Matrix::copy_of(problem.v))),
             "head 0", "no tree can be learned", "NaN or Inf");
  problem.window = 5;
  CHECK_SAYS(learning_set(problem), "head 0", "learning knows no window");
}
