// Pictures against golden ones; FOVEA_UPDATE_GOLDEN=1 writes them.
#include <doctest/doctest.h>

#include <QFile>
#include <QImage>
#include <QPainter>
#include <cmath>
#include <cstdlib>

#include "figure/panels.h"
#include "figure/recorder.h"
#include "views/views.h"

using namespace fovea;

namespace {

constexpr double kWidth = 140, kScale = 1.5;

QImage drawn(Figure figure, bool dark) {
  figure.style.dark = dark;
  QImage image(static_cast<int>(kWidth * kScale), static_cast<int>(figure_height(figure) * kScale),
               QImage::Format_RGB32);
  image.fill(Qt::white);
  QPainter painter(&image);
  painter.scale(kScale, kScale);
  draw_figure(painter, figure);
  return image;
}

/// Share of pixels that differ by more than 2/255 in a channel, apart from lettering: its letters
/// may be rasterised otherwise by another FreeType.
double difference(const QImage& a, const QImage& b, const example::Recording& recording) {
  if (a.size() != b.size()) return 1;
  QImage lettering(a.size(), QImage::Format_Grayscale8);
  lettering.fill(0);
  QPainter painter(&lettering);
  for (const auto& [text, where] : recording.texts) {
    const QRectF box(where.topLeft() * kScale, where.bottomRight() * kScale);
    painter.fillRect(box.adjusted(-3, -4, 3, 5), Qt::white);  // accents and descenders
  }
  painter.end();
  int differing = 0, compared = 0;
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x) {
      if (qGray(lettering.pixel(x, y)) > 0) continue;
      ++compared;
      const QColor p = a.pixelColor(x, y), q = b.pixelColor(x, y);
      differing += std::abs(p.red() - q.red()) > 2 || std::abs(p.green() - q.green()) > 2 ||
                   std::abs(p.blue() - q.blue()) > 2;
    }
  return static_cast<double>(differing) / std::max(1, compared);
}

/// A line for each text: its place in whole points, and the words.
QStringList lettering_of(const example::Recording& recording) {
  QStringList lines;
  for (const auto& [text, where] : recording.texts)
    lines << QStringLiteral("%1 %2 %3")
                 .arg(std::lround(where.center().x()))
                 .arg(std::lround(where.center().y()))
                 .arg(text);
  return lines;
}

/// The words are the same, and none is further than two points from its place: letters of another
/// version of the font are a little wider or narrower.
bool same_lettering(const QStringList& a, const QStringList& b) {
  if (a.size() != b.size()) return false;
  for (qsizetype i = 0; i < a.size(); ++i) {
    const QString words = a[i].section(' ', 2), others = b[i].section(' ', 2);
    const auto apart = [&](int part) {
      return std::abs(a[i].section(' ', part, part).toInt() -
                      b[i].section(' ', part, part).toInt());
    };
    if (words != others || apart(0) > 2 || apart(1) > 2) return false;
  }
  return true;
}

/// An error map whose tokens have names, with the output errors beside it.
Figure with_names() {
  Figure figure = example::alone(example::error_map(12, 2, "HyperAttention"), kWidth);
  add_row_errors(figure.rows[0][0], {0.1f, 0.4f, 0, 0.02f, 0.9f, 0, 0, 0.3f, 0, 0.1f, 0, 0.6f});
  auto tokens = std::make_shared<Sequence>();
  tokens->tokens = {"an",  "eye", "that",  "sees", "internationalisation", ",", " of", "the",
                    "far", "\n",  "lands", "."};
  figure.sequence = tokens;
  return figure;
}

}  // namespace

TEST_CASE("every kind of panel looks as it did") {
  example::application();
  const char* names[] = {"heatmap", "error",  "mask",  "level",     "rank",  "leaves",
                         "buckets", "row",    "strip", "picture",   "table", "message",
                         "series",  "curves", "reach", "selection", "tiles", "names"};
  std::vector<Figure> figures;
  for (const Panel& panel : example::every_kind(64))
    figures.push_back(example::alone(panel, kWidth));
  figures.push_back(example::alone(example::reach(64, "Strided"), kWidth));
  figures.push_back(example::alone(example::selection(64, "MoBA"), kWidth));
  figures.push_back(example::alone(example::tile_errors(64, "Imported"), kWidth));
  figures.push_back(with_names());
  REQUIRE(figures.size() == std::size(names));
  for (std::size_t p = 0; p < figures.size(); ++p) {
    const std::string name = names[p];
    CAPTURE(name);
    const QString path = QString::fromStdString(FOVEA_TESTS "/figure/golden/" + name);
    const QImage image = drawn(figures[p], false);
    const example::Recording recording = example::record(figures[p]);
    const QStringList lettering = lettering_of(recording);
    QFile words(path + ".txt");
    if (std::getenv("FOVEA_UPDATE_GOLDEN")) {
      REQUIRE(image.save(path + ".png"));
      REQUIRE(words.open(QIODevice::WriteOnly));
      words.write(lettering.join('\n').toUtf8() + '\n');
      words.close();
    }
    const QImage golden(path + ".png");
    REQUIRE_FALSE(golden.isNull());
    // Edges that fall between two pixels are rounded differently by other versions of Qt.
    CHECK(difference(image, golden.convertToFormat(QImage::Format_RGB32), recording) < 0.005);
    REQUIRE(words.open(QIODevice::ReadOnly));
    const QStringList golden_words = QString::fromUtf8(words.readAll()).trimmed().split('\n');
    CHECK(same_lettering(lettering, golden_words));
    // The comparisons can fail.
    CHECK(difference(image, drawn(figures[p], true), recording) > 0.04);
    CHECK_FALSE(same_lettering(lettering.mid(1), golden_words));
    QStringList other = lettering;
    other.last() += 's';
    CHECK_FALSE(same_lettering(other, golden_words));
  }
}
