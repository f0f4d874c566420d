#include "figure/figure.h"

#include <QPainter>

#include "figure/layout.h"

namespace fovea {
namespace {

void draw_cell(Ink& ink, const CellLayout& cell, const TokenNames& names,
               const ViewSettings& settings) {
  const double line = ink.letters.line();
  // Headings stand on their panel, however many lines the neighbours need.
  const double title = height_of(cell.title, ink.letters);
  Rect heading = cell.heading;
  heading.y = heading.bottom() - 2 - title - line * static_cast<double>(cell.subtitle.size());
  ink.write_lines(heading, cell.title, Align::left, ink.style.text, {.bold = true});
  heading.y += title;
  ink.write_lines(heading, cell.subtitle, Align::left, ink.style.faint);
  ink.write_lines(cell.caption_box, cell.caption, Align::left, ink.style.faint);
  const Plot plot{cell.plot, cell.axes};
  draw_body({.ink = ink,
             .prepared = cell.prepared,
             .body = cell.body,
             .plot = plot,
             .scale = cell.scale ? &*cell.scale : nullptr,
             .names = names,
             .settings = settings});
  const Panel& panel = *cell.prepared.panel;
  if (std::holds_alternative<Message>(panel.body)) ink.outline(cell.plot, {ink.style.grid});
  if (cell.axes.x) draw_x_axis(ink, plot, cell.x_words());
  if (cell.axes.y) {
    draw_y_axis(ink, plot, cell.y_words());
    ink.outline(cell.plot, {ink.style.frame});
  }
  if (const auto* raster = std::get_if<Raster>(&panel.body); raster && !raster->row_shares.empty())
    draw_row_shares(ink,
                    {cell.plot.right() + row_shares_gap * ink.letters.size(), cell.plot.y,
                     row_shares_width * ink.letters.size(), cell.plot.height},
                    *cell.axes.y, {raster->row_shares, raster->rows.begin},
                    cell.scale->palette == Palette::sequential
                        ? *cell.scale->map
                        : colormap_for(Palette::sequential, "viridis"));
  if (cell.bar) cell.bar->draw(ink, cell.bar_at);
}

}  // namespace

void draw_layout(Ink& ink, const Figure& figure, const FigureLayout& layout) {
  ink.write_lines(layout.title_box, layout.title, Align::left, ink.style.text,
                  {title_size(figure.style), true});
  const TokenNames names = figure.sequence ? TokenNames(*figure.sequence) : TokenNames();
  for (const RowLayout& row : layout.rows) {
    for (const CellLayout& cell : row.cells) draw_cell(ink, cell, names, figure.style.settings);
    if (row.bar) row.bar->draw(ink, row.bar_at);
  }
  ink.write_lines(layout.footer_box, layout.footer, Align::left, ink.style.faint);
}

double figure_height(const Figure& figure) {
  return lay_out(figure, PaperLettering(figure.style)).height;
}

void draw_figure(QPainter& painter, const Figure& figure) {
  const PaperLettering letters(figure.style);
  const FigureLayout layout = lay_out(figure, letters);
  PainterInk ink(painter, letters, figure.style);
  painter.save();
  painter.setRenderHints(QPainter::Antialiasing | QPainter::TextAntialiasing |
                         QPainter::LosslessImageRendering);
  ink.fill({0, 0, layout.width, layout.height}, ink.style.paper);
  draw_layout(ink, figure, layout);
  painter.restore();
}

void draw_panel(QPainter& painter, const QRectF& rectangle, const Panel& panel,
                const FigureStyle& style) {
  Figure figure{.rows = {{panel}}, .style = style};
  figure.style.width = rectangle.width();
  figure.style.height = rectangle.height();
  painter.save();
  painter.translate(rectangle.topLeft());
  draw_figure(painter, figure);
  painter.restore();
}

}  // namespace fovea
