// Everything that frames of the canvas draw, against what is kept in tests/canvas/kept. No window
// is needed.
#include "canvas/scene.h"
#include "drawing/noting_ink.h"
#include "figure/panels.h"
#include "kept_lines.h"
#include "models.h"
#include "screen_letters.h"

using namespace fovea;

namespace {

using Lines = std::vector<std::string>;

/// A frame of a model, the card at each of some places, and all that is said there.
class Frames {
 public:
  void add(const std::string& title, const CanvasModel& model,
           const std::function<void(canvas::Scene&)>& change = {},
           drawing::Point size = {1000, 700}) {
    canvas::PreparedPanels prepared;
    for (const auto& row : model.cells)
      for (const CanvasCell& cell : row)
        if (cell.panel) prepared.try_emplace(cell.panel, *cell.panel);
    ViewSettings settings = model.settings;
    canvas::Scene scene{
        .model = model, .settings = settings, .fonts = letters_.fonts, .prepared = prepared};
    for (int row = 0; row < std::ssize(model.views); ++row) scene.rows.push_back(row);
    for (int column = 0; column < std::ssize(model.column_titles); ++column)
      scene.columns.push_back(column);
    if (change) change(scene);
    scene.lay_out(size);
    lines_.push_back("== " + title);
    drawing::NotingInk ink(letters_.fonts, drawing::screen_style(model.dark));
    draw_scene(ink, scene);
    lines_.insert(lines_.end(), ink.lines.begin(), ink.lines.end());
    for (int row = 0; row < scene.grid.rows(); ++row)
      for (int column = 0; column < scene.grid.columns(); ++column) {
        const drawing::Rect place = scene.grid.panel(row, column);
        for (const double share : {0.31, 0.77}) {
          if (share > 0.5 && lines_.size() > most_lines) continue;
          const drawing::Point at{place.x + share * place.width,
                                  place.y + (1.02 - share) * place.height};
          scene.pointer = scene.point_at(at);
          point(scene, at);
        }
      }
    const drawing::Rect header = scene.grid.header(0);
    for (int column = 0; column < scene.grid.columns(); ++column) {
      const drawing::Point at{scene.grid.header(column).x + 5, header.y + 5};
      scene.pointer = scene.point_at(at);
      point(scene, at);
      const auto place = parameters_place(scene, column);
      lines_.push_back("note \"" + scene.note(column) + "\", subtitle \"" + scene.subtitle(column) +
                       "\", " +
                       (place ? "parameters at " + std::to_string(place->x) : "no parameters"));
    }
  }
  void check(const std::string& name) const {
    test::check_kept("canvas/kept/" + name + ".txt", lines_);
  }

 private:
  void point(const canvas::Scene& scene, drawing::Point at) {
    const canvas::Pointer& p = scene.pointer;
    std::string line = "at " + std::to_string(p.row) + " " + std::to_string(p.column) + ": " +
                       std::to_string(p.query) + " " + std::to_string(p.key) + " leaves " +
                       std::to_string(p.leaves.begin) + " " + std::to_string(p.leaves.end);
    if (p.row >= 0) {
      line += " value " + value_at_pointer(scene, p.row, p.column) + " strip " +
              row_strip_words(scene, p.row, p.column) + " pooling " +
              scene.pooling(p.row, p.column);
    }
    lines_.push_back(line + " words " + words_at_pointer(scene));
    drawing::NotingInk ink(letters_.fonts, drawing::screen_style(true));
    draw_hover_card(ink, scene, at);
    lines_.insert(lines_.end(), ink.lines.begin(), ink.lines.end());
  }

  // As many lines of a file have two places a panel, those after them one.
  static constexpr std::size_t most_lines = 1500;

