// Colours of figures: bars, ranges, special values, strips and what is hidden.
#include <doctest/doctest.h>

#include <QPainter>
#include <limits>

#include "figure/layout.h"
#include "figure/painter_ink.h"
#include "figure/panels.h"
#include "figure/recorder.h"
#include "views/views.h"

using namespace fovea;
using example::alone;

TEST_CASE("what one bar can say is said once") {
  example::application();
  Figure figure;
  figure.style.width = 504;
  figure.rows = {{example::ranks(64, 8, "a"), example::ranks(64, 8, "b")}};
  int bars = 0;
  for (const auto& drawn : example::record(figure).texts)
    bars += drawn.text.contains(QStringLiteral("share of full rank"));
  CHECK(bars == 1);
}

TEST_CASE(
    "law: each cell of a picture takes as much of it as any other, however many pixels it has") {
  example::application();
  const FigureStyle style;
  const PaperLettering letters(style);
  for (const int height : {3, 7, 10, 11, 12, 20})
    for (const int width : {2, 5, 6, 9})
      for (int white = 0; white < 6; ++white) {  // of 3 rows and 2 columns
        CAPTURE(height);
        CAPTURE(width);
        std::vector<drawing::Rgba> cells(6, {0, 0, 0, 255});
        cells[std::size_t(white)] = {255, 255, 255, 255};
        QImage image(width, height, QImage::Format_RGB32);
        QPainter painter(&image);
        PainterInk(painter, letters, style)
            .cells({0, 0, double(width), double(height)}, 3, 2, cells);
        painter.end();
        double sum = 0;
        for (int y = 0; y < height; ++y)
          for (int x = 0; x < width; ++x) sum += qGray(image.pixel(x, y)) / 255.0;
        // Each pixel is rounded to one of 256 greys.
        CHECK(std::abs(sum - width * height / 6.0) <= width * height / 255.0);
      }
}

TEST_CASE("a scale of few whole numbers has no other numbers") {
  example::application();
  for (const int levels : {2, 3, 5}) {
    Panel panel = example::heatmap(16, 1, "levels");
    auto& raster = std::get<Raster>(panel.body);
    panel.subtitle.clear();
    raster.palette = Palette::ranks;
    raster.norm = Norm::linear;
    raster.low = 0;
    raster.high = levels - 1;
    QStringList all;
    for (const auto& drawn : example::record(alone(panel, 252)).texts) all << drawn.text;
    for (int level = 0; level < levels; ++level) CHECK(all.contains(QString::number(level)));
    for (const QString& text : all) CHECK_FALSE(text.contains('.'));
  }
}

TEST_CASE("masked, NaN and out of range are drawn in their colours and named") {
  example::application();
  Panel panel = example::error_map(8, 1, "a");
  auto& raster = std::get<Raster>(panel.body);
  raster.values(0, 0) = std::numeric_limits<float>::quiet_NaN();
  raster.values(0, 7) = -std::numeric_limits<float>::infinity();
  raster.values(7, 0) = -1;
  raster.values(7, 7) = 1;
  QString all;
  for (const auto& drawn : example::record(alone(panel, 252)).texts) all += drawn.text + u' ';
  CHECK(all.contains(QStringLiteral("masked")));
  CHECK(all.contains(QStringLiteral("NaN")));
  const QImage image = example::picture_of(panel, {800, 900});
  auto count = [&](const Rgb& c) {
    int found = 0;
    for (int y = 0; y < image.height(); ++y)
      for (int x = 0; x < image.width(); ++x) found += image.pixel(x, y) == qRgb(c[0], c[1], c[2]);
    return found;
  };
  const Colormap& map = colormap("blue-red");
  for (const Rgb& colour : {map.not_a_number, map.masked, map.under, map.over})
    CHECK(count(colour) > 90 * 90);  // a cell is about 96 pixels wide
}

TEST_CASE("ranks are coloured by rank or by what is stored, and the bar says by which") {
  example::application();
  BlockMap blocks;
  blocks.map.lengths = {16, 16};
  blocks.map.blocks = {{{0, 8}, {0, 8}, 0, 8, {}}, {{0, 8}, {8, 16}, 1, 2, {}}};
  const auto share = [&](std::size_t block, RankColour colour) {
    return rank_share(blocks, blocks.map.blocks[block], colour);
  };
  CHECK(share(0, RankColour::rank) == 1);
  CHECK(share(1, RankColour::rank) == 0.25);    // 2 of 8
  CHECK(share(0, RankColour::storage) == 1);    // a leaf is stored whole
  CHECK(share(1, RankColour::storage) == 0.5);  // 2 (8 + 8) of 64
  for (const RankColour colour : {RankColour::rank, RankColour::storage}) {
    Figure figure = alone(example::ranks(64, 8, "a"), 252);
    set_value(figure.style.settings, "rank_colour",
              colour == RankColour::storage ? "storage" : "rank");
    QString all;
    for (const auto& drawn : example::record(figure).texts) all += drawn.text + u' ';
    CHECK(all.contains(QStringLiteral("full rank")) == (colour == RankColour::rank));
    CHECK(all.contains(QStringLiteral("entries stored")) == (colour == RankColour::storage));
  }
}

