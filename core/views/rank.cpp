// The numerical rank of the blocks of a matrix.
#include <algorithm>

#include "views/own_settings.h"
#include "views/parts.h"
#include "views/rank_body.h"
#include "views/rank_subject.h"

namespace fovea::views {
namespace {

constexpr Index largest_window = 2 * largest_rank_block;

// Every column calls its own matrix P, as in the heatmaps, so that one colour bar serves all.
std::string name_of(RankSubject subject) {
  switch (subject) {
    case RankSubject::attention:
      return "P";
    case RankSubject::unnormalised:
      return "A = exp(S)";
    case RankSubject::logits:
      return "S";
    case RankSubject::error:
      return "P̃ − P";
  }
  return "";
}

void count_entries(BlockMap& body) {
  body.stored = stored_entries(body.map);
  body.compression = compression(body.map);
}

std::string tolerance_words(double tolerance) {
  return " at ε = " + format_number(tolerance);
}
/// At the tolerance that the name of the quantity states.
std::string compression_words(const BlockMap& body) {
  if (body.stored == 0) return "nothing to store: every block has rank 0";
  return "stored by rank: " +
         (body.compression < 1.05 ? "no smaller"
                                  : format_number(body.compression, 2, Zeros::keep) + " × smaller");
}

/// The whole matrix if that is possible, else the part that the view spans; for equal lengths a
/// square on the diagonal.
RankWindow rank_window(Lengths lengths, IndexRange rows, IndexRange cols) {
  if (std::max(lengths.queries, lengths.keys) <= largest_window)
    return {lengths, {0, lengths.queries}, {0, lengths.keys}};
  if (!lengths.equal()) return {lengths, rows, cols};
  const IndexRange both{std::min(rows.begin, cols.begin), std::max(rows.end, cols.end)};
  return {lengths, both, both};
}

}  // namespace

Body rank_body(const RankedMatrix& matrix, const RankSettings& settings, const Backend& backend,
               std::string& caption, Run& run) {
  const auto& [lengths, window_rows, window_cols] = matrix.window;
  const Index side = std::max(window_rows.size(), window_cols.size());
  if (side > largest_window)
    return Message{"A rank map covers at most " + std::to_string(largest_window) +
                   " tokens: zoom in (the view spans " + std::to_string(side) + ")."};
  const auto from = [](IndexRange r, IndexRange all) {
    return IndexRange{r.begin + all.begin, r.end + all.begin};
  };
  RankOptions options{.leaf = settings.leaf,
                      .tolerance = settings.tolerance,
                      .relative = false,
                      .partition = lengths.equal() ? settings.partition : Partition::uniform,
                      .causal = matrix.causal};
  BlockMap body;
  body.map = map_ranks(
      {window_rows.size(), window_cols.size()},
      [&](IndexRange rows, IndexRange cols) {
        return matrix.entries(from(rows, matrix.window.rows), from(cols, matrix.window.cols));
      },
      options, backend, run);
  body.map.lengths = lengths;
  for (RankBlock& b : body.map.blocks)
    b.rows = from(b.rows, window_rows), b.cols = from(b.cols, window_cols);
  count_entries(body);
  body.quantity = "numerical rank of " + matrix.name + tolerance_words(settings.tolerance);
  const auto from_to = [](IndexRange r) {
    return std::to_string(r.begin) + " to " + std::to_string(r.end - 1);
  };
  const bool part = window_rows.size() < lengths.queries || window_cols.size() < lengths.keys;
  if (part && lengths.equal() && window_rows == window_cols)
    add(caption, "tokens " + from_to(window_rows));
  else if (part)
    add(caption, "queries " + from_to(window_rows) + ", keys " + from_to(window_cols));
  add(caption, compression_words(body));
  if (options.partition != settings.partition)
    add(caption, "uniform blocks: a hierarchy needs as many queries as keys");
  if (const std::string note = note_of(body.map); !note.empty()) add(caption, note);
  const auto bounded = std::ranges::count_if(body.map.blocks, [](const RankBlock& b) {
    return b.resolved < static_cast<Index>(b.singular_values.size());
  });
  if (bounded > 0) add(caption, plural(bounded, "rank") + " may be lower than shown");
  return body;
}

namespace {

Body rank(const PanelInputs& in, std::string& caption, Run& run) {
  const auto settings = read_settings<RankSettings>(in.settings);
  const RankSubject what = settings.of;
  if (what == RankSubject::error && is_exact(in))
    return Message{"The error of exact attention is zero by definition: every block has rank 0."};
  const RankWindow window = rank_window(in.computation.op->plan().lengths, in.rows, in.cols);
  if (!is_exact(in) && (what == RankSubject::unnormalised || what == RankSubject::logits))
    add(caption, "of the head itself: the same for every variant");
  // Logits exist for every pair.
  const bool causal = in.exact.op->problem().causal && what != RankSubject::logits;
  return rank_body({window, causal, entries_of(in.computation, in.exact, what, run), name_of(what)},
                   settings, in.backend, caption, run);
}

Body matrix_rank(MatrixView a, const MatrixFrame& frame, const Backend& backend,
                 std::string& caption, Run& run) {
  const auto entries = [&](IndexRange rows, IndexRange cols) {
    Matrix block(rows.size(), cols.size());
    for (Index i = 0; i < rows.size(); ++i)
      std::copy_n(a.row(rows.begin + i) + cols.begin, cols.size(), block.row(i));
    return block;
  };
  return rank_body(
      {rank_window({a.rows, a.cols}, frame.grid.rows, frame.grid.cols), false, entries, "P"},
      read_settings<RankSettings>(frame.settings), backend, caption, run);
}

/// Finds the ranks at another tolerance from the singular values that the map holds.
void set_rank_tolerance(Panel& panel, const ViewSettings& settings) {
  auto* body = std::get_if<BlockMap>(&panel.body);
  if (!body) return;
  const double tolerance = read_settings<RankSettings>(settings).tolerance;
  const std::string before = compression_words(*body);
  set_tolerance(body->map, tolerance, false);
  count_entries(*body);
  const std::size_t words = body->quantity.rfind(" at ε");
  body->quantity = body->quantity.substr(0, words) + tolerance_words(tolerance);
  if (const std::size_t at = panel.caption.find(before); at != std::string::npos)
    panel.caption.replace(at, before.size(), compression_words(*body));
}

}  // namespace
}  // namespace fovea::views

