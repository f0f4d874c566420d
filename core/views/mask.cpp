// The pairs that a plan computes, in tiles of a kernel.
#include <algorithm>
#include <cmath>

#include "analysis/block_mask.h"
#include "analysis/support.h"
#include "views/parts.h"

namespace fovea::views {
namespace {

struct MaskSettings {
  Index block = 16;

  static std::vector<TypedViewField<MaskSettings>> fields() {
    return {
        {size_field<MaskSettings>("mask_block", "Tiles", "tokens", &MaskSettings::block, 1,
                                  largest_side, "Side of the mask's blocks, in tokens", sixteenth),
         "Mas&k blocks"}};
  }
};

// What a pixel shows. If a pixel is a pair, `mixed` is a pair without weight in a mixed tile, and
// `kept` a pair with weight.
enum Category { empty, mixed, full, cluster_mean, kept };

struct Tiles {
  Matrix fill;  // share of each block x block tile that is covered
  Index block = 1;
  IndexRange rows, cols;  // whole tiles
  Index full = 0, mixed = 0, empty = 0, cluster_means = 0;
  double covered = 0, touched = 0, all = 0;  // pairs

  const float* row_of(Index query) const { return fill.row((query - rows.begin) / block); }
  std::size_t column_of(Index key) const { return (key - cols.begin) / block; }
};

// Tiles begin at multiples of their side, so that they stay put when the view moves.
Tiles tiles_of(const PanelInputs& in, Index block, const std::stop_token& stop) {
  const Plan& plan = in.computation.op->plan();
  const auto whole = [&](IndexRange r, Index count) {
    return IndexRange{r.begin / block * block,
                      std::min(count, (r.end + block - 1) / block * block)};
  };
  Tiles tiles{.fill = {},
              .block = block,
              .rows = whole(in.rows, plan.queries()),
              .cols = whole(in.cols, plan.keys())};
  tiles.fill = block_fill(plan, tiles.rows, tiles.cols, block, stop);
  for (Index r = 0; r < tiles.fill.rows(); ++r)
    for (Index c = 0; c < tiles.fill.cols(); ++c) {
      const double area = static_cast<double>(std::min(block, tiles.rows.size() - r * block)) *
                          static_cast<double>(std::min(block, tiles.cols.size() - c * block));
      const double share = static_cast<double>(tiles.fill(r, c));
      ++(share == 0 ? tiles.empty : share < 1 ? tiles.mixed : tiles.full);
      tiles.all += area;
      tiles.covered += share * area;
      if (share > 0) tiles.touched += area;
    }
  return tiles;
}

// The key level of each pair; -1 if the pair has no weight, 1 for a tree's means. The keys ascend.
Matrix levels(const PanelInputs& in, const std::vector<Index>& queries,
              const std::vector<Index>& keys, Run& run) {
  const Plan& plan = in.computation.op->plan();
  const bool means = plan.as<NodePlan>() != nullptr;
  const Support support(plan);
  const IndexRange window{keys.front(), keys.back() + 1};
  Matrix out = Matrix::unwritten(std::ssize(queries), std::ssize(keys));
  std::vector<float> owner(window.size());
  for (Index r = 0; r < out.rows(); ++r) {
    run.check();
    std::ranges::fill(owner, -1.0f);
    support.for_parts(queries[r], window, [&](const Support::Part& part) {
      std::fill_n(owner.begin() + (part.keys.begin - window.begin), part.keys.size(),
                  means ? 1.0f : static_cast<float>(part.pass->key_level));
    });
    for (Index c = 0; c < out.cols(); ++c)
      out(r, c) = owner[static_cast<std::size_t>(keys[c] - window.begin)];
  }
  return out;
}

// Marks a tile by the level of the pair at its centre.
void tell_cluster_means_apart(const PanelInputs& in, Tiles& tiles, Run& run) {
  const auto centres = [&](IndexRange tokens) {
    std::vector<Index> out;
    for (Index begin = tokens.begin; begin < tokens.end; begin += tiles.block)
      out.push_back((begin + std::min(begin + tiles.block, tokens.end)) / 2);
    return out;
  };
  const Matrix level = levels(in, centres(tiles.rows), centres(tiles.cols), run);
  for (Index r = 0; r < level.rows(); ++r)
    for (Index c = 0; c < level.cols(); ++c)
      if (tiles.fill(r, c) == 1 && level(r, c) > 0) --tiles.full, ++tiles.cluster_means;
}

Category category(float share, float level, bool elements) {
  if (share == 0) return empty;
  if (level > 0 && (elements || share == 1)) return cluster_mean;
  if (share == 1) return full;
  return elements && level == 0 ? kept : mixed;
}

std::string count_words(const Tiles& tiles) {
  std::string out;
  for (const auto& [count, name] : {std::pair{tiles.full, " full"},
                                    {tiles.mixed, " mixed"},
                                    {tiles.cluster_means, " cluster-mean"},
                                    {tiles.empty, " empty"}})
    if (count > 0) out += (out.empty() ? "" : ", ") + std::to_string(count) + name;
  return out + " tiles";
}

// Adds the mass that each row drops as a strip beside the tiles, and its mean in words.
void add_dropped(const Metrics& metrics, Raster& raster, std::string& caption) {
  double most = 0;
  for (const float share : metrics.dropped_mass)
    if (!std::isnan(share)) most = std::max(most, static_cast<double>(share));
  constexpr double worth_telling = 5e-4;
  const bool defined = !std::isnan(metrics.mass_kept.value);
  if (!defined) add(caption, "mass dropped: not defined");
  if (most < worth_telling) return;
  raster.row_values.assign(metrics.dropped_mass.begin() + raster.rows.begin,
                           metrics.dropped_mass.begin() + raster.rows.end);
  raster.row_quantity = "mass dropped of the row";
  if (defined)
    add(caption, rounded_percent(1 - metrics.mass_kept.value, metrics.mass_kept) +
                     " of mass dropped; strip: by row, median " +
                     rounded_percent(metrics.dropped_mass_p50.value, metrics.dropped_mass_p50) +
                     ", most " + rounded_percent(most));
  else
    add(caption, "strip: of finite rows, most " + rounded_percent(most));
  if (metrics.sampled()) caption += " (" + std::to_string(metrics.rows) + " rows sampled)";
}

Body mask(const PanelInputs& in, std::string& caption, Run& run) {
  run.check();
  const Plan& plan = in.computation.op->plan();
  const Index side = std::max(in.rows.size(), in.cols.size());
  Index block = read_settings<MaskSettings>(in.settings).block;
  while (side > block * in.max_pixels) block *= 2;  // a tile has at least one pixel
  const bool elements = side <= in.max_pixels;      // a pixel is a pair
  Tiles tiles = tiles_of(in, block, run.stop);
  tell_cluster_means_apart(in, tiles, run);
  const Grid grid(in.rows, in.cols, in.max_pixels);
  Raster raster;
  raster.rows = in.rows;
  raster.cols = in.cols;
  raster.palette = Palette::categories;
  // A pixel that is a single pair says whether that pair is attended.
  raster.categories = {"empty", elements ? "not attended" : "mixed", "full", "cluster mean"};
  if (elements) raster.categories.emplace_back("attended");
  raster.high = raster.categories.size() - 1;
  const std::string sides = std::to_string(block) + " × " + std::to_string(block);
  raster.quantity = "tiles of " + sides;
  std::vector<Index> queries, keys;
  for (Index r = 0; r < grid.down; ++r) queries.push_back(grid.row_centre(r));
  for (Index c = 0; c < grid.across; ++c) keys.push_back(grid.col_centre(c));
  raster.values = levels(in, queries, keys, run);
  std::vector<std::size_t> columns(keys.size());
  std::ranges::transform(keys, columns.begin(), [&](Index key) { return tiles.column_of(key); });
  for (Index r = 0; r < grid.down; ++r) {
    const float* shares = tiles.row_of(queries[r]);
    float* values = raster.values.row(r);
    for (std::size_t c = 0; c < columns.size(); ++c)
      values[c] = static_cast<float>(category(shares[columns[c]], values[c], elements));
  }
  const std::string part = shown_part(in), apart = part.empty() ? " · " : ", ";
  std::string words = part + "density " + format_number(tiles.covered / tiles.all, 2, Zeros::keep) +
                      apart + count_words(tiles);
  if (tiles.mixed > 0)
    words += apart + "a block-sparse kernel " +
             (plan.groups.kind.empty() ? "" : "in token order ") + "with " + sides +
             " tiles would discard " + rounded_percent(1 - tiles.covered / tiles.touched);
  add(caption, words);
  if (in.metrics) add_dropped(*in.metrics, raster, caption);
  return raster;
}

}  // namespace
}  // namespace fovea::views

namespace fovea {

ViewKind mask_view() {
  return {.id = "mask",
          .label = "Mask",
          .meaning =
              "Which pairs an attention computes, in tiles: all of a tile, some of it, a mean over "
              "a cluster, or nothing.",
          .make = views::mask,
          .metrics = ViewKind::Uses::always,
          .shows_plan_only = true,
          .tells_plan_notes = true,
          .has_keys = true,
          .has_colours = true,
          .at_first = ViewKind::AtFirst::in_room,
          .fields = fields_of<views::MaskSettings>()};
}

}  // namespace fovea
