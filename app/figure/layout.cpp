#include "figure/layout.h"

#include <algorithm>
#include <cmath>

#include "data/text.h"
#include "figure/panel_words.h"
#include "views/views.h"

namespace fovea {

using namespace drawing;

namespace {

constexpr double kGutter = 6;  // between columns
constexpr double kRowGap = 7;  // between rows
constexpr double kBarGap = 3;  // between the colour bars of maps and strips

/// Heights of the parts of a row, from the top downwards, each with the gap before it.
struct RowHeights {
  double heading = 0, body = 0, axis = 0, caption = 0, bar = 0;
};

/// Whether a point of the series is on the front, the user's own or the chosen one.
bool stands_out(const SeriesPlot::Series& series) {
  return std::ranges::any_of(series.points, [](const SeriesPlot::Point& point) {
    return !point.hollow || point.framed || point.ringed;
  });
}

/// One scale for the categories of several panels. A colour that has several names has all of them.
void merge_categories(ColourScale& scale, const ColourScale& other) {
  scale.categories.resize(std::max(scale.categories.size(), other.categories.size()));
  for (std::size_t c = 0; c < other.categories.size(); ++c) {
    std::string& names = scale.categories[c];
    const std::string others = " / " + names + " / ";
    if (others.find(" / " + other.categories[c] + " / ") == others.npos)
      add_item(names, other.categories[c], " / ");
  }
  scale.add(other);
}

/// The scale of all panels with categories; nothing unless there are several, which count the same.
std::optional<ColourScale> shared_categories(
    const std::vector<std::optional<ColourScale>>& scales) {
  std::optional<ColourScale> shared;
  int count = 0;
  for (const auto& scale : scales) {
    if (!scale) continue;
    if (scale->palette != Palette::categories) return {};
    if (shared && (shared->title() != scale->title() || shared->hidden != scale->hidden)) return {};
    if (shared)
      merge_categories(*shared, *scale);
    else
      shared = scale;
    ++count;
  }
  return count > 1 ? shared : std::nullopt;
}

std::string strip_quantity(const Panel& panel) {
  return std::get<Raster>(panel.body).row_quantity;
}

/// Works through a figure from the colours to the heights; each step uses the ones before.
class Layouter {
 public:
  Layouter(const Figure& figure, const PaperLettering& letters)
      : figure_(figure), letters_(letters) {
    layout_.width = figure.style.width;
    for (const auto& row : figure.rows) {
      columns_ = std::max(columns_, row.size());
      RowLayout& cells = layout_.rows.emplace_back();
      for (const Panel& panel : row)
        cells.cells.emplace_back(panel).left_out = is_left_out(figure, panel);
    }
  }

  FigureLayout run() {
    for (std::size_t r = 0; r < figure_.rows.size(); ++r) choose_scales(r);
    choose_axes();
    choose_row_names();
    choose_columns();
    choose_words();
    for (std::size_t r = 0; r < figure_.rows.size(); ++r) make_bars(r);
    place();
    return std::move(layout_);
  }

 private:
  const Panel& panel(std::size_t r, std::size_t c) const { return figure_.rows[r][c]; }
  CellLayout& cell(std::size_t r, std::size_t c) { return layout_.rows[r].cells[c]; }
  double inner() const { return layout_.width - 2 * margin_; }

  void choose_scales(std::size_t r) {
    std::vector<const Panel*> panels;
    for (const Panel& shown : figure_.rows[r]) panels.push_back(&shown);
    const View view = panels.empty() ? View() : panels.front()->view;
    const RowScales scales = scales_of_row(view, panels, figure_.style.settings);
    auto& shared = shared_.emplace_back();
    if (scales.count > 1) shared = scales.shared ? scales.shared : shared_categories(scales.of);
    double top = 0;
    for (std::size_t c = 0; c < panels.size(); ++c) {
      CellLayout& here = cell(r, c);
      here.scale = scales.of[c];
      if (here.scale && std::holds_alternative<Raster>(panel(r, c).body))
        here.scale->add(special_colours_of(here.prepared.contents, *here.scale));
      if (here.scale && shared) shared->add(*here.scale);
      here.strip = row_strip_of(panel(r, c));
      if (!here.strip) continue;
      strip_room_ = row_strip_room(letters_);
      top = std::max({top, here.strip->top, known_top(panel(r, c))});
    }
    for (CellLayout& here : layout_.rows[r].cells)
      if (here.strip && figure_.style.settings.shared_range) here.strip->top = top;
  }

