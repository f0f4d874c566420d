#include "window/exports.h"

#include <QApplication>
#include <QClipboard>
#include <QFileInfo>
#include <QPainter>
#include <algorithm>

#include "data/address.h"
#include "data/error.h"
#include "data/number_text.h"
#include "evaluate/computation.h"
#include "figure/preset.h"
#include "report/head_pages.h"
#include "report/panel_numbers.h"
#include "session/held_head.h"
#include "study/background.h"
#include "variants/drawn.h"
#include "views/views.h"
#include "window/canvas_figure.h"
#include "window/dialogs/export_dialog.h"
#include "window/dialogs/questions.h"
#include "window/files.h"
#include "window/status_line.h"
#include "window/widgets/text.h"
#include "window/workspace.h"

namespace fovea {
namespace {

/// The times that the window has of columns of the opened head; nothing if one has none.
std::vector<std::optional<MeasuredTime>> times_of(const Study& study,
                                                  const std::vector<Column>& columns) {
  std::vector<std::optional<MeasuredTime>> times(columns.size());
  const auto take = [&](const ColumnState& state) {
    if (state.stale || !state.time) return;
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (columns[c] == state.column) times[c] = *state.time;
  };
  for (const ColumnState& state : study.columns()) {
    if (state.column.held) continue;
    take(study.head_of(state).exact);
    take(state);
  }
  const bool all = std::ranges::all_of(times, [](const auto& time) { return time.has_value(); });
  return all ? times : std::vector<std::optional<MeasuredTime>>();
}

}  // namespace

Exports::Exports(Workspace& workspace) : workspace_(workspace) {}

void Exports::export_by_dialog() {
  const auto model = workspace_.study.model();
  if (!model) return workspace_.show_status("There is nothing to export yet");
  const auto figure = [this, model](const FigureStyle& style, bool carries_session) {
    return canvas_figure(*model, style, carries_session);
  };
  if (const auto wanted = ask_export(
          workspace_.window, {"Export the canvas", in_export_directory("attention.pdf"), figure}))
    export_to(wanted->path, wanted->style, wanted->carries_session);
}

void Exports::export_to(const QString& path, const FigureStyle& style, bool carries_session) {
  const auto model = workspace_.study.model();
  if (!model) return workspace_.show_status("There is nothing to export yet");
  const auto& comparison = model->comparison;
  if (comparison && comparison->mode == ComparisonMode::blink)
    workspace_.info_bar.show_message(
        "Columns that blink are exported side by side. To export two columns in one panel, split "
        "or wipe them.");
  Figure figure = canvas_figure(*model, style, carries_session);
  if (carries_session) figure.recipe = recipe_for(path, "render", options_for(style));
  write(path, std::move(figure));
}

void Exports::export_panel_by_dialog(std::size_t row, std::size_t column) {
  const auto model = model_with(row, column);
  if (!model) return;
  const auto figure = [this, model, row, column](const FigureStyle& style, bool carries_session) {
    return panel_figure(*model, row, column, style, carries_session);
  };
  if (const auto wanted = ask_export(
          workspace_.window, {"Export the panel", in_export_directory("panel.pdf"), figure}))
    export_panel_to(wanted->path, row, column, wanted->style, wanted->carries_session);
}

void Exports::export_panel_to(const QString& path, std::size_t row, std::size_t column,
                              const FigureStyle& style, bool carries_session) {
  const auto model = model_with(row, column);
  if (!model) return;
  Figure figure = panel_figure(*model, row, column, style, carries_session);
  if (carries_session) figure.recipe = recipe_for(path, "render", options_for(style));
  write(path, std::move(figure));
}

Figure Exports::canvas_figure(const CanvasModel& model, const FigureStyle& style,
                              bool carries_session) const {
  Figure figure = figure_of(titled(model, carries_session), workspace_.canvas.border(),
                            provenance_of(workspace_.study, carries_session), style);
  figure.subject = subject_of(workspace_.study, carries_session).toStdString();
  return figure;
}

Figure Exports::panel_figure(const CanvasModel& model, std::size_t row, std::size_t column,
                             const FigureStyle& style, bool carries_session) const {
  Figure figure = figure_of_panel(titled(model, carries_session), workspace_.canvas.border(), row,
                                  column, provenance_of(workspace_.study, carries_session), style);
  figure.subject = subject_of(workspace_.study, carries_session).toStdString();
  return figure;
}

/// A figure that carries no session names no source.
CanvasModel Exports::titled(CanvasModel model, bool names_sources) const {
  const std::vector<Column>& columns = workspace_.study.session().columns;
  for (std::size_t c = 0; c < model.column_titles.size() && c < columns.size(); ++c) {
    if (auto& figures = model.column_figures[c];
        !names_sources && figures && !figures->tree_learned_on.empty())
      figures->tree_learned_on = "another head or text";
    if (names_sources || !columns[c].held || columns[c].held->source.empty()) continue;
    HeldHead held = *columns[c].held;
    held.source.clear();
    model.column_titles[c] =
        label_of(columns, c) + ", " + label_of(held, nullptr) + " of another source";
  }
  return model;
}

/// What a command makes can be made again from its file, except from live streams.
Recipe Exports::recipe_for(const QString& path, const std::string& command,
                           const std::string& options) const {
  if (is_live(workspace_.study.session().source)) return {};
  const std::string ending = "." + QFileInfo(path).suffix().toLower().toStdString();
  return {.session = workspace_.session_text(),
          .command = "fovea " + command + (command == "report" ? " report" : " figure") + ending +
                     " -o again" + ending + options};
}

void Exports::report_by_dialog() {
  if (!workspace_.study.problem() || workspace_.study.shows_matrix())
    return workspace_.show_status(
        "A report compares variants, which need Q and K: open a head first");
  const QString path =
      ask_new_file(workspace_.window, "Write a report of the head",
                   in_export_directory("report.pdf"), {"PDF (*.pdf)", "HTML (*.html)"});
  if (!path.isEmpty()) report_to(path);
}

void Exports::report_to(const QString& path) {
  const Study& study = workspace_.study;
  if (!study.problem() || study.shows_matrix()) return;
  remember_export(path);
  Session session = study.session();
  std::vector<std::string> notes = study.source()->notes;
  // A report is about one head.
  session.columns.clear();
  for (int c = 0; c < int(study.columns().size()); ++c) {
    const ColumnState& state = study.columns()[c];
    const std::string why = state.column.held ? "it shows another head" : state.error;
    if (why.empty())
      session.columns.push_back(state.column);
    else
      notes.push_back("left out: " + study.title_of(c) + " (" + why + ")");
  }
  session.columns = with_exact_first(std::move(session.columns));
  const auto times = times_of(study, session.columns);
  const std::vector<ColumnTree> trees =
      moved_trees(study.trees(), study.session().columns, session.columns);
  session.settings.ranges =
      with_moved_columns(study.session().settings.ranges, [&](std::size_t column) {
        return moved_column(study.session().columns, session.columns, column);
      });
  const Recipe recipe = recipe_for(path, "report");
  BackendChoice choice;
  choice.backend = study.backend().id();
  write(path, [path = path.toStdString(), session, trees, recipe, choice, notes, times,
               source = study.source(), problem = study.problem(),
               hash = study.content_hash()](const Run& stoppable) {
    const auto backend = make_low_priority_backend(choice);
    Run run = stoppable;
    const PanelGrid grid({.problem = *problem,
                          .source = *source,
                          .layer = session.layer,
                          .backend = *backend,
                          .settings = session.settings,
                          .columns = session.columns,
                          .trees = trees,
                          .viewport = {},
                          .query = session.pinned_query,
                          .max_pixels = report_pixels},
                         run);
    write_pages(path, head_pages({.grid = grid,
                                  .problem = *problem,
                                  .source = *source,
                                  .path = source->path,
                                  .layer = session.layer,
                                  .head = session.head,
                                  .backend = *backend,
                                  .columns = session.columns,
                                  .settings = session.settings,
                                  .content_hash = hash,
                                  .times = times,
                                  .notes = notes,
                                  .recipe = recipe},
                                 run));
  });
}

void Exports::save_numbers_by_dialog(std::size_t row, std::size_t column) {
  if (!model_with(row, column)) return;
  const QString path = ask_new_file(workspace_.window, "Save the numbers of the panel",
                                    in_export_directory("panel.csv"),
                                    {"CSV (*.csv)", "NumPy (*.npy)", "JSON (*.json)"});
  if (!path.isEmpty()) save_numbers_to(path, row, column);
}

void Exports::save_numbers_to(const QString& path, std::size_t row, std::size_t column) {
  const auto model = model_with(row, column);
  if (!model) return;
  remember_export(path);
  write(path, [path = path.toStdString(), panel = model->cells[row][column].panel](const Run& run) {
    write_numbers(path, {{*panel}}, run.stop);
  });
}

std::shared_ptr<const Computation> Exports::chosen_computation() const {
  const auto& columns = workspace_.study.columns();
  const auto at = static_cast<std::size_t>(workspace_.study.selected_column());
  if (at < columns.size() && columns[at].computation && !columns[at].stale)
    return columns[at].computation;
  workspace_.show_status("The pairs of this column are not known yet");
  return nullptr;
}

void Exports::save_pairs_by_dialog() {
  const auto computation = chosen_computation();
  if (!computation) return;
  const bool is_drawn = computation->variant == &drawn_variant();
  const Index side = is_drawn ? drawn_block(computation->values) : 0;
  const auto choice = ask_pairs_form(workspace_.window, to_qt(computation->variant->label),
                                     is_drawn ? Lengths{side, side} : usual_block);
  if (!choice) return;
  const QString path =
      ask_new_file(workspace_.window, "Save the pairs of the column",
                   in_export_directory("pairs.safetensors"), {"Tensors (*.safetensors)"});
  if (!path.isEmpty()) save_pairs_to(path, *choice);
}

void Exports::save_pairs_to(const QString& path, const PairsChoice& choice) {
  const auto computation = chosen_computation();
  if (!computation) return;
  remember_export(path);
  const auto note = std::make_shared<std::string>();
  write(
      path,
      [path = path.toStdString(), computation, choice, note](const Run& run) {
        const Plan* const plan = &computation->op->plan();
        const SelectionFile file = selection_file({&plan, 1}, choice.form, choice.block, run.stop);
        *note = note_of_added(file, computation->variant->label);
        write_safetensors(path, file.tensors, file.metadata, run.stop);
      },
      [this, note] {
        if (!note->empty()) workspace_.info_bar.show_message(to_qt(*note));
      });
}

/// The canvas's model if it has that panel; else null, and the status bar says so.
std::shared_ptr<const CanvasModel> Exports::model_with(std::size_t row, std::size_t column) const {
  auto model = workspace_.study.model();
  if (model && row < model->cells.size() && column < model->cells[row].size() &&
      model->cells[row][column].panel)
    return model;
  workspace_.show_status("There is no panel there yet");
  return nullptr;
}

void Exports::copy_panel(std::size_t row, std::size_t column) {
  const auto model = model_with(row, column);
  if (!model) return;
  constexpr int points = 252, scale = 4;
  const FigureStyle style{.width = points, .height = points, .captions = kept_captions()};
  QImage image(points * scale, points * scale, QImage::Format_RGB32);
  QPainter painter(&image);
  painter.scale(scale, scale);
  draw_figure(painter, with_pooling_named(figure_of_panel(*model, workspace_.canvas.border(), row,
                                                          column, {}, style),
                                          scale));
  painter.end();
  QApplication::clipboard()->setImage(image);
  workspace_.show_status(
      QString("Copied %1 of %2")
          .arg(to_qt(label_of(model->views[row])), to_qt(model->column_titles[column])));
}

void Exports::write(const QString& path, Figure figure) {
  remember_export(path);
  write(path, [path = path.toStdString(), figure = std::move(figure)](const Run& run) {
    write_figure(path, figure, run);
  });
}

void Exports::write(const QString& path, Work work, std::function<void()> written) {
  const auto one = std::make_shared<Export>();
  one->path = path;
  exports_.push_back(one);
  workspace_.show_status("Writing " + path + "…");
  const auto make = [one, work = std::move(work)] {
    Profile profile;
    const Run run{profile, one->stop.get_token(), &one->progress};
    try {
      run.check();
      work(run);
    } catch (const Cancelled&) {
      one->cancelled = true;
    }
  };
  const auto done = [this, one, written = std::move(written)](const std::string& error) {
    std::erase(exports_, one);
    if (one->cancelled)
      return workspace_.show_status("Cancelled: " + one->path + " was not written");
    if (error.empty()) {
      if (written) written();
      return workspace_.show_status("Wrote " + one->path);
    }
    workspace_.clear_status();
    workspace_.info_bar.show_message(to_qt(error));
  };
  workspace_.background->files.run(make, &workspace_.window, done);
}

// An export that has just been written may be among them; its end is reported as usual.
void Exports::cancel() {
  for (const auto& one : exports_) one->stop.request_stop();
}

const Exports::Export* Exports::first() const {
  const auto found =
      std::ranges::find_if(exports_, [](const auto& one) { return !one->stop.stop_requested(); });
  return found == exports_.end() ? nullptr : found->get();
}

bool Exports::can_cancel() const {
  return first() != nullptr;
}

QString Exports::text() const {
  return first() ? "Writing " + first()->path : QString();
}

double Exports::fraction() const {
  return first() ? first()->progress.fraction.load() : 0;
}

}  // namespace fovea
