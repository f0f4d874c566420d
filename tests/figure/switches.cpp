// What an author switches on and off in a figure, and the colour bars beneath its panels.
#include <doctest/doctest.h>

#include "figure/caption.h"
#include "figure/layout.h"
#include "figure/panels.h"
#include "figure/preset.h"
#include "figure/recorder.h"
#include "views/views.h"

using namespace fovea;

namespace {

/// Maps over errors with strips over masks, where the first column has no error.
Figure three_rows(double width = 504) {
  Figure figure;
  figure.style.width = width;
  figure.footer = "minilm, head 10; CPU";
  for (const char* title : {"a", "b", "c"}) {
    if (figure.rows.empty()) figure.rows.resize(3);
    const bool first = figure.rows[0].empty();
    figure.rows[0].push_back(example::heatmap(64, 7 + figure.rows[0].size(), title));
    figure.rows[1].push_back(first ? example::message(title) : example::error_map(64, 1, title));
    figure.rows[2].push_back(example::mask(64, title));
  }
  for (std::size_t c : {1, 2}) {
    Panel& panel = figure.rows[1][c];
    panel.caption = "relative error of P 0.3 · another statement";
    add_row_errors(panel, std::vector<float>(64, 0.5f * float(c)));
  }
  for (auto& row : figure.rows)
    for (Panel& panel : row) panel.subtitle = "block 16, banded · 0.53 relative output error";
  return figure;
}

QStringList words_in(const Figure& figure) {
  QStringList words;
  const example::Recording recording = example::record(figure);
  for (const auto& drawn : recording.texts) words << drawn.text;
  example::check_page(recording);
  example::check_texts_apart(recording);
  return words;
}

bool have(const QStringList& words, const char* text) {
  return words.join(' ').contains(QString::fromUtf8(text));
}

}  // namespace

TEST_CASE("captions are left out, are one statement that is never cut, or are whole") {
  example::application();
  Figure figure = three_rows();
  CHECK(have(words_in(figure), "another statement"));
  figure.style.captions = Captions::line;
  CHECK(have(words_in(figure), "relative error of P 0.3"));
  CHECK_FALSE(have(words_in(figure), "another statement"));
  figure.rows[1][1].caption = "a statement of very many words " + std::string(60, 'n') +
                              ", which has no room on three lines below a panel of this width, "
                              "however they are broken, since there are still more of them here";
  CHECK_FALSE(have(words_in(figure), "a statement of"));
  CHECK_FALSE(have(words_in(figure), "…"));
  figure.style.captions = Captions::none;
  CHECK_FALSE(have(words_in(figure), "relative error of P 0.3"));
}

TEST_CASE("without a footer no provenance is drawn, but what frames mark and what must be known") {
  example::application();
  Figure figure = three_rows();
  figure.pinned_query = 3;
  CHECK(have(words_in(figure), "head 10"));
  CHECK(have(words_in(figure), "Orange line: query 3"));
  figure.style.footer = false;
  figure.remarks = "b: its tree was learned on layer 2. ";
  CHECK_FALSE(have(words_in(figure), "head 10"));
  CHECK(have(words_in(figure), "Orange line: query 3. b: its tree was learned on layer 2."));
  CHECK(latex_caption(figure).find("its tree was learned on layer 2.") != std::string::npos);
}

TEST_CASE("panels of a row have their first statements, or none of them") {
  example::application();
  Figure figure = three_rows();
  figure.style.captions = Captions::line;
  figure.rows[1][1].caption = "one statement";
  figure.rows[1][2].caption = "two statements";
  CHECK(have(words_in(figure), "one statement"));
  figure.rows[1][2].caption = std::string(300, 'n');
  CHECK_FALSE(have(words_in(figure), "one statement"));
  figure.rows[1][2].caption = "";
  CHECK(have(words_in(figure), "one statement"));
}

