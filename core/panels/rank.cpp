#include <algorithm>

#include "panels/panels.h"
#include "panels/rank_subject.h"

namespace fovea::panels {
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
std::string compression_words(const BlockMap& body) {
  if (body.stored == 0) return "nothing to store: every block has rank 0";
  return body.compression < 1.005
             ? "low rank at ε saves nothing"
             : "low rank at ε stores " + format_number(body.compression) + " × fewer numbers";
}

void replace_end(std::string& text, const std::string& end, const std::string& by) {
  if (text.ends_with(end)) text.replace(text.size() - end.size(), end.size(), by);
}

}  // namespace

RankWindow rank_window(Lengths lengths, IndexRange rows, IndexRange cols) {
  if (std::max(lengths.queries, lengths.keys) <= largest_window)
    return {lengths, {0, lengths.queries}, {0, lengths.keys}};
  if (!lengths.equal()) return {lengths, rows, cols};
  const IndexRange both{std::min(rows.begin, cols.begin), std::max(rows.end, cols.end)};
  return {lengths, both, both};
}

Body rank_body(const RankWindow& window, bool causal, const Entries& entries,
               const ViewSettings& settings, const std::string& name, const Backend& backend,
               std::string& caption, Run& run) {
  const Lengths lengths = window.lengths;
  const IndexRange window_rows = window.rows, window_cols = window.cols;
  const Index side = std::max(window_rows.size(), window_cols.size());
  if (side > largest_window)
    return Message{"A rank map covers at most " + std::to_string(largest_window) +
                   " tokens: zoom in (the view spans " + std::to_string(side) + ")."};
  const auto from = [](IndexRange r, IndexRange all) {
    return IndexRange{r.begin + all.begin, r.end + all.begin};
  };
  RankOptions options{.leaf = std::max<Index>(1, settings.rank_leaf),
                      .tolerance = settings.rank_tolerance,
                      .relative = false,
                      .partition = lengths.equal() ? settings.rank_partition : Partition::uniform,
                      .causal = causal};
  BlockMap body;
  body.map = map_ranks(
      {window_rows.size(), window_cols.size()},
      [&](IndexRange rows, IndexRange cols) {
        return entries(from(rows, window_rows), from(cols, window_cols));
      },
      options, backend, run);
  body.map.lengths = lengths;
  for (RankBlock& b : body.map.blocks)
    b.rows = from(b.rows, window_rows), b.cols = from(b.cols, window_cols);
  count_entries(body);
  body.quantity = "numerical rank of " + name + tolerance_words(settings.rank_tolerance);
  const auto from_to = [](IndexRange r) {
    return std::to_string(r.begin) + " to " + std::to_string(r.end - 1);
  };
  const bool part = window_rows.size() < lengths.queries || window_cols.size() < lengths.keys;
  if (part && lengths.equal() && window_rows == window_cols)
    add(caption, "tokens " + from_to(window_rows));
  else if (part)
    add(caption, "queries " + from_to(window_rows) + ", keys " + from_to(window_cols));
  if (options.partition != settings.rank_partition)
    add(caption, "uniform blocks: a hierarchy needs as many queries as keys");
  if (const std::string note = note_of(body.map); !note.empty()) add(caption, note);
  const auto bounded = std::ranges::count_if(body.map.blocks, [](const RankBlock& b) {
    return b.resolved < static_cast<Index>(b.singular_values.size());
  });
  if (bounded > 0)
    add(caption, bounded == 1 ? "1 rank is an upper bound"
                              : std::to_string(bounded) + " ranks are upper bounds");
  add(caption, compression_words(body));
  return body;
}

Body rank(const PanelInputs& in, std::string& caption, Run& run) {
  const RankSubject what = in.settings.rank_of;
  if (what == RankSubject::error && is_exact(in))
    return Message{"The error of exact attention is zero by definition: every block has rank 0."};
  const RankWindow window = rank_window(in.computation.op->plan().lengths, in.rows, in.cols);
  if (!is_exact(in) && (what == RankSubject::unnormalised || what == RankSubject::logits))
    add(caption, "of the head itself: the same for every variant");
  // Logits exist for every pair.
  const bool causal = in.exact.op->problem().causal && what != RankSubject::logits;
  return rank_body(window, causal, entries_of(in.computation, in.exact, what, run), in.settings,
                   name_of(what), in.backend, caption, run);
}

}  // namespace fovea::panels

namespace fovea {

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

void set_rank_tolerance(Panel& panel, double tolerance) {
  auto* body = std::get_if<BlockMap>(&panel.body);
  if (!body) return;
  const std::string before = panels::compression_words(*body);
  set_tolerance(body->map, tolerance, false);
  panels::count_entries(*body);
  panels::replace_end(panel.caption, before, panels::compression_words(*body));
  const std::size_t words = body->quantity.rfind(" at ε");
  body->quantity = body->quantity.substr(0, words) + panels::tolerance_words(tolerance);
}

}  // namespace fovea
