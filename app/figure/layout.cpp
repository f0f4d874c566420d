#include "figure/layout.h"

#include <algorithm>
#include <cmath>

namespace fovea {
namespace {

constexpr double kMargin = 2;  // around the figure
constexpr double kGutter = 6;  // between columns
constexpr double kRowGap = 7;  // between rows

/// Works through a figure from the colours to the heights; each step uses the ones before.
class Layouter {
 public:
  Layouter(const Figure& figure, const PaperLettering& letters)
      : figure_(figure), letters_(letters) {
    if (figure.sequence) names_ = TokenNames(*figure.sequence);
    layout_.width = figure.style.width;
    for (const auto& row : figure.rows) {
      columns_ = std::max(columns_, row.size());
      RowLayout& cells = layout_.rows.emplace_back();
      for (const Panel& panel : row) cells.cells.emplace_back(panel);
    }
  }

  FigureLayout run() {
    for (std::size_t r = 0; r < figure_.rows.size(); ++r) choose_scales(r);
    choose_axes();
    choose_columns();
    place_rows();
    return std::move(layout_);
  }

 private:
  const Panel& panel(std::size_t r, std::size_t c) const { return figure_.rows[r][c]; }
  CellLayout& cell(std::size_t r, std::size_t c) { return layout_.rows[r].cells[c]; }
  double left_of(std::size_t c) const { return lefts_[c]; }
  double inner() const { return layout_.width - 2 * kMargin; }

  void choose_scales(std::size_t r);
  std::optional<double> shared_top(std::size_t r, std::size_t c) const;
  void choose_axes();
  void show_axes();
  void lend_axes(std::size_t r);
  bool x_read_below(std::size_t r) const;
  bool y_read_left(std::size_t r, std::size_t c) const;
  void choose_columns();
  double axis_room(const CellLayout& cell) const;
  void make_bars(std::size_t r);
  void choose_headings(std::size_t r);
  double heading_height(std::size_t r) const;
  double axis_height(std::size_t r) const;
  double caption_height(std::size_t r) const;
  double bar_height(std::size_t r) const;
  double body_height(std::size_t r) const;
  double body_factor(double fixed, double bodies) const;
  Rect plot_of(const Panel& of, const Rect& body, double inset) const;
  double place_row(std::size_t r, double top, double body);
  void place_rows();

