// Everything that each kind of panel draws, against what is kept in tests/drawing/kept.
#include <doctest/doctest.h>

#include "drawing/colour_bar.h"
#include "drawing/fixed_lettering.h"
#include "drawing/legend.h"
#include "drawing/noting_ink.h"
#include "drawing/ticks.h"
#include "figure/panels.h"
#include "kept_lines.h"

using namespace fovea;
using namespace fovea::drawing;
using test::check_kept;

namespace {

using Lines = std::vector<std::string>;

void add(Lines& to, const std::string& title, const Lines& lines) {
  to.push_back("== " + title);
  to.insert(to.end(), lines.begin(), lines.end());
}

std::string axis_words(const PanelAxis& axis) {
  std::string out = axis.label + (axis.downward ? ", down" : "") +
                    (axis.logarithmic ? ", log" : "") + (axis.named ? ", named" : "") +
                    (axis.compressed ? ", compressed" : "") +
                    (axis.border ? ", border at " + std::to_string(*axis.border) : "") + " from " +
                    std::to_string(axis.low) + " to " + std::to_string(axis.high) + ":";
  for (const Tick& tick : axis.ticks) out += " " + tick.label + " at " + std::to_string(tick.at);
  return out;
}

/// The axes, the body, its legend and the words of both axes.
Lines drawn(const Panel& panel, Rect plot, const ViewSettings& settings, bool dark,
            const TokenNames& names = {}, std::optional<double> top = {}) {
  const FixedLettering letters;
  const PreparedPanel prepared(panel);
  const Axes axes = axes_of(
      panel, {.size = {plot.width, plot.height}, .letters = letters, .top = top, .names = names});
  const auto scale = colour_scale_of(panel, settings);
  NotingInk ink(letters, dark ? screen_style(true) : paper_style(false));
  if (axes.x) ink.lines.push_back("x: " + axis_words(*axes.x));
  if (axes.y) ink.lines.push_back("y: " + axis_words(*axes.y));
  const double heading = heading_height(panel, plot, letters, names);
  const Rect inner = plot.without(0, heading, 0, 0);
  const BodyDrawing body{.ink = ink,
                         .prepared = prepared,
                         .body = plot,
                         .plot = {inner, axes},
                         .scale = scale ? &*scale : nullptr,
                         .names = names,
                         .settings = settings};
  draw_body(body);
  if (axes.x) draw_x_axis(ink, body.plot, {});
  if (axes.y) draw_y_axis(ink, body.plot, {});
  if (amount_of(panel).value_or(0) > 0) draw_amounts_inside(ink, body.plot, dark);
  const Legend legend = legend_of(body);
  legend.draw(ink, {plot.x, plot.bottom()});
  for (const Legend::Switch& one : legend.switches())
    ink.lines.push_back("switch " + one.name + (one.hidden ? " hidden" : "") + " at " +
                        std::to_string(one.where.x) + " " + std::to_string(one.where.width));
  ink.lines.push_back("natural height " +
                      std::to_string(natural_height(panel, plot.width, letters, names)) +
                      ", heading " + std::to_string(heading));
  return ink.lines;
}

Sequence named_tokens(Index n) {
  Sequence out;
  for (Index i = 0; i < n; ++i)
    out.tokens.push_back(i % 5 == 2 ? "internationalisation" : "t" + std::to_string(i));
  return out;
}

}  // namespace

TEST_CASE("what each kind of panel draws in bodies, axes and legends is as it was") {
  const ViewSettings other{.norm = Norm::linear,
                           .log_floor = 1e-2,
                           .pool = Pool::Kind::max,
                           .colormap = "magma",
                           .hidden = {"exact", "queries", "full", "empty"}};
  Lines lines;
  for (const Index n : {12, 64})
    for (const Panel& panel : example::every_kind(n)) {
      const std::string title =
          std::to_string(n) + " " + panel.title + " " + std::to_string(panel.body.index());
      add(lines, title + ", large", drawn(panel, {40, 10, 420, 300}, {}, false));
      add(lines, title + ", small and dark", drawn(panel, {40, 10, 110, 90}, other, true));
      const Sequence sequence = named_tokens(n);
      add(lines, title + ", named",
          drawn(panel, {40, 10, 260, 200}, {}, true, TokenNames(sequence), 2.0));
    }
  for (const Panel& panel : {example::reach(64, "reach"), example::selection(64, "selection"),
                             example::tile_errors(64, "tiles")})
    add(lines, panel.title, drawn(panel, {40, 10, 300, 300}, {}, false));
  check_kept("drawing/kept/panels.txt", lines);
}

TEST_CASE("what colour bars draw beside, beneath and upright, on each scale, is as it was") {
  const FixedLettering letters;
  Lines lines;
  using Form = ColourBar::Form;
  const auto draw_bars = [&](const std::string& title, const ColourScale& scale) {
    for (const Form form : {Form::beside, Form::beneath, Form::upright})
      for (const double room : {90.0, 320.0}) {
        NotingInk ink(letters, paper_style(form == Form::upright));
        const ColourBar bar(scale, letters,
                            {.width = room, .form = form, .length = room, .bar = room / 2});
        bar.draw(ink, {7, 5});
        const Rect gradient = bar.gradient();
        ink.lines.push_back("height " + std::to_string(bar.height()) + ", gradient " +
                            std::to_string(gradient.x) + " " + std::to_string(gradient.width));
        add(lines, title + " " + std::to_string(int(form)) + " in " + std::to_string(int(room)),
            ink.lines);
      }
  };
  for (const Panel& panel : example::every_kind(64))
    for (const Norm norm : {Norm::log, Norm::linear, Norm::row_max})
      if (const auto scale = colour_scale_of(panel, {.norm = norm}))
        draw_bars(panel.title + " " + std::to_string(int(norm)), *scale);
  for (const double low : {-3.0, 0.0, 1e-6})
    for (const double high : {0.0, 0.02, 3.0, 4000.0})
      for (const Norm norm : {Norm::log, Norm::linear})
        if (low < high) {
          ColourScale scale;
          scale.palette = low < 0 ? Palette::diverging : Palette::sequential;
          scale.map = &colormap_for(scale.palette, "viridis");
          scale.norm = norm, scale.low = low < 0 ? -high : low, scale.high = high;
          scale.label = "a quantity", scale.pooling = high == 3 ? "max of 2 × 2" : "";
          scale.log_floor = 1e-3;
          draw_bars(std::to_string(low) + " to " + std::to_string(high), scale);
        }
  check_kept("drawing/kept/bars.txt", lines);
}

