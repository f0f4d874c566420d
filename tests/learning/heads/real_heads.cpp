// Learned trees against median trees of the same height on the bundled heads of a real model, over
// rows that were not learned from. Every head of one layer, 300 steps, one seed: the numbers do not
// depend on the machine beyond roundings, and the bounds leave room for those.
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "backend/backends.h"
#include "io/tensor_source.h"
#include "learning/trainer.h"
#include "variants/tree_builder.h"

using namespace fovea;

namespace {

struct Outcome {
  double error_ratio = 0;  // of held-out errors, learned over median
  double chi_ratio = 0;    // of chi, likewise
};

std::vector<Outcome> learn_all(bool coarse) {
  const Source source = source_from_tensors(
      read_safetensors(std::string(FOVEA_ASSETS) + "/minilm/minilm-l6.safetensors"));
  const Index layer = 1;  // "layer2", the second of the file
  constexpr std::size_t height = 6;
  std::vector<Outcome> out(static_cast<std::size_t>(source.layers[1].heads()));
  const auto backend = make_cpu_backend({.threads = 2});
  Profile profile;
  Run run{profile};
  backend->share_out(static_cast<Index>(out.size()), run, [&](Index head) {
    Profile own;
    Run of_head{own};
    const auto alone = make_cpu_backend({.threads = 1});
    const Problem problem = problem_of(source, {.layer = layer, .head = head});
    const auto set = std::make_shared<LearningSet>(make_learning_set(problem, 0, *alone, of_head));
    Trainer trainer(set,
                    median_tree(problem.k, {std::vector<int>(height, 2), true}, *alone, of_head),
                    {.coarse = coarse, .head = head}, of_head);
    trainer.learn(300, of_head);
    const MeasuredTree &begun = trainer.start().measured, &best = trainer.best().measured;
    out[static_cast<std::size_t>(head)] = {best.held_out_error / begun.held_out_error,
                                           best.skew.chi / begun.skew.chi};
  });
  return out;
}

/// Heads whose error is at least 20 % lower at no more than 1.25 times chi.
int better_heads(const std::vector<Outcome>& outcomes) {
  int count = 0;
  for (const Outcome& o : outcomes) count += o.error_ratio <= 0.8 && o.chi_ratio <= 1.25;
  return count;
}

double mean_ratio(const std::vector<Outcome>& outcomes) {
  double sum = 0;
  for (const Outcome& o : outcomes) sum += std::log(o.error_ratio);
  return std::exp(sum / static_cast<double>(outcomes.size()));
}

}  // namespace

TEST_CASE("real heads: learned TF trees of height 6 nearly halve the error of median trees") {
  const auto outcomes = learn_all(false);
  CHECK(better_heads(outcomes) >= 11);  // measured: 12 of 12
  CHECK(mean_ratio(outcomes) < 0.65);   // measured: 0.58
}

TEST_CASE("real heads: learned TC trees and alphas of height 6 lower the error by a third") {
  const auto outcomes = learn_all(true);
  CHECK(better_heads(outcomes) >= 7);  // measured: 8 of 12; in others positions decide, not keys
  CHECK(mean_ratio(outcomes) < 0.72);  // measured: 0.68
  for (const Outcome& o : outcomes) CHECK(o.chi_ratio <= 1.3);
}
