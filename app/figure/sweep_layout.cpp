#include "figure/sweep_layout.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "figure/sweep_axis.h"

namespace fovea {
namespace {

constexpr double kTick = 2, kGap = 5;
constexpr double kApart = 4;        // between numbers of crossovers
constexpr double kHeadroom = 1.25;  // of a logarithmic axis beyond its values
constexpr double kLeastRange = 8;   // of its ends

/// Works from the top downwards; the plots take what is left.
class Layouter {
 public:
  Layouter(const SweepFigure& figure, const PaperLettering& letters)
      : figure_(figure), letters_(letters), margin_(0.6 * figure.style.font_size) {}

  SweepLayout run() {
    const double line = letters_.line(), inner = figure_.style.width - 2 * margin_;
    double y = margin_;
    layout_.title = letters_.wrapped(figure_.title, inner, 2, true);
    if (figure_.title.empty()) layout_.title.clear();
    layout_.title_box = {margin_, y, inner, line * static_cast<double>(layout_.title.size())};
    y = layout_.title_box.bottom() + (layout_.title.empty() ? 0 : 3);
    if (figure_.sweep.series.empty()) return message(y, inner);
    y = place_legend(y, inner) + kGap;
    choose_notes(inner);
    const double below = line * static_cast<double>(layout_.notes.size()) + margin_ + kGap;
    y = place_plots(y, inner, below);
    layout_.notes_box = {margin_, y + kGap, inner, below - margin_ - kGap};
    layout_.size = {figure_.style.width, figure_.style.height.value_or(y + below)};
    return std::move(layout_);
  }

 private:
  SweepLayout message(double top, double inner);
  double place_legend(double top, double inner);
  void choose_notes(double inner);
  double place_plots(double top, double inner, double below);
  void make_plot(Quantity quantity, const Rect& cell, double band);
  void choose_axes(SweepPlotLayout& plot, Quantity quantity, double width);
  void place_curves(SweepPlotLayout& plot, Quantity quantity);
  void place_marks(SweepPlotLayout& plot);
  void spread_marks(SweepPlotLayout& plot) const;
  int mark_lines(double width) const;
  bool side_by_side() const;
  std::string heading_of(Quantity quantity) const;