TEST_CASE("what plots without amounts, with odd ones and at their ends draw is as it was") {
  const float nan = std::nanf(""), inf = INFINITY;
  Lines lines;
  Panel panel;
  const auto show = [&](const std::string& title) {
    add(lines, title, drawn(panel, {40, 10, 300, 160}, {}, false));
  };
  for (const std::vector<float>& values : std::vector<std::vector<float>>{
           {}, {0, 0, 0}, {nan, nan}, {nan, 0, nan}, {0, inf, 1}, {0.5f, nan, 2}, {-1, 0, 1}}) {
    panel.body = Strip{values, "an error"};
    show("strip of " + std::to_string(values.size()));
    Strip bounded{values, "an error"};
    bounded.bounds = values, bounded.bounds_name = "bound";
    panel.body = bounded;
    show("strip with bounds");
    panel.body = RowCurve{
        .query = 1, .keys = {0, Index(values.size())}, .exact = values, .approximate = values};
    show("row");
    panel.body = LeafSizes{.kind = "leaf", .queries = {0, 3, 1}, .keys = {2, 0, 1}};
    show("leaves");
  }
  Raster raster;
  raster.values = Matrix(3, 4);
  raster.rows = {0, 3}, raster.cols = {0, 4};
  raster.quantity = "weight", raster.high = 1;
  const float odd[] = {0, nan, inf, -inf, 0.5f, 1, 2, -1, 1e-9f, 0.25f, 0.75f, 1};
  for (int at = 0; at < 12; ++at) raster.values(at / 4, at % 4) = odd[at];
  panel.body = raster;
  show("raster");
  panel.view = find_view("error");
  for (const std::vector<float>& errors : std::vector<std::vector<float>>{
           {}, {0, 0, 0}, {nan, nan, nan}, {0, 1, 0}, {0.1f, nan, 0.7f}}) {
    const auto strip = row_strip_of(panel, errors);
    lines.push_back(strip ? "strip to " + std::to_string(strip->top) : "no strip");
    if (!strip) continue;
    const FixedLettering letters;
    NotingInk ink(letters, paper_style(false));
    const Axes axes = axes_of(panel, {.size = {200, 200}, .letters = letters});
    draw_row_strip(ink, {0, 0, 200, 200}, *axes.y, *strip,
                   colormap_for(Palette::sequential, "viridis"));
    add(lines, "row strip", ink.lines);
  }
  check_kept("drawing/kept/odd.txt", lines);
}

TEST_CASE("ticks, styles, words on a place and series markers are as they were") {
  const FixedLettering letters;
  Lines lines;
  const auto put = [&](const std::string& title, const std::vector<Tick>& ticks) {
    for (const Tick& tick : ticks)
      lines.push_back(title + ": " + tick.label + " at " + std::to_string(tick.at));
  };
  for (const double low : {0.0, 0.03, 1.0, 7.0})
    for (const double high : {0.05, 1.5, 9.0, 44.0, 123456.0})
      for (const int most : {1, 2, 5, 9}) {
        if (low >= high) continue;
        const std::string title =
            std::to_string(low) + " " + std::to_string(high) + " " + std::to_string(most);
        put("linear " + title, linear_ticks(low, high, most));
        put("whole " + title, whole_ticks(low, high, most));
        if (low > 0) put("log " + title, log_ticks(low, high, most));
        put("signed " + title, signed_log_ticks(high, high / 1000, most));
      }
  for (const Style& style :
       {screen_style(true), screen_style(false), paper_style(true), paper_style(false)}) {
    NotingInk ink(letters, style);
    ink.line({0, 0}, {1, 1}, {style.frame, 100 * style.hair});
    ink.line({0, 0}, {1, 1}, {style.grid, 100 * style.finest});
    for (const Rgba colour :
         {style.ground, style.paper, style.raised, style.text, style.faint, style.label,
          style.accent, style.warning, style.error, style.pinned, style.marked, style.veil,
          style.tip, style.query, style.key, style.exact, style.approximate})
      ink.dot({0, 0}, 1, colour);
    for (const Align align : {Align::left, Align::centre, Align::right}) {
      ink.write({10, 20, 200, 30}, "words", align, style.text);
      ink.write_lines({10, 20, 200, 30}, {"one", "", "three"}, align, style.text);
    }
    ink.write_paragraph({10, 20, 60, 90}, "several words that are wrapped", style.text);
    for (std::size_t series = 0; series < 9; ++series) {
      draw_series_sample(ink, {0, 0, 20, 10}, series);
      draw_series_marker(ink, {5, 5}, series);
    }
    add(lines, "style", ink.lines);
  }
  check_kept("drawing/kept/parts.txt", lines);
}
