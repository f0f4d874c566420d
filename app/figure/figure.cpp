#include "figure/figure.h"

#include <QSemaphore>
#include <QThreadPool>
#include <algorithm>
#include <memory>
#include <thread>

#include "data/error.h"
#include "data/text.h"
#include "figure/layout.h"
#include "figure/panel_words.h"
#include "figure/pgf_ink.h"
#include "panels/pooling_text.h"

namespace fovea {

using namespace drawing;

namespace {

void draw_words(Ink& ink, const CellLayout& cell, Letters title_face, Letters note_face) {
  // Headings stand on their panel, however many lines the neighbours need.
  const double title = height_of(cell.title, ink.letters, title_face);
  Rect heading = cell.heading;
  heading.y = heading.bottom() - 2 - title - height_of(cell.subtitle, ink.letters, note_face);
  ink.write_lines(heading, cell.title, Align::left, ink.style.text, title_face);
  heading.y += title;
  ink.write_lines(heading, cell.subtitle, Align::left, ink.style.faint, note_face);
  ink.write_lines(cell.caption_box, cell.caption, Align::left, ink.style.faint, note_face);
}

/// Draws a frame that can be seen on any colour.
void draw_frame(Ink& ink, const Rect& box, Rgba colour) {
  constexpr double width = 0.6;
  ink.outline(box, {{0, 0, 0, 150}, 3 * width});
  ink.outline(box, {colour, width});
}

/// The pinned query and the selection, as the canvas marks them.
void draw_marks(Ink& ink, const Plot& plot, const Panel& panel, const Figure& figure) {
  if (!has_query_axis(&panel)) return;
  const bool pairs = !std::holds_alternative<Strip>(panel.body);
  const Rect& where = plot.where;
  const auto rows = [&](IndexRange range) {
    const double top = plot.y(range.begin), bottom = plot.y(range.end);
    return Rect{where.x, top, where.width, bottom - top};
  };
  ink.push_clip(where);
  if (pairs && figure.selection) {
    const auto& [queries, keys] = *figure.selection;
    const double left = plot.x(keys.begin), right = plot.x(keys.end);
    draw_frame(ink, rows(queries).intersected({left, where.y, right - left, where.height}),
               {255, 255, 255});
  }
  if (figure.pinned_query)
    draw_frame(ink, rows({*figure.pinned_query, *figure.pinned_query + 1}), ink.style.pinned);
  ink.pop_clip();
}

void draw_row_name(Ink& ink, const RowLayout& row) {
  double x = row.name_box.x + ink.letters.line() / 2;
  for (const std::string& line : row.name) {
    ink.text_upwards({x, row.name_box.centre().y}, line, ink.style.text);
    x += ink.letters.line();
  }
}

void draw_cell(Ink& ink, const CellLayout& cell, const Figure& figure, const TokenNames& names) {
  if (cell.left_out) return;
  const Plot plot{cell.plot, cell.axes};
  const BodyDrawing drawing{.ink = ink,
                            .prepared = cell.prepared,
                            .body = cell.body,
                            .plot = plot,
                            .scale = cell.scale ? &*cell.scale : nullptr,
                            .names = names,
                            .settings = figure.style.settings};
  draw_body(drawing);
  draw_marks(ink, plot, *cell.prepared.panel, figure);
  if (figure.pinned_query)
    if (const auto* blocks = std::get_if<BlockMap>(&cell.prepared.panel->body))
      write_ranks_over(drawing, *blocks, *figure.pinned_query);
  if (std::holds_alternative<Message>(cell.prepared.panel->body))
    ink.outline(cell.plot, {ink.style.grid});
  if (cell.axes.x) draw_x_axis(ink, plot, cell.x_words());
  if (cell.axes.y) {
    draw_y_axis(ink, plot, cell.y_words());
    ink.outline(cell.plot, {ink.style.frame});
  }
  if (cell.strip)
    draw_row_strip(ink, cell.plot, *cell.axes.y, *cell.strip,
                   colormap_for(Palette::sequential, figure.style.settings.colormap));
  if (cell.bar) cell.bar->draw(ink, cell.bar_at);
}

}  // namespace

void draw_layout(Ink& ink, const Figure& figure, const FigureLayout& layout, const Run& run) {
  ink.write_lines(layout.title_box, layout.title, Align::left, ink.style.text, layout.title_face);
  layout.legend.draw(ink, layout.legend_at);
  const auto rows = double(layout.rows.size());
  for (std::size_t r = 0; r < layout.rows.size(); ++r) {
    const RowLayout& row = layout.rows[r];
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      const CellLayout& cell = row.cells[c];
      run.check();
      run.reached((double(r) + double(c) / double(row.cells.size())) / rows);
      draw_words(ink, cell, layout.panel_title_face, layout.note_face);
      draw_cell(ink, cell, figure, names_of(figure, c));
    }
    draw_row_name(ink, row);
    if (row.bar) row.bar->draw(ink, row.bar_at);
    if (row.strip_bar) row.strip_bar->draw(ink, row.strip_bar_at);
  }
  ink.write_lines(layout.footer_box, layout.footer, Align::left, ink.style.faint);
}

