// Bodies in token coordinates: numbers over rasters, rank maps, the output as a picture.
#include <algorithm>
#include <cmath>

#include "canvas/bodies.h"

namespace fovea::canvas {
namespace {

constexpr double cell_for_numbers = 28;  // pixels

IndexRange visible(double begin, double end, IndexRange covered) {
  return {std::max(static_cast<Index>(std::floor(begin)), covered.begin),
          std::min(static_cast<Index>(std::ceil(end)), covered.end)};
}

}  // namespace

void draw_body(const BodyDrawing& d, const Raster& raster) {
  const TokenAxis down = d.scene.queries(d.where), across = d.scene.keys(d.where);
  const double cell = std::min(down.cell(), across.cell());
  const bool exact_cells =
      raster.values.rows() == raster.rows.size() && raster.values.cols() == raster.cols.size();
  if (cell < cell_for_numbers || !exact_cells || raster.palette == Palette::categories) return;
  const ColourRange range =
      range_in(d.scene.scales[static_cast<std::size_t>(d.row)], raster, d.scene.model.settings);
  const IndexRange rows = visible(down.begin, down.end, raster.rows);
  const IndexRange cols = visible(across.begin, across.end, raster.cols);
  for (Index r = rows.begin; r < rows.end; ++r)
    for (Index c = cols.begin; c < cols.end; ++c) {
      const double value = *value_at(raster, r, c);
      if (!std::isfinite(value)) continue;
      std::string text = compact_number(value, cell >= 46 ? 4 : 3);
      if (d.ink.width(Face::small, text) > cell - 3) text = compact_number(value, 2);
      if (d.ink.width(Face::small, text) > cell - 2) continue;
      const Point centre{across.pixel(static_cast<double>(c) + 0.5),
                         down.pixel(static_cast<double>(r) + 0.5)};
      d.ink.write_centred(Face::small, centre, readable_on(range.colour(value)), text);
    }
}

void draw_body(const BodyDrawing& d, const BlockMap& blocks) {
  const TokenAxis down = d.scene.queries(d.where), across = d.scene.keys(d.where);
  const Colormap& map = colormap_for(Palette::ranks, d.scene.model.settings.colormap);
  const ImFont* font = d.ink.fonts[Face::body];
  for (const RankBlock& block : blocks.map.blocks) {
    const float x = across.pixel(static_cast<double>(block.cols.begin));
    const float y = down.pixel(static_cast<double>(block.rows.begin));
    const Rect box{x, y, across.pixel(static_cast<double>(block.cols.end)) - x,
                   down.pixel(static_cast<double>(block.rows.end)) - y};
    if (box.intersected(d.where).empty()) continue;
    const double share = rank_share(blocks, block, d.scene.model.settings.rank_colour);
    const Rgb colour = map.steps[static_cast<std::size_t>(std::clamp(share * 255, 0.0, 255.0))];
    d.ink.fill(box, colour_of(colour));
    const float side = std::min(box.width, box.height);
    if (side >= 4) d.ink.frame({x, y, box.width + 1, box.height + 1}, IM_COL32(60, 40, 30, 150));
    const std::string text = std::to_string(block.rank);
    const float size = std::min(side * 0.42f, 15.0f);
    const float width = d.ink.width(Face::body, text) * size / d.ink.fonts.size(Face::body);
    if (size < 8 || width > box.width - 4) continue;
    d.ink.list.AddText(font, size, {box.centre().x - width / 2, box.centre().y - size / 2},
                       readable_on(colour), text.c_str());
  }
}

Rect picture_place(const OutputPicture& picture, const Rect& panel) {
  if (picture.rows <= 0 || picture.cols <= 0) return {};
  const Rect room = panel.inset(6);
  const float scale = std::min(room.width / static_cast<float>(picture.cols),
                               room.height / static_cast<float>(picture.rows));
  const float w = scale * static_cast<float>(picture.cols),
              h = scale * static_cast<float>(picture.rows);
  return {std::round(room.centre().x - w / 2), std::round(room.centre().y - h / 2), w, h};
}

void draw_body(const BodyDrawing& d, const OutputPicture& picture) {
  const Rect place = picture_place(picture, d.where);
  if (place.empty() || picture.rgb.empty()) return draw_body(d, Message{"no output picture"});
  d.ink.list.AddImage(d.scene.picture(d.panel), {place.x, place.y},
                      {place.right(), place.bottom()});
  const auto& grid = d.scene.model.sequence->grid;
  if (!grid) return;
  const auto patch = [&](Index token) -> std::optional<Rect> {
    const Index p = token - grid->prefix;
    if (p < 0 || p >= grid->rows * grid->cols) return {};
    const float w = place.width / static_cast<float>(grid->cols);
    const float h = place.height / static_cast<float>(grid->rows);
    return Rect{place.x + w * static_cast<float>(p % grid->cols),
                place.y + h * static_cast<float>(p / grid->cols), w, h};
  };
  const auto outline = [&](Index token, ImU32 colour) {
    const auto box = patch(token);
    if (!box) return;
    d.ink.frame(box->inset(-1), IM_COL32(0, 0, 0, 160), 1);
    d.ink.frame(*box, colour, 1.5f);
  };
  if (d.scene.model.pinned_query) outline(*d.scene.model.pinned_query, d.ink.theme.pinned);
  outline(d.scene.pointer.key, d.ink.theme.keys);
  outline(d.scene.pointer.query, IM_COL32(255, 255, 255, 255));
}

}  // namespace fovea::canvas
