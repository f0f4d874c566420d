// Everything that figures paint in each of their styles, against what is kept in tests/figure/kept.
#include <doctest/doctest.h>

#include "figure/panels.h"
#include "figure/preset.h"
#include "kept_lines.h"
#include "painted_notes.h"
#include "views/views.h"

using namespace fovea;

namespace {

std::vector<std::string> painted(const Figure& figure) {
  const QSize size(int(figure.style.width), int(std::ceil(figure_height(figure))));
  test::PaintedNotes notes;
  test::PaperForNotes paper(notes, size, 72);
  QPainter painter(&paper);
  draw_figure(painter, figure);
  painter.end();
  notes.lines.push_back("height " + std::to_string(figure_height(figure)));
  return notes.lines;
}

/// Two rows of four panels, with everything that a figure can say.
Figure full() {
  Figure figure = example::paper(460, 48);
  figure.title = "A title";
  figure.footer = "a source, layer 0, head 0, n = 48; a device";
  for (auto& row : figure.rows)
    for (Panel& panel : row)
      panel.caption = "a caption; 3 of 4 tiles, and what else is said of a panel";
  return figure;
}

}  // namespace

TEST_CASE("what figures of several panels paint in each style is as it was") {
  example::application();
  std::vector<std::string> lines;
  const auto add = [&](const std::string& title, const Figure& figure) {
    lines.push_back("== " + title);
    const auto more = painted(figure);
    lines.insert(lines.end(), more.begin(), more.end());
  };
  add("plain", full());
  const auto with = [&](const std::string& title, const std::function<void(Figure&)>& change) {
    Figure figure = full();
    change(figure);
    add(title, figure);
  };
  with("dark", [](Figure& f) { f.style.dark = true; });
  with("lettered", [](Figure& f) { f.style.letters = true; });
  with("row names", [](Figure& f) { f.style.row_names = true; });
  with("no empty panels", [](Figure& f) {
    f.style.empty_panels = false;
    f.rows[0][0].body = Message{"There is nothing to see."};
  });
  with("large letters", [](Figure& f) { f.style.font_size = 11; });
  with("ranges of their own", [](Figure& f) { f.style.settings.shared_range = false; });
  with("another map and norm", [](Figure& f) {
    f.style.settings.colormap = "magma", f.style.settings.norm = Norm::linear;
  });
  with("a height", [](Figure& f) { f.style.height = figure_height(f) + 30; });
  with("output errors", [](Figure& f) {
    for (auto& row : f.rows)
      for (Panel& panel : row) add_row_errors(panel, std::vector<float>(48, 0.25f));
  });
  with("tokens", [](Figure& f) {
    auto tokens = std::make_shared<Sequence>();
    for (int i = 0; i < 48; ++i)
      tokens->tokens.push_back(i % 7 == 3 ? "longer-word" : "w" + std::to_string(i));
    f.sequence = tokens;
  });
  test::check_kept("figure/kept/styles.txt", lines);
}

TEST_CASE("what a figure of each kind of panel paints alone, narrow and wide, is as it was") {
  example::application();
  std::vector<std::string> lines;
  for (const double width : {90.0, 250.0})
    for (const Panel& panel : example::every_kind(32)) {
      lines.push_back("== " + panel.title + " " + std::to_string(int(width)));
      const auto more = painted(example::alone(panel, width));
      lines.insert(lines.end(), more.begin(), more.end());
    }
  test::check_kept("figure/kept/kinds.txt", lines);
}
