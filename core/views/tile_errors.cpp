// Which tiles of queries and keys make the output wrong.
#include "analysis/tile_errors.h"

#include <algorithm>
#include <cmath>

#include "analysis/wrong_rows.h"
#include "views/parts.h"

namespace fovea::views {
namespace {

struct TileErrorSettings {
  TileQuestion question = TileQuestion::cause;
  Index queries = 0, keys = 0;

  static std::vector<TypedViewField<TileErrorSettings>> fields() {
    using S = TileErrorSettings;
    const auto side = [](std::string id, std::string label, Index S::*member, std::string of) {
      return int_field<S, Index>(
          std::move(id), std::move(label), "tokens", member, 0, largest_side, Axis::log2,
          "The number of " + of +
              " in a tile. 0 takes the column's own blocks or lists, or else 64, and a sixteenth "
              "of a short head");
    };
    return {{choice_field<S>("tile_error", "Tiles show", &S::question, {"cause", "share"},
                             "Which tiles of a kernel are wrong, or what each adds to the error of "
                             "z: of one that was left out, the first shows it alone, the second "
                             "also what that changed in the other weights of its queries"),
             "Tile errors &show",
             {{"cause", "which tile is wrong"}, {"share", "share of the error of z"}}},
            {side("tile_queries", "Queries", &S::queries, "queries"), "Tile &queries"},
            {side("tile_keys", "Keys", &S::keys, "keys"), "Tile ke&ys"}};
  }
};

/// The blocks that the settings of a column name.
std::optional<Lengths> own_blocks(const Computation& of) {
  const auto size = [&](const char* id) -> std::optional<Index> {
    const Schema& schema = of.variant->schema;
    const auto field = std::ranges::find(schema, id, &Field::id);
    if (field == schema.end() || !is_used(*field, schema, of.values)) return {};
    const auto* its = std::get_if<std::int64_t>(&of.values[field - schema.begin()]);
    return its ? std::optional<Index>(*its) : std::nullopt;
  };
  if (const auto queries = size("query_block"), keys = size("key_block"); queries && keys)
    return Lengths{*queries, *keys};
  for (const char* id : {"block", "page"})
    if (const auto both = size(id)) return Lengths{*both, *both};
  return {};
}

/// Those of the lists that a file keeps.
std::optional<Lengths> listed_blocks(const Computation& of) {
  const auto* imported = of.op->plan().as<ImportedPlan>();
  const auto& results = of.op->problem().imported;
  if (!imported || !results) return {};
  const SelectionTensors& kept = results->named(imported->result->name).kept;
  if (!kept.present() || kept.block == Lengths{1, 1}) return {};
  return kept.block;
}

Lengths tile_of(const PanelInputs& in, const TileErrorSettings& settings) {
  const Lengths all = in.computation.op->plan().lengths;
  constexpr Index usual = 64, short_head = 4 * usual;
  const auto standard = [](Index n) { return n < short_head ? sixteenth(n) : usual; };
  Lengths tile{standard(all.queries), standard(all.keys)};
  if (const auto own = own_blocks(in.computation)) tile = *own;
  if (const auto listed = listed_blocks(in.computation)) tile = *listed;
  if (settings.queries > 0) tile.queries = settings.queries;
  if (settings.keys > 0) tile.keys = settings.keys;
  return {std::clamp<Index>(tile.queries, 1, all.queries),
          std::clamp<Index>(tile.keys, 1, all.keys)};
}

std::string tokens_text(const char* side, IndexRange tokens) {
  return std::string(side) + " " + std::to_string(tokens.begin) +
         (tokens.size() == 1 ? "" : " to " + std::to_string(tokens.end - 1));
}

std::string cause_text(const WorstTile& worst) {
  const std::string others = worst.others == 0 ? "" : " with " + plural(worst.others, "other tile"),
                    tail = " " + rounded_percent(worst.explained) + " of the error of its queries";
  // Rounding of z and of the fit, seen in files of 16 bits.
  constexpr double near_zero = 0.02;
  if (std::abs(worst.factor) < near_zero) return "leaving it out" + others + " explains" + tail;
  return "its weights times " + format_number(worst.factor, 2) + others + " explain" + tail;
}

/// Where the error is largest, what explains it, and how the wrong tiles of a kernel lie.
void add_worst(const TileErrors& found, bool of_kernel, std::string& caption) {
  const WorstTile& worst = found.worst;
  const bool is_given = found.measure == TileMeasure::explained,
             of_a_tile = is_given ? worst.explained >= TileErrors::mostly
                                  : found.measure != TileMeasure::rows;
  if (worst.error == 0) return add(caption, is_given ? "rounding explains every row" : "no error");
  add(caption,
      (std::isinf(worst.error) ? "not finite" : "largest error " + format_number(worst.error, 2)) +
          " in " + tokens_text("queries", worst.queries) +
          (of_a_tile ? ", " + tokens_text("keys", worst.keys) : ""));
  if (is_given && !std::isinf(worst.error))
    add(caption, of_a_tile ? cause_text(worst)
                           : "no few tiles explain it: all tiles of its queries have it");
  if (of_kernel && found.all_bands && found.wrong_bands.size() > 1)
    add(caption, (is_given ? "wrong in " : "half of that or more in ") +
                     place_text(found.wrong_bands, found.bands, " of tiles"));
}

void add_words(const PanelInputs& in, const TileErrors& found, Lengths tile, std::string& caption) {
  std::string worst;
  add_worst(found, is_read(in.computation.op->plan()), worst);
  add(caption, shown_part(in) + worst);
  add(caption, "tiles of " + plural(tile.queries, "query") + " and " + plural(tile.keys, "key"));
  if (found.measure == TileMeasure::rows)
    add(caption, "the file holds z without weights: which keys an error came from is not known");
  if (found.measure == TileMeasure::scaled)
    add(caption, "rows are scaled so that most of their weight is exact");
  if (found.rows_read < found.rows)
    add(caption, "estimated from " + std::to_string(found.rows_read) + " of " +
                     std::to_string(found.rows) + " rows, the worst ones among them");
  if (!in.diagnostics || found.measure != TileMeasure::explained) return;
  for (const std::string& sentence : sentences_of(*in.diagnostics))
    if (sentence.starts_with("z is ")) add(caption, sentence);
}

Body tile_errors_body(const PanelInputs& in, std::string& caption, Run& run) {
  run.check();
  if (!in.exact.op->problem().has_values())
    return Message{"There are no outputs Z = P V: " + std::string(no_values) + "."};
  if (!in.computation.applied() || !in.exact.applied())
    return Message{"Z is not computed yet: only P is known, as far as it is looked at."};
  if (is_exact(in)) return error_of_exact(in);
  const auto settings = read_settings<TileErrorSettings>(in.settings);
  const Lengths tile = tile_of(in, settings);
  const Grid grid(in.rows, in.cols, in.max_pixels);
  TileErrors found = tile_errors(
      {*in.computation.op, in.computation.output, *in.exact.op, in.exact.output, in.backend},
      settings.question, {tile, in.rows, in.cols, grid.down, grid.across}, run);
  add_words(in, found, tile, caption);
  Raster raster = weight_raster({std::move(found.errors), {}}, {},
                                {grid, in.settings, &in.computation.op->plan()});
  raster.pooled = Pool::Kind::max;
  raster.norm = in.settings.norm == Norm::log ? Norm::log : Norm::linear;
  raster.quantity = "error of z by tile / ‖z‖";
  float most = 0;
  for (const float error : found.of_queries)
    if (error > most) most = error;
  if (most > 0) {
    raster.row_values = std::move(found.of_queries);
    raster.row_top = static_cast<double>(most);
    raster.row_quantity =
        found.against_own ? "|z − what its own pairs give|" : "output error |z̃ − z|";
  }
  return raster;
}

}  // namespace
}  // namespace fovea::views

namespace fovea {

ViewKind tile_errors_view() {
  return {.id = "tiles",
          .label = "Tile errors",
          .meaning =
              "Which tiles of queries and keys make the output wrong: what leaving a tile out, or "
              "counting it too much, explains of the error of a given z, or else what its weights "
              "add to the error. A strip beside it has the output error of each query.",
          .make = views::tile_errors_body,
          .needs_exact = true,
          .needs_outputs = true,
          .takes_long = true,
          .uses_diagnostics = true,
          .zero_of_exact = true,
          .has_norm = true,
          .has_keys = true,
          .has_colours = true,
          .hover_name = "tile error",
          .fields = fields_of<views::TileErrorSettings>()};
}

}  // namespace fovea
