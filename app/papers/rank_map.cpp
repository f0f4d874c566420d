// H-Transformer-1D's example of a matrix of full rank whose off-diagonal blocks have low rank.
#include "analysis/rank_map.h"

#include <algorithm>
#include <cmath>

#include "analysis/metrics.h"
#include "input/open_source.h"
#include "papers/paper_figure.h"
#include "views/views.h"

namespace fovea {
namespace {

constexpr Index leaf_side = 4;
constexpr double sum_left_out = 1e-3;

/// Colours begin at 0, so that A and A cut to a window have the same colours.
void show_entries(Panel& heatmap) {
  auto& raster = std::get<Raster>(heatmap.body);
  raster.low = 0;
  raster.quantity = "entry of A";
}

/// The greatest rank among blocks of a level.
double rank_at(const RankMap& map, int level) {
  int rank = 0;
  for (const RankBlock& block : map.blocks)
    if (block.level == level) rank = std::max(rank, block.rank);
  return rank;
}

/// A with zeros beyond a distance of the diagonal.
Matrix cut(const Matrix& a, Index distance) {
  Matrix out(a.rows(), a.cols());
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < a.cols(); ++j) out(i, j) = std::abs(i - j) <= distance ? a(i, j) : 0;
  return out;
}

/// Entries that a window stores.
double stored_of_window(Index n, Index distance) {
  return n * (2 * distance + 1) - distance * (distance + 1);
}

/// ‖A − B‖_F / ‖A‖_F of the B whose blocks are those of A cut to their ranks.
double error_of(const RankMap& map) {
  double left_out = 0, all = 0;
  for (const RankBlock& block : map.blocks)
    for (std::size_t i = 0; i < block.singular_values.size(); ++i) {
      const double square = std::pow(double(block.singular_values[i]), 2);
      all += square;
      if (i >= static_cast<std::size_t>(block.rank)) left_out += square;
    }
  return std::sqrt(left_out / all);
}

double least_over_greatest(const Matrix& a) {
  float least = a(0, 0), greatest = a(0, 0);
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < a.cols(); ++j) {
      least = std::min(least, a(i, j));
      greatest = std::max(greatest, a(i, j));
    }
  return double(least) / double(greatest);
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
                "values whose sum is below ε = 0.001.",
                "The paper goes on that A cut to a window is a poor approximation, since no entry "
                "is small, and states no number for it. The window here is the widest that stores "
                "no more entries than the rank map."},
      .rows = {}};
  Index distance = 0;
  while (stored_of_window(n, distance + 1) <= stored_entries(map)) ++distance;
  const Matrix window = cut(a, distance);
  const std::string name = "A cut to |i − j| ≤ " + std::to_string(distance);
  result.numbers.push_back(
      {"least_entry", "Least entry of A, over the greatest", {}, least_over_greatest(a)});
  result.numbers.push_back(
      {"window_entries", name + ": entries stored", {}, stored_of_window(n, distance)});
  result.numbers.push_back({"window_error",
                            name + ": ‖difference‖_F over ‖A‖_F",
                            {},
                            output_rel_fro(window, a).value()});
  result.numbers.push_back(
      {"rank_map_error", "Blocks of the rank map: ‖difference‖_F over ‖A‖_F", {}, error_of(map)});
  ViewSettings settings{.norm = Norm::linear};
  set_value(settings, "rank_leaf", std::to_string(leaf_side));
  set_value(settings, "rank_tolerance", format_exactly(sum_left_out));
  for (const View view : {find_view("heatmap"), find_view("rank")}) {
    Panel panel = make_matrix_panel(view, a, settings, {0, n}, {0, n}, n, task.backend, run);
    panel.title = view->has_blocks ? "Rank map, Eq. 13" : "A = exp(S), Eq. 12";
    if (view == weights_view())
      show_entries(panel);
    else
      std::get<BlockMap>(panel.body).quantity = "numerical rank of A at ε = 0.001";
    if (result.rows.empty()) result.rows.emplace_back();
    result.rows.front().push_back(std::move(panel));
  }
  Panel panel =
      make_matrix_panel(weights_view(), window, settings, {0, n}, {0, n}, n, task.backend, run);
  panel.title = name;
  show_entries(panel);
  result.rows.front().push_back(std::move(panel));
  return result;
}

}  // namespace

PaperFigure rank_map_figure() {
  return {.id = "rank-map",
          .paper = "H-Transformer-1D (Zhu & Soricut 2021), Eq. 11-13",
          .title = "Ranks of the blocks of a matrix of full rank",
          .sentence =
              "A has full rank, its blocks off the diagonal have rank 2, and a window of it "
              "is a poor approximation.",
          .make = ranks_of_equation_13};
}

}  // namespace fovea
