// H-Transformer-1D's example of a matrix of full rank whose off-diagonal blocks have low rank.
#include "analysis/rank_map.h"

#include <algorithm>

#include "input/open_source.h"
#include "papers/paper_figure.h"

namespace fovea {
namespace {

constexpr Index leaf_side = 4;
constexpr double sum_left_out = 1e-3;

/// The greatest rank among blocks of a level.
double rank_at(const RankMap& map, int level) {
  int rank = 0;
  for (const RankBlock& block : map.blocks)
    if (block.level == level) rank = std::max(rank, block.rank);
  return rank;
}

PaperResult ranks_of_equation_13(const PaperTask& task, Run& run) {
  const Matrix a = open_source("synthetic:hmatrix?n=16").layers.front().attention.read(0);
  const Index n = a.rows();
  const Entries entries = [&](IndexRange rows, IndexRange cols) {
    return Matrix::copy_of({a.row(rows.begin) + cols.begin, rows.size(), cols.size(), a.stride()});
  };
  const RankMap map =
      map_ranks({n, n}, entries, {.leaf = leaf_side, .tolerance = sum_left_out}, task.backend, run);
  const RankMap whole =
      map_ranks({n, n}, entries, {.leaf = n, .tolerance = 0.1}, task.backend, run);
  PaperResult result{
      .numbers = {{"rank_diagonal", "Rank of the 4 × 4 blocks on the diagonal", 4, rank_at(map, 0)},
                  {"rank_level_1", "Rank of the 4 × 4 blocks beside it", 2, rank_at(map, 1)},
                  {"rank_level_2", "Rank of the 8 × 8 blocks", 2, rank_at(map, 2)},
                  {"stored_entries", "Entries stored", 192, stored_entries(map)},
                  {"compression", "Compression", 4.0 / 3, compression(map)},
                  {"rank_whole", "Rank of all of A at ε = 0.1", 16, rank_at(whole, 0)}},
      .notes = {"A = exp(S) with S = 2 exp(−(i − j)²) − 1 and n = 16. The rank leaves out singular "
                "values whose sum is below ε = 0.001."},
      .rows = {}};
  ViewSettings settings{.norm = Norm::linear};
  settings.rank_leaf = leaf_side;
  settings.rank_tolerance = sum_left_out;
  for (const View view : {View::heatmap, View::rank}) {
    Panel panel = make_matrix_panel(view, a, settings, {0, n}, {0, n}, n, task.backend, run);
    panel.title = view == View::rank ? "Rank map, Eq. 13" : "A = exp(S), Eq. 12";
    if (result.rows.empty()) result.rows.emplace_back();
    result.rows.front().push_back(std::move(panel));
  }
  return result;
}

}  // namespace

PaperFigure rank_map_figure() {
  return {.id = "rank-map",
          .paper = "H-Transformer-1D (Zhu & Soricut 2021), Eq. 11-13",
          .title = "Ranks of the blocks of a matrix of full rank",
          .sentence = "A has full rank, but its blocks off the diagonal have rank 2.",
          .make = ranks_of_equation_13};
}

}  // namespace fovea
