// What a figure's file carries, and that the same figure is the same file.
#include <doctest/doctest.h>

#include <QRegularExpression>
#include <QTemporaryDir>
#include <QThread>
#include <QXmlStreamReader>

#include "everything_in.h"
#include "figure/pages.h"
#include "figure/panels.h"
#include "figure/preset.h"
#include "figure/recipe.h"
#include "temporary_directory.h"

using namespace fovea;
using fovea::test::check_svg;
using fovea::test::read_bytes;

namespace {

const Recipe example_recipe{
    .session = "{\"source\": \"a <b> & \\\"c\\\"\", \"name\": \"Zoë ∞\", \"long\": \"" +
               std::string(5000, 'x') + "\"}\n",
    .command = "fovea render 'a b.txt' --title '(x) <y>' -o figure.png"};

Figure carrying(const Recipe& recipe) {
  Figure figure = example::paper(252, 64);
  figure.rows.resize(2);
  figure.recipe = recipe;
  return figure;
}

QByteArray written(const Figure& figure, const char* name) {
  const QTemporaryDir folder;
  const std::string path = folder.filePath(name).toStdString();
  write_figure(path, figure);
  if (path.ends_with(".svg")) check_svg(read_bytes(path));
  return QByteArray::fromStdString(read_bytes(path));
}

const char* const recipe_files[] = {"f.png", "f.svg", "f.pdf"};

}  // namespace

TEST_CASE("each kind of file carries the session and the command") {
  example::application();
  for (const char* name : recipe_files) {
    CAPTURE(name);
    const auto found = recipe_in(written(carrying(example_recipe), name));
    REQUIRE(found);
    CHECK(found->session == example_recipe.session);
    CHECK(found->command == example_recipe.command);
    const auto none = recipe_in(written(carrying({}), name));
    REQUIRE(none);  // Fovea wrote it
    CHECK(none->empty());
  }
  CHECK_FALSE(recipe_in("{}"));
  CHECK_FALSE(recipe_in(""));
}

TEST_CASE("a report as HTML carries the session, and other pages carry none") {
  example::application();
  const auto html = [](const Recipe& recipe) {
    // What a report says cannot be taken for its session.
    const std::string words = links_to({.session = "{}", .command = "fovea"});
    return QByteArray::fromStdString(
        html_of({.title = words, .blocks = {Paragraph{words}}, .recipe = recipe}));
  };
  const auto found = recipe_in(html(example_recipe));
  REQUIRE(found);
  CHECK(found->session == example_recipe.session);
  CHECK(found->command == example_recipe.command);
  CHECK(recipe_in("\xEF\xBB\xBF" + html(example_recipe).replace("DOCTYPE", "doctype")));
  const auto none = recipe_in(html({}));
  REQUIRE(none);
  CHECK(none->empty());
  const QByteArray whole = html(example_recipe);
  const QByteArray begin = "<a download=\"";
  const qsizetype command = whole.lastIndexOf(begin),
                  session = whole.lastIndexOf(begin, command - 1);
  for (const qsizetype link : {session, command})  // cut off within it
    CHECK_FALSE(recipe_in(whole.left(whole.indexOf("base64,", link) + 20)));
  CHECK_FALSE(recipe_in("<!DOCTYPE html>\n<html><body><p>A text.</p></body></html>"));
}

TEST_CASE("a figure that is cut off or damaged is read without harm") {
  example::application();
  for (const char* name : recipe_files) {
    CAPTURE(name);
    const QByteArray whole = written(carrying(example_recipe), name);
    for (int part = 0; part < 40; ++part) {
      recipe_in(whole.left(whole.size() * part / 40));
      QByteArray damaged = whole;
      for (qsizetype at = part; at < damaged.size(); at += 97) damaged[at] = char(37 * at + part);
      recipe_in(damaged);
    }
  }
}

TEST_CASE("the same figure is the same file, a second later too") {
  example::application();
  qunsetenv("SOURCE_DATE_EPOCH");
  for (const char* name : recipe_files) {
    CAPTURE(name);
    const QByteArray first = written(carrying(example_recipe), name);
    QThread::msleep(1100);
    for (int again = 0; again < 4; ++again) CHECK(written(carrying(example_recipe), name) == first);
    CHECK_FALSE(first.contains("CreationDate"));
  }
}

TEST_CASE("a PDF has the date of SOURCE_DATE_EPOCH") {
  example::application();
  qputenv("SOURCE_DATE_EPOCH", "86400");
  const QByteArray dated = written(carrying({}), "f.pdf");
  qunsetenv("SOURCE_DATE_EPOCH");
  CHECK(dated.contains("/CreationDate (D:19700102000000Z)"));
}

TEST_CASE("SVG: the font of its text is named, with another where it is missing") {
  example::application();
  const QByteArray svg = written(carrying({}), "f.svg");
  QXmlStreamReader reader(svg);
  int texts = 0, images = 0;
  while (!reader.atEnd()) {
    if (reader.readNext() != QXmlStreamReader::StartElement) continue;
    if (reader.name() == u"image") ++images;
    if (reader.name() != u"text") continue;
    ++texts;
    CHECK(reader.attributes().value("font-family") == u"DejaVu Sans, Verdana, sans-serif");
  }
  CHECK_FALSE(reader.hasError());
  CHECK(texts > 10);
  CHECK(images > 0);
  CHECK(svg.count("href=\"data:image/png;base64,") == images);
}

TEST_CASE("SVG: it is as wide as its preset") {
  example::application();
  Figure figure = carrying({});
  put_into(figure.style, *preset_named("aaai"));
  CHECK(written(figure, "f.svg").contains("<svg width=\"237.6pt\""));
}
