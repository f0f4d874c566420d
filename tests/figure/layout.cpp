// Laws of a figure's layout, for every kind of panel at several sizes.
#include "figure/layout.h"

#include <doctest/doctest.h>

#include "figure/panel_words.h"
#include "figure/panels.h"
#include "figure/preset.h"
#include "figure/recorder.h"
#include "views/views.h"

using namespace fovea;
using example::alone;
using Body = decltype(Panel::body);

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

TEST_CASE("captions of seven panels side by side are whole, with what a pixel mixes") {
  example::application();
  Panel panel = example::heatmap(256, 1, "h1d");
  panel.caption =
      "relative error of Z, row by row, beside what rounding to bf16 explains; "
      "mean of 4 heads, 128 of 16384 rows sampled, 3 of them without keys and left out";
  Figure figure;
  figure.style.width = 504;
  figure.rows = {std::vector<Panel>(7, panel)};
  QString all;
  for (const auto& drawn : example::record(with_pooling_named(figure, 1)).texts)
    all += drawn.text + u' ';
  CHECK(all.contains(QStringLiteral("left out")));
  CHECK(all.contains(QStringLiteral("a pixel")));
  CHECK(all.contains(QStringLiteral("entries")));
  CHECK_FALSE(all.contains(QStringLiteral("…")));
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

TEST_CASE(
    "a narrow table parts no words: the value stands below a label that has no room beside it") {
  example::application();
  Panel panel = example::table("a");
  auto& rows = std::get<FigureTable>(panel.body).rows;
  rows = {{"multiply-adds", "4.2 M"},
          {"multiply-adds / exact", "0.004621"},
          {"relative attention error", "0.1234"},
          {"  token error, worst", "1.167"},
          {"KL(P ‖ P̃), nats", "∞ in 341 rows"},
          {"memory", "≈ 0.02041"}};
  bool any_beside = false, any_below = false;
  for (double width = 60; width < 140; width += 5) {
    CAPTURE(width);
    const auto texts = example::record(alone(panel, width)).texts;
    QString all;
    for (const auto& drawn : texts) all += drawn.text;
    all.remove(u' ');
    for (const auto& row : rows) {
      CAPTURE(row.first);
      for (const std::string& words : {row.first, row.second})
        CHECK(all.contains(QString::fromStdString(words).remove(u' ')));
    }
    const auto place = [&](const QString& begin) {
      const auto found = std::ranges::find_if(
          texts, [&](const auto& drawn) { return drawn.text.startsWith(begin); });
      REQUIRE(found != texts.end());
      return found->where;
    };
    const QRectF memory = place("memory"), its = place("≈ 0.02041");
    const bool beside = its.right() - memory.left() > memory.width() + its.width() + 4;
    const bool is_beside = std::abs(its.bottom() - memory.bottom()) < 1;
    any_beside |= is_beside;
    any_below |= !is_beside;
    if (!beside) CHECK_FALSE(is_beside);
    place("  token");  // a part of the row above it
  }
  CHECK(any_beside);
  CHECK(any_below);
}

TEST_CASE("a rank map of a part of the tokens fills its panel, and its axes count from there") {
  example::application();
  Panel all = example::ranks(64, 8, "a"), part = all;
  auto& map = std::get<BlockMap>(part.body).map;
  map.lengths = {5064, 5064};
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

TEST_CASE("empty and degenerate panels draw a reason or a frame") {
  example::application();
  const auto drawn = [](Body body, double width) {
    return example::record(alone({.title = {}, .body = std::move(body)}, width));
  };
  const std::pair<Body, QString> with_reason[] = {{Raster{}, "no entries in view"},
                                                  {LeafSizes{}, "no leaves"},
                                                  {Strip{}, "no values"},
                                                  {OutputPicture{}, "no picture"},
                                                  {RowCurve{}, "query 0"},
                                                  {SeriesPlot{.empty = "no points"}, "no points"},
                                                  {FigureTable{}, "nothing to list"},
                                                  {Message{"a reason"}, "a reason"}};
  for (const auto& one : with_reason) {
    const auto& body = one.first;
    const auto& reason = one.second;
    CAPTURE(body.index());
    QStringList words;
    for (const auto& text : drawn(body, 120).texts) words << text.text;
    CHECK(words.join(' ').contains(reason));
    CHECK_NOTHROW(drawn(body, 12));  // no room for any word
  }
  for (const Body& body : {Body(BlockMap{}), Body(Message{})}) {
    CAPTURE(body.index());
    for (const double width : {12.0, 60.0})
      CHECK(drawn(body, width).shapes.size() > 1);  // more than the ground
  }
  CHECK(example::record(Figure{}).shapes.size() == 1);
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
        names += text == "the" || text.startsWith("int") || text == "↵";
        numbers += text == "128";
        whole += text.contains("internationalisation");
      }
      const bool room = n <= 4 || (n == 12 && width > 200);
      if (room) CHECK(names >= std::min<int>(n, 3));
      CHECK(whole == 0);  // it would take more room than the plot
      if (width > 100) CHECK((numbers > 0) == (n == 256));
    }
}

