// What a MainWindow opens and writes: sources, sessions, figures.
#include <QDir>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QMimeData>
#include <QSettings>
#include <QStandardPaths>
#include <QStatusBar>
#include <QUrl>

#include "data/error.h"
#include "window/dialogs/export_dialog.h"
#include "window/main_window.h"
#include "window/widgets/info_bar.h"

namespace fovea {
namespace {

constexpr int most_recent = 12;

QString last_session() {
  return QStandardPaths::writableLocation(QStandardPaths::AppConfigLocation) + "/last.fovea.json";
}

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
  if (!file.layout.empty())
    restoreState(QByteArray::fromBase64(QByteArray::fromStdString(file.layout)));
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

SessionFile MainWindow::session_file() const {
  return {study_->session(), study_->content_hash(), saveState().toBase64().toStdString()};
}

bool MainWindow::open_last() {
  if (!QFileInfo::exists(last_session())) return false;  // the first start
  // What is opened instead hides what was told before.
  const auto refuse = [this](const QString& why) {
    const auto say_so = [this, why] { tell("What was open last is not shown. " + why); };
    say_so();
    connect(study_.get(), &Study::opened, this, say_so, Qt::SingleShotConnection);
    return false;
  };
  try {
    const SessionFile file = read_session(last_session().toStdString());
    const QString source = QString::fromStdString(file.session.source);
    if (!source.startsWith("synthetic:") && !QFileInfo::exists(source))
      return refuse(source + " is not there any more.");
    open_session(file);
    return true;
  } catch (const Error& error) {
    return refuse(error.what());
  }
}

// Nobody asked for it: a full disk is no reason to complain while closing.
void MainWindow::keep_last() const {
  if (!study_->source()) return;
  QDir().mkpath(QFileInfo(last_session()).path());
  try {
    write_session(last_session().toStdString(), session_file());
  } catch (const Error&) {
  }
}

bool MainWindow::save_session_to(const QString& path) {
  try {
    write_session(path.toStdString(), session_file());
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