TEST_CASE("places of empty panels stay white, have no letter, and move no other panel") {
  example::application();
  Figure figure = three_rows();
  figure.style.letters = true;
  const auto places = [&] {
    std::vector<drawing::Rect> plots;
    for (const RowLayout& row : lay_out(figure, PaperLettering(figure.style)).rows)
      for (const CellLayout& cell : row.cells) plots.push_back(cell.plot);
    return plots;
  };
  const auto with = places();
  CHECK(have(words_in(figure), "Exact attention has no"));
  CHECK(have(words_in(figure), "(i)"));
  figure.style.empty_panels = false;
  CHECK_FALSE(have(words_in(figure), "Exact attention has no"));
  CHECK(have(words_in(figure), "(h)"));
  CHECK_FALSE(have(words_in(figure), "(i)"));
  const auto without = places();
  for (std::size_t p = 0; p < with.size(); ++p) {
    CHECK(without[p].x == with[p].x);
    CHECK(without[p].width == with[p].width);
  }
  // The next panel carries the numbers of the queries, in the place that stays white.
  const FigureLayout layout = lay_out(figure, PaperLettering(figure.style));
  CHECK(layout.rows[1].cells[1].show_y);
  CHECK_FALSE(layout.rows[1].cells[0].show_y);
  // The keys of a column whose last panel is left out are numbered above it.
  figure.rows.pop_back();
  const FigureLayout two = lay_out(figure, PaperLettering(figure.style));
  CHECK(two.rows[0].cells[0].show_x);
  CHECK_FALSE(two.rows[0].cells[1].show_x);
}

TEST_CASE("rows are named at the left of all panels") {
  example::application();
  Figure figure = three_rows();
  const std::string name = label_of(figure.rows[0][0].view);
  CHECK_FALSE(words_in(figure).contains(QString::fromStdString(name)));
  const double before = lay_out(figure, PaperLettering(figure.style)).rows[0].cells[0].plot.x;
  figure.style.row_names = true;
  words_in(figure);
  const double after = lay_out(figure, PaperLettering(figure.style)).rows[0].cells[0].plot.x;
  CHECK(after > before);
  for (const auto& [text, where] : example::record(figure).texts)
    if (text == QString::fromStdString(name)) {
      CHECK(where.height() > where.width());  // it reads upwards
      CHECK(where.right() < after);
    }
  CHECK(words_in(figure).contains(QString::fromStdString(name)));
}

TEST_CASE("the error has a line of its own, in fewer words where panels are narrow") {
  example::application();
  CHECK(words_in(three_rows()).contains(QStringLiteral("0.53 relative output error")));
  Figure figure = three_rows(252);
  figure.style.captions = Captions::none;
  const QStringList narrow = words_in(figure);
  CHECK(narrow.contains(QStringLiteral("error 0.53")));
  CHECK_FALSE(have(narrow, "·"));
}

TEST_CASE("parameters have one line if letters that are a point smaller are enough for that") {
  example::application();
  bool smaller = false;
  for (double width = 504; width > 180; width -= 6) {
    const Figure figure = three_rows(width);
    const PaperLettering letters(figure.style);
    const FigureLayout layout = lay_out(figure, letters);
    if (layout.note_face.size == letters.size()) continue;
    smaller = true;
    CHECK(layout.note_face.size == letters.size() - 1);
    for (const CellLayout& cell : layout.rows[0].cells) {
      REQUIRE_FALSE(cell.subtitle.empty());
      CHECK(cell.subtitle.front() == "block 16, banded");
    }
  }
  CHECK(smaller);
}

TEST_CASE("strips have one range and one colour bar for the row") {
  example::application();
  Figure figure = three_rows();
  figure.style.captions = Captions::none;
  CHECK(words_in(figure).filter(QStringLiteral("strip: output error")).size() == 1);
  const RowLayout row = lay_out(figure, PaperLettering(figure.style)).rows[1];
  REQUIRE(row.strip_bar);
  CHECK(row.strip_bar->scale().high == 1);
  CHECK(row.cells[1].strip->top == 1);
  CHECK(row.cells[2].strip->top == 1);
}