  ScreenLetters letters_;
  Lines lines_;
};

/// With figures above the columns, a pinned query and a selection.
CanvasModel full_model() {
  CanvasModel model = *matrix_model(64, 4);
  for (int c = 0; c < 4; ++c) {
    model.column_notes.push_back("note " + std::to_string(c));
    model.column_figures.push_back(
        c == 0
            ? std::nullopt
            : std::optional(ColumnFigures{.parameters = "block 16, banded, seed 3",
                                          .error = 0.4 * c,
                                          .error_name = "relative output error",
                                          .tree_learned_on = c == 2 ? "another head" : "",
                                          .cost = c == 3 ? std::nullopt : std::optional(0.3 * c)}));
    for (auto& row : model.cells)
      row[std::size_t(c)].token_errors =
          std::make_shared<const std::vector<float>>(std::vector<float>(64, 0.1f * float(c)));
  }
  model.selected_column = 2, model.pinned_query = 9;
  model.selection = {IndexRange{10, 20}, IndexRange{30, 50}};
  model.marked_queries = {3, 4, 5}, model.marked_keys = {40, 44};
  return model;
}

}  // namespace

TEST_CASE("frames of matrices are drawn as they were, with marks, cards and headers") {
  Frames frames;
  CanvasModel model = full_model();
  frames.add("all", model);
  frames.add("light and low",
             [&] {
               CanvasModel light = model;
               light.dark = false;
               return light;
             }(),
             {}, {760, 300});
  model.viewport = {5.5, 41.25, 12, 60};
  frames.add("a part, scrolled", model, [](canvas::Scene& scene) {
    scene.panel_size = {.all_columns = true, .factor = 1.6};
    scene.current_row = 1;
    scene.found = {{7, 9}, {20, 21}};
    scene.dragged = {IndexRange{8, 12}, IndexRange{14, 40}};
    scene.dragged_column = {1, 620};
  });
  frames.add("one row", model, [](canvas::Scene& scene) {
    scene.rows = {1}, scene.columns = {3, 1};
  });
  frames.add("enlarged", model, [](canvas::Scene& scene) {
    scene.rows = {0}, scene.columns = {1}, scene.enlarged = true;
  });
  for (const ComparisonMode mode : all_comparison_modes)
    for (const bool other : {false, true}) {
      model.comparison = {.column = 1, .with = other ? 0 : 2, .mode = mode};
      frames.add("compared", model,
                 [&](canvas::Scene& scene) { scene.border = 0.3, scene.shows_other = other; });
    }
  model.comparison.reset();
  model.settings.shared_range = false;
  model.settings.hidden = {"full"};
  model.lengths = {64, 48};
  frames.add("ranges of their own, fewer keys", model);
  frames.check("matrices");
}

TEST_CASE("frames of each kind of panel and state are drawn as they were") {
  Frames frames;
  frames.add("gallery", *gallery_model(64));
  CanvasModel all = *base_model(64, 3);
  for (const Panel& panel : example::every_kind(64)) {
    all.views.push_back(panel.view ? panel.view : find_view("cost"));
    CanvasCell cell{std::make_shared<const Panel>(panel), false, ""}, stale = cell, none;
    stale.stale = true, stale.progress = 0.3, stale.status = "computing 30 %, 2 s left";
    none.status = "error: wrong", none.failed = true;
    all.cells.push_back({cell, stale, none});
  }
  all.held = {false, true, false};
  all.causal = true;
  frames.add("every kind", all,
             [](canvas::Scene& scene) {
               scene.chosen_leaves = {1, IndexRange{2, 5}};
             },
             {1100, 900});
  for (std::size_t row = 0; row < all.views.size(); ++row)
    frames.add("kind " + std::to_string(row), all,
               [&](canvas::Scene& scene) {
                 scene.rows = {int(row)}, scene.columns = {0};
                 scene.chosen_leaves = {0, IndexRange{1, 3}};
               },
               {420, 460});
  CanvasModel empty;
  frames.add("nothing", empty);
  empty.opening = "a file";
  frames.add("opening", empty);
  CanvasModel rows = *base_model(64, 0), columns = *base_model(64, 2);
  rows.views = {find_view("heatmap")}, rows.cells.resize(1);
  frames.add("no columns", rows);
  frames.add("no rows", columns);
  frames.check("kinds");
}
