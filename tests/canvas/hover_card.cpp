// The card beside the pointer: where it stands, and what stands out on it.
#include <doctest/doctest.h>

#include <random>
#include <utility>
#include <vector>

#include "canvas/scene.h"
#include "drawing/recording_ink.h"
#include "models.h"
#include "screen_letters.h"

using namespace fovea;

TEST_CASE("the hover card stays on the canvas and off the pixel under the pointer") {
  std::mt19937 random(7);
  const drawing::Point canvas{900, 600};
  std::uniform_real_distribution<double> x(0, canvas.x), y(0, canvas.y), width(20, 600),
      height(20, 250);
  for (int i = 0; i < 20000; ++i) {
    const drawing::Point at{x(random), y(random)}, size{width(random), height(random)};
    const drawing::Rect card = canvas::card_place(at, size, canvas);
    CHECK_FALSE(card.inset(-1).contains(at));
    CHECK(card.x >= 0);
    CHECK(card.y >= 0);
    CHECK(card.right() <= canvas.x);
    CHECK(card.bottom() <= canvas.y);
  }
}

TEST_CASE("of two columns of one variant only that under the pointer stands out on the card") {
  struct ColouredInk : drawing::RecordingInk {
    using RecordingInk::RecordingInk;
    void text(drawing::Point at, const std::string& words, drawing::Rgba colour,
              drawing::Letters face = {}) override {
      RecordingInk::text(at, words, colour, face);
      colours.emplace_back(words, colour);
    }
    std::vector<std::pair<std::string, drawing::Rgba>> colours;
  };
  const ScreenLetters letters;
  const auto model = matrix_model(16, 3);
  model->column_titles = {"Exact", "HyperAttention", "HyperAttention"};
  canvas::PreparedPanels prepared;
  for (const auto& cells : model->cells)
    for (const CanvasCell& cell : cells) prepared.try_emplace(cell.panel, *cell.panel);
  const drawing::Style& style = drawing::screen_style(true);
  const auto titles_on_card = [&](drawing::Point canvas) {
    canvas::Scene scene{.model = *model,
                        .settings = model->settings,
                        .fonts = letters.fonts,
                        .prepared = prepared,
                        .rows = {0, 1, 2},
                        .columns = {0, 1, 2}};
    scene.lay_out(canvas);
    scene.pointer = {.query = 4, .key = 5, .row = 0, .column = 2};
    ColouredInk ink(letters.fonts, style);
    draw_hover_card(ink, scene, {scene.grid.panel(0, 2).centre().x, 105});
    std::vector<drawing::Rgba> colours;
    for (const auto& [words, colour] : ink.colours)
      if (words == "HyperAttention") colours.push_back(colour);
    return colours;
  };
  CHECK(titles_on_card({1140, 800}) == std::vector{style.faint, style.text});
  // Without room for all lines those of the other columns go.
  CHECK(titles_on_card({1140, 130}) == std::vector{style.text});
}
