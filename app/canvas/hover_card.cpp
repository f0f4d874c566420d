// The card beside the pointer: the pair it is over, what each column says of it, and what the panel
// says besides.
#include <array>
#include <cmath>

#include "canvas/scene.h"
#include "data/number_text.h"

namespace fovea::canvas {
namespace {

using drawing::number_text;

/// "max of 4 × 4" where a pixel covers several entries; else empty.
std::string pooling_words(const Raster& raster) {
  const Index down = raster.rows.size() / std::max<Index>(1, raster.values.rows());
  const Index over = raster.cols.size() / std::max<Index>(1, raster.values.cols());
  if (raster.pooled == Pool::Kind::none || down * over <= 1) return "";
  return std::string(raster.pooled == Pool::Kind::max ? "max" : "mean") + " of " +
         std::to_string(down) + " × " + std::to_string(over);
}

std::string value_words(const Raster& raster, Index query, Index key, bool with_pooling = true) {
  const auto value = value_at(raster, query, key);
  if (!value) return "not computed yet";
  if (std::isinf(*value) && *value < 0) return "masked";
  if (raster.palette == Palette::categories) {
    const auto c = std::size_t(std::max(0.0f, *value));
    return std::isfinite(*value) && c < raster.categories.size() ? raster.categories[c] : "masked";
  }
  std::string words = number_text(*value);
  if (const std::string pooling = pooling_words(raster); with_pooling && !pooling.empty())
    words += "  " + pooling;
  if (!raster.standard_error.empty())
    if (const float error =
            raster.standard_error(pixel_of(raster.rows, raster.values.rows(), query),
                                  pixel_of(raster.cols, raster.values.cols(), key));
        error > 0)
      words += "  ± " + number_text(error);
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
    return number_text(values[pixel_of(row.keys, std::ssize(values), key)]);
  };
  std::string words;
  if (!row.exact.empty()) words = "exact " + at(row.exact);
  if (!row.approximate.empty()) words += "  approx. " + at(row.approximate);
  return words;
}

std::string strip_words(const Strip& strip, Index query) {
  return query >= 0 && query < std::ssize(strip.values) ? number_text(strip.values[query]) : "";
}

std::string leaf_words(const LeafSizes& leaves, IndexRange chosen) {
  const Index begin = chosen.begin / leaves.together, end = chosen.end / leaves.together;
  const auto count = [&](const std::vector<Index>& sizes) {
    Index sum = 0;
    for (Index l = begin; l < std::min<Index>(end, std::ssize(sizes)); ++l) sum += sizes[l];
    return std::to_string(sum);
  };
  std::string which = leaves.kind + " " + std::to_string(chosen.begin);
  if (chosen.size() > 1)
    which = plural_of(leaves.kind) + " " + std::to_string(chosen.begin) + "–" +
            std::to_string(chosen.end - 1);
  return which + ": " + count(leaves.queries) + " queries, " + count(leaves.keys) + " keys";
}

/// What the panel says of the pair.
std::string panel_words(const Panel& panel, Index query, Index key) {
  if (const auto* raster = std::get_if<Raster>(&panel.body))
    return value_words(*raster, query, key);
  if (const auto* blocks = std::get_if<BlockMap>(&panel.body))
    return block_words(*blocks, query, key);
  if (const auto* row = std::get_if<RowCurve>(&panel.body)) return curve_words(*row, key);
  if (const auto* strip = std::get_if<Strip>(&panel.body)) return strip_words(*strip, query);
  return "";
}

/// A name and up to two numbers; words alone go over all columns.
using Line = std::array<std::string, 3>;
constexpr double line_height = 15;

bool is_table(const Line& line) {
  return !line[1].empty() || !line[2].empty();
}

/// The numbers of the pair in every column, from the heatmaps and error maps that are there.
std::vector<Line> numbers_of_columns(const Scene& scene) {
  const CanvasModel& model = scene.model;
  const auto number = [&](View view, std::size_t column) -> std::string {
    const auto row = std::ranges::find(model.views, view) - model.views.begin();
    if (row >= std::ssize(model.cells) || column >= model.cells[row].size()) return "";
    const Panel* panel = model.cells[row][column].panel.get();
    const auto* raster = panel ? std::get_if<Raster>(&panel->body) : nullptr;
    if (!raster || !value_at(*raster, scene.pointer.query, scene.pointer.key)) return "";
    return value_words(*raster, scene.pointer.query, scene.pointer.key, false);
  };
  std::vector<Line> lines;
  bool any_errors = false;
  for (std::size_t c = 0; c < model.column_titles.size(); ++c) {
    Line line{model.column_titles[c], number(View::heatmap, c), number(View::error, c)};
    any_errors |= !line[2].empty();
    if (!line[1].empty() || !line[2].empty()) lines.push_back(std::move(line));
  }
  if (!lines.empty()) lines.insert(lines.begin(), {"", "P", any_errors ? "error" : ""});
  return lines;
}

std::vector<Line> card_lines(const Scene& scene, const Panel& panel) {
  const Pointer& p = scene.pointer;
  std::vector<Line> lines;
  if (const auto* leaves = std::get_if<LeafSizes>(&panel.body)) {
    if (scene.grid.side() < drawing::least_width_for_figures(scene.fonts))
      for (const Diagnostic& figure : leaves->figures)
        lines.push_back({figure.label + ": " + number_text(figure.value)});
    if (p.leaves.size() > 0) lines.push_back({leaf_words(*leaves, p.leaves)});
    return lines;
  }
  if (const auto* table = std::get_if<FigureTable>(&panel.body))  // some may not fit into the panel
    for (const auto& [label, value] : table->rows) lines.push_back({label + ": " + value});
  const auto token = [&](const char* what, Index index) {
    if (index >= 0)
      lines.push_back({std::string(what) + " " + scene.names().numbered(index, scene.fonts, 180)});
  };
  token("query", p.query);
  token("key", p.key);
  if (lines.empty() || p.query < 0) return lines;
  const View view = scene.view(p.row);
  const bool in_table =
      std::holds_alternative<Raster>(panel.body) && (view == View::heatmap || view == View::error);
  if (p.key >= 0) std::ranges::copy(numbers_of_columns(scene), std::back_inserter(lines));
  const std::string words = in_table && lines.size() > 2
                                ? pooling_words(std::get<Raster>(panel.body))
                                : panel_words(panel, p.query, p.key);
  for (const std::string& more : {words, row_strip_words(scene, p.row, p.column)})
    if (!more.empty()) lines.push_back({more});
  return lines;
}

/// Text in up to three columns; of a table the column under the pointer stands out.
void draw_card(ScreenInk& ink, const std::vector<Line>& lines, Point at,
               const std::string& chosen) {
  constexpr double gap = 16, widest_name = 150;
  std::array<double, 3> width{};
  double all = 0;
  for (const Line& line : lines)
    if (!is_table(line))
      all = std::max(all, ink.letters.width(line[0]));
    else
      for (int i = 0; i < 3; ++i)
        width[i] = std::max(width[i], std::min(ink.letters.width(line[i]), i ? 1e6 : widest_name));
  const double second = width[0] + gap, third = second + width[1] + (width[2] > 0 ? gap : 0);
  all = std::max(all, width[1] + width[2] > 0 ? third + width[2] : 0);
  const Rect box = card_place(at, {all + 16, line_height * double(lines.size()) + 9}, ink.size());
  ink.pill(box, ink.style.frame, 4);
  Point place{box.x + 8, box.y + 5};
  for (const Line& line : lines) {
    const bool table = is_table(line);
    const bool stands_out = table ? line[0] == chosen : lines.size() < 3 || &line < &lines[2];
    const Rgba colour = stands_out ? ink.style.text : ink.style.faint;
    ink.write_left(place, table ? ink.letters.elided(line[0], widest_name) : line[0], colour);
    if (table) ink.write_right({place.x + second + width[1], place.y}, line[1], colour);
    if (table) ink.write_right({place.x + third + width[2], place.y}, line[2], colour);
    place.y += line_height;
  }
}

}  // namespace

