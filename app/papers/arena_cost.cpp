// Multiply-adds of every variant on the shapes of the Long Range Arena.
#include <algorithm>

#include "data/number_text.h"
#include "input/open_source.h"
#include "papers/paper_figure.h"

namespace fovea {
namespace {

struct Shape {
  Index n, heads, width;  // `width` of all heads together
};
constexpr Shape shapes[] = {{1024, 1, 32}, {2048, 4, 512}, {4096, 4, 256}, {8192, 4, 128}};

/// A row of Treeformer's Table 11: FLOPs of attention in percent of those of exact attention for
/// each shape, and what is counted here.
struct PublishedShares {
  const char* variant;
  double percent[std::size(shapes)];
  const char* here;
};
constexpr PublishedShares table_11[] = {
    {"tf", {41.2, 37.8, 28.2, 29.5}, "even leaves here, 1/64 of the pairs; see the notes"},
    {"tc", {4.66, 4.57, 2.34, 0.61}, "(3 h + 2) / 2 n here, h = 6; see the notes"},
    {"bigbird", {52.4, 32.0, 16.4, 7.7}, "blocks of 64 here, 3 of them random"},
    {"linformer", {4.44, 2.98, 2.28, 0.57}, "2 k / n here, k = 128; see the notes"},
    {"performer", {52.0, 28.3, 14.5, 6.8}, "2 m / n here, m = 256"}};

/// Adds the points of a row of the table behind the counted ones.
void add_published(SeriesPlot::Series& series, const PublishedShares& row) {
  for (std::size_t s = 0; s < std::size(shapes); ++s) {
    const double share = row.percent[s] / 100;
    series.points.push_back({.n = double(shapes[s].n),
                             .value = share,
                             .low = share,
                             .high = share,
                             .joined = s > 0,
                             .hollow = true,
                             .weak = true});
  }
}

PaperNumber share_of(const Variant& variant, std::size_t shape, double found) {
  const std::string n = std::to_string(shapes[shape].n);
  PaperNumber number{.id = "share_" + variant.id + "_" + n,
                     .what = variant.label + ", n = " + n + ": % of exact's multiply-adds",
                     .published = {},
                     .found = found};
  const auto row = std::ranges::find(table_11, variant.id, &PublishedShares::variant);
  if (row != std::end(table_11)) {
    number.published = row->percent[shape];
    number.apart = row->here;
  }
  return number;
}

PaperResult costs_on_the_arena(const PaperTask& task, Run& run) {
  SeriesPlot plot{.x_label = "n, tokens", .y_label = "multiply-adds over exact's"};
  std::vector<const Variant*> counted;  // those with a form without a causal mask
  for (const Variant& variant : variants())
    if (variant.has_bidirectional_form()) counted.push_back(&variant);
  for (const Variant* variant : counted) plot.series.push_back({.name = variant->label});
  std::vector<Problem> problems;
  for (const Shape& shape : shapes) {
    plot.lengths.push_back(shape.n);
    problems.push_back(problem_of(open_source("synthetic:clusters?n=" + std::to_string(shape.n) +
                                              "&d=" + std::to_string(shape.width / shape.heads)),
                                  {.conditions = {.causal = false}}));
  }
  PaperResult result;
  for (std::size_t v = 0; v < counted.size(); ++v) {
    const Variant& variant = *counted[v];
    for (std::size_t s = 0; s < std::size(shapes); ++s) {
      run.check();
      Run of_plan = run.quiet();
      const Computation planned =
          prepare(problems[s], {.variant = &variant, .values = defaults(variant.schema)},
                  task.backend, of_plan);
      const double ratio = planned.cost.ratio_to_exact();
      plot.series[v].points.push_back(
          {.n = double(shapes[s].n), .value = ratio, .low = ratio, .high = ratio});
      result.numbers.push_back(share_of(variant, s, 100 * ratio));
    }
    for (const PublishedShares& row : table_11)
      if (row.variant == variant.id) add_published(plot.series[v], row);
    run.reached(double(v + 1) / double(counted.size()));
  }
  result.notes = {
      "Shapes of Treeformer's Table 8, for which its Table 11 states the shares: n = 1024, 2048, "
      "4096, 8192 with 1, 4, 4, 4 heads and d = 32, 512, 256, 128 in all heads together. Ratios "
      "are of one head, as of all.",
      "Each variant has its paper's default parameters; those of HyperAttention compute heads of "
      "fewer than 4096 tokens exactly. No head has a causal mask, although Sparse Transformer "
      "defines its patterns under one; variants that need one are left out. Heads are synthetic "
      "clusters.",
      "Counted here are the products with K and V and what planning multiplies. Projections of "
      "tokens to Q, K and V are not. What the table counts, and the parameters of its models, are "
      "not known here: shares that differ are not claimed to agree.",
      "TF: a median tree of height 6 is even, so that 1/64 of the pairs meet in its leaves, and "
      "routing adds 6/n. The paper's trees were learned. If its share is of pairs, 28 to 41 % of "
      "them meet: as many as in some three even leaves.",
      "TC: routing and means take (3 h + 2) / 2 n of exact's multiply-adds, 10/n for h = 6. The "
      "paper's shares are 48/n at n = 1024, 94/n, 96/n and 50/n.",
      "Linformer: the paper's shares are those of k = 23 at n = 1024, 31, 47 and 23.",
      "Treeformer's abstract states 30 times fewer FLOPs in the attention layer. By Table 11 they "
      "are 21 to 164 times fewer for TC and 2.4 to 3.5 times for TF."};
  result.rows = {{{.title = "Multiply-adds, relative to exact attention",
                   .subtitle = {},
                   .caption = "hollow and dashed: Table 11 of the paper",
                   .body = std::move(plot)}}};
  return result;
}

}  // namespace

PaperFigure arena_cost_figure() {
  return {.id = "arena-cost",
          .paper = "Treeformer (Madaan et al. 2022), Tables 8 and 11",
          .title = "Multiply-adds on the shapes of the Long Range Arena",
          .sentence = "The share of exact attention's multiply-adds that each variant takes.",
          .make = costs_on_the_arena};
}

}  // namespace fovea
