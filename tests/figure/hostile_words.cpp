// Words that a user or a file can give, in every place of a figure and in every format: files are
// well formed, and the words are words.
#include <doctest/doctest.h>

#include <QDir>
#include <QImage>
#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <algorithm>

#include "everything_in.h"
#include "figure/pages.h"
#include "figure/panels.h"
#include "figure/pgf_file.h"
#include "temporary_directory.h"

using namespace fovea;
using namespace fovea::test;

namespace {

const std::string hostile_words[] = {
    "Q & A",
    "a < b > c",
    "</desc><script>alert(1)</script><desc>",
    "</text><script>alert(1)</script>",
    "\"quoted\" 'it'",
    "]]> <!-- --> <![CDATA[ <?x ?> &amp; &#1; &x;",
    "\x01\x02\x1b[31m\x7f",
    "a\rb\nc\td",
    "\xC2\x85 \xE2\x80\xAE \xEF\xBF\xBE \xEF\xBF\xBF",  // U+0085 U+202E U+FFFE U+FFFF
    "\xED\xA0\x80 \xED\xB0\x80 \xff\xfe",               // halves of pairs, no UTF-8
    "\\input{x} % #1 $x$ ^^M ~ _",
    ") /Title (x",
};

/// One panel of every kind, with the words wherever a figure has words.
Figure named_with(const std::string& words) {
  Figure figure;
  figure.title = figure.footer = words;
  figure.style.width = 900;
  figure.style.dpi = 30;  // it is high
  const auto sequence = std::make_shared<const Sequence>(
      Sequence{.tokens = std::vector<std::string>(24, words), .grid = {}});
  figure.sequence = figure.key_sequence = sequence;
  figure.recipe = {.session = words, .command = words};
  for (Panel& panel : example::every_kind(24)) {
    panel.title = panel.subtitle = panel.caption = words;
    if (auto* raster = std::get_if<Raster>(&panel.body)) {
      raster->quantity = raster->under_name = raster->row_quantity = words;
      for (std::string& category : raster->categories) category = words;
    }
    if (auto* map = std::get_if<BlockMap>(&panel.body)) map->quantity = words;
    if (auto* leaves = std::get_if<LeafSizes>(&panel.body)) leaves->kind = words;
    if (auto* strip = std::get_if<Strip>(&panel.body)) strip->quantity = strip->bounds_name = words;
    if (auto* plot = std::get_if<SeriesPlot>(&panel.body)) {
      plot->x_label = plot->y_label = plot->empty = words;
      for (auto& series : plot->series) series.name = words;
    }
    if (auto* plot = std::get_if<CurvePlot>(&panel.body)) {
      plot->x_label = plot->y_label = words;
      for (auto& curve : plot->curves) curve.name = words;
      for (auto& level : plot->levels) level.name = words;
    }
    if (auto* table = std::get_if<FigureTable>(&panel.body))
      for (auto& [label, value] : table->rows) label = value = words;
    if (auto* message = std::get_if<Message>(&panel.body)) message->text = words;
    figure.rows.push_back({std::move(panel)});
  }
  return figure;
}

/// The text of the first element of a name.
QString text_of(const std::string& svg, const QString& name) {
  QXmlStreamReader reader(QByteArray::fromStdString(svg));
  while (!reader.atEnd())
    if (reader.readNext() == QXmlStreamReader::StartElement && reader.name() == name)
      return reader.readElementText();
  return {};
}

/// As XML can hold the words, and as its parser reads ends of lines.
QString in_xml(const std::string& words) {
  QString text = QString::fromStdString(words);
  for (QChar& c : text) {
    const bool has_no_place = (c < ' ' && c != '\n' && c != '\t' && c != '\r') || c >= u'\uFFFE';
    if (has_no_place) c = QChar::ReplacementCharacter;
    if (c == '\r') c = '\n';
  }
  return text;
}

}  // namespace

TEST_CASE("SVG: any words leave it well formed, and are found in it as they were") {
  example::application();
  const QTemporaryDir folder;
  const std::string path = folder.filePath("f.svg").toStdString();
  for (const std::string& words : hostile_words) {
    CAPTURE(words);
    write_figure(path, named_with(words));
    const std::string svg = read_bytes(path);
    check_svg(svg);
    for (const char* name : {"title", "desc", "session", "command"})
      CHECK(text_of(svg, name) == in_xml(words));
  }
}

