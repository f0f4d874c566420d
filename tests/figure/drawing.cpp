// Laws of a figure's layout, for every kind of panel at several sizes.
#include <doctest/doctest.h>

#include <QPainter>
#include <limits>

#include "drawing/colormap.h"
#include "drawing/colour_scale.h"
#include "figure/layout.h"
#include "figure/panels.h"
#include "figure/recorder.h"

using namespace fovea;

namespace {

Figure alone(const Panel& panel, double width) {
  Figure figure{.rows = {{panel}}};
  figure.style.width = width;
  return figure;
}

}  // namespace

TEST_CASE("nothing leaves the page and no text covers another: each kind alone") {
  example::application();
  for (const Index n : {16, 256})
    for (const Panel& panel : example::every_kind(n))
      for (const double width : {80.0, 120.0, 252.0, 504.0}) {
        CAPTURE(panel.body.index());
        CAPTURE(width);
        const auto recording = example::record(alone(panel, width));
        CHECK(recording.texts.size() > 0);
        example::check_page(recording);
        example::check_texts_apart(recording);
      }
}

TEST_CASE("nothing leaves the page and no text covers another: grids") {
  example::application();
  for (const double width : {252.0, 360.0, 504.0})
    for (const bool shared : {true, false})
      for (const double size : {7.0, 8.0}) {
        CAPTURE(width);
        CAPTURE(shared);
        Figure figure = example::paper(width, 128);
        figure.style.settings.shared_range = shared;
        figure.style.font_size = size;
        const auto recording = example::record(figure);
        example::check_page(recording);
        example::check_texts_apart(recording);
      }
}

TEST_CASE("a fixed height is kept") {
  example::application();
  Figure figure = example::paper(504, 128);
  for (const double height : {420.0, 700.0}) {
    figure.style.height = height;
    CHECK(figure_height(figure) == height);
    example::check_page(example::record(figure));
  }
}

TEST_CASE("matrices keep square cells and columns are even") {
  example::application();
  Figure figure;
  figure.style.width = 504;
  figure.rows = {
      {example::heatmap(64, 7, "a"), example::heatmap(64, 1, "b"), example::heatmap(64, 2, "c")}};
  std::vector<QRectF> squares;
  for (const QRectF& shape : example::record(figure).shapes)
    if (shape.width() > 100 && shape.height() > 100 && shape.width() < 400)
      squares.push_back(shape);
  REQUIRE(squares.size() == 6);  // a raster and its frame each
  for (const QRectF& square : squares) {
    CHECK(square.width() == doctest::Approx(square.height()));
    CHECK(square.width() == doctest::Approx(squares[0].width()));
  }
  CHECK(squares[2].left() - squares[0].right() ==
        doctest::Approx(squares[4].left() - squares[2].right()));
}

TEST_CASE("a message says why, whole") {
  example::application();
  QString all;
  for (const auto& drawn : example::record(alone(example::message("Exact"), 100)).texts)
    all += drawn.text + u' ';
  CHECK(all.contains(QStringLiteral("Exact attention has no")));
  CHECK(all.contains(QStringLiteral("every key.")));
}

TEST_CASE("a row whose first column is a message has its numbers and even columns all the same") {
  example::application();
  Figure figure;
  figure.style.width = 504;
  figure.rows = {
      {example::message("a"), example::error_map(64, 1, "b"), example::error_map(64, 2, "c")}};
  const example::Recording recording = example::record(figure);
  double queries = 0;
  int numbers = 0;
  for (const auto& [text, where] : recording.texts) {
    if (text == QStringLiteral("query")) queries = where.right();
    numbers += text == QStringLiteral("48");
  }
  CHECK(queries > 0);
  CHECK(queries < 30);  // left of the first column, not between two
  CHECK(numbers == 4);  // once down, three times across
  std::vector<double> widths;
  for (const QRectF& shape : recording.shapes)
    if (shape.width() > 100 && shape.height() > 100 && shape.width() < 400)
      widths.push_back(shape.width());
  REQUIRE(widths.size() >= 5);
  for (const double width : widths) CHECK(width == doctest::Approx(widths[0]));
}

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

