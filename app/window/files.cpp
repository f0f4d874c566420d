#include "window/files.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFileDialog>
#include <QInputDialog>
#include <QSettings>
#include <QStandardPaths>

#include "data/address.h"
#include "data/error.h"
#include "data/model_address.h"
#include "input/model_facts.h"
#include "input/model_place.h"
#include "input/open_source.h"
#include "window/dialogs/questions.h"
#include "window/docks/docks.h"
#include "window/proposed_input.h"
#include "window/status_line.h"
#include "window/widgets/text.h"
#include "window/workspace.h"

namespace fovea {
namespace {

constexpr int most_recent = 12;

QString last_session() {
  return QStandardPaths::writableLocation(QStandardPaths::AppConfigLocation) + "/last.fovea.json";
}

// Remembers a source, or the session file in which it was opened or saved.
void remember(QString source) {
  QSettings settings;
  if (is_of_a_program(source.toStdString())) return;
  if (is_address(source.toStdString())) {
    source = to_qt(with_absolute_paths(source.toStdString()));
  } else {
    source = QFileInfo(source).absoluteFilePath();
    settings.setValue("directory", QFileInfo(source).path());
  }
  QStringList recent = settings.value("recent").toStringList();
  recent.removeAll(source);
  recent.prepend(source);
  settings.setValue("recent", QStringList(recent.mid(0, most_recent)));
}

// Dialogs begin where the last file was opened or written.
QString last_directory() {
  return QSettings().value("directory").toString();
}

/// The same key for a file, from wherever it is opened.
QString conditions_key(const Session& session) {
  QString source = to_qt(session.source);
  if (is_model_address(session.source))  // whatever the model reads
    source = to_qt(std::string(model_prefix) + parse_model_address(session.source).folder);
  else if (!is_address(session.source))
    source = QFileInfo(source).absoluteFilePath();
  return "conditions/" +
         QCryptographicHash::hash(source.toUtf8(), QCryptographicHash::Sha1).toHex();
}

/// The conditions that were set by hand.
QVariantMap conditions_of(const Session& session) {
  QVariantMap conditions;
  for_conditions([&]<class T>(const Condition<T>& condition) {
    using Kept = std::conditional_t<std::is_same_v<T, Index>, qlonglong, T>;
    if (const auto& value = session.conditions.*condition.member)
      conditions[condition.id] = Kept(*value);
  });
  return conditions;
}

/// The source that opens if a person names `what` while `shown` is shown: a model gets an input at
/// once.
std::string source_named(const std::string& what, const Source* shown) {
  return with_absolute_paths(names_model(what) ? to_text(reading_something(what, shown)) : what);
}

/// The part of a session's source that is gone.
struct MissingPart {
  std::string path;
  bool directory;
  QString message;
};

MissingPart missing_part(const SessionFile& file) {
  const std::string& source = file.session.source;
  const std::string path = missing_of(source);
  if (is_model_address(source) && path != source) {
    try {
      find_model(path);
    } catch (const Error& error) {
      if (path == parse_model_address(source).folder)
        return {path, !is_gguf(path), QString("The session's model is not there: ") + error.what()};
    }
    return {path, false, to_qt(path) + ": what the session's model reads is not there"};
  }
  return {path, file.directory, to_qt(path) + ": the session's source is no longer there"};
}

bool is_figure_name(const QString& path) {
  const QString ending = QFileInfo(path).suffix().toLower();
  return ending == "png" || ending == "svg" || ending == "pdf";
}

}  // namespace

QString in_last_directory(const QString& name) {
  return last_directory().isEmpty() ? name : QDir(last_directory()).filePath(name);
}

QString in_export_directory(const QString& name) {
  QString folder = QSettings().value("export_directory").toString();
  if (folder.isEmpty() || !QFileInfo(folder).isDir())
    folder = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
  if (!QFileInfo(folder).isDir()) folder = QDir::homePath();
  return QDir(folder).filePath(name);
}

void remember_export(const QString& path) {
  QSettings().setValue("export_directory", QFileInfo(path).absolutePath());
}

Files::Files(Workspace& workspace, Docks& docks) : workspace_(workspace), docks_(docks) {
  workspace.session_text = [this] {
    return text_for_figure(session_file(workspace_.study.session()));
  };
  QMainWindow& window = workspace.window;
  ask_for_source = [&window](const QString& missing, bool directory) {
    const QString title = "Where is " + QFileInfo(missing).fileName() + "?";
    return directory ? QFileDialog::getExistingDirectory(&window, title)
                     : QFileDialog::getOpenFileName(&window, title);
  };
  QObject::connect(&workspace.study, &Study::opened, &window,
                   [this](bool new_source) { source_opened(new_source); });
  QObject::connect(&workspace.study, &Study::session_changed, &window,
                   [this] { keep_conditions(); });
  QObject::connect(&workspace.study, &Study::leaving, &window, [this] {
    workspace_.editor.visit().session_file = session_path_.toStdString();
  });
  QObject::connect(&workspace.study, &Study::not_opened, &window, [this] { opening_ = {}; });
  QObject::connect(&workspace.editor, &SessionEditor::reopening, &window,
                   [this](const std::string& source, const Visit& to) {
                     opening_ = {.source = source,
                                 .path = to_qt(to.session_file),
                                 .layout = {},
                                 .selected_column = to.selected_column,
                                 .is_session = true};
                   });
}

// Until the source is there, the window shows another session, which is saved to its own file.
void Files::source_opened(bool new_source) {
  workspace_.info_bar.hide();
  if (!new_source) return;
  Opening opened = std::exchange(opening_, {});
  // Another source was opened instead.
  if (opened.source != workspace_.study.session().source) opened = {};
  session_path_ = is_figure_name(opened.path) ? QString() : opened.path;  // saved beside a figure
  remember(opened.path.isEmpty() ? to_qt(workspace_.study.source()->path) : opened.path);
  if (opened.is_session)  // a session has its own conditions; those kept for the file stay until
                          // others are set
    conditions_ = conditions_of(workspace_.study.session());
  else
    restore_conditions();
  if (!opened.layout.empty())
    docks_.restore_layout(QByteArray::fromBase64(QByteArray::fromStdString(opened.layout)));
  if (opened.orders) docks_.sort(*opened.orders);
  if (opened.selected_column) workspace_.study.select_column(*opened.selected_column);
  if (opened.then) opened.then();
}

// Mask, scale, window and soft cap that were set by hand are remembered per file.
void Files::restore_conditions() {
  Session session = workspace_.study.session();
  conditions_ = QSettings().value(conditions_key(session)).toMap();
  for_conditions([&]<class T>(const Condition<T>& condition) {
    if (const auto kept = conditions_.find(condition.id); kept != conditions_.end())
      session.conditions.*condition.member = kept->template value<T>();
  });
  workspace_.study.set_session(session);
}

void Files::keep_conditions() {
  const Session& session = workspace_.study.session();
  const QVariantMap now = conditions_of(session);
  if (!workspace_.study.source() || now == conditions_) return;
  conditions_ = now;
  if (now.isEmpty())
    QSettings().remove(conditions_key(session));
  else
    QSettings().setValue(conditions_key(session), now);
}

void Files::open_by_dialog() {
  QStringList patterns;
  for (const auto& pattern : file_patterns()) patterns << to_qt(pattern);
  patterns.insert(patterns.size() - 1,
                  "Sessions (*.fovea.json *.json *.png *.svg *.pdf *.html *.htm)");
  // before "All files"
  const QString path = QFileDialog::getOpenFileName(&workspace_.window, "Open", last_directory(),
                                                    patterns.join(";;"));
  if (!path.isEmpty()) open(path);
}

void Files::open_directory_by_dialog() {
  const QString path = QFileDialog::getExistingDirectory(
      &workspace_.window, "Open a directory of .npy files", last_directory());
  if (!path.isEmpty()) open(path);
}

void Files::open_address_by_dialog() {
  const QString now = to_qt(workspace_.study.session().source);
  bool ok = false;
  const QString what = QInputDialog::getText(
      &workspace_.window, "Open an address",
      "A path; a model, model:FOLDER?text=… or model:FOLDER?input=…, where FOLDER may be "
      "bundled:text\n"
      "or bundled:image; content:FILE, the content similarity of a text or an image; or a head "
      "made\n"
      "by a formula: synthetic:NAME?n=…&&d=…&&seed=…\n"
      "Names: hmatrix, gaussian, clusters, smooth, needle, golden",
      QLineEdit::Normal,
      now.startsWith("synthetic:") ? now : "synthetic:clusters?n=512&d=64&seed=1", &ok);
  if (ok && !what.trimmed().isEmpty()) open(what.trimmed());
}

void Files::open(const QString& what) {
  const std::string path = what.toStdString();
  try {
    if (is_live(path)) return emit stream_chosen(path.substr(live_prefix.size()));
    if (is_session_file(path)) return open_session_file(what, read_session(path));
    opening_ = {};
    workspace_.study.open(source_named(path, workspace_.study.source().get()));
  } catch (const Error& error) {
    workspace_.info_bar.show_message(error.what());
  }
}

void Files::open_session_file(const QString& path, const SessionFile& file) {
  const ContentElsewhere elsewhere = content_elsewhere(path.toStdString(), file);
  const auto ask = [this, path, file](const std::string& shown, const QString& why) {
    workspace_.info_bar.offer(path + " shows " + to_qt(readable_source(shown)) +
                                  " from another folder, " + why +
                                  ": whoever wrote it may never have seen that file",
                              "Open it…", [this, path, file] {
                                workspace_.info_bar.hide();
                                open_session(path, file);
                              });
  };
  if (!elsewhere.unknown.empty()) return ask(elsewhere.unknown, "and does not state its SHA-256");
  if (!is_address(file.session.source))
    workspace_.show_status(QFileInfo(path).fileName() + " reads " + to_qt(file.session.source));
  std::function<void()> ask_for_other_content;
  if (elsewhere.needs_hash)
    ask_for_other_content = [ask, file] {
      ask(file.session.source, "and states another SHA-256 than it has");
    };
  open_session(path, file, {}, std::move(ask_for_other_content));
}

void Files::open_recovered(const SessionFile& file, std::function<void()> then) {
  open_session({}, file, std::move(then));
}

void Files::open_session(const QString& path, const SessionFile& file, std::function<void()> then,
                         std::function<void()> ask_for_other_content) {
  if (is_source_there(file.session.source)) {
    opening_ = {.source = file.session.source,
                .path = path,
                .layout = file.layout,
                .orders = file.orders,
                .is_session = true,
                .then = std::move(then)};
    if (!file.layout.empty()) opening_.selected_column = file.selected_column;
    return workspace_.study.open(file.session.source, file.session, file.content_hash,
                                 std::move(ask_for_other_content), file.trees);
  }
  const MissingPart missing = missing_part(file);
  workspace_.info_bar.offer(
      missing.message, "Locate it…", [this, path, file, missing, then = std::move(then)] {
        const QString found = ask_for_source(to_qt(missing.path), missing.directory);
        if (found.isEmpty()) return;
        workspace_.info_bar.hide();
        SessionFile moved = file;
        moved.session.source = with_found(file.session.source, missing.path, found.toStdString());
        for (Column& column : moved.session.columns)
          if (column.held && in_own_order(column.held->source) == in_own_order(file.session.source))
            column.held->source =
                with_found(column.held->source, missing.path, found.toStdString());
        open_session(path, moved, then);
      });
}

bool Files::open_last() {
  if (!QFileInfo::exists(last_session())) return false;  // the first start
  // Opening another source hides messages, so this one is shown again.
  const auto refuse = [this](const QString& why) {
    const auto show = [this, why] {
      workspace_.info_bar.show_message("The last session could not be opened: " + why);
    };
    show();
    QObject::connect(&workspace_.study, &Study::opened, &workspace_.window, show,
                     Qt::SingleShotConnection);
    return false;
  };
  try {
    const SessionFile file = read_session(last_session().toStdString());
    if (!is_source_there(file.session.source))
      return refuse(to_qt(readable_source(file.session.source)) + " is no longer there");
    open_session({}, file);
    return true;
  } catch (const Error& error) {
    return refuse(error.what());
  }
}

SessionFile Files::session_file() const {
  return session_file(workspace_.study.wanted_session());
}

SessionFile Files::session_file(const Session& session) const {
  const bool shown = session.source == workspace_.study.session().source;
  return {.session = session,
          .content_hash = shown ? workspace_.study.content_hash() : "",
          .layout = docks_.layout().toBase64().toStdString(),
          .selected_column = workspace_.study.selected_column(),
          .orders = docks_.orders(),
          .trees = shown ? workspace_.study.trees() : std::vector<ColumnTree>()};
}

// Says why not if it returns false.
bool Files::can_save_session() {
  if (is_live(workspace_.study.session().source)) {
    emit capture_needed();
    return false;
  }
  if (workspace_.study.source()) return true;
  workspace_.show_status("There is nothing to save yet");
  return false;
}

void Files::save_session() {
  if (!can_save_session()) return;
  if (session_path_.isEmpty()) return save_session_by_dialog();
  save_session_to(session_path_);
}

void Files::save_session_by_dialog() {
  if (!can_save_session()) return;
  const QString proposed =
      session_path_.isEmpty() ? in_last_directory("session.fovea.json") : session_path_;
  const QString path = ask_new_file(workspace_.window, "Save the session", proposed,
                                    {"Sessions (*.fovea.json *.json)"});
  if (!path.isEmpty()) save_session_to(path);
}

void Files::save_session_to(const QString& path) {
  const QString before = session_path_;
  session_path_ = path;
  const auto work = [path = path.toStdString(), file = session_file()] {
    write_session(path, file);
  };
  write(path, work, [this, path, before](bool written) {
    if (written) return remember(path);
    if (session_path_ == path) session_path_ = before;
  });
}

void Files::keep_last(std::function<void()> kept) {
  if (!workspace_.study.source() || is_of_a_program(workspace_.study.session().source))
    return kept();
  QDir().mkpath(QFileInfo(last_session()).path());
  write(last_session(), [file = session_file(), kept = std::move(kept)] {
    write_session(last_session().toStdString(), file);
    kept();  // called here, as the window is gone when the session is written
  });
}

void Files::write(const QString& path, std::function<void()> work,
                  std::function<void(bool written)> then) {
  workspace_.show_status("Writing " + path + "…");
  const auto done = [this, path, then = std::move(then)](const std::string& error) {
    if (then) then(error.empty());
    if (error.empty()) return workspace_.show_status("Wrote " + path);
    workspace_.clear_status();
    workspace_.info_bar.show_message(to_qt(error));
  };
  workspace_.background->files.run(std::move(work), &workspace_.window, done);
}

}  // namespace fovea

#include "moc_files.cpp"
