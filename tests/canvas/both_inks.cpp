// What a panel draws in a figure and on the canvas is the same.
#include "canvas/scene.h"
#include "drawing/recording_ink.h"
#include "figure/layout.h"
#include "figure/panels.h"
#include "screen_letters.h"
#include "shown.h"

using namespace fovea;
using drawing::Operation;
using drawing::RecordingInk;
using drawing::Rect;

namespace {

struct Drawn {
  drawing::Axes axes;
  std::optional<drawing::ColourScale> scale;
  Rect plot;  // in letters
  std::vector<Operation> body;
  std::vector<std::string> texts;
};

/// Places as shares of the plot, from the top left to the bottom right of each kind.
std::vector<Operation> normalised(std::vector<Operation> operations, const Rect& plot) {
  std::erase_if(operations, [](const Operation& one) { return one.kind == "text"; });
  for (Operation& one : operations)
    one.where = {(one.where.x - plot.x) / plot.width, (one.where.y - plot.y) / plot.height,
                 one.where.width / plot.width, one.where.height / plot.height};
  return operations;
}

Drawn on_screen(const Panel& panel, const ScreenLetters& letters) {
  CanvasModel model;
  model.views = {panel.view ? panel.view : find_view("cost")};  // which promises nothing
  model.column_titles = {panel.title};
  model.cells = {{{std::make_shared<const Panel>(panel)}}};
  model.lengths = {64, 64};
  canvas::PreparedPanels prepared;
  prepared.try_emplace(model.cells[0][0].panel, *model.cells[0][0].panel);
  model.viewport = {0, 64, 0, 64};
  canvas::Scene scene{.model = model,
                      .settings = model.settings,
                      .fonts = letters.fonts,
                      .prepared = prepared,
                      .rows = {0},
                      .columns = {0}};
  scene.lay_out({900, 760});
  const canvas::PlacedPanel placed = scene.placed(0, 0);
  RecordingInk ink(letters.fonts, drawing::screen_style(false));
  draw_body(placed.drawn_with(ink));
  const double size = letters.fonts.size();
  const Rect& plot = placed.plot;
  return {placed.axes,
          placed.scale ? std::optional(*placed.scale) : std::nullopt,
          {0, 0, plot.width / size, plot.height / size},
          normalised(ink.operations, plot),
          ink.texts()};
}

/// With a plot as large, in letters, as that of the screen.
Drawn on_paper(const Panel& panel, const Rect& wanted) {
  Figure figure{.rows = {{panel}}};
  FigureStyle& style = figure.style;
  style.width = 300, style.height = 300;
  const PaperLettering letters(style);
  for (int round = 0; round < 30; ++round) {
    const Rect plot = lay_out(figure, letters).rows[0].cells[0].plot;
    style.width += wanted.width * style.font_size - plot.width;
    style.height = *style.height + wanted.height * style.font_size - plot.height;
  }
  const FigureLayout layout = lay_out(figure, letters);
  const CellLayout& cell = layout.rows[0].cells[0];
  RecordingInk ink(letters, drawing::paper_style(false));
  drawing::draw_body({.ink = ink,
                      .prepared = cell.prepared,
                      .body = cell.body,
                      .plot = {cell.plot, cell.axes},
                      .scale = cell.scale ? &*cell.scale : nullptr});
  return {cell.axes, cell.scale, {}, normalised(ink.operations, cell.plot), ink.texts()};
}

/// The same name, and numbers of which one axis may leave out some for want of room.
bool alike(const std::optional<drawing::PanelAxis>& a, const std::optional<drawing::PanelAxis>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  const auto& more = a->ticks.size() > b->ticks.size() ? a->ticks : b->ticks;
  const auto& fewer = a->ticks.size() > b->ticks.size() ? b->ticks : a->ticks;
  const auto known = [&](const drawing::Tick& tick) {
    return std::ranges::any_of(more, [&](const drawing::Tick& other) {
      return other.label == tick.label && std::abs(other.at - tick.at) <= 0.5;
    });
  };
  return a->label == b->label && a->low == b->low && a->high == b->high && fewer.size() > 1 &&
         more.size() <= 2 * fewer.size() && std::ranges::all_of(fewer, known);
}

}  // namespace

TEST_CASE("a panel draws the same in a figure and on the canvas") {
  const ScreenLetters letters;
  for (const Panel& panel : example::every_kind(64)) {
    CAPTURE(panel.title);
    CAPTURE(panel.body.index());
    const Drawn screen = on_screen(panel, letters), paper = on_paper(panel, screen.plot);
    CHECK(screen.texts == paper.texts);
    CHECK(alike(screen.axes.x, paper.axes.x));
    CHECK(alike(screen.axes.y, paper.axes.y));
    REQUIRE(screen.scale.has_value() == paper.scale.has_value());
    if (screen.scale) {
      CHECK(screen.scale->label == paper.scale->label);
      CHECK(screen.scale->low == paper.scale->low);
      CHECK(screen.scale->high == paper.scale->high);
    }
    REQUIRE(screen.body.size() == paper.body.size());
    for (std::size_t i = 0; i < screen.body.size(); ++i) {
      const Operation &a = screen.body[i], &b = paper.body[i];
      CAPTURE(a.kind);
      CAPTURE(a.where.x);
      CAPTURE(a.where.y);
      CHECK(a.kind == b.kind);
      // Legends above the plot, and what is rounded to whole pixels or a least height, differ by
      // some of the plot's 600 pixels.
      constexpr double some = 0.035;
      CHECK(std::abs(a.where.x - b.where.x) < some);
      CHECK(std::abs(a.where.y - b.where.y) < some);
      CHECK(std::abs(a.where.width - b.where.width) < some);
      CHECK(std::abs(a.where.height - b.where.height) < some);
    }
  }
}

TEST_CASE("a colour bar says the same beside, beneath and upright") {
  const ScreenLetters letters;
  for (const Panel& panel : example::every_kind(64)) {
    const auto scale = drawing::colour_scale_of(panel, {});
    if (!scale) continue;
    using Form = drawing::ColourBar::Form;
    for (const Form form : {Form::beside, Form::beneath, Form::upright}) {
      RecordingInk ink(letters.fonts, drawing::screen_style(false));
      drawing::ColourBar(*scale, letters.fonts, {.width = 600, .form = form, .length = 600})
          .draw(ink, {0, 0});
      const auto texts = ink.texts();
      CHECK(std::ranges::find(texts, scale->label) != texts.end());
      CHECK(texts.size() >= (scale->palette == Palette::categories ? 4 : 3));
    }
  }
}