  /// That of other figures.
  double known_top(const Panel& shown) const {
    const auto known = figure_.strip_tops.find(strip_quantity(shown));
    return known == figure_.strip_tops.end() ? 0 : known->second;
  }

  /// Amounts of one kind in a row are drawn to one scale.
  std::optional<double> shared_top(std::size_t r, std::size_t c) const {
    if (!figure_.style.settings.shared_range) return std::nullopt;
    std::optional<double> top;
    for (const Panel& other : figure_.rows[r]) {
      if (amount_name(other) != amount_name(panel(r, c))) continue;
      if (const auto amount = amount_of(other)) top = std::max(top.value_or(0), *amount);
    }
    return top;
  }

  void choose_axes() {
    const double about = (inner() - 22) / std::max<std::size_t>(1, columns_) - kGutter;
    for (std::size_t r = 0; r < figure_.rows.size(); ++r) {
      for (std::size_t c = 0; c < figure_.rows[r].size(); ++c) {
        const TokenNames names = names_of(figure_, c);
        const double height = natural_height(panel(r, c), about, letters_, names);
        cell(r, c).axes = axes_of(panel(r, c), {.size = {about, height},
                                                .letters = letters_,
                                                .top = shared_top(r, c),
                                                .names = names});
      }
      lend_axes(r);
    }
    for (std::size_t r = 0; r < figure_.rows.size(); ++r)
      for (std::size_t c = 0; c < figure_.rows[r].size(); ++c) {
        CellLayout& here = cell(r, c);
        here.show_x = here.axes.x && !here.left_out && !x_read_below(r, c);
        here.show_y = here.axes.y && !here.left_out && !y_read_left(r, c);
      }
  }

  /// A message among maps stands in place of its map, within the same axes: columns stay even, and
  /// the first column carries the numbers even if it has nothing to show.
  void lend_axes(std::size_t r) {
    const auto& row = figure_.rows[r];
    for (std::size_t lender = 0; lender < row.size(); ++lender) {
      const Axes axes = cell(r, lender).axes;
      if (!axes.y || !axes.y->downward || axes.x->amounts) continue;
      for (std::size_t c = 0; c < row.size(); ++c)
        if (std::holds_alternative<Message>(row[c].body)) {
          cell(r, c).axes = axes;
          cell(r, c).stands_in_for = lender;
        }
      return;
    }
  }

  /// In a panel below that is not left out.
  bool x_read_below(std::size_t r, std::size_t c) const {
    while (same_x_below(r))
      if (!layout_.rows[++r].cells[c].left_out) return true;
    return false;
  }

  bool same_x_below(std::size_t r) const {
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
      return other.axes.y && !other.left_out && other.axes.y->same_as(*cells[c].axes.y);
    });
  }

  /// Each column has room for its numbers, and all panels have one width. All gaps have one width
  /// too, unless that takes too much from the panels.
  void choose_columns() {
    constexpr double least = 0.85;  // of the width of panels in uneven gaps
    std::vector<double> rooms(columns_);
    // The numbers of a panel may stand in a place at its left that stays white.
    for (const RowLayout& row : layout_.rows)
      for (std::size_t c = 0; c < row.cells.size(); ++c)
        if (const CellLayout& here = row.cells[c];
            here.show_y && (c == 0 || !row.cells[c - 1].left_out))
          rooms[c] = std::max(rooms[c], y_axis_width(*here.axes.y, letters_, here.y_words()));
    panel_width_ = width_between(rooms);
    if (columns_ > 2) {
      std::vector<double> even = rooms;
      std::fill(even.begin() + 1, even.end(), *std::max_element(rooms.begin() + 1, rooms.end()));
      if (width_between(even) >= least * panel_width_) rooms = even;
      panel_width_ = width_between(rooms);
    }
    double left = margin_ + names_room_;
    for (const double room : rooms) {
      lefts_.push_back(left + room);
      left = lefts_.back() + panel_width_ + strip_room_ + kGutter;
    }
  }