Rect card_place(Point at, Point size, Point canvas) {
  constexpr double right = 16, left = 12, margin = 4;
  Rect box{at.x + right, at.y + right, size.x, size.y};
  if (box.right() > canvas.x - margin) box.x = at.x - left - size.x;
  if (box.bottom() > canvas.y - margin) box.y = at.y - left - size.y;
  // Too wide for both sides, it stays above or below the pointer; too high, beside it.
  box.x = std::round(std::max(box.x, margin));
  box.y = std::round(std::max(box.y, margin));
  return box;
}

/// Where neither above nor below has room for all lines, those of the other columns go.
void shorten(std::vector<Line>& lines, double room, const std::string& chosen) {
  const std::size_t most = std::max(1.0, (room - 24) / line_height);
  if (lines.size() <= most) return;
  std::erase_if(lines, [&](const Line& line) {
    return is_table(line) && !line[0].empty() && line[0] != chosen;
  });
  if (lines.size() > most) lines.resize(most);
}

std::string value_at_pointer(const Scene& scene, const Panel& panel) {
  const Pointer& p = scene.pointer;
  if (p.query < 0) return "";
  if (const auto* strip = std::get_if<Strip>(&panel.body)) return strip_words(*strip, p.query);
  const auto* raster = std::get_if<Raster>(&panel.body);
  if (p.key < 0 || !raster || !value_at(*raster, p.query, p.key)) return "";
  return value_words(*raster, p.query, p.key);
}

std::string words_at_pointer(const Scene& scene) {
  const Panel* panel = scene.panel(scene.pointer.row, scene.pointer.column);
  std::string words;
  if (panel)
    for (const Line& line : card_lines(scene, *panel)) {
      words += line[0];
      for (const int i : {1, 2})
        if (is_table(line)) words += "\t" + line[i];
      words += "\n";
    }
  return words;
}

void draw_hover_card(ScreenInk& ink, const Scene& scene, Point at) {
  constexpr double widest = 420;
  int row = -1, column = -1;
  std::vector<Line> lines;
  if (scene.grid.find(at, &Grid::caption, row, column) && scene.panel(row, column)) {
    const std::string& caption = scene.panel(row, column)->caption;  // whole
    if (!caption.empty())
      for (const std::string& line : ink.letters.wrapped(caption, widest, 12))
        lines.push_back({line});
  } else if (const Panel* panel = scene.panel(scene.pointer.row, scene.pointer.column)) {
    lines = card_lines(scene, *panel);
  }
  if (lines.empty()) return;
  const std::string over = scene.pointer.column >= 0 ? scene.title(scene.pointer.column) : "";
  shorten(lines, std::max(at.y, ink.size().y - at.y), over);
  draw_card(ink, lines, at, over);
}

}  // namespace fovea::canvas