  const Figure& figure_;
  const PaperLettering& letters_;
  TokenNames names_;
  FigureLayout layout_;
  std::size_t columns_ = 0;
  double panel_width_ = 0;
  std::vector<double> lefts_;
  std::vector<bool> shared_;  // does the row have one colour scale
};

void Layouter::choose_scales(std::size_t r) {
  std::vector<const Panel*> panels;
  for (const Panel& one : figure_.rows[r]) panels.push_back(&one);
  const View view = panels.empty() ? View::heatmap : panels.front()->view;
  const RowScales row = scales_of_row(view, panels, figure_.style.settings);
  shared_.push_back(row.shared && row.several);
  for (std::size_t c = 0; c < panels.size(); ++c) {
    auto& scale = cell(r, c).scale;
    scale = row.of[c];
    if (scale && std::holds_alternative<Raster>(panel(r, c).body))
      scale->add(special_colours_of(cell(r, c).prepared.contents, *scale));
  }
}

/// Amounts of one kind in a row are drawn to one scale.
std::optional<double> Layouter::shared_top(std::size_t r, std::size_t c) const {
  if (!figure_.style.settings.shared_range) return std::nullopt;
  std::optional<double> top;
  for (const Panel& one : figure_.rows[r]) {
    if (amount_name(one) != amount_name(panel(r, c))) continue;
    if (const auto amount = amount_of(one)) top = std::max(top.value_or(0), *amount);
  }
  return top;
}

void Layouter::choose_axes() {
  const double about =
      (inner() - 22) / static_cast<double>(std::max<std::size_t>(1, columns_)) - kGutter;
  for (std::size_t r = 0; r < figure_.rows.size(); ++r) {
    for (std::size_t c = 0; c < figure_.rows[r].size(); ++c) {
      const double height = natural_height(panel(r, c), about, letters_);
      cell(r, c).axes = axes_of(
          panel(r, c),
          {.size = {about, height}, .letters = letters_, .top = shared_top(r, c), .names = names_});
    }
    lend_axes(r);
  }
  show_axes();
}

void Layouter::show_axes() {
  for (std::size_t r = 0; r < figure_.rows.size(); ++r) {
    const bool below = x_read_below(r);
    for (std::size_t c = 0; c < layout_.rows[r].cells.size(); ++c) {
      CellLayout& one = cell(r, c);
      one.show_x = one.axes.x && !below;
      one.show_y = one.axes.y && (c == 0 || !y_read_left(r, c));
    }
  }
}

/// In the same row.
bool Layouter::y_read_left(std::size_t r, std::size_t c) const {
  const PanelAxis& axis = *layout_.rows[r].cells[c].axes.y;
  for (std::size_t left = 0; left < c; ++left) {
    const auto& other = layout_.rows[r].cells[left].axes.y;
    if (other && other->same_as(axis)) return true;
  }
  return false;
}

/// A message among maps stands where its map would, within the same axes: columns stay even, and
/// the first one carries the numbers even when it has nothing to show.
void Layouter::lend_axes(std::size_t r) {
  const auto& row = figure_.rows[r];
  for (std::size_t lender = 0; lender < row.size(); ++lender) {
    const Axes axes = cell(r, lender).axes;
    if (!axes.y || !axes.y->downward || axes.x->amounts) continue;
    for (std::size_t c = 0; c < row.size(); ++c)
      if (std::holds_alternative<Message>(row[c].body)) {
        cell(r, c).axes = axes;
        cell(r, c).shape_of = lender;
      }
    return;
  }
}

bool Layouter::x_read_below(std::size_t r) const {
  if (r + 1 >= figure_.rows.size()) return false;
  const auto& here = layout_.rows[r].cells;
  const auto& next = layout_.rows[r + 1].cells;
  for (std::size_t c = 0; c < here.size(); ++c) {
    if (!here[c].axes.x) continue;
    if (c >= next.size() || !next[c].axes.x || !next[c].axes.x->same_as(*here[c].axes.x))
      return false;
  }
  return true;
}

double Layouter::axis_room(const CellLayout& one) const {
  return one.show_y ? y_axis_width(*one.axes.y, letters_, one.y_words()) : 0;
}

void Layouter::choose_columns() {
  // Only the first column has room for numbers beside it; later ones take it from their plot.
  double room = 0;
  for (const RowLayout& row : layout_.rows)
    if (!row.cells.empty()) room = std::max(room, axis_room(row.cells[0]));
  const double count = static_cast<double>(std::max<std::size_t>(1, columns_));
  panel_width_ = std::max(8.0, (inner() - room - (count - 1) * kGutter) / count);
  for (std::size_t c = 0; c < columns_; ++c)
    lefts_.push_back(kMargin + room + static_cast<double>(c) * (panel_width_ + kGutter));
}

void Layouter::make_bars(std::size_t r) {
  RowLayout& row = layout_.rows[r];
  for (CellLayout& one : row.cells) {
    if (!one.scale) continue;
    if (!shared_[r]) {
      one.bar.emplace(*one.scale, letters_,
                      ColourBar::Request{panel_width_, ColourBar::Form::beneath});
    } else if (!row.bar) {
      ColourScale all = *one.scale;
      for (const CellLayout& other : row.cells)
        if (other.scale) widen(all, *other.scale);
      row.bar.emplace(
          all, letters_,
          ColourBar::Request{layout_.width - kMargin - left_of(0), ColourBar::Form::beside});
    }
  }
}

void Layouter::choose_headings(std::size_t r) {
  for (std::size_t c = 0; c < figure_.rows[r].size(); ++c) {
    const Panel& here = panel(r, c);
    const bool above = r > 0 && c < figure_.rows[r - 1].size();
    if (!above || panel(r - 1, c).title != here.title)
      cell(r, c).title = letters_.wrapped(here.title, panel_width_, 3, true);
    if (!above || panel(r - 1, c).subtitle != here.subtitle)
      cell(r, c).subtitle = letters_.wrapped(here.subtitle, panel_width_, 5);
    cell(r, c).caption = letters_.wrapped(here.caption, panel_width_, 4);
  }
}

double Layouter::heading_height(std::size_t r) const {
  std::size_t lines = 0;
  for (const CellLayout& one : layout_.rows[r].cells)
    lines = std::max(lines, one.title.size() + one.subtitle.size());
  const double height = letters_.line() * static_cast<double>(lines);
  return height > 0 ? height + 2 : 0;
}

double Layouter::axis_height(std::size_t r) const {
  double height = 0;
  for (const CellLayout& one : layout_.rows[r].cells)
    if (one.axes.x) height = std::max(height, x_axis_height(*one.axes.x, letters_, one.x_words()));
  return height;
}

double Layouter::caption_height(std::size_t r) const {
  std::size_t lines = 0;
  for (const CellLayout& one : layout_.rows[r].cells) lines = std::max(lines, one.caption.size());
  return lines > 0 ? letters_.line() * static_cast<double>(lines) + 1 : 0;
}

double Layouter::bar_height(std::size_t r) const {
  const RowLayout& row = layout_.rows[r];
  double height = row.bar ? row.bar->height() : 0;
  for (const CellLayout& one : row.cells)
    if (one.bar) height = std::max(height, one.bar->height());
  return height > 0 ? height + 2.5 : 0;
}

double Layouter::body_height(std::size_t r) const {
  double height = 0;
  for (const Panel& one : figure_.rows[r])
    height = std::max(height, natural_height(one, panel_width_, letters_));
  return height;
}

/// How much bodies shrink or grow for a fixed height of the figure.
double Layouter::body_factor(double fixed, double bodies) const {
  if (!figure_.style.height || bodies <= 0) return 1;
  return std::max(0.05, (*figure_.style.height - fixed) / bodies);
}

/// The part of the body inside the axes, `inset` from its left: matrices keep square cells, plots
/// leave room for their headings.
Rect Layouter::plot_of(const Panel& of, const Rect& body, double inset) const {
  const Rect inner = body.without(inset, 0, 0, 0);
  if (const auto shape = drawing::shape_of(of)) {
    const double width = std::min(inner.width, inner.height / *shape);
    // Too low a body only comes with a fixed height; then the panel is centred.
    return {inner.x + (inner.width - width) / 2, inner.y, width, width * *shape};
  }
  const double heading = drawing::heading_height(of, body, letters_);
  return inner.without(0, std::min(heading, 0.8 * body.height), 0, 0);
}

double Layouter::place_row(std::size_t r, double top, double body) {
  RowLayout& row = layout_.rows[r];
  const double body_top = top + heading_height(r), axis_top = body_top + body;
  const double caption_top = axis_top + axis_height(r),
               bar_top = caption_top + caption_height(r) + 1.5;
  for (std::size_t c = 0; c < row.cells.size(); ++c) {
    CellLayout& one = row.cells[c];
    const double left = left_of(c);
    one.heading = {left, top, panel_width_, body_top - top};
    one.body = {left, body_top, panel_width_, body};
    const double inset = c > 0 ? axis_room(one) : 0;
    one.plot = plot_of(panel(r, one.shape_of.value_or(c)), one.body, inset);
    one.caption_box = {left, caption_top, panel_width_, caption_height(r)};
    one.bar_at = {left, bar_top};
  }
  row.bar_at = {lefts_.empty() ? kMargin : left_of(0), bar_top};
  return bar_top - 1.5 + bar_height(r);
}

void Layouter::place_rows() {
  const double line = letters_.line();
  const double size = title_size(figure_.style);
  layout_.title = letters_.wrapped(figure_.title, inner(), 2, true, size);
  layout_.footer = letters_.wrapped(figure_.footer, inner(), 3);
  const double title = static_cast<double>(layout_.title.size()) * 1.25 * size;
  const double footer = static_cast<double>(layout_.footer.size()) * line;
  double fixed = 2 * kMargin + (title > 0 ? title + 3 : 0) + (footer > 0 ? footer + 3 : 0),
         bodies = 0;
  for (std::size_t r = 0; r < layout_.rows.size(); ++r) {
    make_bars(r);
    choose_headings(r);
    fixed += heading_height(r) + axis_height(r) + caption_height(r) + bar_height(r) +
             (r > 0 ? kRowGap : 0);
    bodies += body_height(r);
  }
  const double factor = body_factor(fixed, bodies);
  layout_.title_box = {kMargin, kMargin, inner(), title};
  double y = kMargin + (title > 0 ? title + 3 : 0);
  for (std::size_t r = 0; r < layout_.rows.size(); ++r)
    y = place_row(r, y + (r > 0 ? kRowGap : 0), factor * body_height(r));
  if (footer > 0) y += 3;
  layout_.footer_box = {kMargin, y, inner(), footer};
  layout_.height = figure_.style.height ? *figure_.style.height : y + footer + kMargin;
}

}  // namespace

FigureLayout lay_out(const Figure& figure, const PaperLettering& letters) {
  return Layouter(figure, letters).run();
}

}  // namespace fovea
