// The card beside the pointer: where it stands, and what stands out on it.
#include <doctest/doctest.h>

#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "canvas/scene.h"
#include "drawing/recording_ink.h"
#include "models.h"
#include "screen_letters.h"
#include "views/views.h"

using namespace fovea;

namespace {

/// All rows and columns of a model, laid out.
struct SceneOfModel {
  SceneOfModel(CanvasModel& model, const ScreenLetters& letters, drawing::Point size)
      : scene{.model = model,
              .settings = model.settings,
              .fonts = letters.fonts,
              .prepared = prepared,
              .rows = range(model.cells.size()),
              .columns = range(model.cells[0].size())} {
    for (const CanvasModel* shown :
         {static_cast<const CanvasModel*>(&model), model.in_place_of.get()})
      if (shown)
        for (const auto& cells : shown->cells)
          for (const CanvasCell& cell : cells) prepared.try_emplace(cell.panel, *cell.panel);
    scene.lay_out(size);
  }
  canvas::PreparedPanels prepared;
  canvas::Scene scene;

 private:
  static std::vector<int> range(std::size_t count) {
    std::vector<int> all(count);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
};

}  // namespace

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
  const drawing::Style& style = drawing::screen_style(true);
  const auto titles_on_card = [&](drawing::Point canvas, bool enlarged = true) {
    SceneOfModel laid_out(*model, letters, canvas);
    canvas::Scene& scene = laid_out.scene;
    scene.enlarged = enlarged;
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
  // In the grid the numbers of other columns stand below their panels.
  CHECK(titles_on_card({1140, 800}, false) == std::vector{style.text});
}

TEST_CASE("while exact takes the place of all columns the card has each column's own numbers") {
  const ScreenLetters letters;
  const auto model = base_model(16, 2);
  model->views = {find_view("heatmap")};
  Raster own = heat(16, 16);
  own.values(4, 5) = 0.125f;
  model->cells = {{cell_of(heat(16, 16), ""), cell_of(own, "")}};
  CanvasModel in_place = *model;
  in_place.in_place_of = model;
  in_place.cells[0][1] = in_place.cells[0][0];
  SceneOfModel laid_out(in_place, letters, {1140, 800});
  laid_out.scene.pointer = {.query = 4, .key = 5, .row = 0, .column = 1};
  CHECK(words_at_pointer(laid_out.scene).find("0.125") != std::string::npos);
}

TEST_CASE("colour bar and card say how a pixel shows several entries") {
  const ScreenLetters letters;
  const auto model = base_model(500, 2);
  model->views = {find_view("heatmap")};
  model->cells = {{cell_of(heat(500, 500), ""), cell_of(heat(500, 500), "")}};
  model->settings.pool = Pool::Kind::mean;
  const auto said = [&](double width, bool shared) {
    model->settings.shared_range = shared;
    SceneOfModel laid_out(*model, letters, {width, 900});
    canvas::Scene& scene = laid_out.scene;
    scene.pointer = {.query = 4, .key = 5, .row = 0, .column = 1};
    const std::string title = scene.bars(0).back().bar.scale().title();
    const std::string pooling = scene.pooling(0, 1);
    CHECK(title == "attention weight P, log" + (pooling.empty() ? "" : ", " + pooling));
    const std::string card = words_at_pointer(scene);
    CHECK((card.find("a pixel shows: ") != std::string::npos) == !pooling.empty());
    CHECK(card.find(pooling) != std::string::npos);
    drawing::RecordingInk ink(letters.fonts, drawing::screen_style(true));
    draw_scene(ink, scene);
    std::string drawn;
    for (const std::string& words : ink.texts()) drawn += words + " ";
    // The quantity is whole, however short the bar is; the words on pooling may have no room.
    CHECK(drawn.find("attention weight P, log") != std::string::npos);
    if (pooling.empty())
      for (const char* words : {"area average", "max of", "mean of"})
        for (const std::string& text : {title, card, drawn})
          CHECK(text.find(words) == std::string::npos);
    return pooling;
  };
  for (const bool shared : {true, false}) {
    CHECK(said(1400, shared) == "");
    CHECK(said(900, shared) == "area average");
    CHECK(said(500, shared) == "mean of 4 × 4");
  }
}

TEST_CASE(
    "the strip beside an error map says what it shows, what its colours mean and its values") {
  const ScreenLetters letters;
  const auto model = matrix_model(64, 3);
  for (CanvasCell& cell : model->cells[1]) {
    auto panel = std::make_shared<Panel>(*cell.panel);
    panel->view = find_view("error");
    cell.panel = panel;
  }
  std::vector<float> errors(64, 0.25f);
  errors[40] = 0.5f;
  model->cells[1][1].token_errors = std::make_shared<const std::vector<float>>(errors);
  errors[40] = 1;
  model->cells[1][2].token_errors = std::make_shared<const std::vector<float>>(errors);
  SceneOfModel laid_out(*model, letters, {1140, 900});
  canvas::Scene& scene = laid_out.scene;
  const std::string legend = "strip: output error |z̃ − z|, colours 0 to 1";  // both columns
  CHECK(scene.captions[1][1] == legend);
  CHECK(scene.captions[0][1].find("strip") == std::string::npos);
  const drawing::Rect panel = scene.grid.panel(1, 1);
  const auto words_at = [&](drawing::Point at) {
    scene.pointer = scene.point_at(at);
    return words_at_pointer(scene);
  };
  const std::string card = words_at({panel.right() + 5, panel.y + 40.5 / 64 * panel.height});
  CHECK(card.find("output error |z̃ − z| 0.5") != std::string::npos);
  CHECK(card.find(legend) != std::string::npos);
  CHECK(scene.pointer.query == 40);
  CHECK(scene.pointer.key == -1);
  const drawing::Rect above = scene.grid.panel(0, 1);  // no strip, nothing to say
  CHECK(words_at({above.right() + 5, above.centre().y}).empty());
}

TEST_CASE("the strip beside a mask is in percent, in its legend and at the pointer") {
  const ScreenLetters letters;
  const auto model = matrix_model(64, 1);
  auto panel = std::make_shared<Panel>(*model->cells[2][0].panel);
  Raster& mask = std::get<Raster>(panel->body);
  mask.row_quantity = "mass dropped of the row";
  mask.row_values.assign(64, 0.25f);
  mask.row_values[40] = 0.5f;
  model->cells[2][0].panel = panel;
  SceneOfModel laid_out(*model, letters, {700, 1200});
  canvas::Scene& scene = laid_out.scene;
  const std::string legend = "strip: mass dropped of the row, colours 0 to 100 %";
  CHECK(scene.captions[2][0].find(legend) != std::string::npos);
  const drawing::Rect place = scene.grid.panel(2, 0);
  scene.pointer = scene.point_at({place.right() + 5, place.y + 20.5 / 64 * place.height});
  const std::string card = words_at_pointer(scene);
  CHECK(card.find("mass dropped of the row 25 %") != std::string::npos);
  CHECK(card.find(legend) != std::string::npos);
}

TEST_CASE("the strip of the last column is as wide as those between columns") {
  struct ClippedInk : drawing::RecordingInk {
    using RecordingInk::RecordingInk;
    std::vector<drawing::Rect> clips;
    std::vector<double> cut;  // of the width of each strip
    void cells(const drawing::Rect& where, int, int cols, std::span<const drawing::Rgba>) override {
      drawing::Rect seen = where;
      for (const drawing::Rect& clip : clips) seen = seen.intersected(clip);
      if (cols == 1 && !seen.empty()) cut.push_back(where.width - seen.width);
    }
    void push_clip(const drawing::Rect& where) override { clips.push_back(where); }
    void pop_clip() override { clips.pop_back(); }
  };
  const ScreenLetters letters;
  const auto model = matrix_model(64, 3);
  for (CanvasCell& cell : model->cells[1])
    cell.token_errors = std::make_shared<const std::vector<float>>(64, 0.25f);
  SceneOfModel laid_out(*model, letters, {1140, 900});
  ClippedInk ink(letters.fonts, drawing::screen_style(true));
  draw_scene(ink, laid_out.scene);
  CHECK(ink.cut.size() == 2);  // exact attention has no error
  CHECK(std::ranges::count(ink.cut, 0.0) == std::ssize(ink.cut));
}

TEST_CASE("the card over a rank map has the rank, the most it can be, and the block's sides") {
  const ScreenLetters letters;
  const auto model = base_model(8, 1);
  BlockMap blocks;
  blocks.map.lengths = {8, 8};
  blocks.map.blocks = {
      {{0, 8}, {0, 2}, 0, 1, {}}, {{0, 2}, {2, 8}, 0, 2, {}}, {{2, 8}, {2, 8}, 0, 5, {}}};
  auto panel = std::make_shared<Panel>();
  panel->view = find_view("rank");
  panel->body = blocks;
  model->views = {find_view("rank")};
  model->cells = {{CanvasCell{panel, false, "", false}}};
  SceneOfModel laid_out(*model, letters, {600, 600});
  canvas::Scene& scene = laid_out.scene;
  const auto says = [&](Index query, Index key, const std::string& words) {
    scene.pointer = {.query = query, .key = key, .row = 0, .column = 0};
    CHECK(words_at_pointer(scene).find(words) != std::string::npos);
  };
  says(5, 1, "rank 1 of 2, block 8 × 2\n");
  says(0, 3, "rank 2 of 2, block 2 × 6\n");
  says(3, 3, "rank 5 of 6, block 6 × 6\n");
}

TEST_CASE("the card over a selection says the state of a pair, or the share of a pixel") {
  const ScreenLetters letters;
  Raster raster;
  raster.values = Matrix(2, 2);
  raster.values(0, 0) = 1;
  raster.values(0, 1) = -std::numeric_limits<float>::infinity();
  raster.values(1, 1) = 0.375f;
  raster.rows = raster.cols = {0, 4};
  raster.palette = Palette::shares;
  raster.pooled = Pool::Kind::mean;
  raster.categories = {"available, not picked", "a quarter picked", "picked"};
  raster.quantity = "picked share of the available pairs";
  raster.row_values = {0.25f, 0.5f, 0.5f, 1};
  raster.row_quantity = "recall of the query's top keys";
  const auto model = matrix_model(4, 1);
  auto panel = std::make_shared<Panel>(*model->cells[0][0].panel);
  panel->view = find_view("selection");
  panel->body = raster;
  model->views = {find_view("selection")};
  model->cells = {{{.panel = panel}}};
  SceneOfModel laid_out(*model, letters, {500, 500});
  canvas::Scene& scene = laid_out.scene;
  const drawing::Rect place = scene.grid.panel(0, 0);
  const auto words_at = [&](double across, double down) {
    scene.pointer = scene.point_at({place.x + across * place.width, place.y + down * place.height});
    return words_at_pointer(scene);
  };
  const auto says = [&](double across, double down, const char* words) {
    return words_at(across, down).find(words) != std::string::npos;
  };
  CHECK(says(0.2, 0.2, "picked  mean of 2 × 2"));
  CHECK(says(0.2, 0.7, "available, not picked  mean of 2 × 2"));
  CHECK(says(0.7, 0.7, "37.5 % picked  mean of 2 × 2"));
  CHECK(says(0.7, 0.2, "masked"));
  CHECK_FALSE(says(0.7, 0.2, "picked"));
  CHECK(says(0.2, 0.1, "recall of the query's top keys 25 %"));
  CHECK_FALSE(says(0.2, 0.1, "dots"));  // marks of the largest entries
  CHECK(scene.captions[0][0].find("strip: recall of the query's top keys, colours 0 to 100 %") !=
        std::string::npos);
}

TEST_CASE("the card over a map of two-hop reach says in words whether the pair is reached") {
  const ScreenLetters letters;
  const auto model = base_model(4, 1);
  Raster raster = heat(4, 4);
  raster.quantity = "keys k with i → k → j";
  raster.under_name = "not reached in two layers";
  raster.low = 0.5, raster.high = 3;
  raster.values = Matrix(4, 4);
  raster.values(1, 0) = 1;
  raster.values(2, 0) = 3;
  raster.values(0, 1) = -std::numeric_limits<float>::infinity();
  auto panel = std::make_shared<Panel>();
  panel->view = find_view("reach");
  panel->body = raster;
  model->views = {find_view("reach")};
  model->cells = {{CanvasCell{panel, false, "", false}}};
  SceneOfModel laid_out(*model, letters, {600, 600});
  canvas::Scene& scene = laid_out.scene;
  const auto says = [&](Index query, Index key, const std::string& words) {
    scene.pointer = {.query = query, .key = key, .row = 0, .column = 0};
    const std::string card = words_at_pointer(scene);
    CAPTURE(card);
    CHECK(card.find(words) != std::string::npos);
  };
  says(0, 0, "not reached in two layers");
  says(1, 0, "reached through 1 key\n");
  says(2, 0, "reached through 3 keys");
  says(0, 1, "masked");
}

TEST_CASE("an empty canvas says why, and what to do") {
  const ScreenLetters letters;
  const auto said = [&](const CanvasModel& model) {
    canvas::PreparedPanels prepared;
    ViewSettings settings = model.settings;
    canvas::Scene scene{.model = model,
                        .settings = settings,
                        .fonts = letters.fonts,
                        .prepared = prepared,
                        .rows = {},
                        .columns = {}};
    scene.lay_out({900, 600});
    drawing::RecordingInk ink(letters.fonts, drawing::screen_style(true));
    draw_scene(ink, scene);
    std::string all;
    for (const std::string& words : ink.texts()) all += words;
    return all;
  };
  CanvasModel model;
  CHECK(said(model) == "Nothing is open: drop a file here, or File > Open.");
  model.opening = "heads.npz";
  CHECK(said(model) == "Opening heads.npz…");
  model.opening.clear();
  model.lengths = {8, 8};
  CHECK(said(model) == "No variants to show: add a column.");
}