TEST_CASE("the plots of a row of curves are side by side, below the longest of their headings") {
  example::application();
  const auto sequence = std::make_shared<Sequence>();
  sequence->tokens.assign(20, "extraordinarily");
  RowCurve alone{.query = 3, .keys = {0, 20}, .exact = std::vector<float>(20, 0.05f)};
  RowCurve both = alone;
  both.approximate = std::vector<float>(20, 0.04f);
  const auto panel = [](const RowCurve& curve) {
    return Panel{
        .view = find_view("row"), .title = "T", .subtitle = {}, .caption = {}, .body = curve};
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
      CHECK(cell.plot.y - cell.body.y >= heading_height(*cell.prepared.panel, cell.body, letters,
                                                        drawing::TokenNames(*sequence)));
  }
}

TEST_CASE("gaps between columns are even although only some columns have numbers beside them") {
  example::application();
  Figure figure;
  figure.style.width = 504;
  const Panel map = example::heatmap(64, 7, "a");
  figure.rows = {{map, map, map, map},
                 {map, example::leaves(4, "b"), example::buckets(200, "c"), map}};
  const auto layout = lay_out(figure, PaperLettering(figure.style));
  const auto& cells = layout.rows[0].cells;
  for (std::size_t c = 2; c < cells.size(); ++c)
    CHECK(cells[c].plot.x - cells[c - 1].plot.x ==
          doctest::Approx(cells[1].plot.x - cells[0].plot.x));
}

TEST_CASE("the pinned query and the selection are framed where they stand, in panels of tokens") {
  example::application();
  const Index n = 40;
  const auto find = [&](const Panel& panel, std::optional<Index> pinned, bool selected) {
    Figure figure = alone(panel, 252);
    const auto plain = example::record(figure).shapes;
    figure.pinned_query = pinned;
    if (selected) figure.selection = {{10, 20}, {30, 40}};
    const auto plot = lay_out(figure, PaperLettering(figure.style)).rows[0].cells[0].plot;
    std::vector<QRectF> added;
    for (const QRectF& shape : example::record(figure).shapes)  // but the page, which is longer
      if (std::ranges::find(plain, shape) == plain.end() && shape.height() < plot.height)
        added.push_back(shape);
    return std::pair(added, plot);
  };
  for (const Panel& panel : {example::heatmap(n, 1, "h"), example::ranks(n, 5, "r")}) {
    CAPTURE(panel.title);
    auto [row, plot] = find(panel, 25, false);
    std::erase_if(row, [width = plot.width](const QRectF& shape) {
      return shape.width() < 0.9 * width;  // grounds of ranks
    });
    REQUIRE(row.size() == 2);  // a dark seam, and the line on it
    for (const QRectF& frame : row) {
      CHECK(frame.center().y() == doctest::Approx(plot.y + 25.5 / n * plot.height).epsilon(0.01));
      CHECK(frame.height() == doctest::Approx(plot.height / n).epsilon(0.5));
      CHECK(frame.width() == doctest::Approx(plot.width).epsilon(0.02));
    }
    const auto [box, same] = find(panel, {}, true);
    REQUIRE(box.size() == 2);
    for (const QRectF& frame : box) {
      CHECK(frame.center().y() == doctest::Approx(plot.y + 15.0 / n * plot.height).epsilon(0.01));
      CHECK(frame.center().x() == doctest::Approx(plot.x + 35.0 / n * plot.width).epsilon(0.01));
    }
  }
  Figure both = alone(example::heatmap(n, 1, "h"), 252);
  both.pinned_query = 25;
  both.selection = {{10, 20}, {30, 40}};
  CHECK(words_of_marks(both) ==
        "Orange line: query 25. Selected: queries 10 to 19, keys 30 to 39. ");
  for (const Panel& panel : {example::leaves(3, "l"), example::table("t"), example::series("s")})
    CHECK(find(panel, 25, true).first.empty());
  both.rows = {{example::table("t")}};
  CHECK(words_of_marks(both).empty());
}

