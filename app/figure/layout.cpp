#include "figure/layout.h"

#include <algorithm>

namespace fovea {
namespace {

constexpr double kGutter = 6;  // between columns
constexpr double kRowGap = 7;  // between rows

/// Of the parts of a row, from the top downwards, each with the gap before it.
struct RowHeights {
  double heading = 0, body = 0, axis = 0, caption = 0, bar = 0;
};

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
    for (std::size_t r = 0; r < figure_.rows.size(); ++r) {
      make_bars(r);
      choose_words(r);
    }
    place();
    return std::move(layout_);
  }

 private:
  const Panel& panel(std::size_t r, std::size_t c) const { return figure_.rows[r][c]; }
  CellLayout& cell(std::size_t r, std::size_t c) { return layout_.rows[r].cells[c]; }
  double inner() const { return layout_.width - 2 * margin_; }

  void choose_scales(std::size_t r) {
    std::vector<const Panel*> panels;
    for (const Panel& one : figure_.rows[r]) panels.push_back(&one);
    const View view = panels.empty() ? View::heatmap : panels.front()->view;
    const RowScales row = scales_of_row(view, panels, figure_.style.settings);
    shared_.push_back(row.shared && row.several);
    double top = 0;
    for (std::size_t c = 0; c < panels.size(); ++c) {
      CellLayout& one = cell(r, c);
      one.scale = row.of[c];
      if (one.scale && std::holds_alternative<Raster>(panel(r, c).body))
        one.scale->add(special_colours_of(one.prepared.contents, *one.scale));
      one.strip = row_strip_of(panel(r, c));
      if (!one.strip) continue;
      strip_room_ = row_strip_room(letters_);
      top = std::max(top, one.strip->top);
    }
    for (CellLayout& one : layout_.rows[r].cells)
      if (one.strip && figure_.style.settings.shared_range) one.strip->top = top;
  }

  /// Amounts of one kind in a row are drawn to one scale.
  std::optional<double> shared_top(std::size_t r, std::size_t c) const {
    if (!figure_.style.settings.shared_range) return std::nullopt;
    std::optional<double> top;
    for (const Panel& one : figure_.rows[r]) {
      if (amount_name(one) != amount_name(panel(r, c))) continue;
      if (const auto amount = amount_of(one)) top = std::max(top.value_or(0), *amount);
    }
    return top;
  }

  void choose_axes() {
    const double about = (inner() - 22) / std::max<std::size_t>(1, columns_) - kGutter;
    for (std::size_t r = 0; r < figure_.rows.size(); ++r) {
      for (std::size_t c = 0; c < figure_.rows[r].size(); ++c) {
        const double height = natural_height(panel(r, c), about, letters_, names_);
        cell(r, c).axes = axes_of(panel(r, c), {.size = {about, height},
                                                .letters = letters_,
                                                .top = shared_top(r, c),
                                                .names = names_});
      }
      lend_axes(r);
    }
    for (std::size_t r = 0; r < figure_.rows.size(); ++r)
      for (std::size_t c = 0; c < figure_.rows[r].size(); ++c) {
        CellLayout& one = cell(r, c);
        one.show_x = one.axes.x && !x_read_below(r);
        one.show_y = one.axes.y && !y_read_left(r, c);
      }
  }

