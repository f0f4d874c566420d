#include "window/files.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QSettings>
#include <QStandardPaths>

#include "data/error.h"
#include "input/open_source.h"

namespace fovea {
namespace {

constexpr int most_recent = 12;

QString last_session() {
  return QStandardPaths::writableLocation(QStandardPaths::AppConfigLocation) + "/last.fovea.json";
}

}  // namespace

Files::Files(WindowParts& parts) : parts_(parts) {
  ask_for_source = [this](const QString& missing) {
    return QFileDialog::getOpenFileName(&parts_.window,
                                        "Where is " + QFileInfo(missing).fileName() + "?");
  };
  QObject::connect(&parts.study, &Study::opened, &parts.window, [this] {
    parts_.info_bar.hide();
    remember(QString::fromStdString(parts_.study.source()->path));
  });
}

void Files::open_by_dialog() {
  QStringList patterns;
  for (const auto& pattern : file_patterns()) patterns << QString::fromStdString(pattern);
  patterns << "Sessions (*.fovea.json *.json)"
           << "All files (*)";
  const QString path =
      QFileDialog::getOpenFileName(&parts_.window, "Open", {}, patterns.join(";;"));
  if (!path.isEmpty()) open(path);
}

void Files::open(const QString& what) {
  const std::string path = what.toStdString();
  if (!is_session_file(path)) {
    session_path_.clear();
    parts_.study.open(path);
    return;
  }
  try {
    const SessionFile file = read_session(path);
    session_path_ = what;
    open_session(file);
  } catch (const Error& error) {
    parts_.show_message(error.what());
  }
}

void Files::open_session(const SessionFile& file) {
  if (!file.layout.empty())
    parts_.window.restoreState(QByteArray::fromBase64(QByteArray::fromStdString(file.layout)));
  const QString source = QString::fromStdString(file.session.source);
  if (source.startsWith("synthetic:") || QFileInfo::exists(source))
    return parts_.study.open(file.session.source, file.session, file.content_hash);
  parts_.info_bar.offer(source + ": the session's source is no longer there.", "Point to it…",
                        [this, file, source] {
                          const QString found = ask_for_source(source);
                          if (found.isEmpty()) return;
                          parts_.info_bar.hide();
                          SessionFile moved = file;
                          moved.session.source = found.toStdString();
                          open_session(moved);
                        });
}

SessionFile Files::session_file() const {
  return {parts_.study.session(), parts_.study.content_hash(),
          parts_.window.saveState().toBase64().toStdString()};
}

void Files::save_session() {
  QString path = session_path_;
  if (path.isEmpty())
    path = QFileDialog::getSaveFileName(&parts_.window, "Save the session", "session.fovea.json",
                                        "Sessions (*.json)");
  if (path.isEmpty()) return;
  save_session_to(path.endsWith(".json") ? path : path + ".fovea.json");
}

void Files::save_session_to(const QString& path) {
  parts_.write_file(
      path, [path = path.toStdString(), file = session_file()] { write_session(path, file); },
      [this, path] { session_path_ = path; });
}

void Files::keep_last() const {
  if (!parts_.study.source()) return;
  QDir().mkpath(QFileInfo(last_session()).path());
  parts_.write_file(last_session(),
                    [file = session_file()] { write_session(last_session().toStdString(), file); });
}

bool Files::open_last() {
  if (!QFileInfo::exists(last_session())) return false;  // the first start
  // Opening something else in its place hides messages: this one is shown again.
  const auto refuse = [this](const QString& why) {
    const auto show = [this, why] {
      parts_.show_message("What was open last is not shown. " + why);
    };
    show();
    QObject::connect(&parts_.study, &Study::opened, &parts_.window, show, Qt::SingleShotConnection);
    return false;
  };
  try {
    const SessionFile file = read_session(last_session().toStdString());
    const QString source = QString::fromStdString(file.session.source);
    if (!source.startsWith("synthetic:") && !QFileInfo::exists(source))
      return refuse(source + " is no longer there.");
    open_session(file);
    return true;
  } catch (const Error& error) {
    return refuse(error.what());
  }
}

void Files::remember(const QString& source) {
  QSettings settings;
  QStringList recent = settings.value("recent").toStringList();
  recent.removeAll(source);
  recent.prepend(source);
  settings.setValue("recent", QStringList(recent.mid(0, most_recent)));
}

}  // namespace fovea
