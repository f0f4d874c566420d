// What comes later moves nothing: headers, captions, ticks and colour bars have their room from the
// beginning. And what a header says of a column's error and cost.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "canvas/scene.h"
#include "drawing/recording_ink.h"
#include "models.h"
#include "screen_letters.h"

using namespace fovea;

namespace {

constexpr drawing::Point large_canvas{1140, 900}, small_canvas{640, 600};

struct LaidOutModel {
  explicit LaidOutModel(CanvasModel& model, drawing::Point size = large_canvas)
      : scene{.model = model,
              .settings = model.settings,
              .fonts = letters.fonts,
              .prepared = prepared,
              .rows = range(model.cells.size()),
              .columns = range(model.column_titles.size())} {
    for (const auto& cells : model.cells)
      for (const CanvasCell& cell : cells)
        if (cell.panel) prepared.try_emplace(cell.panel, *cell.panel);
    scene.lay_out(size);
  }
  std::vector<drawing::Operation> headers() {
    drawing::RecordingInk ink(letters.fonts, drawing::screen_style(false));
    draw_headers(ink, scene);
    return ink.operations;
  }
  std::vector<std::string> texts() {
    std::vector<std::string> found;
    for (const auto& one : headers())
      if (one.kind == "text") found.push_back(one.text);
    return found;
  }
  std::vector<std::string> texts_of_axes() {
    drawing::RecordingInk ink(letters.fonts, drawing::screen_style(false));
    draw_axes(ink, scene, 0);
    return ink.texts();
  }
  bool says(const std::string& words) { return std::ranges::count(texts(), words) > 0; }