TEST_CASE("labels of a table are whole, on as many lines as they need") {
  example::application();
  Panel panel = example::table("a");
  auto& table = std::get<FigureTable>(panel.body);
  table.rows = {{"Logit spread of the blocks, level 1", "0.123 (sampled)"},
                {"Logit spread of the blocks, level 2", "0.456 (sampled)"}};
  QString all;
  for (const auto& drawn : example::record(alone(panel, 120)).texts) all += drawn.text + u' ';
  CHECK(all.contains(QStringLiteral("level 1")));
  CHECK(all.contains(QStringLiteral("level 2")));
  CHECK_FALSE(all.contains(QStringLiteral("…")));
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
  QImage image(800, 900, QImage::Format_RGB32);
  image.setDotsPerMeterX(2835);
  image.setDotsPerMeterY(2835);
  QPainter painter(&image);
  draw_panel(painter, {0, 0, 800, 900}, panel, {});
  painter.end();
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

TEST_CASE("a rank map of a part of the tokens fills its panel, and its axes count from there") {
  example::application();
  Panel all = example::ranks(64, 8, "a"), part = all;
  auto& map = std::get<BlockMap>(part.body).map;
  map.n = 5064;
  for (RankBlock& block : map.blocks)
    for (IndexRange* range : {&block.rows, &block.cols})
      *range = {range->begin + 5000, range->end + 5000};
  const auto widest = [](const Panel& panel) {
    double width = 0;
    for (const QRectF& shape : example::record(alone(panel, 252)).shapes)
      if (shape.width() < 126) width = std::max(width, shape.width());  // of blocks, not the panel
    return width;
  };
  // Numbers of more digits take some points from the panel's width.
  CHECK(widest(part) > 0.9 * widest(all));
  QStringList texts;
  for (const auto& drawn : example::record(alone(part, 252)).texts) texts << drawn.text;
  CHECK(texts.contains(QStringLiteral("5000")));
  CHECK_FALSE(texts.contains(QStringLiteral("2000")));
}

TEST_CASE("ranks are coloured by rank or by what is stored, and the bar says by which") {
  example::application();
  BlockMap blocks;
  blocks.map.n = 16;
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
    figure.style.settings.rank_colour = colour;
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
      QImage image(300, 330, QImage::Format_RGB32);
      image.fill(Qt::white);
      QPainter painter(&image);
      FigureStyle style;
      style.settings.hidden = std::move(hidden);
      draw_panel(painter, {0, 0, 300, 330}, panel, style);
      painter.end();
      return image;
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
    FigureStyle style;
    style.settings.ranges = std::move(ranges);
    QImage image(300, 330, QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    draw_panel(painter, {0, 0, 300, 330}, panel, style);
    painter.end();
    return image;
  };
  const Panel ranks = example::ranks(64, 8, "a"), heat = example::heatmap(64, 1, "a");
  CHECK(drawn(ranks, {{ranks.view, -1, 0.0, 0.1}}) == drawn(ranks, {}));
  for (const int column : {-1, 0})
    CHECK(drawn(heat, {{heat.view, column, 0.0, 0.1}}) != drawn(heat, {}));
  CHECK(drawn(heat, {{heat.view, 1, 0.0, 0.1}}) == drawn(heat, {}));
}

TEST_CASE("empty and degenerate panels draw a reason or a frame") {
  example::application();
  std::vector<Panel> panels;
  auto add = [&](auto body) {
    Panel panel;
    panel.title = "empty";
    panel.body = std::move(body);
    panels.push_back(panel);
  };
  add(Raster{});
  add(BlockMap{});
  add(LeafSizes{});
  add(RowCurve{});
  add(Strip{});
  add(OutputPicture{});
  add(FigureTable{});
  add(Message{});
  for (const Panel& panel : panels)
    for (const double width : {12.0, 60.0}) {
      CAPTURE(panel.body.index());
      CHECK_NOTHROW(example::record(alone(panel, width)));
    }
  CHECK_NOTHROW(example::record(Figure{}));
}

TEST_CASE("shares of rows stand as a strip beside the raster, on the page") {
  example::application();
  Panel panel = example::error_map(8, 1, "a");
  const auto drawn = [&](bool beside) {
    auto& raster = std::get<Raster>(panel.body);
    raster.row_values.clear();
    if (beside) raster.row_values = {0, 1, 0, 1, std::numeric_limits<float>::quiet_NaN(), 0, 0, 0};
    QImage image(800, 900, QImage::Format_RGB32);
    QPainter painter(&image);
    draw_panel(painter, {0, 0, 800, 900}, panel, {});
    painter.end();
    if (beside) example::check_page(example::record(alone(panel, 252)));
    return image;
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

TEST_CASE("strips of a row are drawn to one top where ranges are shared") {
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
    // A strip stands between the panels.
    CHECK(cells[0].plot.right() + drawing::row_strip_room(PaperLettering(figure.style)) <
          cells[1].plot.x);
    example::check_page(example::record(figure));
  }
}

TEST_CASE("axes name tokens while there is room, whole or elided, and nothing touches") {
  example::application();
  const auto sequence = std::make_shared<Sequence>();
  for (int token = 0; token < 256; ++token)
    sequence->tokens.push_back(token % 3 == 1   ? "internationalisation"
                               : token % 3 == 2 ? "\n"
                                                : "the");
  for (const Index n : {1, 4, 12, 30, 256})
    for (const double width : {90.0, 252.0, 504.0}) {
      CAPTURE(n);
      CAPTURE(width);
      Figure figure;
      figure.style.width = width;
      figure.rows = {{example::heatmap(n, 1, "a"), example::error_map(n, 2, "b")},
                     {example::row(n, 0, "a"), example::strip(n, "b")}};
      figure.sequence = sequence;
      const auto recording = example::record(figure);
      example::check_page(recording);
      example::check_texts_apart(recording);
      int names = 0, numbers = 0, whole = 0;
      for (const auto& [text, where] : recording.texts) {
        names += text == "the" || text.startsWith("int") || text == "⏎";
        numbers += text == "128";
        whole += text.contains("internationalisation");
      }
      const bool room = n <= 4 || (n == 12 && width > 200);
      if (room) CHECK(names >= std::min<int>(n, 3));
      CHECK(whole == 0);  // it would take more room than the plot
      if (width > 100) CHECK((numbers > 0) == (n == 256));
    }
}

TEST_CASE("contents of a raster: every kind of number is found wherever it stands") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const auto& [row, col] : {std::pair{0, 0}, {4, 36}, {2, 17}}) {
    Raster raster;
    raster.values = Matrix(5, 37, -2.0f);
    const RasterContents plain = contents_of(raster);
    CHECK((plain.low == -2 && plain.high == -2 && !plain.masked && !plain.not_a_number));
    raster.values(row, col) = -infinity;
    CHECK((contents_of(raster).masked && contents_of(raster).low == -2));
    raster.values(row, col) = std::numeric_limits<float>::quiet_NaN();
    const RasterContents broken = contents_of(raster);
    CHECK((broken.not_a_number && !broken.masked && broken.low == -2 && broken.high == -2));
    raster.values(row, col) = infinity;
    CHECK((contents_of(raster).high == double{infinity} && !contents_of(raster).masked));
    raster.values(row, col) = -7;
    CHECK((contents_of(raster).low == -7 && contents_of(raster).high == -2));
  }
  Raster masked;
  masked.values = Matrix(2, 2, -infinity);
  CHECK((contents_of(masked).masked && contents_of(masked).low > contents_of(masked).high));
}

TEST_CASE("the plots of a row of curves are side by side, below the longest of their headings") {
  example::application();
  const auto sequence = std::make_shared<Sequence>();
  sequence->tokens.assign(20, "extraordinarily");
  RowCurve alone{.query = 3, .keys = {0, 20}, .exact = std::vector<float>(20, 0.05f)};
  RowCurve both = alone;
  both.approximate = std::vector<float>(20, 0.04f);
  const auto panel = [](const RowCurve& curve) {
    return Panel{.view = View::row, .title = "T", .subtitle = {}, .caption = {}, .body = curve};
  };
  Figure figure{.rows = {{panel(alone), panel(both)}}, .sequence = sequence};
  for (const double width : {160.0, 200.0, 240.0, 320.0, 500.0}) {
    CAPTURE(width);
    figure.style.width = width;
    const PaperLettering letters(figure.style);
    const auto cells = lay_out(figure, letters).rows[0].cells;
    CHECK(cells[0].plot.y == cells[1].plot.y);
    CHECK(cells[0].plot.height == cells[1].plot.height);
    for (const CellLayout& cell : cells)
      CHECK(cell.plot.y - cell.body.y >=
            heading_height(*cell.prepared.panel, cell.body, letters, TokenNames(*sequence)));
  }
}