namespace {

/// Qt divides work on large images among the threads of its pool, and waits for ever if one of them
/// cannot be started for lack of memory. This function gives the pool one thread that has started,
/// and no other.
void start_image_thread() {
  static const bool started = [] {
    std::jthread([] {}).join();  // throws if no thread can be started
    QThreadPool& pool = *QThreadPool::globalInstance();
    pool.setMaxThreadCount(1);
    pool.setExpiryTimeout(-1);
    const auto runs = std::make_shared<QSemaphore>();
    pool.start([runs] { runs->release(); });
    constexpr int limit_ms = 5000;
    if (!runs->tryAcquire(1, limit_ms))
      throw UnavailableError("not enough memory, or too many threads, to start a thread");
    return true;
  }();
  (void)started;
}

// After Cancelled the painter can be ended; after other errors it is not used any more
// (figure/painting.h).
void draw_on(PainterInk& ink, const Figure& figure, const FigureLayout& layout, const Run& run) {
  start_image_thread();
  ink.painter.save();
  ink.painter.setRenderHints(QPainter::Antialiasing | QPainter::TextAntialiasing |
                             QPainter::LosslessImageRendering);
  ink.fill({0, 0, layout.width, layout.height}, ink.style.paper);
  try {
    draw_layout(ink, figure, layout, run);
  } catch (const Cancelled&) {
    ink.painter.restore();
    throw;
  }
  ink.painter.restore();
}

}  // namespace

std::string words_of_marks(const Figure& figure) {
  const auto range = [](IndexRange tokens) {
    return std::to_string(tokens.begin) + " to " + std::to_string(tokens.end - 1);
  };
  const auto meet = [](IndexRange a, IndexRange b) { return a.begin < b.end && b.begin < a.end; };
  const Index pinned = figure.pinned_query.value_or(0);
  bool pinned_seen = false, selection_seen = false;
  for (const auto& row : figure.rows)
    for (const Panel& panel : row) {
      const auto [queries, keys] = tokens_of(panel);
      pinned_seen |= figure.pinned_query && queries.contains(pinned);
      selection_seen |= figure.selection && meet(figure.selection->first, queries) &&
                        meet(figure.selection->second, keys);
    }
  std::string words;
  if (pinned_seen)
    words = "Orange line: query " +
            (figure.sequence ? figure.sequence->numbered(pinned) : std::to_string(pinned)) + ". ";
  if (selection_seen)
    words += "Selected: queries " + range(figure.selection->first) + ", keys " +
             range(figure.selection->second) + ". ";
  return words + figure.remarks;
}

Figure with_pooling_named(const Figure& figure, double pixels_a_point) {
  Figure named = figure;
  if (figure.style.captions != Captions::full) return named;
  const FigureLayout layout = lay_out(figure, PaperLettering(figure.style));
  for (std::size_t r = 0; r < named.rows.size(); ++r)
    for (std::size_t c = 0; c < named.rows[r].size(); ++c) {
      Panel& panel = named.rows[r][c];
      const auto* raster = std::get_if<Raster>(&panel.body);
      if (!raster) continue;
      // The parts of a raster that is pooled already are near the pixels.
      const double most = raster->pooled == Pool::Kind::none ? 1.01 : 2;
      const Rect& plot = layout.rows[r].cells[c].plot;
      const double down = raster->values.rows() / (plot.height * pixels_a_point),
                   across = raster->values.cols() / (plot.width * pixels_a_point);
      if (std::max(down, across) <= most) continue;
      add_item(
          panel.caption,
          "a pixel: " + pooling_text("mean colour", std::max(1.0, down), std::max(1.0, across)) +
              (raster->pooled == Pool::Kind::none ? " entries" : " of these"),
          " · ");
    }
  return named;
}

double figure_height(const Figure& figure) {
  return lay_out(figure, PaperLettering(figure.style)).height;
}

double least_figure_height(const Figure& figure) {
  return lay_out(figure, PaperLettering(figure.style)).least_height;
}

void draw_figure(QPainter& painter, const Figure& figure, const Run& run) {
  const PaperLettering letters(figure.style);
  PainterInk ink(painter, letters, figure.style);
  draw_on(ink, figure, lay_out(figure, letters), run);
}

void draw_figure(QPainter& painter, const Figure& figure) {
  Profile profile;
  draw_figure(painter, figure, Run{profile});
}

std::string draw_without_words(QPainter& painter, const Figure& figure, const Run& run) {
  const PaperLettering letters(figure.style);
  PgfInk ink(painter, letters, figure.style);
  draw_on(ink, figure, lay_out(figure, letters), run);
  return ink.placed_words();
}

}  // namespace fovea
