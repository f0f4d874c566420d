// Figures for venues: their width, their letters, and the letters of panels.
#include <doctest/doctest.h>

#include <QRegularExpression>
#include <QTemporaryDir>

#include "figure/layout.h"
#include "figure/panels.h"
#include "figure/preset.h"
#include "temporary_directory.h"

using namespace fovea;
using fovea::test::read_bytes;

namespace {

Figure in_preset(const std::string& id) {
  Figure figure = example::paper(252, 64);
  figure.rows.resize(2);
  REQUIRE(preset_named(id));
  put_into(figure.style, *preset_named(id));
  return figure;
}

/// Left, bottom, right and top of the page, in points.
std::vector<double> box_of(const std::string& pdf) {
  const auto match = QRegularExpression("/MediaBox \\[([-0-9. ]+)\\]")
                         .match(QString::fromLatin1(pdf.data(), pdf.size()));
  REQUIRE(match.hasMatch());
  std::vector<double> box;
  for (const QString& word : match.captured(1).split(' ', Qt::SkipEmptyParts))
    box.push_back(word.toDouble());
  REQUIRE(box.size() == 4);
  return box;
}

}  // namespace

TEST_CASE("presets are as wide as their venues print, and PDF pages as wide as they say") {
  example::application();
  const QTemporaryDir folder;
  const std::pair<const char*, double> inches[]{
      {"neurips", 5.5},  {"iclr", 5.5},        {"icml", 3.25},         {"icml-full", 6.75},
      {"aistats", 3.25}, {"uai", 3.25},        {"aistats-full", 6.75}, {"uai-full", 6.75},
      {"cvpr", 3.25},    {"cvpr-full", 6.875}, {"aaai", 3.3},          {"aaai-full", 6.975},
      {"eccv", 4.8},     {"jmlr", 6.0},        {"tmlr", 6.5},          {"slides", 13 + 1 / 3.}};
  CHECK(std::size(inches) == presets().size());
  for (const auto& preset : inches) {
    const char* const id = preset.first;
    const double width = preset.second;
    CAPTURE(id);
    const Figure figure = in_preset(id);
    const std::string path = folder.filePath("f.pdf").toStdString();
    write_figure(path, figure);
    const std::vector<double> box = box_of(read_bytes(path));
    CHECK(std::abs(box[2] - box[0] - 72 * width) < 0.1);
    CHECK(std::abs(box[3] - box[1] - figure_height(figure)) < 0.1);
  }
  CHECK(preset_named("nips") == nullptr);
  CHECK(preset_names().starts_with("neurips, iclr, "));
}

TEST_CASE("titles have the letters of a preset where they fit, and the rest is smaller") {
  example::application();
  const Figure figure = in_preset("neurips");
  const PaperLettering letters(figure.style);
  CHECK(letters.size() == 7);
  const FigureLayout layout = lay_out(figure, letters);
  CHECK(layout.title_face.size == 9);
  CHECK(layout.panel_title_face.size <= 9);
  CHECK(layout.panel_title_face.size >= 7);
  Figure own = figure;
  own.style.font_size = 12;
  CHECK(PaperLettering(own.style).size() == 10);
}

TEST_CASE("letters of panels go on from row to row, also where a title is not repeated") {
  example::application();
  Figure figure = example::alone(example::heatmap(16, 1, "Exact"), 400);
  const Panel first = figure.rows[0][0], second = example::heatmap(16, 2, "Other");
  figure.rows = {{first, second}, {first, second}};
  const auto titles = [&] {
    const FigureLayout layout = lay_out(figure, PaperLettering(figure.style));
    std::vector<std::string> out;
    for (const RowLayout& row : layout.rows)
      for (const CellLayout& cell : row.cells)
        out.push_back(cell.title.empty() ? "" : cell.title.front());
    return out;
  };
  CHECK(titles() == std::vector<std::string>{"Exact", "Other", "", ""});
  figure.style.letters = true;
  CHECK(titles() == std::vector<std::string>{"(a) Exact", "(b) Other", "(c)", "(d)"});
  figure.style.width = 28 * 80;
  figure.rows.assign(1, std::vector<Panel>(28, first));
  CHECK(titles().back().starts_with("(ab)"));
}

TEST_CASE("a character that no font has is named by its code") {
  example::application();
  const PaperLettering letters{FigureStyle{}};
  CHECK(letters.readable("a↵⇥⇤…·é") == "a↵⇥⇤…·é");
  CHECK(letters.readable("\U0010FFFD") == "U+10FFFD");
}
