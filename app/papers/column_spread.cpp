// The column spread alpha of real heads, on which HyperAttention's guarantee rests.
#include <algorithm>
#include <cmath>

#include "analysis/column_squares.h"
#include "papers/median.h"
#include "papers/paper_figure.h"

namespace fovea {
namespace {

// Section 4.3, at n = 3136, where alpha is max_j sum_i P_ij^2; and the same over n, the axis of
// Fig. 5.
constexpr double norm_of_t2t_vit = 8.18, norm_share_of_t2t_vit = 0.0026;

/// max_j sum_i P_ij^2 of exact attention.
double column_norm(const Problem& problem, const Backend& backend, Run& run) {
  const Computation exact = compute_exact(problem, backend, run);
  return std::ranges::max(column_squares(problem, exact.output.lse, backend, run));
}

PaperResult spread_of_columns(const PaperTask& task, Run& run) {
  const Source& source = task.example;
  CurvePlot plot{.x_label = "head of the layer, the least first", .y_label = "log₁₀ maxⱼ Σᵢ Pᵢⱼ²"};
  std::vector<double> all;
  Index longest = 0;
  for (std::size_t layer = 0; layer < source.layers.size(); ++layer) {
    std::vector<double> norms;
    for (Index head = 0; head < source.layers[layer].heads(); ++head) {
      const Problem problem =
          problem_of(source, {.layer = static_cast<Index>(layer), .head = head});
      Run quiet = run.quiet();
      norms.push_back(column_norm(problem, task.backend, quiet));
      longest = std::max(longest, problem.n());
    }
    all.insert(all.end(), norms.begin(), norms.end());
    std::ranges::sort(norms);
    CurvePlot::Curve curve{.name = source.layers[layer].name, .colour = layer + 1};
    for (std::size_t h = 0; h < norms.size(); ++h)
      curve.points.emplace_back(double(h), std::log10(norms[h]));
    plot.curves.push_back(std::move(curve));
    run.reached(double(layer + 1) / double(source.layers.size()));
  }
  const double n = longest;
  const std::string n_text = std::to_string(longest);
  plot.levels = {{0, "1"},
                 {std::log10(norm_of_t2t_vit), "T2T-ViT, n = 3136"},
                 {std::log10(n), "n = " + n_text}};
  const double median = median_of(all), greatest = std::ranges::max(all);
  const std::string other_model = "the paper's is of a vision model with n = 3136";
  PaperResult result;
  result.numbers = {
      {"column_norm_median", "maxⱼ Σᵢ Pᵢⱼ², median of the heads (α of section 4.3)",
       norm_of_t2t_vit, median, other_model},
      {"column_norm_max", "maxⱼ Σᵢ Pᵢⱼ², greatest of the heads", {}, greatest},
      {"column_norm_share_median", "1/n maxⱼ Σᵢ Pᵢⱼ², median of the heads (axis of Fig. 5)",
       norm_share_of_t2t_vit, median / n, other_model},
      {"column_norm_share_max", "1/n maxⱼ Σᵢ Pᵢⱼ², greatest of the heads", {}, greatest / n},
      {"alpha_median", "n maxⱼ Σᵢ Pᵢⱼ², median of the heads (α of Lemma 1)", {}, n * median},
      {"alpha_max", "n maxⱼ Σᵢ Pᵢⱼ², greatest of the heads", {}, n * greatest}};
  result.notes = {
      source.name + ": " + std::to_string(all.size()) + " heads, n = " + n_text +
          ". maxⱼ Σᵢ Pᵢⱼ² of exact P, the largest squared norm of a column, is 1/n where "
          "attention is uniform, 1 where every query attends a key of its own, n where all attend "
          "one key.",
      "The paper calls two numbers α: in Lemma 1 n times this norm, in section 4.3, which states "
      "8.18, the norm itself. Fig. 5 draws the norm over n.",
      "The guarantee needs α of Lemma 1 to grow more slowly than n. One length cannot show whether "
      "it does; heads most of whose queries attend one token, such as a separator, have an α far "
      "above n."};
  result.rows = {{{.title = "Largest squared column norm of every head",
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
