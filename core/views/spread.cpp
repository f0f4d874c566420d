// The weights on tokens, with that of each compressed entry spread over the tokens it stands for.
#include <algorithm>
#include <limits>
#include <utility>

#include "analysis/support.h"
#include "data/larger.h"
#include "views/parts.h"

namespace fovea::views {
namespace {

constexpr float unseen = -std::numeric_limits<float>::infinity();

/// Q_ij = P_ij + the sum of P_ic / |c| over the entries c that stand for token j, [rows, tokens];
/// `unseen` where the head lets query i see neither the token nor such an entry.
Matrix spread_rows(const Operator& op, IndexRange rows, Run& run) {
  const Problem& head = op.problem();
  const CompressedEntries& entries = *head.compressed;
  const Matrix p = op.tile(rows, {0, head.keys()}, run);
  Matrix out(p.rows(), entries.tokens);
  std::vector<double> row(entries.tokens);
  for (Index r = 0; r < p.rows(); ++r) {
    const Index i = rows.begin + r;
    const auto sees = [&](Index key) { return is_admissible(op.plan(), i, key); };
    for (Index j = 0; j < entries.tokens; ++j) row[j] = sees(j) ? double{p(r, j)} : double{unseen};
    for (Index key = entries.tokens; key < head.keys(); ++key) {
      if (!sees(key)) continue;
      const IndexRange of = entries.tokens_of(key);
      const double each = double{p(r, key)} / static_cast<double>(of.size());
      for (Index j = of.begin; j < of.end; ++j) {
        double& its = row[j];
        its = (its == double{unseen} ? 0 : its) + each;
      }
    }
    std::ranges::transform(row, out.row(r), [](double x) { return static_cast<float>(x); });
  }
  return out;
}

/// The sum and the largest of some entries; those that are not seen count as 0.
struct Pooled {
  double sum = 0;
  float largest = unseen;

  void add(const Matrix& rows, IndexRange cols) {
    for (Index i = 0; i < rows.rows(); ++i)
      for (Index j = cols.begin; j < cols.end; ++j) {
        if (rows(i, j) != unseen) sum += double{rows(i, j)};
        largest = larger_or_nan(largest, rows(i, j));
      }
  }
};

Body spread(const PanelInputs& in, std::string& caption, Run& run) {
  const Operator& op = *in.computation.op;
  const auto& entries = op.problem().compressed;
  if (!entries) return Message{"all keys of this head are tokens"};
  const IndexRange cols = in.cols.intersected({0, entries->tokens});
  if (cols.size() <= 0) return Message{"no tokens are in view"};
  const Grid grid(in.rows, cols, in.max_pixels);
  MapPyramid::Pixels pixels{Matrix(grid.down, grid.across), {}};
  const bool mean = grid.pool(in.settings.pool).kind == Pool::Kind::mean;
  if (mean) pixels.largest = Matrix(grid.down, grid.across);
  std::vector<float> maxima;
  Run quiet = run.quiet();
  constexpr Index held = 4'000'000;  // entries at a time
  const Index together = std::max<Index>(1, held / op.plan().keys());
  for (Index r = 0; r < grid.down; ++r) {
    const IndexRange rows = grid.row_tokens(r);
    std::vector<Pooled> of_row(grid.across);
    Pooled whole;
    for (Index begin = rows.begin; begin < rows.end; begin += together) {
      run.check();
      const Matrix q = spread_rows(op, {begin, std::min(rows.end, begin + together)}, quiet);
      for (Index c = 0; c < grid.across; ++c) of_row[c].add(q, grid.col_tokens(c));
      if (in.settings.norm == Norm::row_max) whole.add(q, {0, entries->tokens});
    }
    for (Index c = 0; c < grid.across; ++c) {
      const Pooled& its = of_row[c];
      const auto count = static_cast<double>(rows.size() * grid.col_tokens(c).size());
      pixels.values(r, c) =
          mean && its.largest != unseen ? static_cast<float>(its.sum / count) : its.largest;
      if (mean) pixels.largest(r, c) = std::max(its.largest, 0.0f);
    }
    if (in.settings.norm == Norm::row_max) maxima.push_back(whole.largest);
    run.reached(static_cast<double>(r + 1) / static_cast<double>(grid.down));
  }
  add(caption,
      "each entry is spread evenly over its tokens: a mean over channels, as in the model every "
      "channel has weights of its own");
  Raster raster = weight_raster(std::move(pixels), maxima, {grid, in.settings, nullptr});
  if (maxima.empty()) raster.quantity = "weight P, entries spread";
  return raster;
}

}  // namespace
}  // namespace fovea::views

namespace fovea {

ViewKind spread_view() {
  return {.id = "spread",
          .label = "Entries spread",
          .meaning =
              "The weight on each token, and that of compressed entries spread evenly over "
              "the tokens that they stand for. In the model each channel of an entry has "
              "weights of its own: this is their mean over channels.",
          .make = views::spread,
          .needs_entries = true,
          .takes_long = true,
          .uses_pooling = true,
          .has_norm = true,
          .has_keys = true,
          .has_colours = true};
}

}  // namespace fovea
