// The column spread alpha of real heads, on which HyperAttention's guarantee rests.
#include <algorithm>
#include <cmath>

#include "papers/paper_figure.h"

namespace fovea {
namespace {

constexpr double alpha_of_t2t_vit = 8.2;  // section 4.3, at n = 3136
constexpr Index n_of_t2t_vit = 3136;

/// alpha = n max_j sum_i P_ij^2 of exact attention.
double alpha_of(const Computation& exact, Run& run) {
  const Index n = exact.op->plan().lengths.n();
  std::vector<double> squares(static_cast<std::size_t>(n));
  constexpr Index together = 256;
  for (Index begin = 0; begin < n; begin += together) {
    const Matrix p = exact.op->tile({begin, std::min(n, begin + together)}, {0, n}, run);
    for (Index i = 0; i < p.rows(); ++i)
      for (Index j = 0; j < n; ++j)
        squares[static_cast<std::size_t>(j)] += double(p(i, j)) * double(p(i, j));
  }
  return double(n) * std::ranges::max(squares);
}

PaperResult spread_of_columns(const PaperTask& task, Run& run) {
  const Source& source = task.example;
  CurvePlot plot{.x_label = "head of the layer, the least α first", .y_label = "log₁₀ α"};
  std::vector<double> all;
  Index longest = 0;
  for (std::size_t layer = 0; layer < source.layers.size(); ++layer) {
    std::vector<double> alphas;
    for (Index head = 0; head < source.layers[layer].heads(); ++head) {
      const Problem problem =
          problem_of(source, {.layer = static_cast<Index>(layer), .head = head});
      Run quiet = run.quiet();
      const Computation exact =
          prepare(problem, {.variant = &reference_variant()}, task.backend, quiet);
      alphas.push_back(alpha_of(exact, quiet));
      longest = std::max(longest, problem.n());
    }
    all.insert(all.end(), alphas.begin(), alphas.end());
    std::ranges::sort(alphas);
    CurvePlot::Curve curve{.name = source.layers[layer].name, .colour = layer + 1};
    for (std::size_t h = 0; h < alphas.size(); ++h)
      curve.points.emplace_back(double(h), std::log10(alphas[h]));
    plot.curves.push_back(std::move(curve));
    run.reached(double(layer + 1) / double(source.layers.size()));
  }
  const std::string n_text = std::to_string(longest);
  plot.levels = {{std::log10(alpha_of_t2t_vit), "T2T-ViT, n = 3136"},
                 {std::log10(double(longest)), "n = " + n_text},
                 {2 * std::log10(double(longest)), "n²"}};
  std::ranges::sort(all);
  const std::string other_model = "the paper's is of a vision model with n = 3136";
  PaperResult result;
  result.numbers = {
      {"alpha_median", "α, median of the heads", alpha_of_t2t_vit, all[all.size() / 2],
       other_model},
      {"alpha_max", "α, greatest of the heads", {}, all.back()},
      {"alpha_share_median", "α / n, median of the heads", alpha_of_t2t_vit / double(n_of_t2t_vit),
       all[all.size() / 2] / double(longest), other_model},
      {"alpha_share_max", "α / n, greatest of the heads", {}, all.back() / double(longest)}};
  result.notes = {
      source.name + ": " + std::to_string(all.size()) + " heads, n = " + n_text +
          ". α = n max_j Σ_i P_ij² of exact P: 1 where attention is uniform, n where every query "
          "attends a key of its own, n² where all attend one key.",
      "The paper's guarantee needs α to grow more slowly than n. One length cannot show whether it "
      "does; heads most of whose queries attend one token, such as a separator, have α far above "
      "n."};
  result.rows = {{{.title = "Column spread α of every head",
                   .subtitle = {},
                   .caption = {},
                   .body = std::move(plot)}}};
  return result;
}

}  // namespace

PaperFigure column_spread_figure() {
  return {
      .id = "column-spread",
      .paper = "HyperAttention (Han et al. 2023), section 4.3",
      .title = "Column spread α of real heads",
      .sentence = "How far the largest column norm of attention is from that of uniform attention.",
      .make = spread_of_columns};
}

}  // namespace fovea