TEST_CASE("the line of a pinned query leaves room for the ranks that it crosses") {
  example::application();
  const Index n = 40;
  Figure figure = alone(example::ranks(n, 5, "r"), 252);
  const auto plain = example::record(figure);
  figure.pinned_query = 25;
  const auto pinned = example::record(figure);
  const auto plot = lay_out(figure, PaperLettering(figure.style)).rows[0].cells[0].plot;
  const double line = plot.y + 25.5 / n * plot.height;
  int crossed = 0;
  for (const auto& drawn : plain.texts) {
    const QPointF middle = drawn.where.center();
    const bool is_rank = middle.x() > plot.x && middle.x() < plot.right() && middle.y() > plot.y &&
                         middle.y() < plot.bottom();
    if (!is_rank || drawn.where.top() > line || drawn.where.bottom() < line) continue;
    ++crossed;
    CHECK(std::ranges::any_of(pinned.shapes, [&](const QRectF& shape) {
      return shape.contains(drawn.where) && shape.height() < 2 * drawn.where.height();
    }));
    CHECK(std::ranges::count_if(pinned.texts, [&](const example::DrawnText& other) {
            return other.where == drawn.where;
          }) == 2);  // before the line, and after it
  }
  CHECK(crossed > 0);
}

TEST_CASE("the words below a figure begin where its panels do") {
  example::application();
  Figure figure = example::paper(252, 64);
  figure.footer = "a head";
  const auto layout = lay_out(figure, PaperLettering(figure.style));
  CHECK(layout.footer_box.x == layout.rows[0].cells[0].plot.x);
  CHECK(layout.footer_box.right() <= layout.width);
}

TEST_CASE("eight columns of a page break names at their words, or once at a seam") {
  example::application();
  for (const double width : {504.0, 396.0}) {  // 7 in, NeurIPS
    CAPTURE(width);
    Figure figure;
    if (width < 400) put_into(figure.style, *preset_named("neurips"));
    figure.style.width = width;
    figure.style.letters = width < 400;
    figure.rows.resize(2);
    for (const char* title : {"Exact", "H-Transformer-1D", "Fixed", "Strided, sinks 0",
                              "Treeformer TF", "Treeformer TC", "HyperAttention", "Strided"}) {
      figure.rows[0].push_back(example::heatmap(16, 7, title));
      figure.rows[1].push_back(example::error_map(16, 7, title));
      add_row_errors(figure.rows[1].back(), std::vector<float>(16, 0.5f));
    }
    const auto layout = lay_out(figure, PaperLettering(figure.style));
    const auto lines_of = [&](std::size_t column) {
      std::string lines;
      for (const std::string& line : layout.rows[0].cells[column].title) lines += line + "|";
      return lines;
    };
    if (width > 400) CHECK(lines_of(1) == "H-Transformer-1D|");
    for (std::size_t c = 0; c < figure.rows[0].size(); ++c) {
      CAPTURE(lines_of(c));
      CHECK(lines_of(c).find("…") == std::string::npos);
      CHECK(lines_of(c).find("Transfo-|") == std::string::npos);
      CHECK(lines_of(c).find("Treefor-|") == std::string::npos);
    }
  }
}

TEST_CASE("a narrow curve keeps its room: the caption names its query") {
  example::application();
  Figure figure = alone(example::row(64, 12, "r"), 90);
  figure.style.captions = Captions::line;
  figure.rows[0][0].caption = "query 12";
  const PaperLettering letters(figure.style);
  const auto layout = lay_out(figure, letters);
  const CellLayout& cell = layout.rows[0].cells[0];
  CHECK(cell.plot.y - cell.body.y <= 2.2 * letters.line());
  CHECK(cell.caption == std::vector<std::string>{"query 12"});
}

