// Norms of the gradient while a tree learns, at once and level by level (Treeformer, Figure 5).
#include <algorithm>
#include <cmath>

#include "papers/learned_head.h"
#include "papers/paper_figure.h"

namespace fovea {
namespace {

constexpr Index steps_a_height = 50;
constexpr Index shown_layer = 1;  // of the bundled encoder; 0 where there is one

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

/// Gradient norms by step.
std::vector<std::pair<double, double>> norms_of(const std::vector<CurvePoint>& curve) {
  std::vector<std::pair<double, double>> norms;
  for (const CurvePoint& point : curve)
    if (point.gradient_norm) norms.emplace_back(double(point.step), *point.gradient_norm);
  return norms;
}

PaperResult norms_while_learning(const PaperTask& task, Run& run) {
  const Index layer = std::min(shown_layer, static_cast<Index>(task.example.layers.size()) - 1);
  const Problem problem = shown_head(task.example, layer);
  const Variant& variant = find_variant("tf");
  CurvePlot norms{.x_label = "steps of learning", .y_label = "gradient norm"},
      errors{.x_label = "steps of learning", .y_label = "relative output error"};
  PaperResult result;
  std::size_t colour = 0;
  for (const Index bootstrap : {Index{0}, steps_a_height}) {
    Run of_trainer = run.part(colour * 0.5, (colour + 1) * 0.5);
    Trainer trainer = trainer_of(variant, problem, bootstrap, task.backend, of_trainer);
    trainer.learn(all_steps, of_trainer, &task.backend);
    const std::string id = bootstrap > 0 ? "bootstrapped" : "at_once",
                      name = bootstrap > 0 ? "level by level" : "all levels at once";
    ++colour;
    norms.curves.push_back({.name = name, .points = norms_of(trainer.curve()), .colour = colour});
    CurvePlot::Curve& error =
        errors.curves.emplace_back(CurvePlot::Curve{.name = name, .colour = colour});
    for (const CurvePoint& point : trainer.curve())
      if (!std::isnan(point.held_out_error))
        error.points.emplace_back(double(point.step), point.held_out_error);
    std::vector<double> values, full;
    for (const auto& [step, norm] : norms.curves.back().points) {
      values.push_back(norm);
      if (step > double(all_steps - steps_a_height)) full.push_back(norm);
    }
    result.numbers.push_back({"norm_median_" + id,
                              "Gradient norm, " + name + ": median of the steps",
                              {},
                              median(values)});
    result.numbers.push_back({"norm_median_end_" + id,
                              "Gradient norm, " + name + ": median of the last 50 steps",
                              {},
                              median(full)});
    result.numbers.push_back({"norm_most_" + id,
                              "Gradient norm, " + name + ": the largest",
                              {},
                              std::ranges::max(values)});
    result.numbers.push_back(
        {"held_out_error_end_" + id,
         "Relative output error on held-out rows, " + name + ": after 300 steps",
         {},
         trainer.curve().back().held_out_error});
  }
  errors.levels = {{1, "output of zeros"}};
  result.notes = {
      "One TF-attention head of a trained encoder (" + layer_label(task.example, layer) +
          ", n = " + std::to_string(problem.n()) +
          "), height 6, learned for the outputs of exact attention, as `fovea fit` does with and "
          "without `--bootstrap 50`: heights 1 to 5 for 50 steps each, then height 6. At once "
          "begins with a median tree of height 6; level by level with its first level, and appends "
          "random ones (Algorithm 1).",
      "The norm is the Euclidean one of the gradient of the step's loss by all weights of the "
      "nodes, of every fifth step. A tree of fewer levels has fewer weights.",
      "Fewer levels have fewer leaves, in which more pairs meet: until the last level comes, a "
      "tree "
      "that grows errs less than it will, and costs more.",
      "The paper draws norms of a whole model that trains for its own task. No number of its "
      "figure is known here, so none is set beside these, and no agreement is claimed."};
  result.rows = {
      {{.title = "Norm of the gradient", .subtitle = {}, .caption = {}, .body = std::move(norms)},
       {.title = "Error on rows held out",
        .subtitle = {},
        .caption = {},
        .body = std::move(errors)}}};
  return result;
}

}  // namespace

PaperFigure gradient_norm_figure() {
  return {.id = "gradient-norms",
          .paper = "Treeformer (Madaan et al. 2022), Figure 5",
          .title = "Gradient norms with and without bootstrapping",
          .sentence = "How large the gradient is while a tree learns, at once or level by level.",
          .make = norms_while_learning};
}

}  // namespace fovea