TEST_CASE("what is hidden is not drawn, and its name stays") {
  example::application();
  for (const Panel& panel : example::every_kind(64)) {
    const auto drawn = [&](std::vector<std::string> hidden) {
      return example::picture_of(panel, {300, 330}, {.hidden = std::move(hidden)});
    };
    std::vector<std::string> names;
    if (std::holds_alternative<RowCurve>(panel.body)) names = {"exact", "approximate"};
    if (std::holds_alternative<LeafSizes>(panel.body)) names = {"queries", "keys"};
    if (const auto* raster = std::get_if<Raster>(&panel.body)) names = raster->categories;
    CAPTURE(panel.title);
    CHECK(drawn({"no such name"}) == drawn({}));
    for (const std::string& name : names) {
      CAPTURE(name);
      CHECK(drawn({name}) != drawn({}));
    }
  }
}

TEST_CASE("a chosen range is that of a raster's colours, not of ranks") {
  example::application();
  const auto drawn = [](const Panel& panel, std::vector<ColourRange> ranges) {
    return example::picture_of(panel, {300, 330}, {.ranges = std::move(ranges)});
  };
  const Panel ranks = example::ranks(64, 8, "a"), heat = example::heatmap(64, 1, "a");
  CHECK(drawn(ranks, {{ranks.view, -1, 0.0, 0.1}}) == drawn(ranks, {}));
  CHECK(drawn(heat, {{heat.view, -1, 0.0, 0.1}}) != drawn(heat, {}));
}

TEST_CASE("shares of rows stand as a strip beside the raster, on the page") {
  example::application();
  Panel panel = example::error_map(8, 1, "a");
  const auto drawn = [&](bool beside) {
    auto& raster = std::get<Raster>(panel.body);
    raster.row_values.clear();
    if (beside) raster.row_values = {0, 1, 0, 1, std::numeric_limits<float>::quiet_NaN(), 0, 0, 0};
    if (beside) example::check_page(example::record(alone(panel, 252)));
    return example::picture_of(panel, {800, 900});
  };
  const QImage with = drawn(true), without = drawn(false);
  const auto& steps = colormap_for(Palette::sequential, ViewSettings{}.colormap).steps;
  int none = 0, all = 0;
  for (int y = 0; y < with.height(); ++y)
    for (int x = 0; x < with.width(); ++x)
      if (with.pixel(x, y) != without.pixel(x, y)) {
        none += with.pixel(x, y) == qRgb(steps[0][0], steps[0][1], steps[0][2]);
        all += with.pixel(x, y) == qRgb(steps[255][0], steps[255][1], steps[255][2]);
      }
  CHECK(all > 90);        // two cells high
  CHECK(none > 2 * all);  // five
}

TEST_CASE("strips of a row are drawn to one top where ranges are shared, which a bar states") {
  example::application();
  Figure figure;
  figure.rows = {{example::error_map(8, 1, "a"), example::error_map(8, 2, "b")}};
  add_row_errors(figure.rows[0][0], std::vector<float>(8, 0.5f));
  add_row_errors(figure.rows[0][1], std::vector<float>(8, 2.0f));
  for (const Panel& panel : figure.rows[0])
    CHECK(panel.caption.find("strip: output error") != std::string::npos);
  for (const bool shared : {true, false}) {
    figure.style.settings.shared_range = shared;
    const FigureLayout layout = lay_out(figure, PaperLettering(figure.style));
    const auto& cells = layout.rows[0].cells;
    REQUIRE((cells[0].strip && cells[1].strip));
    CHECK(cells[0].strip->top == (shared ? 2.0 : 0.5));
    CHECK(cells[1].strip->top == 2.0);
    CHECK(layout.rows[0].strip_bar.has_value() == shared);
    // A strip stands between the panels.
    CHECK(cells[0].plot.right() + drawing::row_strip_room(PaperLettering(figure.style)) <
          cells[1].plot.x);
    example::check_page(example::record(figure));
  }
  // Figures of one report share it, each with a part of the panels.
  CHECK(strip_tops_of(figure.rows) == StripTops{{"output error |z̃ − z|", 2}});
  Figure part;
  part.rows = {{figure.rows[0][0], figure.rows[0][0]}};
  part.strip_tops = {{"output error |z̃ − z|", 3}, {"another quantity", 5}};
  const FigureLayout layout = lay_out(part, PaperLettering(part.style));
  CHECK(layout.rows[0].cells[0].strip->top == 3);
  REQUIRE(layout.rows[0].strip_bar);
  CHECK(layout.rows[0].strip_bar->scale().high == 3);
}

TEST_CASE("what numbers below the range mean is in the legend, also where a range was chosen") {
  example::application();
  const auto legend = [](const ViewSettings& settings) {
    Figure figure = alone(example::reach(64, "Strided"), 252);
    figure.style.settings = settings;
    QString all;
    for (const auto& drawn : example::record(figure).texts) all += drawn.text + u' ';
    return all;
  };
  ViewSettings settings;
  CHECK(legend(settings).contains(QStringLiteral("not reached in two layers")));
  CHECK_FALSE(legend(settings).contains(QStringLiteral("fewer")));
  settings.choose_range(
      {find_view("reach"), -1, 3, 6});  // pairs with one or two keys lie below too
  CHECK(legend(settings).contains(QStringLiteral("fewer, or not reached in two layers")));
}