TEST_CASE("SVG: a figure without a title and a footer has no words of Qt's in their place") {
  example::application();
  Figure figure = example::paper(252, 64);
  figure.title = figure.footer = "";
  const QByteArray svg = svg_of(figure);
  check_svg(svg.toStdString());
  CHECK(text_of(svg.toStdString(), "title") == "Attention");
  CHECK_FALSE(svg.contains("<desc>"));
  CHECK_FALSE(svg.contains("Qt SVG Document"));
}

TEST_CASE("SVG: a font's name is escaped") {
  example::application();
  for (const char* font : {"A & B", "<x>", "a\"b", "It's"}) {
    CAPTURE(font);
    Figure figure = example::paper(252, 64);
    figure.style.font = font;
    const QByteArray svg = svg_of(figure);
    check_svg(svg.toStdString());
    const QString family = QString(font).toHtmlEscaped() + ", Verdana, sans-serif";
    CHECK(svg.contains(("font-family=\"" + family + "\"").toUtf8()));
  }
}

TEST_CASE("PNG and PDF: any words leave them readable, and the recipe is what it was") {
  example::application();
  const QTemporaryDir folder;
  for (const std::string& words : hostile_words) {
    CAPTURE(words);
    const Figure figure = named_with(words);
    for (const char* name : {"f.png", "f.pdf"}) {
      CAPTURE(name);
      const std::string path = folder.filePath(name).toStdString();
      write_figure(path, figure);
      const auto found = recipe_in(QByteArray::fromStdString(read_bytes(path)));
      REQUIRE(found);
      CHECK(found->session == words);
      CHECK(found->command == words);
    }
    CHECK_FALSE(QImage(folder.filePath("f.png")).isNull());
    const QByteArray pdf =
        QByteArray::fromStdString(read_bytes(folder.filePath("f.pdf").toStdString()));
    CHECK(pdf.count("/Title ") == 1);
  }
}

TEST_CASE("PGF: any words leave lines that LaTeX reads as they are meant") {
  example::application();
  const QTemporaryDir folder;
  const std::string path = folder.filePath("f.pgf").toStdString();
  for (const std::string& words : hostile_words) {
    CAPTURE(words);
    write_figure(path, named_with(words));
    const QByteArray pgf = QByteArray::fromStdString(read_bytes(path));
    CHECK(std::ranges::none_of(
        pgf, [](char c) { return c != '\n' && static_cast<unsigned char>(c) < 0x20; }));
    int comments = 0;
    for (const QByteArray& line : pgf.split('\n')) {
      comments += line.startsWith("%%");
      CHECK((line.startsWith("%%") || !line.contains("\\input{x}")));
    }
    CHECK(comments == 3);
  }
}

TEST_CASE("PGF: a name that LaTeX would read as something else is refused, others are written") {
  example::application();
  const QTemporaryDir folder;
  for (const char* name :
       {"a%b", "a#b", "a{b", "a}b", "a\\b", "a$b", "a&b", "a~b", "a^b", "a\"b", "a\nb", "a\rb"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(
        write_figure(folder.filePath(QString(name) + ".pgf").toStdString(), named_with("x")),
        UsageError);
  }
  CHECK(QDir(folder.path()).entryList(QDir::Files).isEmpty());
  for (const char* name : {"a b", "a_b", "a.b", "Zoë"}) {
    const std::string path = folder.filePath(QString::fromUtf8(name) + ".pgf").toStdString();
    write_figure(path, named_with("x"));
    CHECK(QFile::exists(QString::fromStdString(pgf_body(path))));
  }
}

TEST_CASE("HTML: any words are words, in the page and in its figures") {
  example::application();
  for (const std::string& words : hostile_words) {
    CAPTURE(words);
    const std::string html =
        html_of({.title = words,
                 .blocks = {Heading{words}, Paragraph{words}, Verbatim{words},
                            Facts{.title = words, .rows = {{words, words}}},
                            NumberTable{{words, words}, {{words, words}}, words},
                            Illustration{named_with(words), words}},
                 .recipe = {.session = words, .command = words}});
    CHECK(html.find("<script") == std::string::npos);
    const QByteArray all = QByteArray::fromStdString(html);
    const QByteArray begin = "data:image/svg+xml;base64,";
    const qsizetype at = all.indexOf(begin) + begin.size();
    check_svg(QByteArray::fromBase64(all.mid(at, all.indexOf('"', at) - at)).toStdString());
    const auto found = recipe_in(all);
    REQUIRE(found);
    CHECK(found->session == words);
  }
}