  /// The width of a panel between the rooms of all columns.
  double width_between(const std::vector<double>& rooms) const {
    double taken = names_room_ + columns_ * strip_room_ + (columns_ - 1.0) * kGutter;
    for (const double room : rooms) taken += room;
    return std::max(8.0, (inner() - taken) / std::max<std::size_t>(1, columns_));
  }

  /// Names are no longer than their rows are high, with a guess at the width of panels.
  void choose_row_names() {
    if (!figure_.style.row_names) return;
    const double about = (inner() - 22) / std::max<std::size_t>(1, columns_) - kGutter;
    for (std::size_t r = 0; r < figure_.rows.size(); ++r) {
      if (figure_.rows[r].empty() || !panel(r, 0).view) continue;
      double high = 6 * letters_.size();
      for (std::size_t c = 0; c < figure_.rows[r].size(); ++c)
        high = std::max(high, natural_height(panel(r, c), about, letters_, names_of(figure_, c)));
      auto& name = layout_.rows[r].name;
      name = letters_.wrapped(label_of(panel(r, 0).view), high, 3);
      names_room_ = std::max(names_room_, height_of(name, letters_) + 2);
    }
  }

  /// A bar begins and ends with the panels that it belongs to.
  void make_bars(std::size_t r) {
    RowLayout& row = layout_.rows[r];
    for (CellLayout& here : row.cells)
      here.plot = {lefts_[&here - row.cells.data()], 0, panel_width_, 0};
    if (shared_[r]) {
      row.bar = bar_of(*shared_[r], span_of(row, &CellLayout::scale));
    } else {
      for (CellLayout& here : row.cells)
        if (here.scale) here.bar = bar_of(*here.scale, here.plot);
    }
    const auto strip = std::ranges::find_if(row.cells, [](const auto& c) { return bool(c.strip); });
    if (strip == row.cells.end()) return;
    // One bar states one range; strips with ranges of their own have their captions.
    if (std::ranges::any_of(row.cells, [&](const CellLayout& here) {
          return here.strip && here.strip->top != strip->strip->top;
        }))
      return;
    const auto& raster = std::get<Raster>(strip->prepared.panel->body);
    row.strip_bar = bar_of(
        scale_of_strips(strip->strip->top, raster.row_quantity, figure_.style.settings.colormap),
        span_of(row, &CellLayout::strip));
  }

  ColourBar bar_of(const ColourScale& scale, const Rect& where) const {
    // The title of categories is the first of their names.
    const bool one_line = scale.is_named() && where.width > panel_width_;
    return {scale,
            letters_,
            {where.width, one_line ? ColourBar::Form::beside : ColourBar::Form::beneath}};
  }

  /// From the left edge of the first panel of a row that has something to the right edge of the
  /// last.
  template <class Member>
  static Rect span_of(const RowLayout& row, std::optional<Member> CellLayout::*member) {
    Rect span;
    bool first = true;
    for (const CellLayout& here : row.cells) {
      if (!(here.*member)) continue;
      if (first) span.x = here.plot.x;
      span.width = here.plot.right() - span.x;
      first = false;
    }
    return span;
  }

  /// Panels that a given height makes narrower have narrower bars, if their words have room there.
  void place_bar(std::optional<ColourBar>& bar, Point& at, const Rect& span, double top) const {
    if (!bar) return;
    at = {span.x, top};
    ColourBar narrow = bar_of(bar->scale(), span);
    if (narrow.height() <= bar->height()) bar.emplace(std::move(narrow));
  }

  /// Headings may reach over the strip and the gap beside their panel.
  double heading_room(std::size_t c) const {
    const double gap = letters_.size() / 2;
    return (c + 1 < lefts_.size() ? lefts_[c + 1] - gap : layout_.width - margin_) - lefts_[c];
  }