TEST_CASE("titles of narrow panels are whole, on several lines or in smaller letters") {
  example::application();
  for (const char* title : {"H-Transformer-1D", "Treeformer TF", "HyperAttention"})
    for (const double width : {200.0, 252.0, 320.0}) {  // of four columns
      CAPTURE(title);
      CAPTURE(width);
      Figure figure;
      figure.style.width = width;
      figure.rows = {std::vector<Panel>(4, example::heatmap(16, 7, title))};
      const auto layout = lay_out(figure, PaperLettering(figure.style));
      std::string words;
      for (const std::string& line : layout.rows[0].cells[0].title) words += line + "|";
      CAPTURE(words);
      CHECK(words.find("…") == std::string::npos);
      CHECK(drawing::is_whole(layout.rows[0].cells[0].title, title));
      CHECK(layout.panel_title_face.size >= 5 - 1e-9);  // what can be read in print
      example::check_page(example::record(figure));
    }
}

TEST_CASE("the axes of a column that holds a head have the tokens of that head") {
  example::application();
  const auto tokens = [](const char* word) {
    auto sequence = std::make_shared<Sequence>();
    sequence->tokens.assign(16, word);
    return sequence;
  };
  Figure figure{.rows = {std::vector<Panel>(2, example::heatmap(16, 7, "a panel"))},
                .sequence = tokens("opened"),
                .held_sequence = {nullptr, tokens("held")},
                .held_key_sequence = {nullptr, tokens("key")}};
  const auto names = [&](std::size_t column) {
    const drawing::TokenNames its = names_of(figure, column);
    return its.queries.numbered(3, PaperLettering(figure.style), 1e3) + ", " +
           its.keys.numbered(3, PaperLettering(figure.style), 1e3);
  };
  CHECK(names(0).find("opened") != std::string::npos);
  CHECK(names(0).find("key") == std::string::npos);
  CHECK(names(1).find("held") != std::string::npos);
  CHECK(names(1).find("key") != std::string::npos);
  CHECK(names(2) == names(0));
  // The queries of the second column are not those of the first, which stand beside it.
  const PaperLettering letters(figure.style);
  const auto shown = [&] { return lay_out(figure, letters).rows[0].cells[1].show_y; };
  CHECK(shown());
  figure.held_sequence.clear();
  CHECK_FALSE(shown());
  // Numbers of a text without tokens are not those names either.
  figure.held_sequence = {nullptr, std::make_shared<Sequence>()};
  CHECK(shown());
}

TEST_CASE("names of many series leave room for the plot if the height is given") {
  example::application();
  SeriesPlot plot{.x_label = "cost", .y_label = "error", .scattered = true};
  for (int s = 0; s < 40; ++s) {
    const double place = 1 + s;
    plot.series.push_back({.name = "an attention of number " + std::to_string(s),
                           .points = {{.n = place,
                                       .value = place,
                                       .low = place,
                                       .high = place,
                                       .joined = false,
                                       .hollow = s % 20 != 3}}});
  }
  plot.series.push_back({.name = "nothing was measured of this one"});
  Figure figure;
  figure.rows = {{Panel{.body = plot}}};
  figure.style.width = 250;
  const FigureLayout tall = lay_out(figure, PaperLettering(figure.style));
  figure.style.height = 220;
  const FigureLayout fixed = lay_out(figure, PaperLettering(figure.style));
  CHECK(tall.legend.height() > 220 / 3);
  CHECK(fixed.legend.height() <= 220 / 3);
  CHECK(fixed.legend.height() > 0);  // the two on the front
  CHECK(fixed.rows[0].cells[0].plot.height > 220 / 3);
  // Where too many are on the front, too, those that do not fit are left out.
  for (auto& series : std::get<SeriesPlot>(figure.rows[0][0].body).series)
    for (SeriesPlot::Point& point : series.points) point.hollow = false;
  figure.style.height = 130;
  const FigureLayout low = lay_out(figure, PaperLettering(figure.style));
  CHECK(low.legend.height() > 0);
  CHECK(low.legend.height() <= 130 / 3.0);
  CHECK(low.rows[0].cells[0].plot.height > 130 / 4.0);
  figure.style.height = 80;
  CHECK(lay_out(figure, PaperLettering(figure.style)).legend.height() == 0);
}