  static std::vector<int> range(std::size_t count) {
    std::vector<int> all(count);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  ScreenLetters letters;
  canvas::PreparedPanels prepared;
  canvas::Scene scene;
};

/// The places of everything that a grid has.
std::vector<double> places(CanvasModel& model, drawing::Point size = large_canvas) {
  const LaidOutModel laid_out(model, size);
  const canvas::Grid& grid = laid_out.scene.grid;
  std::vector<double> all;
  for (int r = 0; r < grid.rows(); ++r)
    for (int c = 0; c < grid.columns(); ++c)
      for (const drawing::Rect& rect :
           {grid.header(c), grid.panel(r, c), grid.caption(r, c), grid.key_axis(r, c)})
        all.insert(all.end(), {rect.x, rect.y, rect.width, rect.height});
  return all;
}

std::shared_ptr<CanvasModel> with_figures(int columns) {
  auto model = matrix_model(64, columns);
  for (int c = 0; c < columns; ++c) {
    model->column_figures.push_back(ColumnFigures{.parameters = "block 16, banded"});
    if (c == 0) model->column_figures[0].reset();
  }
  return model;
}

}  // namespace

TEST_CASE("nothing on the canvas moves when panels, captions, errors or costs arrive") {
  for (const drawing::Point size : {large_canvas, small_canvas}) {
    auto model = with_figures(4);
    model->views.pop_back();  // names of colours are as long as the panels say
    model->cells.pop_back();
    auto waiting = *model;
    for (auto& row : waiting.cells)
      for (CanvasCell& cell : row) cell = CanvasCell{nullptr, false, "waiting"};
    const auto before = places(waiting, size);
    CHECK(places(*model, size) == before);
    for (int c = 1; c < 4; ++c) {
      model->column_figures[c]->error = 0.1234 * c;
      model->column_figures[c]->cost = 0.05 * c;
    }
    CHECK(places(*model, size) == before);
    model->cells[0][2] =
        cell_of(heat(64, 64), "a caption of many words, which takes all the lines that it can get");
    CHECK(places(*model, size) == before);
    model->column_subtitles[0] = "words that need more lines than other columns do, and then more";
    CHECK(places(*model, size) == before);
  }
}

TEST_CASE("a header has the error and the cost, and dashes until they are known") {
  auto model = with_figures(3);
  LaidOutModel unknown(*model);
  CHECK(std::ranges::count(unknown.texts(), "–") == 4);
  CHECK(unknown.says("block 16, banded"));
  CHECK(unknown.says("softmax, streaming, reference"));  // its words stay
  model->column_figures[1]->error = 0.5304;
  model->column_figures[1]->cost = 0.199;
  model->column_figures[2]->error = 0.01337;
  model->column_figures[2]->cost = 0.0456;
  LaidOutModel known(*model);
  for (const char* words : {"0.53", "error", "20 %", "cost", "0.013", "4.6 %", "block 16, banded"})
    CHECK_MESSAGE(known.says(words), words);
}

TEST_CASE(
    "law: bars below error and cost are as long as these numbers, on one scale for all columns") {
  for (const double largest : {0.5, 4.0}) {
    CAPTURE(largest);
    auto model = with_figures(3);
    model->column_figures[1]->error = largest / 4;
    model->column_figures[1]->cost = 0.25;
    model->column_figures[2]->error = largest;
    model->column_figures[2]->cost = 1.5;  // more than exact attention
    std::vector<double> shares;
    drawing::Rect ground;
    for (const auto& one : LaidOutModel(*model).headers()) {
      if (one.kind != "fill" || one.where.height != 3) continue;
      if (one.where.x == ground.x && one.where.y == ground.y)
        shares.push_back(one.where.width / ground.width);
      ground = one.where;
    }
    const double scale = std::max(1.0, largest);  // an output of zeros has the error 1
    CHECK(shares == std::vector<double>{largest / 4 / scale, 0.25, largest / scale, 1});
  }
}

TEST_CASE(
    "the name of a pinned or pointed token stands in place of the numbers that it would cut") {
  auto model = matrix_model(1024, 2);
  model->sequence = model->key_sequence = std::make_shared<const Sequence>();
  const auto has = [](LaidOutModel& laid_out, const char* words) {
    return std::ranges::count(laid_out.texts_of_axes(), words);
  };
  LaidOutModel plain(*model);
  const auto before = has(plain, "512");
  REQUIRE(before == 1);  // of the queries
  model->pinned_query = 513;
  LaidOutModel pinned(*model);
  CHECK(has(pinned, "513") == 1);
  CHECK(has(pinned, "512") == 0);
  plain.scene.pointer.query = 514;
  CHECK(has(plain, "512") == 0);
}

TEST_CASE("words of a header are left out before numbers, and parameters one by one") {
  auto model = with_figures(7);
  for (int c = 1; c < 7; ++c) {
    model->column_figures[c]->error = 0.53;
    model->column_figures[c]->cost = 1;
    model->column_figures[c]->parameters = "block 16, minimum 128 tokens";
  }
  LaidOutModel laid_out(*model, small_canvas);
  CHECK(laid_out.says("0.53"));
  CHECK(laid_out.says("100 %"));
  CHECK(laid_out.says("block 16"));
  CHECK_FALSE(laid_out.says("error"));
  CHECK_FALSE(laid_out.says("cost"));
  CHECK(laid_out.says("error, cost"));  // once, beside the first column
  for (const std::string& words : laid_out.texts()) {
    CAPTURE(words);
    CHECK(words.find("…") == std::string::npos);
  }
}

TEST_CASE("numbers of narrow headers have one size, and their names stand once beside all") {
  auto model = with_figures(7);
  const char* numbers[] = {"0.70", "0.53", "1.2", "0.0123", "0.84", "0.90"};
  for (int c = 1; c < 7; ++c) {
    model->column_figures[c]->error = std::stod(numbers[c - 1]);
    model->column_figures[c]->cost = 0.2;
  }
  LaidOutModel laid_out(*model, small_canvas);
  CHECK(std::ranges::count(laid_out.texts(), "error, cost") == 1);
  std::vector<double> heights;
  for (const auto& one : laid_out.headers())
    if (one.kind == "text" && (std::ranges::count(numbers, one.text) > 0 || one.text == "0.012"))
      heights.push_back(one.where.height);
  REQUIRE(heights.size() == 6);
  for (const double height : heights) CHECK(height == heights[0]);
  LaidOutModel large(*model, {2400, 900});
  CHECK(large.says("error"));
  CHECK_FALSE(large.says("error, cost"));
}

TEST_CASE("a title that is cut keeps the letters that tell variants of one paper apart") {
  auto model = with_figures(7);
  model->column_titles[1] = "Treeformer of some length TF";
  model->column_titles[2] = "Treeformer of some length TC";
  LaidOutModel laid_out(*model, small_canvas);
  for (const char* end : {"… TF", "… TC"}) {
    CAPTURE(end);
    CHECK(std::ranges::any_of(laid_out.texts(),
                              [&](const std::string& words) { return words.ends_with(end); }));
  }
}

TEST_CASE("what tells columns apart comes first below a title that has no room for it") {
  auto model = with_figures(7);
  model->column_titles[1] = "H-Transformer-1D, samples 8";
  model->column_figures[1]->parameters = "block 16, samples 8";
  LaidOutModel small(*model, small_canvas);
  CHECK(small.says("H-Transformer-1D"));
  CHECK_FALSE(small.says("block 16, samples 8"));
  CHECK(std::ranges::any_of(
      small.texts(), [](const std::string& words) { return words.starts_with("samples 8"); }));
  LaidOutModel large(*model, {2400, 900});
  CHECK(large.says("H-Transformer-1D, samples 8"));
  CHECK(large.says("block 16, samples 8"));
}

TEST_CASE("errors of all columns have one scale, which begins with that of an output of zeros") {
  auto model = with_figures(3);
  const auto bars = [&](double first, double second) {
    model->column_figures[1]->error = first;
    model->column_figures[2]->error = second;
    LaidOutModel laid_out(*model);
    std::vector<double> widths;  // of the bar of each column as a share of its ground
    const auto all = laid_out.headers();
    for (int c = 1; c < 3; ++c) {
      const drawing::Rect header = laid_out.scene.grid.header(c);
      std::vector<double> here;
      for (const auto& one : all)
        if (one.kind == "fill" && one.where.height < 5 &&
            header.contains({one.where.x, one.where.y}))
          here.push_back(one.where.width);
      REQUIRE(here.size() == 3);  // ground and bar of the error, ground of the unknown cost
      widths.push_back(here[1] / here[0]);
    }
    return widths;
  };
  const auto small = bars(0.25, 0.5);
  CHECK(small[0] == doctest::Approx(0.25));
  CHECK(small[1] == doctest::Approx(0.5));
  const auto large = bars(0.5, 2);
  CHECK(large[0] == doctest::Approx(0.25));
  CHECK(large[1] == doctest::Approx(1));
}

TEST_CASE("titles stay bold when one does not fit") {
  auto model = with_figures(7);
  CHECK(LaidOutModel(*model, {2400, 900}).scene.title_letters().size == canvas::title_face.size);
  LaidOutModel laid_out(*model, small_canvas);
  CHECK(laid_out.scene.title_letters().bold);
  CHECK(laid_out.scene.title_letters().size < canvas::title_face.size);
  CHECK(laid_out.says("H-Transformer-1D"));
}

TEST_CASE(
    "beside a short colour bar the words on pooling are left out before the quantity is cut") {
  const ScreenLetters letters;
  Raster raster = heat(64, 16);
  Panel panel;
  panel.body = raster;
  auto scale = drawing::colour_scale_of(panel, {});
  REQUIRE(scale);
  scale->pooling = "max of 4 × 4";
  const auto label_of_bar = [&](double length) {
    drawing::RecordingInk ink(letters.fonts, drawing::screen_style(false));
    drawing::ColourBar(*scale, letters.fonts,
                       {.width = 88, .form = drawing::ColourBar::Form::upright, .length = length})
        .draw(ink, {0, 0});
    const auto texts = ink.texts();
    return *std::ranges::find_if(
        texts, [](const std::string& words) { return words.find("att") != std::string::npos; });
  };
  const double quantity = letters.fonts.width(scale->label);
  CHECK(label_of_bar(2 * letters.fonts.width(scale->title())) == scale->title());
  CHECK(label_of_bar(quantity + 4) == scale->label);
}