  void choose_words() {
    WordRooms rooms{.panel = panel_width_, .headings = {}};
    for (std::size_t c = 0; c < columns_; ++c) rooms.headings.push_back(heading_room(c));
    const PanelWords words(figure_, letters_, std::move(rooms));
    layout_.panel_title_face = words.title_face();
    layout_.note_face = words.note_face();
    for (std::size_t r = 0; r < figure_.rows.size(); ++r) {
      std::vector<CellWords> row = words.of_row(r);
      for (std::size_t c = 0; c < row.size(); ++c) {
        cell(r, c).title = std::move(row[c].title);
        cell(r, c).subtitle = std::move(row[c].subtitle);
        cell(r, c).caption = std::move(row[c].caption);
      }
    }
  }

  RowHeights heights_of(std::size_t r) const {
    const RowLayout& row = layout_.rows[r];
    RowHeights high{.bar = row.bar ? row.bar->height() : 0};
    const double strip_bar = row.strip_bar ? row.strip_bar->height() : 0;
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      const CellLayout& here = row.cells[c];
      high.heading =
          std::max(high.heading, height_of(here.title, letters_, layout_.panel_title_face) +
                                     height_of(here.subtitle, letters_, layout_.note_face));
      if (!here.left_out)
        high.body = std::max(high.body, natural_height(*here.prepared.panel, panel_width_, letters_,
                                                       names_of(figure_, c)));
      if (here.axes.x)
        high.axis = std::max(high.axis, x_axis_height(*here.axes.x, letters_, here.x_words()));
      high.caption = std::max(high.caption, height_of(here.caption, letters_, layout_.note_face));
      if (here.bar) high.bar = std::max(high.bar, here.bar->height());
    }
    if (strip_bar > 0) high.bar += strip_bar + (high.bar > 0 ? kBarGap : 0);
    if (high.heading > 0) high.heading += 2;
    if (high.caption > 0) high.caption += 1;
    if (high.bar > 0) high.bar += 2.5;
    return high;
  }

  /// The part of the body inside the axes: matrices keep square cells, plots leave room for their
  /// headings.
  Rect plot_of(const Panel& shown, const Rect& body, double curves_heading,
               const TokenNames& names) const {
    if (const auto shape = shape_of(shown)) {
      const double width = std::min(body.width, body.height / *shape);
      // Only a fixed height makes a body too low; the panel is then centred.
      return {body.x + (body.width - width) / 2, body.y, width, width * *shape};
    }
    const double heading = std::holds_alternative<RowCurve>(shown.body)
                               ? curves_heading
                               : heading_height(shown, body, letters_, names);
    return body.without(0, std::min(heading, 0.8 * body.height), 0, 0);
  }

  /// One height for all curves of a row: their plots stand side by side and are read along one
  /// axis.
  double curves_heading(std::size_t r) const {
    double heading = 0;
    for (std::size_t c = 0; c < figure_.rows[r].size(); ++c)
      if (std::holds_alternative<RowCurve>(panel(r, c).body))
        heading = std::max(heading, heading_height(panel(r, c), {0, 0, panel_width_, panel_width_},
                                                   letters_, names_of(figure_, c)));
    return heading;
  }

  void place_row(std::size_t r, double top, const RowHeights& high) {
    const double curves = curves_heading(r);
    RowLayout& row = layout_.rows[r];
    const double body_top = top + high.heading, caption_top = body_top + high.body + high.axis,
                 bar_top = caption_top + high.caption + 1.5;
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      CellLayout& here = row.cells[c];
      here.heading = {lefts_[c], top, heading_room(c), high.heading};
      here.body = {lefts_[c], body_top, panel_width_, high.body};
      here.plot = plot_of(panel(r, here.stands_in_for.value_or(c)), here.body, curves,
                          names_of(figure_, c));
      here.caption_box = {lefts_[c], caption_top, panel_width_, high.caption};
      place_bar(here.bar, here.bar_at, here.plot, bar_top);
    }
    row.name_box = {margin_, body_top, names_room_, high.body};
    place_bar(row.bar, row.bar_at, span_of(row, &CellLayout::scale), bar_top);
    double bars = row.bar ? row.bar->height() : 0;
    for (const CellLayout& here : row.cells)
      if (here.bar) bars = std::max(bars, here.bar->height());
    place_bar(row.strip_bar, row.strip_bar_at, span_of(row, &CellLayout::strip),
              bar_top + bars + (bars > 0 ? kBarGap : 0));
  }

  /// The names of the series that have points, or only of those that stand out.
  std::vector<LegendItem> legend_items(const SeriesPlot& plot, bool all) const {
    std::vector<LegendItem> items;
    for (std::size_t s = 0; s < plot.series.size(); ++s) {
      const SeriesPlot::Series& series = plot.series[s];
      if (plot.scattered && !(all ? !series.points.empty() : stands_out(series))) continue;
      items.push_back({.text = series.name, .series = s, .line = !plot.scattered});
    }
    return items;
  }

  /// One legend serves all plots of the figure: their series are the same. If the height is given,
  /// it takes at most a third of it from points, whose names are read at the pointer, too, and
  /// nothing of a height of a few lines.
  void choose_legend() {
    for (const auto& row : figure_.rows)
      for (const Panel& shown : row)
        if (const auto* plot = std::get_if<SeriesPlot>(&shown.body)) {
          constexpr double few_lines = 12;
          const auto& height = figure_.style.height;
          if (height && plot->scattered && *height < few_lines * letters_.line()) return;
          const auto fits = [&](const std::vector<LegendItem>& items) {
            layout_.legend = Legend(items, letters_, inner());
            return !height || !plot->scattered || layout_.legend.height() <= *height / 3;
          };
          if (fits(legend_items(*plot, true))) return;
          auto items = legend_items(*plot, false);
          while (!fits(items) && items.size() > 1) {
            items.resize(items.size() - (items.back().series ? 1 : 2));
            items.push_back({"…"});
          }
          return;
        }
  }

  void place() {
    const FigureStyle& style = figure_.style;
    layout_.title_face = {style.font_size + (style.smaller > 0 ? 0 : 1), true};
    layout_.title = letters_.wrapped(figure_.title, inner(), 2, layout_.title_face);
    std::string footer_words = style.footer ? figure_.footer : "";
    if (const std::string marks = words_of_marks(figure_); !marks.empty())
      add_item(footer_words, marks, "\n");
    const double left = lefts_.empty() ? margin_ : lefts_.front();  // of all panels
    const double footer_width = layout_.width - margin_ - left;
    layout_.footer = letters_.wrapped(footer_words, footer_width, style.height ? 4 : 12);
    choose_legend();
    const double title = height_of(layout_.title, letters_, layout_.title_face),
                 legend = layout_.legend.height(), footer = height_of(layout_.footer, letters_);
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
    double least = 0;  // of the natural heights of bodies
    for (const RowHeights& high : rows)
      least = std::max(least, std::min(1.0, 3 * letters_.line() / high.body));
    layout_.least_height = fixed + least * bodies;
    // Bodies shrink or grow for a fixed height of the figure.
    const double factor =
        style.height && bodies > 0 ? std::max(0.05, (*style.height - fixed) / bodies) : 1;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      rows[r].body *= factor;
      if (r > 0) y += kRowGap;
      place_row(r, y, rows[r]);
      y += rows[r].heading + rows[r].body + rows[r].axis + rows[r].caption + rows[r].bar;
    }
    layout_.footer_box = {left, y + 3, footer_width, footer};
    layout_.height = style.height.value_or(y + below);
  }

  const Figure& figure_;
  const PaperLettering& letters_;
  const double margin_ = std::max(2.0, 0.28 * letters_.size());  // around the figure
  FigureLayout layout_;
  std::size_t columns_ = 0;
  double panel_width_ = 0;
  double strip_room_ = 0;      // beside each panel
  double names_room_ = 0;      // of the names of rows
  std::vector<double> lefts_;  // of the panels of each column
  std::vector<std::optional<ColourScale>>
      shared_;  // of each row; nothing if each panel has its own
};

}  // namespace

StripTops strip_tops_of(const std::vector<std::vector<Panel>>& rows) {
  StripTops tops;
  for (const auto& row : rows)
    for (const Panel& panel : row)
      if (const auto strip = row_strip_of(panel)) {
        double& top = tops[strip_quantity(panel)];
        top = std::max(top, strip->top);
      }
  return tops;
}

FigureLayout lay_out(const Figure& figure, const PaperLettering& letters) {
  return Layouter(figure, letters).run();
}

}  // namespace fovea