  /// A message among maps stands where its map would, within the same axes: columns stay even, and
  /// the first one carries the numbers even when it has nothing to show.
  void lend_axes(std::size_t r) {
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

  bool x_read_below(std::size_t r) const {
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

  /// In the same row.
  bool y_read_left(std::size_t r, std::size_t c) const {
    const auto& cells = layout_.rows[r].cells;
    return std::any_of(cells.begin(), cells.begin() + c, [&](const CellLayout& other) {
      return other.axes.y && other.axes.y->same_as(*cells[c].axes.y);
    });
  }

  /// Each column has room for its numbers, and all panels are as wide.
  void choose_columns() {
    std::vector<double> rooms(columns_);
    double taken = columns_ * strip_room_ + (columns_ - 1.0) * kGutter;
    for (std::size_t c = 0; c < columns_; ++c) {
      for (const RowLayout& row : layout_.rows)
        if (c < row.cells.size() && row.cells[c].show_y)
          rooms[c] = std::max(rooms[c],
                              y_axis_width(*row.cells[c].axes.y, letters_, row.cells[c].y_words()));
      taken += rooms[c];
    }
    panel_width_ = std::max(8.0, (inner() - taken) / std::max<std::size_t>(1, columns_));
    double left = margin_;
    for (const double room : rooms) {
      lefts_.push_back(left + room);
      left = lefts_.back() + panel_width_ + strip_room_ + kGutter;
    }
  }

  void make_bars(std::size_t r) {
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
            ColourBar::Request{layout_.width - margin_ - lefts_[0], ColourBar::Form::beside});
      }
    }
  }

  void choose_words(std::size_t r) {
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

  RowHeights heights_of(std::size_t r) const {
    const RowLayout& row = layout_.rows[r];
    RowHeights high{.bar = row.bar ? row.bar->height() : 0};
    for (const CellLayout& one : row.cells) {
      high.heading = std::max(high.heading,
                              height_of(one.title, letters_) + height_of(one.subtitle, letters_));
      high.body =
          std::max(high.body, natural_height(*one.prepared.panel, panel_width_, letters_, names_));
      if (one.axes.x)
        high.axis = std::max(high.axis, x_axis_height(*one.axes.x, letters_, one.x_words()));
      high.caption = std::max(high.caption, height_of(one.caption, letters_));
      if (one.bar) high.bar = std::max(high.bar, one.bar->height());
    }
    if (high.heading > 0) high.heading += 2;
    if (high.caption > 0) high.caption += 1;
    if (high.bar > 0) high.bar += 2.5;
    return high;
  }

  /// The part of the body inside the axes: matrices keep square cells, plots leave room for their
  /// headings.
  Rect plot_of(const Panel& of, const Rect& body, double curves_heading) const {
    if (const auto shape = drawing::shape_of(of)) {
      const double width = std::min(body.width, body.height / *shape);
      // Too low a body only comes with a fixed height; then the panel is centred.
      return {body.x + (body.width - width) / 2, body.y, width, width * *shape};
    }
    const double heading = std::holds_alternative<RowCurve>(of.body)
                               ? curves_heading
                               : drawing::heading_height(of, body, letters_, names_);
    return body.without(0, std::min(heading, 0.8 * body.height), 0, 0);
  }

  /// Of all curves of a row: they are read along one axis, so that their plots are side by side.
  double curves_heading(std::size_t r) const {
    double heading = 0;
    for (const Panel& one : figure_.rows[r])
      if (std::holds_alternative<RowCurve>(one.body))
        heading = std::max(heading, drawing::heading_height(one, {0, 0, panel_width_, panel_width_},
                                                            letters_, names_));
    return heading;
  }

  void place_row(std::size_t r, double top, const RowHeights& high) {
    const double curves = curves_heading(r);
    RowLayout& row = layout_.rows[r];
    const double body_top = top + high.heading, caption_top = body_top + high.body + high.axis,
                 bar_top = caption_top + high.caption + 1.5;
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      CellLayout& one = row.cells[c];
      one.heading = {lefts_[c], top, panel_width_, high.heading};
      one.body = {lefts_[c], body_top, panel_width_, high.body};
      one.plot = plot_of(panel(r, one.shape_of.value_or(c)), one.body, curves);
      one.caption_box = {lefts_[c], caption_top, panel_width_, high.caption};
      one.bar_at = {lefts_[c], bar_top};
    }
    row.bar_at = {lefts_.empty() ? margin_ : lefts_[0], bar_top};
  }

  /// One legend serves all plots of the figure: their series are the same.
  void choose_legend() {
    for (const auto& row : figure_.rows)
      for (const Panel& one : row)
        if (const auto* plot = std::get_if<SeriesPlot>(&one.body)) {
          std::vector<LegendItem> items;
          for (std::size_t s = 0; s < plot->series.size(); ++s)
            items.push_back({.text = plot->series[s].name, .series = s});
          layout_.legend = Legend(std::move(items), letters_, inner());
          return;
        }
  }

  void place() {
    const FigureStyle& style = figure_.style;
    const double size = title_size(style);
    layout_.title = letters_.wrapped(figure_.title, inner(), 2, true, size);
    layout_.footer = letters_.wrapped(figure_.footer, inner(), style.height ? 4 : 12);
    choose_legend();
    const double title = layout_.title.size() * 1.25 * size, legend = layout_.legend.height(),
                 footer = height_of(layout_.footer, letters_);
    double y = margin_;
    layout_.title_box = {margin_, y, inner(), title};
    y += title > 0 ? title + 3 : 0;
    layout_.legend_at = {margin_, y};
    y += legend > 0 ? legend + 3 : 0;
    std::vector<RowHeights> rows;
    const double below = (footer > 0 ? footer + 3 : 0) + margin_;
    double fixed = y + below, bodies = 0;
    for (std::size_t r = 0; r < figure_.rows.size(); ++r) {
      const RowHeights& high = rows.emplace_back(heights_of(r));
      fixed += high.heading + high.axis + high.caption + high.bar + (r > 0 ? kRowGap : 0);
      bodies += high.body;
    }
    // Bodies shrink or grow for a fixed height of the figure.
    const double factor =
        style.height && bodies > 0 ? std::max(0.05, (*style.height - fixed) / bodies) : 1;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      rows[r].body *= factor;
      if (r > 0) y += kRowGap;
      place_row(r, y, rows[r]);
      y += rows[r].heading + rows[r].body + rows[r].axis + rows[r].caption + rows[r].bar;
    }
    layout_.footer_box = {margin_, y + 3, inner(), footer};
    layout_.height = style.height.value_or(y + below);
  }

  const Figure& figure_;
  const PaperLettering& letters_;
  const double margin_ = std::max(2.0, 0.28 * letters_.size());  // around the figure
  TokenNames names_;
  FigureLayout layout_;
  std::size_t columns_ = 0;
  double panel_width_ = 0;
  double strip_room_ = 0;      // beside each panel
  std::vector<double> lefts_;  // of the panels of each column
  std::vector<bool> shared_;   // does the row have one colour scale
};

}  // namespace

FigureLayout lay_out(const Figure& figure, const PaperLettering& letters) {
  return Layouter(figure, letters).run();
}

}  // namespace fovea
