// The entries that are large for their column: the mask with which HyperAttention's Corollary 2
// begins.
#include "analysis/heavy_entries.h"

#include <algorithm>
#include <cmath>

#include "evaluate/evaluate.h"
#include "input/assets.h"
#include "input/open_source.h"
#include "papers/paper_figure.h"
#include "variants/schema.h"
#include "views/views.h"

namespace fovea {
namespace {

constexpr int taus[] = {32, 64, 128};
constexpr Index tile_side = 8;

Problem with_pairs(Problem problem, BitMatrix pairs) {
  const std::vector<std::int32_t> one_document;
  problem.mask = std::make_shared<const PairMask>(one_document, one_document, std::move(pairs));
  return problem;
}

/// The pairs of the head that are not in a mask.
BitMatrix others(const BitMatrix& pairs, const Problem& problem) {
  BitMatrix rest(pairs.rows(), pairs.cols());
  for (Index i = 0; i < rest.rows(); ++i)
    for (Index j = 0; j < rest.cols(); ++j)
      if (!pairs(i, j) && problem.admits(i, j)) rest.set(i, j);
  return rest;
}

/// A mask M: its pairs, its pairs with a negative logit, the mean mass of exact attention on it,
/// and max_i / min_i <1 - M_i, A_i>.
struct HeavyMask {
  double pairs = 0, negative = 0, mass = 0, kappa = 0;
};

HeavyMask mask_of(const BitMatrix& mask, const Problem& problem, const Output& exact,
                  const Output& inside, const Output& outside) {
  HeavyMask found;
  double least = INFINITY, most = -INFINITY;
  for (Index i = 0; i < mask.rows(); ++i) {
    for (Index j = 0; j < mask.cols(); ++j)
      if (mask(i, j)) {
        ++found.pairs;
        found.negative += problem.logit(i, j) < 0;
      }
    const auto row = static_cast<std::size_t>(i);
    found.mass += std::exp(double(inside.lse[row]) - double(exact.lse[row])) / double(mask.rows());
    least = std::min(least, double(outside.lse[row]));
    most = std::max(most, double(outside.lse[row]));
  }
  found.kappa = std::exp(most - least);
  return found;
}

/// The same numbers of sorted blocks that hold about as many pairs.
struct SortedBlocks {
  Index side = 0;
  double mass = 0, kappa = 0;
};

SortedBlocks sorted_blocks(double keys_a_query, const Reference& reference, const Backend& backend,
                           Run& run) {
  const Problem& problem = reference.problem;
  const Variant& hyper = find_variant("hyper");
  SortedBlocks blocks{.side = std::clamp<Index>(std::lround(keys_a_query), 1, problem.n() - 1)};
  Values values = values_for_length(hyper, problem.n());
  set_value(hyper.schema, values, "min_length", "0");
  set_value(hyper.schema, values, "block", std::to_string(blocks.side));
  const Evaluated sorted = evaluate(reference, {.variant = &hyper, .values = values},
                                    {.diagnostics = true}, backend, run);
  for (const Diagnostic& figure : sorted.diagnostics) {
    if (figure.id == "block_mass") blocks.mass = figure.value;
    if (figure.id == "kappa") blocks.kappa = figure.value;
  }
  return blocks;
}

/// Adds a row of the figure and the numbers of one head, whose ids begin with `id`.
void add_head(const std::string& id, const std::string& name, const Problem& problem,
              const Sequence& sequence, const Backend& backend, Run& run, PaperResult& result) {
  const Index n = problem.n();
  Run quiet = run.quiet();
  const Reference reference = reference_of(problem, backend, quiet);
  const Computation& exact = *reference.exact;
  auto& row = result.rows.emplace_back();
  const auto add_panel = [&](View view, const Computation& shown, std::string title) {
    ViewSettings settings;
    set_value(settings, "mask_block", std::to_string(tile_side));
    Panel panel = make_panel(view,
                             {.computation = shown,
                              .exact = exact,
                              .backend = backend,
                              .sequence = sequence,
                              .settings = settings,
                              .rows = {0, n},
                              .cols = {0, n}},
                             quiet);
    panel.title = std::move(title);
    panel.subtitle.clear();
    row.push_back(std::move(panel));
  };
  add_panel(weights_view(), exact, name);
  double done = 0;
  for (const int tau : taus) {
    const std::string text = std::to_string(tau), at = "_" + text,
                      of = name + ", τ = " + text + ": ";
    const BitMatrix mask = heavy_entries(problem, tau, quiet);
    const Computation inside = compute_exact(with_pairs(problem, mask), backend, quiet),
                      outside =
                          compute_exact(with_pairs(problem, others(mask, problem)), backend, quiet);
    const HeavyMask found = mask_of(mask, problem, exact.output, inside.output, outside.output);
    const SortedBlocks blocks = sorted_blocks(found.pairs / double(n), reference, backend, quiet);
    const std::string as_many = of + "blocks of " + std::to_string(blocks.side) + " sorted keys, ";
    result.numbers.insert(
        result.numbers.end(),
        {{id + "pairs" + at,
          of + "pairs, at most n τ = " + std::to_string(n * tau),
          {},
          found.pairs},
         {id + "negative" + at, of + "pairs with negative logits", {}, found.negative},
         {id + "mass" + at, of + "mean mass of exact attention", {}, found.mass},
         {id + "kappa" + at, of + "κ, row sums outside", {}, found.kappa},
         {id + "block_mass" + at, as_many + "mass", {}, blocks.mass},
         {id + "block_kappa" + at, as_many + "κ", {}, blocks.kappa}});
    add_panel(find_view("mask"), inside, "Mask, τ = " + text);
    run.reached(++done / double(std::size(taus)));
  }
}

PaperResult masks_of_heavy_entries(const PaperTask& task, Run& run) {
  const Session session = first_session(task.example);
  const Source clusters = open_source("synthetic:clusters?n=256&d=32");
  PaperResult result;
  Run of_example = run.part(0, 0.5), of_clusters = run.part(0.5, 1);
  add_head(
      "", task.example.name,
      problem_of(task.example,
                 {.layer = session.layer, .head = session.head, .conditions = {.causal = false}}),
      task.example.sequence, task.backend, of_example, result);
  add_head("clusters_", "clusters", problem_of(clusters, {.conditions = {.causal = false}}),
           clusters.sequence, task.backend, of_clusters, result);
  result.notes = {task.example.name + ": " + layer_label(task.example, session.layer) + ", head " +
                      std::to_string(session.head) + "; clusters: " + clusters.path +
                      ". Both without a causal mask. The mask M has the pairs with (QKᵀ)ᵢⱼ² ≥ |QKᵀ "
                      "eⱼ|² / τ: at most τ of each key. Tiles of the figure are " +
                      std::to_string(tile_side) + " × " + std::to_string(tile_side) + ".",
                  "The mask is of squares: it takes the most negative logits, too, whose weights "
                  "are the smallest. Where logits of a key are mostly negative, as in the "
                  "encoder's head, it holds little else, and κ = max_i / min_i <1 − M_i, A_i>, on "
                  "which the guarantee rests, is no smaller for it. Where few logits are large and "
                  "positive, as between tokens of a cluster, it holds most of the attention.",
                  "Here the mask is found by computing all of QKᵀ; the paper finds it by "
                  "sketching. Beside it are the blocks of the sorted hash that hold about as many "
                  "pairs. The paper states no number for either."};
  return result;
}

}  // namespace

PaperFigure heavy_entry_figure() {
  return {.id = "heavy-entries",
          .paper = "HyperAttention (Han et al. 2023), Corollary 2",
          .title = "Masks of large entries",
          .sentence = "Which pairs the mask of large entries holds, and how much attention.",
          .make = masks_of_heavy_entries};
}

}  // namespace fovea
