#include "figure/figure.h"

#include <QPainter>

#include "figure/bodies.h"
#include "figure/layout.h"

namespace fovea {
namespace {

constexpr double kTick = 2;

/// Draws the body of a cell: dispatches on its kind.
struct BodyDrawer {
  Ink& ink;
  const CellLayout& cell;

  void operator()(const Raster& raster) const { draw_raster(ink, cell.plot, raster, *cell.scale); }
  void operator()(const BlockMap& map) const { draw_block_map(ink, cell.plot, map, *cell.scale); }
  void operator()(const LeafSizes& leaves) const {
    draw_leaves(ink, cell.plot, leaves, cell.axes);
    draw_leaf_heading(ink, cell.body, cell.plot, leaves);
  }
  void operator()(const RowCurve& row) const {
    draw_row(ink, cell.plot, row, cell.axes);
    draw_row_heading(ink, cell.body);
  }
  void operator()(const Strip& strip) const { draw_strip(ink, cell.plot, strip, cell.axes); }
  void operator()(const OutputPicture& picture) const { draw_picture(ink, cell.plot, picture); }
  void operator()(const FigureTable& table) const { draw_table(ink, cell.plot, table); }
  void operator()(const Message& message) const {
    draw_message(ink, cell.plot, message);
    ink.outline(cell.plot, ink.grid, 0.4);
  }
};

void draw_x_axis(Ink& ink, const CellLayout& cell) {
  const QRectF& plot = cell.plot;
  const double line = ink.letters.line();
  for (const Tick& tick : cell.axes.x->ticks) {
    const double x = cell.axes.x->place(tick.at, plot.left(), plot.right());
    ink.line({x, plot.bottom()}, {x, plot.bottom() + kTick}, ink.frame, 0.4);
    if (!cell.show_x) continue;
    const double width = ink.letters.width(tick.label);
    const double left = std::clamp(x - width / 2, plot.left() - 2, plot.right() + 2 - width);
    ink.write({left, plot.bottom() + kTick, width, line}, tick.label, Align::left, ink.text);
  }
  if (cell.show_x)
    ink.write({plot.left(), plot.bottom() + kTick + line - 1, plot.width(), line},
              ink.letters.elided(cell.axes.x->label, plot.width()), Align::centre, ink.text);
}

void draw_y_axis(Ink& ink, const CellLayout& cell) {
  const QRectF& plot = cell.plot;
  const PanelAxis& axis = *cell.axes.y;
  const double line = ink.letters.line();
  double widest = 0;
  for (const Tick& tick : axis.ticks) {
    const double y = axis.place(tick.at, axis.downward ? plot.top() : plot.bottom(),
                                axis.downward ? plot.bottom() : plot.top());
    ink.line({plot.left() - kTick, y}, {plot.left(), y}, ink.frame, 0.4);
    if (!cell.show_y) continue;
    ink.write({plot.left() - kTick - 1.5, y - line / 2, 0, line}, tick.label, Align::right,
              ink.text);
    widest = std::max(widest, ink.letters.width(tick.label));
  }
  if (cell.show_y)
    ink.write_upwards({plot.left() - kTick - 3 - widest - line, plot.top(), line, plot.height()},
                      ink.letters.elided(axis.label, plot.height() + 2), ink.text);
}

void draw_cell(Ink& ink, const Panel& panel, const CellLayout& cell) {
  const double line = ink.letters.line();
  // Headings stand on their panel, however many lines the neighbours need.
  QRectF heading = cell.heading;
  heading.setTop(heading.bottom() - 2 -
                 line * static_cast<double>(cell.title.size() + cell.subtitle.size()));
  ink.write_lines(heading, cell.title, Align::left, ink.text, true);
  heading.setTop(heading.top() + line * static_cast<double>(cell.title.size()));
  ink.write_lines(heading, cell.subtitle, Align::left, ink.faint);
  ink.write_lines(cell.caption_box, cell.caption, Align::left, ink.faint);
  std::visit(BodyDrawer{ink, cell}, panel.body);
  if (cell.axes.x) draw_x_axis(ink, cell);
  if (cell.axes.y) {
    draw_y_axis(ink, cell);
    ink.outline(cell.plot, ink.frame, 0.4);
  }
  if (cell.bar) cell.bar->draw(ink, cell.bar_at);
}

void draw_layout(Ink& ink, const Figure& figure, const FigureLayout& layout) {
  QRectF title = layout.title_box;
  title.setHeight(1.2 * ink.letters.line());
  for (const QString& line : layout.title) {
    ink.write(title, line, Align::left, ink.text, true, ink.letters.size() + 1);
    title.translate(0, title.height());
  }
  for (std::size_t r = 0; r < layout.rows.size(); ++r) {
    const RowLayout& row = layout.rows[r];
    for (std::size_t c = 0; c < row.cells.size(); ++c)
      draw_cell(ink, figure.rows[r][c], row.cells[c]);
    if (row.bar) row.bar->draw(ink, row.bar_at);
  }
  ink.write_lines(layout.footer_box, layout.footer, Align::left, ink.faint);
}

void draw_with_range(QPainter& painter, const Figure& figure, const ColourRange& range) {
  const FigureLayout layout = lay_out(figure, range);
  Ink ink(painter, figure.style);
  painter.save();
  painter.setRenderHints(QPainter::Antialiasing | QPainter::TextAntialiasing |
                         QPainter::LosslessImageRendering);
  ink.fill({0, 0, layout.width, layout.height}, ink.paper);
  draw_layout(ink, figure, layout);
  painter.restore();
}

}  // namespace

double figure_height(const Figure& figure) {
  return lay_out(figure).height;
}

void draw_figure(QPainter& painter, const Figure& figure) {
  draw_with_range(painter, figure, {});
}

void draw_panel(QPainter& painter, const QRectF& rectangle, const Panel& panel,
                const FigureStyle& style, std::optional<std::pair<double, double>> range) {
  Figure figure{.rows = {{panel}}, .style = style};
  figure.style.width = rectangle.width();
  figure.style.height = rectangle.height();
  painter.save();
  painter.translate(rectangle.topLeft());
  draw_with_range(painter, figure, range);
  painter.restore();
}

}  // namespace fovea