  const SweepFigure& figure_;
  const PaperLettering& letters_;
  double margin_;
  SweepLayout layout_;
};

/// Instead of plots.
SweepLayout Layouter::message(double top, double inner) {
  layout_.message = letters_.wrapped(figure_.message, inner, 6);
  const double lines = letters_.line() * static_cast<double>(layout_.message.size());
  const double height = figure_.style.height.value_or(top + 3 * lines);
  layout_.message_box = {margin_, top + (height - top - lines) / 2, inner, lines};
  layout_.size = {figure_.style.width, height};
  return std::move(layout_);
}

double Layouter::place_legend(double top, double inner) {
  const Sweep& sweep = figure_.sweep;
  const double line = letters_.line(), apart = 2 * letters_.size(),
               sample = legend_sample(letters_);
  double widest = 0;
  for (std::size_t s = 0; s < sweep.series.size(); ++s) {
    SweepLegendItem item{.name = label_of(sweep, s), .reading = {}};
    if (s == 0)
      item.reading = "the reference";
    else
      item.reading = to_text(crossover_of(sweep, s, figure_.time), sweep.complete);
    item.name = letters_.elided(item.name, 0.5 * inner);
    item.name_width = letters_.width(item.name);
    item.reading = letters_.elided(item.reading, inner - sample - item.name_width - 4);
    widest = std::max(widest, sample + item.name_width + 4 + letters_.width(item.reading));
    layout_.legend.push_back(std::move(item));
  }
  const auto count = layout_.legend.size();
  const auto columns = std::clamp<std::size_t>(
      static_cast<std::size_t>((inner + apart) / (widest + apart)), 1, count);
  const std::size_t rows = (count + columns - 1) / columns;
  for (std::size_t s = 0; s < count; ++s)
    layout_.legend[s].at = {margin_ + static_cast<double>(s / rows) * (widest + apart),
                            top + line * (static_cast<double>(s % rows) + 0.5)};
  return top + line * static_cast<double>(rows);
}

void Layouter::choose_notes(double inner) {
  const auto add = [&](const std::string& note, int lines) {
    for (std::string& line : letters_.wrapped(note, inner, lines))
      layout_.notes.push_back(std::move(line));
  };
  for (const std::string& note : sweep_notes(figure_.sweep)) add(note, 3);
  constexpr std::size_t most = 4;  // lines; on a screen the plots need the rest
  if (figure_.style.height && layout_.notes.size() > most) {
    for (std::size_t extra = most; extra < layout_.notes.size(); ++extra)
      layout_.notes[most - 1] += " " + layout_.notes[extra];
    layout_.notes[most - 1] = letters_.elided(layout_.notes[most - 1], inner);
    layout_.notes.resize(most);
  }
  if (!figure_.footer.empty()) add(figure_.footer, 2);
}

std::string Layouter::heading_of(Quantity quantity) const {
  switch (quantity) {
    case Quantity::time:
      return figure_.time == SweepTime::total ? "Time from Q, K, V to Z" : "Time of apply";
    case Quantity::memory:
      return "Memory beside Q, K, V, Z, counted";
    case Quantity::error:
      return "Output error ‖Z̃ − Z‖ / ‖Z‖";
  }
  return {};
}

/// Lines of numbers of crossovers above the plot of times.
int Layouter::mark_lines(double width) const {
  double taken = 0;
  for (std::size_t s = 1; s < figure_.sweep.series.size(); ++s)
    if (const Crossover c = crossover_of(figure_.sweep, s, figure_.time);
        c.kind == Crossover::Kind::at)
      taken += letters_.width(std::to_string(rounded_n(c)), 0, true) + kApart;
  return static_cast<int>(std::ceil(taken / (0.8 * width)));
}

bool Layouter::side_by_side() const {
  const FigureStyle& style = figure_.style;
  return style.width >= 60 * style.font_size || (style.height && *style.height < 1.2 * style.width);
}

double Layouter::place_plots(double top, double inner, double below) {
  const bool beside = side_by_side();
  const double width = beside ? (inner - 4 * kGap) / 3 : inner;
  const double band = letters_.line() * mark_lines(width) + 2;
  const double around = 3.2 * letters_.line() + kTick;  // heading and numbers
  const double natural = (beside ? 0.72 * width : 0.45 * width) + around + band;
  double height = natural;
  if (figure_.style.height) {
    const double room = *figure_.style.height - top - below;
    height = beside ? room : (room - 2 * kGap) / 3;
    height = std::max(height, around + band + 3 * letters_.line());
  }
  const Quantity order[] = {Quantity::time, Quantity::memory, Quantity::error};
  for (int p = 0; p < 3; ++p) {
    const double step = static_cast<double>(p);
    const Rect cell = beside ? Rect(margin_ + step * (width + 2 * kGap), top, width, height)
                             : Rect(margin_, top + step * (height + kGap), width, height);
    make_plot(order[p], cell, beside || p == 0 ? band : 2);
  }
  return beside ? top + height : top + 3 * height + 2 * kGap;
}

void Layouter::make_plot(Quantity quantity, const Rect& cell, double band) {
  const double line = letters_.line();
  SweepPlotLayout plot;
  plot.heading = letters_.elided(heading_of(quantity), cell.width, true);
  plot.heading_box = {cell.x, cell.y, cell.width, line};
  plot.plot = cell.without(0, line + band, 0, 2.2 * line + kTick);
  choose_axes(plot, quantity, cell.width);
  place_curves(plot, quantity);
  if (quantity == Quantity::time) place_marks(plot);
  const bool any = std::ranges::any_of(plot.curves, [](const auto& c) { return !c.empty(); });
  if (!any) plot.empty = figure_.message;
  layout_.plots.push_back(std::move(plot));
}

void Layouter::choose_axes(SweepPlotLayout& plot, Quantity quantity, double width) {
  const Sweep& sweep = figure_.sweep;
  double low = std::numeric_limits<double>::infinity(), high = 0;
  bool zeros = false;
  for (const SweepSeries& series : sweep.series)
    for (const SweepPoint& point : series.points)
      if (const auto amount = amount_of(point, quantity, figure_.time)) {
        zeros = zeros || amount->value <= 0;
        if (amount->value <= 0) continue;
        low = std::min(low, amount->low > 0 ? amount->low : amount->value);
        high = std::max(high, amount->high);
      }
  const bool any = high > 0;
  if (any && high < kLeastRange * low) {  // a small part of a decade would be all slope
    const double middle = std::sqrt(low * high);
    low = middle / std::sqrt(kLeastRange);
    high = middle * std::sqrt(kLeastRange);
  }
  plot.y = {any ? low / kHeadroom : 0.1, any ? high * kHeadroom : 1, {}, {}, false, true};
  const double strip = zeros ? 1.4 * letters_.line() : 0;
  const int most =
      std::max(2, static_cast<int>((plot.plot.height - strip) / (1.8 * letters_.line())));
  if (any) plot.y_ticks = amount_ticks(plot.y.low, plot.y.high, most, quantity);
  double widest = letters_.width("256 KiB");  // plots above each other align
  for (const Tick& tick : plot.y_ticks) widest = std::max(widest, letters_.width(tick.label));
  const double last = letters_.width(std::to_string(sweep.lengths.back()));
  plot.plot = plot.plot.without(std::min(widest + kTick + 3, 0.5 * width), 0, last / 2, 0);
  if (zeros) plot.zero = plot.plot.bottom() - 0.45 * strip;
  plot.x.logarithmic = true;
  plot.x.low = static_cast<double>(sweep.lengths.front()) / 1.15;
  plot.x.high = static_cast<double>(sweep.lengths.back()) * 1.15;
  plot.x.label = "n, tokens";
  plot.x.ticks = length_ticks(sweep.lengths, plot.x, plot.plot, letters_);
}

void Layouter::place_curves(SweepPlotLayout& plot, Quantity quantity) {
  const Sweep& sweep = figure_.sweep;
  const double bottom = plot.plot.bottom() - (plot.zero ? 1.4 * letters_.line() : 0);
  const auto height = [&](double value) {
    if (!(value > 0)) return plot.zero.value_or(bottom);
    return plot.y.place(value, bottom, plot.plot.y);
  };
  for (Tick& tick : plot.y_ticks) tick.at = height(tick.at);
  if (plot.zero) plot.y_ticks.push_back({*plot.zero, "0"});
  for (std::size_t s = 0; s < sweep.series.size(); ++s) {
    auto& curve = plot.curves.emplace_back();
    for (const SweepPoint& point : sweep.series[s].points) {
      const auto amount = amount_of(point, quantity, figure_.time);
      if (!amount) continue;
      const auto length = std::ranges::find(sweep.lengths, point.n) - sweep.lengths.begin();
      const double x = plot.x.place(static_cast<double>(point.n), plot.plot.x, plot.plot.right());
      curve.push_back(
          {.spot = {s, point.n},
           .length = static_cast<std::size_t>(length),
           .at = {x, height(amount->value)},
           .low = height(amount->low),
           .high = height(amount->high),
           .fitted = !point.fitted.empty(),
           .weak = quantity == Quantity::time && (point.few_samples() || throttled(sweep, point))});
    }
  }
}

/// From left to right, in turns on the lines there are; those of a line are pushed apart.
void Layouter::spread_marks(SweepPlotLayout& plot) const {
  std::ranges::sort(plot.marks, {}, [](const SweepMark& mark) { return mark.at.x; });
  const auto lines = static_cast<std::size_t>(mark_lines(plot.heading_box.width));
  for (std::size_t line = 0; line < lines; ++line) {
    const double top = plot.plot.y - 1 - letters_.line() * static_cast<double>(line + 1);
    double free = plot.heading_box.x;
    for (std::size_t m = line; m < plot.marks.size(); m += lines) {
      SweepMark& mark = plot.marks[m];
      const double width = letters_.width(mark.text, 0, true);
      mark.box = {std::max(free, mark.at.x - width / 2), top, width, letters_.line()};
      free = mark.box.right() + kApart;
    }
    double end = plot.heading_box.right();
    for (std::size_t m = plot.marks.size(); m-- > 0;) {
      if (m % lines != line) continue;
      SweepMark& mark = plot.marks[m];
      mark.box.x = std::min(mark.box.right(), end) - mark.box.width;
      end = mark.box.x - kApart;
    }
  }
}

void Layouter::place_marks(SweepPlotLayout& plot) {
  const Sweep& sweep = figure_.sweep;
  for (std::size_t s = 1; s < sweep.series.size(); ++s) {
    const Crossover crossover = crossover_of(sweep, s, figure_.time);
    if (crossover.kind != Crossover::Kind::at) continue;
    const auto of = [&](Index n) {
      return std::ranges::find(plot.curves[0], n, [](const SweepDot& d) { return d.spot.n; })->at;
    };
    const Point from = of(crossover.below), to = of(crossover.above);
    const double x = plot.x.place(crossover.n, plot.plot.x, plot.plot.right());
    const double t = (x - from.x) / (to.x - from.x);
    plot.marks.push_back({.series = s,
                          .at = {x, from.y + t * (to.y - from.y)},
                          .text = std::to_string(rounded_n(crossover))});
  }
  spread_marks(plot);
}

}  // namespace

double legend_sample(const Lettering& letters) {
  return 2.6 * letters.size();
}

SweepLayout lay_out(const SweepFigure& figure, const PaperLettering& letters) {
  return Layouter(figure, letters).run();
}

}  // namespace fovea
