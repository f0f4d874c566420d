// Multiply-adds of every variant on the shapes of the Long Range Arena.
#include <algorithm>

#include "data/number_text.h"
#include "input/open_source.h"
#include "papers/paper_figure.h"

namespace fovea {
namespace {

struct Shape {
  Index n, heads, width;  // `width`: of all heads together
};
constexpr Shape shapes[] = {{1024, 1, 32}, {2048, 4, 512}, {4096, 4, 256}, {8192, 4, 128}};

PaperResult costs_on_the_arena(const PaperTask& task, Run& run) {
  SeriesPlot plot{.x_label = "n, tokens", .y_label = "multiply-adds over exact's"};
  for (const Variant& variant : variants()) plot.series.push_back({.name = variant.label});
  PaperResult result;
  std::size_t done = 0;
  for (const Shape& shape : shapes) {
    plot.lengths.push_back(shape.n);
    const Source source = open_source("synthetic:clusters?n=" + std::to_string(shape.n) +
                                      "&d=" + std::to_string(shape.width / shape.heads));
    const Problem problem = problem_of(source, {.causal = false});
    for (std::size_t v = 0; v < variants().size(); ++v) {
      run.check();
      const Variant& variant = variants()[v];
      Run of_plan = run.quiet();
      const Computation planned =
          prepare(problem, {.variant = &variant, .values = defaults(variant.schema)}, task.backend,
                  of_plan);
      const double ratio = planned.cost.ratio_to_exact();
      plot.series[v].points.push_back(
          {.n = double(shape.n), .value = ratio, .low = ratio, .high = ratio});
      result.numbers.push_back(
          {"fewer_" + variant.id + "_" + std::to_string(shape.n),
           variant.label + ", n = " + std::to_string(shape.n) + ": times fewer multiply-adds",
           {},
           1 / ratio});
      run.reached(double(++done) / double(std::size(shapes) * variants().size()));
    }
  }
  std::ranges::stable_sort(result.numbers, {}, [](const PaperNumber& number) {
    return std::ranges::find_if(variants(),
                                [&](const Variant& variant) {
                                  return number.id.starts_with("fewer_" + variant.id + "_");
                                }) -
           variants().begin();
  });
  result.notes = {
      "Shapes of Treeformer's Table 8, for which its Table 11 states costs: n = 1024, 2048, 4096, "
      "8192 with 1, 4, 4, 4 heads "
      "and d = 32, 512, 256, 128 in all heads together. Ratios are of one head, as of all.",
      "Each variant has its paper's default parameters; those of HyperAttention compute heads of "
      "fewer than 4096 tokens exactly. No head has a causal mask, although Sparse Transformer "
      "defines "
      "its patterns under one. Heads are synthetic clusters: a tree's cost depends on how "
      "its leaves fill.",
      "Counted are the products with K and V and what planning multiplies; projections of tokens "
      "to Q, K and V, which the paper's layer has too, are not. Treeformer's abstract states 30 "
      "times fewer operations for its trees; its tables are not repeated here."};
  result.rows = {{{.title = "Multiply-adds, relative to exact attention",
                   .subtitle = {},
                   .caption = {},
                   .body = std::move(plot)}}};
  return result;
}

}  // namespace

PaperFigure arena_cost_figure() {
  return {.id = "arena-cost",
          .paper = "Treeformer (Madaan et al. 2022), Table 8",
          .title = "Multiply-adds on the shapes of the Long Range Arena",
          .sentence = "How many times fewer multiply-adds each variant takes than exact attention.",
          .make = costs_on_the_arena};
}

}  // namespace fovea
