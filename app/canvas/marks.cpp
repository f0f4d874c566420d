// What all panels share: crosshair, pinned row, marked tokens, selection, and the words at the
// cursor.
#include <algorithm>
#include <cmath>

#include "canvas/bodies.h"

namespace fovea::canvas {
namespace {

constexpr ImU32 light = IM_COL32(255, 255, 255, 225), shadow = IM_COL32(0, 0, 0, 110);

/// Seen on any colour: light on a dark seam. A wide cell is framed, a narrow one struck through.
void mark_line(const Ink& ink, const Rect& where, const TokenAxis& axis, Index token, bool across,
               ImU32 colour) {
  const float a = axis.pixel(static_cast<double>(token)),
              b = axis.pixel(static_cast<double>(token) + 1);
  const auto stroke = [&](float at) {
    at = std::round(at);
    if (across) {
      ink.fill({where.x, at - 1, where.width, 3}, shadow);
      ink.fill({where.x, at, where.width, 1}, colour);
    } else {
      ink.fill({at - 1, where.y, 3, where.height}, shadow);
      ink.fill({at, where.y, 1, where.height}, colour);
    }
  };
  if (b - a < 7) return stroke(std::floor((a + b) / 2));
  stroke(a);
  stroke(b - 1);
}

void frame_pairs(const Ink& ink, const Scene& scene, const Rect& where, IndexRange rows,
                 IndexRange cols) {
  const TokenAxis down = scene.queries(where), over = scene.keys(where);
  const float x = over.pixel(static_cast<double>(cols.begin)),
              y = down.pixel(static_cast<double>(rows.begin));
  const Rect box{x, y, over.pixel(static_cast<double>(cols.end)) - x,
                 down.pixel(static_cast<double>(rows.end)) - y};
  ink.fill(box, faded(ink.theme.accent, 0.18f));
  ink.frame(box.inset(-1), shadow, 3);
  ink.frame(box.inset(-1), IM_COL32(255, 255, 255, 255), 1.25f);
}

void draw_selection(const Ink& ink, const Scene& scene, const Rect& where) {
  if (scene.dragged)
    return frame_pairs(ink, scene, where, scene.dragged->first, scene.dragged->second);
  const auto& begin = scene.model.selection_begin;
  const auto& end = scene.model.selection_end;
  if (begin && end)
    frame_pairs(ink, scene, where, {begin->first, end->first}, {begin->second, end->second});
}

/// Bands of tokens at an edge and, where they shall be followed, faintly across.
void draw_marked(const Ink& ink, const Rect& where, const TokenAxis& axis,
                 const std::vector<Index>& tokens, bool rows, ImU32 colour, bool across) {
  if (tokens.empty()) return;
  ink.fill(rows ? Rect{where.x, where.y, 5, where.height} : Rect{where.x, where.y, where.width, 5},
           ink.theme.tip);  // seen on any colours
  for (const auto& [a, b] : spans(axis, tokens)) {
    const Rect band =
        rows ? Rect{where.x, a, where.width, b - a} : Rect{a, where.y, b - a, where.height};
    const Rect edge = rows ? Rect{where.x, a, 4, b - a} : Rect{a, where.y, b - a, 4};
    if (across) ink.fill(band, faded(colour, 0.2f));
    ink.fill(edge, colour);
  }
}

/// The tiles of a leaf: where its queries meet its keys.
void draw_marked_tiles(const Ink& ink, const Scene& scene, const Rect& where) {
  constexpr std::size_t most = 4096;  // of finely scattered tokens the bands tell enough
  const auto down = spans(scene.queries(where), scene.model.marked_queries);
  const auto over = spans(scene.keys(where), scene.model.marked_keys);
  if (down.size() * over.size() > most) return;
  for (const auto& [top, bottom] : down)
    for (const auto& [left, right] : over) {
      const Rect tile{left, top, right - left, bottom - top};
      ink.fill(tile, faded(ink.theme.marked, 0.5f));
      if (tile.width > 6 && tile.height > 6) ink.frame(tile, ink.theme.marked);
    }
}

std::string token_words(const Ink& ink, const Scene& scene, const char* what, Index token) {
  const std::string label = scene.model.sequence->label(token);
  std::string words = std::string(what) + " " + std::to_string(token);
  if (label != std::to_string(token))
    words += "  " + ink.elided(Face::small, ink.fonts.readable(label), 140);
  return words;
}

float standard_error_at(const Raster& raster, Index query, Index key) {
  return raster.standard_error(pixel_of(raster.rows, raster.values.rows(), query),
                               pixel_of(raster.cols, raster.values.cols(), key));
}

std::string value_words(const Raster& raster, Index query, Index key) {
  const auto value = value_at(raster, query, key);
  if (!value) return "not computed yet";
  if (raster.palette == Palette::categories) {
    const auto c = static_cast<std::size_t>(std::max(0.0f, *value));
    return std::isfinite(*value) && c < raster.categories.size() ? raster.categories[c] : "masked";
  }
  if (std::isinf(*value) && *value < 0) return "masked";
  std::string words = number(*value);
  const Index down = raster.rows.size() / std::max<Index>(1, raster.values.rows());
  const Index over = raster.cols.size() / std::max<Index>(1, raster.values.cols());
  if (raster.pooled != Pool::Kind::none && down * over > 1)
    words += std::string(raster.pooled == Pool::Kind::max ? "  max" : "  mean") + " of " +
             std::to_string(down) + " × " + std::to_string(over);
  if (!raster.standard_error.empty())
    if (const float error = standard_error_at(raster, query, key); error > 0)
      words += "  ± " + number(error);
  return words;
}

std::string block_words(const BlockMap& blocks, Index query, Index key) {
  for (const RankBlock& b : blocks.map.blocks)
    if (b.rows.contains(query) && b.cols.contains(key))
      return "rank " + std::to_string(b.rank) + " of " +
             std::to_string(std::min(b.rows.size(), b.cols.size())) + ", block " +
             std::to_string(b.rows.size()) + " × " + std::to_string(b.cols.size());
  return "";
}

std::string curve_words(const RowCurve& row, Index key) {
  if (!row.keys.contains(key)) return "";
  const auto at = [&](const std::vector<float>& values) {
    return values[static_cast<std::size_t>(
        pixel_of(row.keys, static_cast<Index>(values.size()), key))];
  };
  std::string words;
  if (!row.exact.empty()) words = "exact " + number(at(row.exact));
  if (!row.approximate.empty()) words += "  approx. " + number(at(row.approximate));
  return words;
}

std::string strip_words(const Strip& strip, Index query) {
  const auto q = static_cast<std::size_t>(query);
  return q < strip.values.size() ? number(strip.values[q]) : "";
}

std::string leaf_words(const LeafSizes& leaves, IndexRange chosen) {
  const Index begin = chosen.begin / leaves.together, end = chosen.end / leaves.together;
  const auto count = [&](const std::vector<Index>& sizes) {
    Index sum = 0;
    for (Index l = begin; l < std::min(end, static_cast<Index>(sizes.size())); ++l)
      sum += sizes[static_cast<std::size_t>(l)];
    return std::to_string(sum);
  };
  const std::string plural = leaves.kind == "leaf" ? "leaves" : leaves.kind + "s";
  const std::string which = chosen.size() == 1 ? leaves.kind + " " + std::to_string(chosen.begin)
                                               : plural + " " + std::to_string(chosen.begin) + "–" +
                                                     std::to_string(chosen.end - 1);
  return which + ": " + count(leaves.queries) + " queries, " + count(leaves.keys) + " keys";
}

std::vector<std::string> tooltip_lines(const Ink& ink, const Scene& scene, const Panel& panel) {
  const Pointer& p = scene.pointer;
  if (const auto* leaves = std::get_if<LeafSizes>(&panel.body)) {
    std::vector<std::string> words;
    if (scene.grid.side() < least_width_for_figures)
      for (const Diagnostic& figure : leaves->figures)
        words.push_back(figure.label + ": " + number(figure.value));
    if (p.leaves.size() > 0) words.push_back(leaf_words(*leaves, p.leaves));
    return words;
  }
  std::vector<std::string> lines;
  if (const auto* table = std::get_if<FigureTable>(&panel.body))  // some may not fit into the panel
    for (const auto& [label, value] : table->rows) lines.push_back(label + ": " + value);
  if (p.query >= 0) lines.push_back(token_words(ink, scene, "query", p.query));
  if (p.key >= 0) lines.push_back(token_words(ink, scene, "key", p.key));
  std::string value;
  if (const auto* raster = std::get_if<Raster>(&panel.body))
    value = value_words(*raster, p.query, p.key);
  if (const auto* blocks = std::get_if<BlockMap>(&panel.body))
    value = block_words(*blocks, p.query, p.key);
  if (const auto* row = std::get_if<RowCurve>(&panel.body)) value = curve_words(*row, p.key);
  if (const auto* strip = std::get_if<Strip>(&panel.body)) value = strip_words(*strip, p.query);
  if (const std::string error = row_strip_words(scene, p.row, p.column); !error.empty())
    lines.push_back(error);
  if (!value.empty() && !lines.empty()) lines.push_back(value);
  return lines;
}

}  // namespace

std::string value_at_pointer(const Scene& scene, const Panel& panel) {
  const Pointer& p = scene.pointer;
  if (p.query < 0) return "";
  if (const auto* strip = std::get_if<Strip>(&panel.body)) return strip_words(*strip, p.query);
  if (p.key < 0) return "";
  const auto* raster = std::get_if<Raster>(&panel.body);
  if (!raster || !value_at(*raster, p.query, p.key)) return "";
  return value_words(*raster, p.query, p.key);
}

void draw_marks(const Ink& ink, const Scene& scene, const Rect& where, const Panel& panel) {
  if (scene.model.n <= 0) return;
  const bool down = has_query_axis(panel), over = has_key_axis(panel);
  const TokenAxis queries = scene.queries(where), keys = scene.keys(where);
  if (down)
    draw_marked(ink, where, queries, scene.model.marked_queries, true, ink.theme.marked, true);
  if (over) draw_marked(ink, where, keys, scene.model.marked_keys, false, ink.theme.marked, true);
  if (down && over) draw_marked_tiles(ink, scene, where);
  if (down) draw_marked(ink, where, queries, scene.found, true, ink.theme.keys, false);
  if (over) draw_marked(ink, where, keys, scene.found, false, ink.theme.keys, false);
  if (down && over) draw_selection(ink, scene, where);
  if (down && scene.model.pinned_query)
    mark_line(ink, where, queries, *scene.model.pinned_query, true, ink.theme.pinned);
  const Pointer& p = scene.pointer;
  if (down && p.query >= 0) mark_line(ink, where, queries, p.query, true, light);
  if (over && p.key >= 0) mark_line(ink, where, keys, p.key, false, light);
}

namespace {

void draw_tip(const Ink& ink, const std::vector<std::string>& lines, Point at) {
  float width = 0;
  for (const std::string& line : lines) width = std::max(width, ink.width(Face::small, line));
  Rect box{at.x + 16, at.y + 16, width + 16, 15 * static_cast<float>(lines.size()) + 9};
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  if (box.right() > size.x - 4) box.x = at.x - 12 - box.width;
  if (box.bottom() > size.y - 4) box.y = at.y - 12 - box.height;
  box.x = std::round(std::max(box.x, 4.0f));
  box.y = std::round(std::max(box.y, 4.0f));
  ink.fill(box, ink.theme.tip, 4);
  ink.frame(box, ink.theme.border, 1, 4);
  for (std::size_t i = 0; i < lines.size(); ++i)
    ink.write(Face::small, {box.x + 8, box.y + 5 + 15 * static_cast<float>(i)},
              i + 1 == lines.size() ? ink.theme.text : ink.theme.muted, lines[i]);
}

/// The caption at a point, whole.
std::string caption_at(const Scene& scene, Point at) {
  if (!scene.grid.window().contains(at)) return "";
  for (int r = 0; r < scene.grid.rows(); ++r)
    for (int c = 0; c < scene.grid.columns(); ++c)
      if (const CanvasCell* cell = scene.cell(r, c);
          cell && cell->panel && scene.grid.caption(r, c).contains(at))
        return cell->panel->caption;
  return "";
}

}  // namespace

void draw_tooltip(const Ink& ink, const Scene& scene, Point at) {
  constexpr float widest = 420;
  if (const std::string caption = caption_at(scene, at); !caption.empty())
    return draw_tip(ink, ink.wrapped(Face::small, caption, widest, 12), at);
  const CanvasCell* cell = scene.cell(scene.pointer.row, scene.pointer.column);
  if (!cell || !cell->panel) return;
  if (const auto lines = tooltip_lines(ink, scene, *cell->panel); !lines.empty())
    draw_tip(ink, lines, at);
}

}  // namespace fovea::canvas
