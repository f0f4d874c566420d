// Levels, blocks and cost of H-Transformer-1D's hierarchy, beside the paper's formulas.
#include <algorithm>
#include <cmath>

#include "data/number_text.h"
#include "input/open_source.h"
#include "papers/paper_figure.h"
#include "papers/request.h"

namespace fovea {
namespace {

constexpr Index n_stated = 4096, block_side = 16, head_width = 64;
constexpr Index hierarchy_lengths[] = {256, 512, 1024, 2048, 4096, 8192, 16384};

Computation planned_hierarchy(Index n, const std::string& structure, const PaperTask& task,
                              Run& run) {
  const Problem problem = problem_of(
      open_source("synthetic:gaussian?n=" + std::to_string(n) + "&d=" + std::to_string(head_width)),
      {.conditions = {.causal = false}});
  Run quiet = run.quiet();
  return prepare(
      problem, request_of("h1d", {{"block", std::to_string(block_side)}, {"structure", structure}}),
      task.backend, quiet);
}

/// Rows of blocks at each level of a plan.
std::vector<double> blocks_of(const Plan& plan) {
  std::vector<double> blocks;
  for (const Pass& pass : std::get<TilePlan>(plan.form).passes) {
    Index end = 0;
    for (const Tile& tile : pass.tiles) end = std::max(end, tile.rows.end);
    blocks.push_back(double(end) / double(block_side));
  }
  return blocks;
}

void add_blocks(const std::vector<double>& blocks, PaperResult& result) {
  const double n = n_stated, first = n / double(block_side);
  result.numbers.push_back({"levels", "M, levels", std::log2(first), double(blocks.size())});
  double sum = 0;
  for (std::size_t l = 0; l < blocks.size(); ++l) {
    result.numbers.push_back(
        {"blocks_" + std::to_string(l),
         "N_b(" + std::to_string(l) + "), blocks of level " + std::to_string(l) + "",
         first / std::exp2(l), blocks[l]});
    sum += blocks[l];
  }
  result.numbers.push_back({"blocks_sum", "Blocks of all levels, 2 N_b(0)", 2 * first, sum,
                            "the top level has two blocks, not a half and so on"});
}

void add_costs(const Cost& banded, const Cost& nested, PaperResult& result) {
  const double n = n_stated, d = head_width, area = n * double(block_side);
  const std::string quadrant = "an outer block lacks the quadrant of the level below";
  result.numbers.push_back(
      {"entries", "Entries of the coarse matrices, 5 L N_r", 5 * area, banded.pairs, quadrant});
  result.numbers.push_back({"products_with_keys", "Multiply-adds of Q and K, 5 d L N_r",
                            5 * d * area, d * banded.pairs, quadrant});
  result.numbers.push_back({"products_with_values",
                            "Multiply-adds of A, V and the row sums, 5 (d + 1) L N_r",
                            5 * (d + 1) * area, (d + 1) * banded.pairs, quadrant});
  result.numbers.push_back({"multiply_adds_of_a_pair",
                            "All counted multiply-adds, over (d + d_v) L N_r",
                            {},
                            banded.multiply_adds / (2 * d * area),
                            "with means of clusters, without row sums"});
  result.numbers.push_back(
      {"memory", "Numbers held beside Q, K, V and Z, over L N_r", {}, banded.bytes / 4 / area});
  result.numbers.push_back({"entries_nested",
                            "Entries of the nested structure (appendix A.5), over L N_r",
                            {},
                            nested.pairs / area,
                            {},
                            3 - 2 / (n / double(block_side))});
}

PaperResult cost_of_the_hierarchy(const PaperTask& task, Run& run) {
  SeriesPlot plot{.x_label = "n, tokens", .y_label = "pairs over n N_r"};
  plot.lengths.assign(std::begin(hierarchy_lengths), std::end(hierarchy_lengths));
  plot.series = {{.name = "5, the paper's"},
                 {.name = "banded, all multiply-adds over d + d_v"},
                 {.name = "banded, pairs"},
                 {.name = "nested, pairs"}};
  PaperResult result;
  for (const Index n : hierarchy_lengths) {
    run.check();
    const Computation banded = planned_hierarchy(n, "banded", task, run),
                      nested = planned_hierarchy(n, "nested", task, run);
    const double area = double(n) * double(block_side);
    const double values[] = {5, banded.cost.multiply_adds / (2 * double(head_width) * area),
                             banded.cost.pairs / area, nested.cost.pairs / area};
    for (std::size_t s = 0; s < std::size(values); ++s)
      plot.series[s].points.push_back({.n = double(n),
                                       .value = values[s],
                                       .low = values[s],
                                       .high = values[s],
                                       .weak = s == 0});
    if (n == n_stated) {
      add_blocks(blocks_of(banded.op->plan()), result);
      add_costs(banded.cost, nested.cost, result);
    }
    run.reached(double(n) / double(hierarchy_lengths[std::size(hierarchy_lengths) - 1]));
  }
  result.notes = {
      "L = n = 4096, N_r = 16, d = d_v = 64, no causal mask. Blocks are counted from the rows of "
      "the plan's tiles at each level.",
      "5 L N_r are the entries of 3 N_b(0) blocks at level 0 and 2 N_b(l) at each level above, of "
      "N_r² each. Here a block beside the diagonal at a level above 0 lacks the quadrant next to "
      "the diagonal, whose pairs the level below has; a block at an end of the diagonal has one "
      "neighbour; and M levels have 2 N_b(0) − 2 blocks. That leaves "
      "N_r² (3 N_b(0) − 2 + 1.5 (N_b(0) − 2 − (M − 1))), 4.44 L N_r at n = 4096.",
      "5 d L N_r is taken to be the products of Q and K, 5 (d + 1) L N_r those of A with V and "
      "with ones for the row sums.",
      "The means of clusters and the sums that go back to the tokens add 4 n (d + d_v): with them "
      "4.69 (d + d_v) L N_r multiply-adds are counted.",
      "No matrix of entries is held here: memory is that of the coarse Q, K, V and Z and of the "
      "plan itself. The paper's figure of memory is not known here."};
  result.rows = {{{.title = "Pairs and multiply-adds of a head",
                   .subtitle = {},
                   .caption = {},
                   .body = std::move(plot)}}};
  return result;
}

}  // namespace

PaperFigure hierarchy_cost_figure() {
  return {.id = "hierarchy-cost",
          .paper = "H-Transformer-1D (Zhu & Soricut 2021), Eq. 31-33 and section 7",
          .title = "Blocks and cost of the hierarchy",
          .sentence = "How many blocks each level has, and the counted cost beside 5 d L N_r.",
          .make = cost_of_the_hierarchy};
}

}  // namespace fovea
