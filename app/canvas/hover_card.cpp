// The card beside the pointer: the pair under the pointer, the numbers of each column for it, and
// what the panel adds.
#include <array>
#include <cmath>

#include "canvas/scene.h"
#include "data/number_text.h"
#include "data/pixels.h"
#include "panels/pooling_text.h"
#include "views/views.h"

namespace fovea::canvas {
namespace {

/// "picked", "37 % picked", "available, not picked".
std::string share_words(const Raster& raster, double share) {
  if (share <= 0) return raster.categories.front();
  return (share < 1 ? format_percent(share, 3) + " " : "") + raster.categories.back();
}

std::string value_words(const Raster& raster, Index query, Index key, bool with_pooling = true) {
  const auto value = value_at(raster, query, key);
  if (!value) return "not computed yet";
  if (std::isinf(*value) && *value < 0) return "masked";
  if (raster.palette == Palette::categories) {
    const auto c = std::size_t(std::max(0.0f, *value));
    return std::isfinite(*value) && c < raster.categories.size() ? raster.categories[c] : "masked";
  }
  std::string words =
      raster.palette == Palette::shares ? share_words(raster, *value) : format_drawn(*value);
  if (const std::string pooling = pooling_text(raster); with_pooling && !pooling.empty())
    words += "  " + pooling;
  if (!raster.standard_error.empty())
    if (const float error = number_of_pair(raster, raster.standard_error, query, key); error > 0)
      words += "  ± " + format_drawn(error);
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
    return format_drawn(
        values[pixel_of(key - row.keys.begin, row.keys.size(), std::ssize(values))]);
  };
  std::string words;
  if (!row.exact.empty()) words = "exact " + at(row.exact);
  if (!row.approximate.empty()) words += "  approx. " + at(row.approximate);
  return words;
}

std::string strip_words(const Strip& strip, Index query) {
  if (query < 0 || query >= std::ssize(strip.values)) return "";
  std::string words = format_drawn(strip.values[query]);
  if (query < std::ssize(strip.bounds))
    words += ", " + strip.bounds_name + " " + format_drawn(strip.bounds[query]);
  return words;
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

/// "reached through at most 3 keys  max of 2 × 2", if the view has words for its numbers.
std::string raster_words(const Panel& panel, const Raster& raster, Index query, Index key) {
  const auto value = value_at(raster, query, key);
  if (!panel.view->value_words || !value || !(*value >= 0)) return value_words(raster, query, key);
  const std::string pooling = pooling_text(raster);
  return panel.view->value_words(raster, double(*value)) + (pooling.empty() ? "" : "  " + pooling);
}

/// The words of the panel for the pair.
std::string panel_words(const Panel& panel, Index query, Index key) {
  if (const auto* raster = std::get_if<Raster>(&panel.body))
    return raster_words(panel, *raster, query, key);
  if (const auto* blocks = std::get_if<BlockMap>(&panel.body))
    return block_words(*blocks, query, key);
  if (const auto* row = std::get_if<RowCurve>(&panel.body)) return curve_words(*row, key);
  if (const auto* strip = std::get_if<Strip>(&panel.body)) return strip_words(*strip, query);
  return "";
}

/// A line of words over the whole width, or a row of a table: a name and up to two numbers.
struct Line {
  std::array<std::string, 3> words;
  int column = -1;  // column of the model of a row of the table
  bool faint = false;

  bool is_table() const { return !words[1].empty() || !words[2].empty(); }
};
constexpr double card_line_height = 15;

/// Whether a column of the model is under the pointer; both of two compared columns are.
bool is_pointed(const Scene& scene, int column) {
  const auto& comparison = scene.model.comparison;
  const int pointed = scene.columns[scene.pointer.column];
  return column == pointed ||
         (comparison && comparison->column == pointed && comparison->with == column);
}

/// The numbers of the pair in every column, from the first two views that have a name for theirs.
/// Those under the pointer stand out.
std::vector<Line> numbers_of_columns(const Scene& scene) {
  // While exact takes the place of all columns, weights and errors are still those of each.
  const CanvasModel& model = scene.model.in_place_of ? *scene.model.in_place_of : scene.model;
  Line names{{}, -1, true};
  std::array<std::ptrdiff_t, 3> rows{-1, -1, -1};  // of the canvas, for each word of a line
  std::size_t named = 0;
  for (const View view : all_views()) {
    const auto row = std::ranges::find(model.views, view) - model.views.begin();
    if (view->hover_name.empty() || row >= std::ssize(model.views) || named + 1 >= rows.size())
      continue;
    rows[++named] = row;
    names.words[named] = view->hover_name;
  }
  const auto number = [&](std::size_t word, int column) -> std::string {
    const auto row = rows[word];
    if (row < 0 || row >= std::ssize(model.cells) || column >= std::ssize(model.cells[row]))
      return "";
    const Panel* panel = model.cells[row][column].panel.get();
    const auto* raster = panel ? std::get_if<Raster>(&panel->body) : nullptr;
    if (!raster || !value_at(*raster, scene.pointer.query, scene.pointer.key)) return "";
    return value_words(*raster, scene.pointer.query, scene.pointer.key, false);
  };
  std::vector<Line> lines;
  for (int c = 0; c < std::ssize(model.column_titles); ++c) {
    const Line line{{model.column_titles[c], number(1, c), number(2, c)}, c, !is_pointed(scene, c)};
    if (line.is_table()) lines.push_back(line);
  }
  const bool seconds =
      std::ranges::any_of(lines, [](const Line& l) { return !l.words[2].empty(); });
  if (!seconds) names.words[2].clear();
  if (!lines.empty()) lines.insert(lines.begin(), names);
  return lines;
}

/// The words of the panel under the pointer for the pair, for each of two compared columns.
std::vector<std::string> words_of_columns(const Scene& scene) {
  const Pointer& p = scene.pointer;
  const std::string own = panel_words(*scene.panel(p.row, p.column), p.query, p.key);
  const CanvasCell* other = scene.compared_with(p.row, p.column);
  if (!other) return {own};
  const auto& titles = scene.model.column_titles;
  return {titles[scene.model.comparison->column] + ": " + own,
          titles[scene.model.comparison->with] + ": " + panel_words(*other->panel, p.query, p.key)};
}

/// Which of two compared columns is drawn under the pointer; empty if only one is drawn.
std::string drawn_words(const Scene& scene) {
  const Pointer& p = scene.pointer;
  const auto words = scene.comparison_words(p.column);
  if (!words || !scene.compared_with(p.row, p.column) || p.key < 0) return "";
  // The border is at the pointer, or goes through the cell.
  const ComparisonMode mode = scene.model.comparison->mode;
  if (mode == ComparisonMode::wipe || (mode == ComparisonMode::split && p.query == p.key))
    return "drawn here: " + words->first + words->place + ", " + words->second;
  return "drawn here: " + scene.model.column_titles[scene.part_at_pointer(p.row, p.column).column];
}

std::vector<Line> card_lines(const Scene& scene, const Panel& panel) {
  const Pointer& p = scene.pointer;
  std::vector<Line> lines;
  if (const auto* leaves = std::get_if<LeafSizes>(&panel.body)) {
    if (scene.grid.side() < drawing::least_width_for_figures(scene.fonts))
      for (const Diagnostic& figure : leaves->figures)
        lines.push_back({{figure.label + ": " + format_drawn(figure.value)}});
    if (p.leaves.size() > 0) lines.push_back({{leaf_words(*leaves, p.leaves)}});
    return lines;
  }
  // All rows, as some may not fit into the panel.
  if (const auto* table = std::get_if<FigureTable>(&panel.body))
    for (const auto& [label, value] : table->rows) lines.push_back({{label + ": " + value}});
  const auto say = [&](const std::string& words, bool faint) {
    if (!words.empty()) lines.push_back({.words = {words}, .faint = faint});
  };
  const auto token = [&](const std::string& what, Index index, const drawing::AxisNames& names) {
    if (index >= 0) say(what + " " + names.numbered(index, scene.fonts, 180), false);
  };
  token("query", p.query, scene.names(p.column).queries);
  token("key", p.key, scene.names(p.column).keys);
  if (lines.empty() || p.query < 0) return lines;
  const bool in_table =
      std::holds_alternative<Raster>(panel.body) && !scene.view(p.row)->hover_name.empty();
  if (p.key >= 0) std::ranges::copy(numbers_of_columns(scene), std::back_inserter(lines));
  if (in_table && p.key >= 0 && lines.size() > 2) {
    // The numbers may be of fewer entries than the pixel.
    const std::string pooling = pooling_text(std::get<Raster>(panel.body));
    say(pooling.empty() ? "" : "a number is the " + pooling, true);
  } else if (p.key >= 0 || !has_key_axis(&panel))
    for (const std::string& words : words_of_columns(scene)) say(words, false);
  say(drawn_words(scene), false);
  const auto* raster = std::get_if<Raster>(&panel.body);
  if (const std::string shown = scene.pooling(p.row, p.column);
      raster && p.key >= 0 && !shown.empty() && shown != pooling_text(*raster))
    say("a pixel shows: " + shown +
            (shown.starts_with("mean of ") && raster->has_amounts() ? ", " + peaks_text : ""),
        true);
  const bool on_strip = p.key < 0 && has_key_axis(&panel);
  say(row_strip_words(scene, p.row, p.column), !on_strip);
  if (on_strip) say(row_strip_legend(scene, p.row, p.column), true);
  return lines;
}

/// Leaves out the lines of other columns where their numbers stand below their panels, or if there
/// is room for all lines neither above nor below.
void shorten(std::vector<Line>& lines, double room, bool in_grid) {
  const std::size_t most = std::max(1.0, (room - 24) / card_line_height);
  if (!in_grid && lines.size() <= most) return;
  std::erase_if(lines, [](const Line& line) { return line.column >= 0 && line.faint; });
  const auto has_error = [](const Line& line) {
    return line.column >= 0 && !line.words[2].empty();
  };
  if (std::ranges::none_of(lines, has_error))  // exact attention has none
    for (Line& line : lines) line.words[2].clear();
  if (lines.size() > most) lines.resize(most);
}

/// Text in up to three columns.
void draw_card(Ink& ink, const std::vector<Line>& lines, Point at, Point canvas) {
  constexpr double gap = 16, widest_name = 180;
  std::array<double, 3> width{};
  double all = 0;
  for (const Line& line : lines)
    if (!line.is_table())
      all = std::max(all, ink.letters.width(line.words[0]));
    else
      for (int i = 0; i < 3; ++i)
        width[i] =
            std::max(width[i], std::min(ink.letters.width(line.words[i]), i ? 1e6 : widest_name));
  const double second = width[0] + gap + width[1];  // the right ends of the numbers
  const double third = second + (width[2] > 0 ? gap : 0) + width[2];
  if (width[1] + width[2] > 0) all = std::max(all, third);
  const Rect box = card_place(at, {all + 16, card_line_height * lines.size() + 9}, canvas);
  draw_pill(ink, box, ink.style.frame, 4);
  Rect place{box.x + 8, box.y + 3, all, card_line_height};
  for (const Line& line : lines) {
    const Rgba colour = line.faint ? ink.style.faint : ink.style.text;
    const auto& [name, number, error] = line.words;
    ink.write(place, line.is_table() ? shortened_title(name, widest_name, ink.letters) : name,
              Align::left, colour);
    ink.write({place.x, place.y, second, place.height}, number, Align::right, colour);
    ink.write({place.x, place.y, third, place.height}, error, Align::right, colour);
    place.y += place.height;
  }
}

}  // namespace

Rect card_place(Point at, Point size, Point canvas) {
  constexpr double right = 16, left = 12, margin = 4;
  Rect box{at.x + right, at.y + right, size.x, size.y};
  if (box.right() > canvas.x - margin) box.x = at.x - left - size.x;
  if (box.bottom() > canvas.y - margin) box.y = at.y - left - size.y;
  // A card that is too wide for both sides stays above or below the pointer; one that is too high
  // stays beside it.
  box.x = std::round(std::max(box.x, margin));
  box.y = std::round(std::max(box.y, margin));
  return box;
}

std::string value_at_pointer(const Scene& scene, int row, int column) {
  const Pointer& p = scene.pointer;
  if (p.query < 0) return "";
  const Panel& panel = *scene.part_at_pointer(row, column).cell.panel;
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
      words += line.words[0];
      for (const int i : {1, 2})
        if (line.is_table()) words += "\t" + line.words[i];
      words += "\n";
    }
  return words;
}

void draw_hover_card(Ink& ink, const Scene& scene, Point at) {
  constexpr double widest = 420;
  std::vector<Line> lines;
  const auto captioned = scene.grid.find(at, &Grid::caption);
  if (captioned && scene.panel(captioned->first, captioned->second)) {
    if (const std::string& caption = scene.captions[captioned->first][captioned->second];
        !caption.empty())
      for (const std::string& words : ink.letters.wrapped(caption, widest, 12))  // whole
        lines.push_back({{words}});
  } else if (const Panel* panel = scene.panel(scene.pointer.row, scene.pointer.column)) {
    lines = card_lines(scene, *panel);
  }
  if (lines.empty()) return;
  shorten(lines, std::max(at.y, scene.size.y - at.y), !scene.enlarged);
  draw_card(ink, lines, at, scene.size);
}

}  // namespace fovea::canvas