namespace fovea {

RankColour rank_colour(const ViewSettings& settings) {
  return read_settings<views::RankSettings>(settings).colour;
}

double rank_share(const BlockMap& blocks, const RankBlock& block, RankColour colour) {
  const double dense = dense_entries(blocks.map, block);
  if (!(dense > 0)) return 0;
  return colour == RankColour::rank
             ? block.rank / static_cast<double>(std::min(block.rows.size(), block.cols.size()))
             : stored_entries(blocks.map, block) / dense;
}

std::string name_of_share(RankColour colour) {
  return colour == RankColour::rank ? "share of full rank" : "share of entries stored";
}

ViewKind rank_view() {
  return {.id = "rank",
          .label = "Rank",
          .meaning =
              "The numerical rank of blocks of P at a tolerance ε: a low rank off the diagonal is "
              "what hierarchical attention relies on.",
          .make = views::rank,
          .needs_exact = true,
          .needs_entries = true,
          .takes_long = true,
          .has_blocks = true,
          .has_keys = true,
          .has_colours = true,
          .of_matrix = views::matrix_rank,
          .at_first = ViewKind::AtFirst::in_room,
          .fields = fields_of<views::RankSettings>(),
          .shortcut = ViewKind::Shortcut{"rank_tolerance", views::set_rank_tolerance}};
}

}  // namespace fovea
