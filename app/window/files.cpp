#include "window/files.h"

#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QFileDialog>
#include <QPainter>
#include <QSettings>
#include <QStandardPaths>
#include <QStatusBar>

#include "data/error.h"
#include "drawing/colour_scale.h"
#include "input/open_source.h"
#include "window/dialogs/questions.h"
#include "window/main_window.h"
#include "window/status_line.h"
#include "window/widgets/text.h"
#include "window/widgets/theme.h"

namespace fovea {
namespace {

constexpr int most_recent = 12;

QString last_session() {
  return QStandardPaths::writableLocation(QStandardPaths::AppConfigLocation) + "/last.fovea.json";
}

bool is_there(const QString& source) {
  return source.startsWith("synthetic:") || QFileInfo::exists(source);
}

void remember(const QString& source) {
  QSettings settings;
  QStringList recent = settings.value("recent").toStringList();
  recent.removeAll(source);
  recent.prepend(source);
  settings.setValue("recent", QStringList(recent.mid(0, most_recent)));
}

// What the canvas shows; cells that are not there yet say why.
Figure figure_of(const CanvasModel& model, const QString& footer, const FigureStyle& style) {
  Figure figure{.footer = footer.toStdString(), .style = style, .sequence = model.sequence};
  figure.style.settings = model.settings;
  for (std::size_t r = 0; r < model.cells.size(); ++r) {
    auto& row = figure.rows.emplace_back();
    for (std::size_t c = 0; c < model.cells[r].size(); ++c) {
      const CanvasCell& cell = model.cells[r][c];
      Panel& panel = row.emplace_back(cell.panel ? *cell.panel
                                                 : Panel{.view = model.views[r],
                                                         .title = model.column_titles[c],
                                                         .subtitle = {},
                                                         .caption = {},
                                                         .body = Message{cell.status}});
      // As the headers of the canvas read.
      if (c < model.column_subtitles.size()) panel.subtitle = model.column_subtitles[c];
      if (cell.token_errors) add_row_errors(panel, *cell.token_errors);
      if (cell.panel && cell.stale) panel.caption += panel.caption.empty() ? "stale" : "; stale";
    }
  }
  return figure;
}

// One panel, in the range of colours that the canvas shows it in.
Figure figure_of_panel(const CanvasModel& model, std::size_t row, std::size_t column,
                       const QString& footer, const FigureStyle& style) {
  Figure figure = figure_of(model, footer, style);
  std::vector<const Panel*> panels;
  for (const Panel& panel : figure.rows[row]) panels.push_back(&panel);
  const auto scale = drawing::scales_of_row(model.views[row], panels, model.settings).of[column];
  figure.rows = {{figure.rows[row][column]}};
  figure.style.settings.ranges.clear();
  if (scale && scale->is_amounts())
    figure.style.settings.ranges = {{figure.rows[0][0].view, -1, scale->low, scale->high}};
  return figure;
}

}  // namespace

Files::Files(MainWindow& window) : window_(window) {
  ask_for_source = [&window](const QString& missing) {
    return QFileDialog::getOpenFileName(&window, "Where is " + QFileInfo(missing).fileName() + "?");
  };
  QObject::connect(&window.study(), &Study::opened, &window, [&window] {
    window.info_bar().hide();
    remember(to_qt(window.study().source()->path));
  });
}

void Files::open_by_dialog() {
  QStringList patterns;
  for (const auto& pattern : file_patterns()) patterns << to_qt(pattern);
  patterns << "Sessions (*.fovea.json *.json)"
           << "All files (*)";
  const QString path = QFileDialog::getOpenFileName(&window_, "Open", {}, patterns.join(";;"));
  if (!path.isEmpty()) open(path);
}

void Files::open(const QString& what) {
  const std::string path = what.toStdString();
  if (!is_session_file(path)) {
    session_path_.clear();
    window_.study().open(path);
    return;
  }
  try {
    const SessionFile file = read_session(path);
    session_path_ = what;
    open_session(file);
  } catch (const Error& error) {
    window_.info_bar().show_message(error.what());
  }
}

void Files::open_session(const SessionFile& file) {
  if (!file.layout.empty())
    window_.restoreState(QByteArray::fromBase64(QByteArray::fromStdString(file.layout)));
  const QString source = to_qt(file.session.source);
  if (is_there(source))
    return window_.study().open(file.session.source, file.session, file.content_hash);
  window_.info_bar().offer(source + ": the session's source is no longer there", "Locate it…",
                           [this, file, source] {
                             const QString found = ask_for_source(source);
                             if (found.isEmpty()) return;
                             window_.info_bar().hide();
                             SessionFile moved = file;
                             moved.session.source = found.toStdString();
                             open_session(moved);
                           });
}

bool Files::open_last() {
  if (!QFileInfo::exists(last_session())) return false;  // the first start
  // Opening another source instead hides messages: this one is shown again.
  const auto refuse = [this](const QString& why) {
    const auto show = [this, why] {
      window_.info_bar().show_message("The last session could not be opened: " + why);
    };
    show();
    QObject::connect(&window_.study(), &Study::opened, &window_, show, Qt::SingleShotConnection);
    return false;
  };
  try {
    const SessionFile file = read_session(last_session().toStdString());
    const QString source = to_qt(file.session.source);
    if (!is_there(source)) return refuse(source + " is no longer there");
    open_session(file);
    return true;
  } catch (const Error& error) {
    return refuse(error.what());
  }
}

SessionFile Files::session_file() const {
  return {window_.study().session(), window_.study().content_hash(),
          window_.saveState().toBase64().toStdString()};
}

void Files::save_session() {
  QString path = session_path_;
  if (path.isEmpty())
    path = QFileDialog::getSaveFileName(&window_, "Save the session", "session.fovea.json",
                                        "Sessions (*.json)");
  if (path.isEmpty()) return;
  save_session_to(path.endsWith(".json") ? path : path + ".fovea.json");
}

void Files::save_session_to(const QString& path) {
  write(
      path, [path = path.toStdString(), file = session_file()] { write_session(path, file); },
      [this, path] { session_path_ = path; });
}

void Files::keep_last() {
  if (!window_.study().source()) return;
  QDir().mkpath(QFileInfo(last_session()).path());
  write(last_session(),
        [file = session_file()] { write_session(last_session().toStdString(), file); });
}

void Files::export_by_dialog() {
  if (const auto wanted = ask_export(window_, "Export the canvas", "attention.pdf"))
    export_to(wanted->path, wanted->style);
}

void Files::export_to(const QString& path, const FigureStyle& style) {
  const auto model = window_.study().model();
  if (!model) return window_.show_status("There is nothing to export yet");
  write(path, figure_of(*model, provenance_of(window_.study()), style));
}

void Files::export_panel_by_dialog(std::size_t row, std::size_t column) {
  if (!model_with(row, column)) return;
  if (const auto wanted = ask_export(window_, "Export the panel", "panel.pdf"))
    export_panel_to(wanted->path, row, column, wanted->style);
}

void Files::export_panel_to(const QString& path, std::size_t row, std::size_t column,
                            const FigureStyle& style) {
  if (const auto model = model_with(row, column))
    write(path, figure_of_panel(*model, row, column, provenance_of(window_.study()), style));
}

/// The canvas's model when it has that panel; else null, and the status bar says so.
std::shared_ptr<const CanvasModel> Files::model_with(std::size_t row, std::size_t column) const {
  const auto model = window_.study().model();
  if (model && row < model->cells.size() && column < model->cells[row].size() &&
      model->cells[row][column].panel)
    return model;
  window_.show_status("There is no panel there yet");
  return nullptr;
}

void Files::copy_panel(std::size_t row, std::size_t column) {
  const auto model = model_with(row, column);
  if (!model) return;
  constexpr int points = 252, scale = 4;
  FigureStyle style{.width = points, .height = points, .dark = Theme::is_dark()};
  QImage image(points * scale, points * scale, QImage::Format_RGB32);
  image.fill(style.dark ? Theme::current().window : QColor(Qt::white));
  QPainter painter(&image);
  painter.scale(scale, scale);
  draw_figure(painter, figure_of_panel(*model, row, column, {}, style));
  painter.end();
  QApplication::clipboard()->setImage(image);
  window_.show_status(
      QString("Copied the %1 of %2")
          .arg(to_qt(to_text(model->views[row])), to_qt(model->column_titles[column])));
}

void Files::write(const QString& path, Figure figure) {
  write(path,
        [path = path.toStdString(), figure = std::move(figure)] { write_figure(path, figure); });
}

void Files::write(const QString& path, std::function<void()> work,
                  std::function<void()> on_success) {
  window_.show_status("Writing " + path + "…");
  window_.background().files.run(std::move(work), &window_,
                                 [this, path, on_success](const std::string& error) {
                                   if (error.empty()) {
                                     if (on_success) on_success();
                                     return window_.show_status("Wrote " + path);
                                   }
                                   window_.statusBar()->clearMessage();
                                   window_.info_bar().show_message(to_qt(error));
                                 });
}

}  // namespace fovea