TEST_CASE("colour bars begin and end with the panels that they belong to") {
  example::application();
  for (const bool shared : {true, false})
    for (const double height : {0.0, 500.0}) {
      CAPTURE(shared);
      CAPTURE(height);
      Figure figure = three_rows();
      figure.style.settings.shared_range = shared;
      figure.style.captions = Captions::none;
      if (height > 0) figure.style.height = height;
      words_in(figure);
      const auto starts_and_ends = [](const drawing::ColourBar& bar, drawing::Point at,
                                      const CellLayout& first, const CellLayout& last) {
        const drawing::Rect gradient = bar.gradient();
        constexpr double arrow = 8;
        CHECK(at.x == doctest::Approx(first.plot.x));
        CHECK(at.x + gradient.x <= first.plot.x + arrow);
        CHECK(at.x + gradient.right() <= last.plot.right() + 0.01);
        CHECK(at.x + gradient.right() >= last.plot.right() - arrow);
      };
      for (const RowLayout& row : lay_out(figure, PaperLettering(figure.style)).rows) {
        const bool errors = row.cells[0].stands_in_for.has_value();
        if (row.bar && row.bar->scale().is_amounts())
          starts_and_ends(*row.bar, row.bar_at, row.cells[errors ? 1 : 0], row.cells[2]);
        if (row.strip_bar)
          starts_and_ends(*row.strip_bar, row.strip_bar_at, row.cells[1], row.cells[2]);
        for (const CellLayout& cell : row.cells)
          if (cell.bar && cell.bar->scale().is_amounts())
            starts_and_ends(*cell.bar, cell.bar_at, cell, cell);
      }
    }
}

TEST_CASE("categories of a row are named once, each colour with all its names") {
  example::application();
  Figure figure = three_rows();
  std::get<Raster>(figure.rows[2][2].body).categories[1] = "another word";
  const QStringList words = words_in(figure);
  CHECK(words.count(QStringLiteral("empty")) == 1);
  CHECK(words.contains(QStringLiteral("partial / another word")));
}

TEST_CASE("a preset brings what its venue prints, and its options make the same style") {
  FigureStyle style;
  put_into(style, *preset_named("neurips"));
  CHECK(style.captions == Captions::line);
  CHECK_FALSE(style.footer);
  CHECK_FALSE(style.empty_panels);
  CHECK(style.row_names);
  style.letters = true;
  CHECK(options_for(style) ==
        " --preset neurips --font-size 9 --dpi 300 --captions line --no-footer "
        "--no-empty-panels --row-names --letters");
  CHECK(options_for(FigureStyle{}) ==
        " --width 252pt --font-size 7 --dpi 300 --captions full --footer --empty-panels "
        "--no-row-names");
}

TEST_CASE("a caption for LaTeX says what rows, columns and strips are, of which head") {
  Figure figure = three_rows();
  figure.subject = "minilm_l6, layer 4, head 10, n = 64";
  figure.pinned_query = 3;
  const QString caption = QString::fromStdString(latex_caption(figure));
  for (const char* words :
       {"Rows: Attention P; ", "; Mask. ",
        "Columns: a (block 16, banded, 0.53 relative output error); b (", "Strips: output error",
        "minilm\\_l6, layer 4, head 10, n = 64. Orange line: query 3."}) {
    CAPTURE(words);
    CHECK(caption.contains(QString::fromUtf8(words)));
  }
  figure.subject = "中, n = 64";
  const std::string with_character = latex_caption(figure);
  CHECK(with_character.find("Head: \\texttt{U+4E2D}, n = 64.") != std::string::npos);
  CHECK(with_character.find("providecommand") == std::string::npos);
}
