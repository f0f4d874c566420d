// Files: what is in them, and that a failure harms nothing.
#include <doctest/doctest.h>

#include <QDir>
#include <QFile>
#include <QImage>
#include <QProcess>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QSvgRenderer>
#include <QTemporaryDir>
#include <QXmlStreamReader>

#include "data/error.h"
#include "everything_in.h"
#include "figure/panels.h"
#include "full_disk.h"
#include "temporary_directory.h"

using namespace fovea;
using fovea::test::check_svg;
using fovea::test::FullDisk;
using fovea::test::read_bytes;

namespace {

QString output_of(const QString& program, const QStringList& arguments) {
  QProcess process;
  process.start(program, arguments);
  REQUIRE(process.waitForFinished());
  return QString::fromUtf8(process.readAllStandardOutput());
}

Figure small() {
  Figure figure = example::paper(252, 64);
  figure.rows.resize(2);
  return figure;
}

}  // namespace

TEST_CASE("PNG: as many pixels as points and dpi say, and the dpi is in the file") {
  example::application();
  const QTemporaryDir folder;
  const QString path = folder.filePath("figure.png");
  Figure figure = small();
  figure.style.dpi = 200;
  write_figure(path.toStdString(), figure);
  const QImage image(path);
  CHECK(image.width() == 700);  // 252 / 72 * 200
  CHECK(image.height() == doctest::Approx(figure_height(figure) / 72 * 200).epsilon(0.01));
  CHECK(image.dotsPerMeterX() == 7874);
  CHECK(image.pixelColor(1, 1) == QColor(Qt::white));
}

TEST_CASE("an image whose pixels cover several entries says so, an image of all entries does not") {
  example::application();
  const Figure figure = small();
  const auto captions = [](const Figure& of) {
    std::string all;
    for (const auto& row : of.rows)
      for (const Panel& panel : row) all += panel.caption + "\n";
    return all;
  };
  CHECK(captions(with_pooling_named(figure, 20)) == captions(figure));
  const std::string coarse = captions(with_pooling_named(figure, 0.5));
  CHECK(coarse.find("a pixel: mean colour of ") != std::string::npos);
  CHECK(coarse.find(" entries") != std::string::npos);
}

TEST_CASE("PDF: TrueType is embedded, and cells are not blurred") {
  example::application();
  const QTemporaryDir folder;
  const QString path = folder.filePath("figure.pdf");
  write_figure(path.toStdString(), small());
  const auto bytes = QByteArray::fromStdString(read_bytes(path.toStdString()));
  CHECK(bytes.startsWith("%PDF-"));
  CHECK(bytes.contains("/FontFile2"));
  CHECK_FALSE(bytes.contains("/Type3"));
  CHECK_FALSE(bytes.contains("/DCTDecode"));  // JPEG would blur the cells
}

TEST_CASE("PDF: one page of the right size, with text that can be searched" *
          doctest::skip(QStandardPaths::findExecutable("pdftotext").isEmpty())) {
  example::application();
  const QTemporaryDir folder;
  const QString path = folder.filePath("figure.pdf");
  write_figure(path.toStdString(), small());
  const QString text = output_of("pdftotext", {path, "-"});
  for (const char* word : {"all-MiniLM-L6-v2", "attention weight P", "query", "key", "10⁻³"})
    CHECK(text.contains(QString::fromUtf8(word)));
  const QString fonts = output_of("pdffonts", {path});
  CHECK(fonts.contains("CID TrueType"));
  CHECK_FALSE(fonts.contains("Type 3"));
  CHECK(output_of("pdfinfo", {path}).contains("Page size:       252 x"));
  CHECK(output_of("pdfinfo", {path}).contains(QRegularExpression("Creator: +Fovea")));
}

TEST_CASE("SVG: well-formed, drawn by a renderer, with text as text") {
  example::application();
  const QTemporaryDir folder;
  const QString path = folder.filePath("figure.svg");
  write_figure(path.toStdString(), small());
  check_svg(read_bytes(path.toStdString()));
  QXmlStreamReader reader(QByteArray::fromStdString(read_bytes(path.toStdString())));
  int texts = 0;
  while (!reader.atEnd())
    if (reader.readNext() == QXmlStreamReader::StartElement && reader.name() == u"text") ++texts;
  CHECK_FALSE(reader.hasError());
  CHECK(texts > 10);
  CHECK(QSvgRenderer(path).isValid());
}

TEST_CASE("another ending is refused before anything is written") {
  example::application();
  CHECK_THROWS_AS(write_figure("/nowhere/figure.jpg", small()), UsageError);
  CHECK_THROWS_AS(write_figure("figure", small()), UsageError);
}

TEST_CASE("a folder that cannot be written to is unavailable, and says so by name") {
  example::application();
  for (const char* path : {"/nowhere/at/all.png", "/proc/figure.pdf", "/dev/null/figure.svg"})
    CHECK_THROWS_WITH_AS(write_figure(path, small()), doctest::Contains(path), UnavailableError);
}

TEST_CASE("a full disk leaves the old file as it was and no other behind") {
  example::application();
  const QTemporaryDir folder;
  for (const char* name : {"figure.png", "figure.svg", "figure.pdf"}) {
    const QString path = folder.filePath(name);
    write_figure(path.toStdString(), small());
    const std::string before = read_bytes(path.toStdString());
    Figure larger = small();
    larger.style.dpi = 600;
    {
      const FullDisk full(4096);
      CHECK_THROWS_AS(write_figure(path.toStdString(), larger), UnavailableError);
    }
    CHECK(read_bytes(path.toStdString()) == before);
  }
  CHECK(QDir(folder.path()).entryList(QDir::Files | QDir::Hidden).size() == 3);
}
