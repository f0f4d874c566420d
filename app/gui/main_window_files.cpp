// What a MainWindow opens and writes: sources, sessions, figures.
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QMimeData>
#include <QSettings>
#include <QStatusBar>
#include <QUrl>

#include "data/error.h"
#include "gui/export_dialog.h"
#include "gui/info_bar.h"
#include "gui/main_window.h"

namespace fovea {
namespace {

constexpr int most_recent = 12;

}  // namespace

void MainWindow::open(const QString& what) {
  const std::string path = what.toStdString();
  if (!is_session_file(path)) {
    session_path_.clear();
    study_->open(path);
    return;
  }
  try {
    const SessionFile file = read_session(path);
    session_path_ = what;
    open_session(file);
  } catch (const Error& error) {
    tell(error.what());
  }
}

void MainWindow::open_session(const SessionFile& file) {
  const QString source = QString::fromStdString(file.session.source);
  if (source.startsWith("synthetic:") || QFileInfo::exists(source))
    return study_->open(file.session.source, file.session, file.content_hash);
  info_bar_->say(source + ": the session's source is not there any more.", "Point to it…",
                 [this, file, source] {
                   const QString found = ask_for_source(source);
                   if (found.isEmpty()) return;
                   info_bar_->hide();
                   SessionFile moved = file;
                   moved.session.source = found.toStdString();
                   open_session(moved);
                 });
}

bool MainWindow::save_session_to(const QString& path) {
  try {
    write_session(path.toStdString(), {study_->session(), study_->content_hash()});
  } catch (const std::exception& error) {
    tell(error.what());
    return false;
  }
  session_path_ = path;
  statusBar()->showMessage("Saved " + path, 4000);
  return true;
}

bool MainWindow::export_to(const QString& path, const FigureStyle& style) {
  if (!study_->model()) return false;
  try {
    write_figure(path.toStdString(), figure_of(*study_->model(), {}, provenance(), style));
  } catch (const std::exception& error) {
    tell(error.what());
    return false;
  }
  statusBar()->showMessage("Exported " + path, 4000);
  return true;
}

void MainWindow::remember(const QString& source) {
  QSettings settings;
  QStringList recent = settings.value("recent").toStringList();
  recent.removeAll(source);
  recent.prepend(source);
  settings.setValue("recent", QStringList(recent.mid(0, most_recent)));
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  const auto urls = event->mimeData()->urls();
  if (urls.isEmpty()) return;
  event->acceptProposedAction();
  open(urls.front().isLocalFile() ? urls.front().toLocalFile() : urls.front().toString());
}

}  // namespace fovea
