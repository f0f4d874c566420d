#include "window/recovery.h"

#include <QDateTime>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <chrono>

#include "data/address.h"
#include "data/error.h"
#include "data/number_text.h"
#include "input/open_source.h"
#include "study/background.h"
#include "window/files.h"
#include "window/main_window.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

using namespace std::chrono_literals;

constexpr auto between_writes = 500ms;  // at least
constexpr auto after_change = 50ms;     // changes within it are written together
constexpr auto layout_check = 5s;       // docks are moved without a signal

/// "at 14:03" for a time today, else "on 23 November at 14:03".
QString time_text(std::time_t time) {
  const QDateTime then = QDateTime::fromSecsSinceEpoch(time);
  const QString clock = "at " + then.toString("HH:mm");
  if (then.date() == QDate::currentDate()) return clock;
  return "on " + QLocale(QLocale::English).toString(then.date(), "d MMMM") + " " + clock;
}

/// Opening a source hides messages, so this one is shown again.
void show_message(Workspace& workspace, const QString& message) {
  const auto show = [&workspace, message] { workspace.info_bar.show_message(message); };
  show();
  if (workspace.study.source()) return;
  QObject::connect(&workspace.study, &Study::opened, &workspace.window, show,
                   Qt::SingleShotConnection);
}

}  // namespace

Recovery::Recovery(Workspace& workspace, Files& files)
    : QObject(&workspace.window), workspace_(workspace), files_(files) {
  soon_.setSingleShot(true);
  connect(&soon_, &QTimer::timeout, this, &Recovery::write);
  regularly_.setInterval(layout_check);
  connect(&regularly_, &QTimer::timeout, this, &Recovery::ask_to_write);
  for (const auto signal : {&Study::session_changed, &Study::columns_changed})
    connect(&workspace.study, signal, this, &Recovery::ask_to_write);
}

Recovery::~Recovery() = default;

void Recovery::keep_in(const std::string& folder) {
  try {
    take_over(std::make_shared<RecoveryFile>(folder));
  } catch (const UnavailableError& error) {
    report(error.what());
  }
}

void Recovery::take_over(std::shared_ptr<RecoveryFile> file) {
  const auto before = std::exchange(file_, std::move(file));
  if (before) before->remove();
  regularly_.start();
  ask_to_write();
}

bool Recovery::has_session() const {
  return file_ && workspace_.study.source() && !is_of_a_program(workspace_.study.session().source);
}

void Recovery::ask_to_write() {
  if (soon_.isActive() || !has_session()) return;
  const auto since =
      since_.isValid() ? std::chrono::milliseconds(since_.elapsed()) : between_writes;
  soon_.start(std::max<std::chrono::milliseconds>(after_change, between_writes - since));
}

// On a slow disk writes follow one another, each with the newest session.
void Recovery::write() {
  if (!has_session()) return;
  changed_meanwhile_ = writing_;
  if (writing_) return;
  writing_ = true;
  since_.start();
  workspace_.background->recovery.run(
      [file = file_, session = files_.session_file()] { file->write(session); }, this,
      [this](const std::string& error) {
        writing_ = false;
        if (!error.empty()) report(error);
        if (std::exchange(changed_meanwhile_, false)) ask_to_write();
      });
}

std::string Recovery::write_now() {
  if (!has_session()) return {};
  try {
    file_->write(files_.session_file());
    return file_->path();
  } catch (const std::exception&) {  // the file that is there stays
    return {};
  }
}

void Recovery::report(const std::string& error) {
  if (std::exchange(reported_, true)) return;
  show_message(workspace_,
               "If Fovea should end unexpectedly, this session is lost: " + to_qt(error));
}

std::function<void()> Recovery::end() {
  const bool unwritten = soon_.isActive() || changed_meanwhile_;
  soon_.stop();
  regularly_.stop();
  writing_ = false;  // this write follows one that may still go on
  if (unwritten) write();
  return [file = std::exchange(file_, nullptr)] {
    if (file) file->remove();
  };
}

RecoveryBar::RecoveryBar(MainWindow& window)
    : QFrame(&window), window_(window), label_(new QLabel) {
  setObjectName("recovery_bar");
  setAccessibleName("Sessions to restore");
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(12, rhythm / 2, rhythm, rhythm / 2);
  row->setSpacing(rhythm);
  label_->setWordWrap(true);
  label_->setTextFormat(Qt::PlainText);
  make_selectable(*label_);
  row->addWidget(label_, 1);
  const auto add = [&](const char* name, const QString& text, const QString& tip, auto act) {
    auto* button = new QPushButton(text);
    button->setObjectName(name);
    button->setToolTip(tip);
    connect(button, &QPushButton::clicked, this, act);
    row->addWidget(button);
  };
  add("restore", "Restore", "Open what was open; undo brings back what is shown now",
      &RecoveryBar::restore);
  add("discard", "Discard", "Forget the session", &RecoveryBar::discard);
  add("keep", "Keep for later", "Offer the session again when Fovea starts the next time",
      &RecoveryBar::keep);
  hide();
}

void RecoveryBar::offer(RecoverySearch found) {
  for (LeftBehind& left : found.sessions) left_.push_back(std::move(left));
  QStringList problems;
  for (const std::string& problem : found.problems) problems << to_qt(problem);
  if (!problems.isEmpty()) show_message(window_.workspace(), problems.join('\n'));
  show_next();
}

QString RecoveryBar::text() const {
  return isHidden() ? QString() : label_->text();
}

void RecoveryBar::show_next() {
  setVisible(!left_.empty());
  if (left_.empty()) return;
  const LeftBehind& left = left_.front();
  const Session& session = left.session.session;
  const QString name = to_qt(short_name(session.source));
  constexpr int most_letters = 50;  // a long name without spaces would widen the window
  const int width = most_letters * label_->fontMetrics().averageCharWidth();
  label_->setText(
      QString("Fovea ended unexpectedly. Restore the session of %1 (%2), last changed %3?%4")
          .arg(label_->fontMetrics().elidedText(name, Qt::ElideMiddle, width),
               to_qt(plural(std::ssize(session.columns), "column")), time_text(left.written),
               left_.size() > 1 ? QString(" (%1 more)").arg(left_.size() - 1) : QString()));
}

void RecoveryBar::restore() {
  const LeftBehind left = std::move(left_.front());
  left_.erase(left_.begin());
  MainWindow& to = restored_ && make_window ? make_window() : window_;
  restored_ = true;
  to.files().open_recovered(left.session,
                            [&to, file = left.file] { to.recovery().take_over(file); });
  show_next();
  to.canvas().setFocus();
}

void RecoveryBar::discard() {
  left_.front().file->remove();
  left_.erase(left_.begin());
  show_next();
}

void RecoveryBar::keep() {
  left_.erase(left_.begin());
  show_next();
}

}  // namespace fovea

#include "moc_recovery.cpp"
