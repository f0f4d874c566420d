#include "window/live_bar.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QToolButton>
#include <algorithm>
#include <chrono>

#include "data/address.h"
#include "io/atomic_file.h"
#include "window/dialogs/questions.h"
#include "window/exports.h"
#include "window/files.h"
#include "window/widgets/form.h"
#include "window/widgets/slider.h"
#include "window/widgets/text.h"
#include "window/workspace.h"

namespace fovea {
namespace {

using namespace std::chrono_literals;

constexpr auto frame = 16ms;  // shows at most one step

std::string stream_address(const std::string& name) {
  return std::string(live_prefix) + name;
}

}  // namespace

LiveBar::LiveBar(Workspace& workspace, Files& files, Exports& exports)
    : QFrame(&workspace.window), workspace_(workspace), files_(files), exports_(exports) {
  setObjectName("live_bar");
  setAccessibleName("Live stream");
  make_widgets();
  later_.setSingleShot(true);
  connect(&later_, &QTimer::timeout, this, &LiveBar::advance);
  Study& study = workspace.study;
  study.find_source = [this](const std::string& what) { return find(what); };
  connect(&files_, &Files::stream_chosen, this, &LiveBar::open_stream);
  connect(&files_, &Files::capture_needed, this, &LiveBar::offer_capture);
  connect(&study, &Study::opened, this, &LiveBar::source_opened);
  connect(&study, &Study::not_opened, this, &LiveBar::refresh);
  connect(&study, &Study::session_changed, this, &LiveBar::refresh);
  hide();
}

void LiveBar::make_widgets() {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(12, rhythm / 2, rhythm, rhythm / 2);
  row->setSpacing(rhythm);
  row->addWidget(title_ = new QLabel);
  title_->setObjectName("live_title");
  title_->setTextFormat(Qt::PlainText);
  row->addWidget(names_ = new QComboBox);
  names_->setObjectName("live_names");
  names_->setAccessibleName("Stream");
  names_->setToolTip("The streams that programs have sent");
  connect(names_, &QComboBox::activated, this,
          [this](int at) { choose(names_->itemData(at).toString().toStdString()); });
  row->addWidget(slider_ = new Slider, 1);
  slider_->setObjectName("live_step");
  slider_->setAccessibleName("Step");
  slider_->setToolTip("Kept steps; the last place follows the program");
  slider_->setPageStep(10);
  connect(slider_, &QSlider::valueChanged, this, [this](int at) { go_to(at); });
  row->addWidget(place_ = new QLabel);
  place_->setObjectName("live_place");
  row->addStretch(0);
  row->addWidget(show_ = new QPushButton("Show"));
  show_->setObjectName("live_show");
  connect(show_, &QPushButton::clicked, this, [this] {
    workspace_.canvas.setFocus();
    open_stream(name_);
  });
  const auto add_button = [&](const QString& text, const QString& name, const QString& tip) {
    QToolButton* button = make_sign_button(text, name, tip);
    button->setFocusPolicy(Qt::TabFocus);
    row->addWidget(button);
    return button;
  };
  follow_button_ = add_button("Follow", "Follow", "Show each new step as it comes");
  follow_button_->setObjectName("live_follow");
  follow_button_->setCheckable(true);
  connect(follow_button_, &QToolButton::toggled, this, &LiveBar::set_following);
  capture_ = add_button("Save capture…", "Save capture", "Save the shown step as a file");
  connect(capture_, &QToolButton::clicked, this, &LiveBar::save_capture_by_dialog);
  QToolButton* close = add_button("✕", "Hide the stream", "Hide the stream; it stays as it is");
  connect(close, &QToolButton::clicked, this, &LiveBar::dismiss);
}

void LiveBar::watch(std::shared_ptr<LiveStreams> streams) {
  streams_ = std::move(streams);
  connect(streams_.get(), &LiveStreams::changed, this, &LiveBar::take_news);
  take_news();
}

bool LiveBar::is_shown() const {
  return !name_.empty() && workspace_.study.session().source == stream_address(name_);
}

std::optional<Index> LiveBar::shown_step() const {
  return is_shown() ? step_ : std::nullopt;
}

// Finds the source of an address, for opening and for undo.
std::shared_ptr<const Source> LiveBar::find(const std::string& what) {
  if (!streams_ || !is_live(what)) return nullptr;
  const std::string name = what.substr(live_prefix.size());
  const LiveStream stream = streams_->stream(name);
  if (stream.steps.empty()) return nullptr;
  name_ = name;
  stream_ = stream;
  const auto same = std::ranges::find(stream_.steps, step_.value_or(-1), &LiveStep::step);
  const LiveStep& step = follow_ || same == stream_.steps.end() ? stream_.steps.back() : *same;
  step_ = step.step;
  shown_ = step;
  since_.start();
  return step.source;
}

void LiveBar::open_stream(std::string name) {
  hidden_.erase(name);
  awaited_.clear();
  if (name_ != name) step_.reset();
  name_ = name;
  follow_ = true;
  const bool shown = is_shown();
  const auto source = find(stream_address(name));
  if (!source) awaited_ = name;
  if (source && !shown) workspace_.study.open(source);
  refresh();
  if (shown) advance();
}

// A source that a person opens meanwhile is not replaced by the awaited stream.
void LiveBar::source_opened() {
  if (!is_live(workspace_.study.session().source)) awaited_.clear();
  refresh();
}

void LiveBar::choose(const std::string& name) {
  const bool live = is_live(workspace_.study.session().source);
  if (live) return open_stream(name);  // from one stream to another
  name_ = name;
  refresh();
}

void LiveBar::take_news() {
  if (!streams_) return;
  const auto names = streams_->names();
  if (names.empty()) return;
  const auto is_there = [&](const std::string& name) {
    return std::ranges::count(names, name) > 0;
  };
  Study& study = workspace_.study;
  if (!awaited_.empty() && is_there(awaited_)) return open_stream(awaited_);
  if (!study.source() && !study.opening() && awaited_.empty()) {
    const auto fresh =
        std::ranges::find_if(names, [&](const auto& n) { return !hidden_.contains(n); });
    if (fresh != names.end()) return open_stream(*fresh);
  }
  if (!is_shown() && (!is_there(name_) || hidden_.contains(name_))) {
    const auto fresh =
        std::ranges::find_if(names, [&](const auto& n) { return !hidden_.contains(n); });
    if (fresh != names.end() && awaited_.empty()) name_ = *fresh;
  }
  refresh();
  advance();
}

// Shows the newest step if the one before could be seen.
void LiveBar::advance() {
  Study& study = workspace_.study;
  if (!streams_ || !follow_ || !is_shown() || study.opening() || study.paused()) return;
  stream_ = streams_->stream(name_);
  if (stream_.steps.empty()) return;
  const LiveStep& newest = stream_.steps.back();
  if (newest.source == study.source()) return refresh();
  const bool seen = !study.holds_step() && study.pictures_ready() &&
                    std::chrono::milliseconds(since_.elapsed()) >= frame;
  if (!seen) return later_.start(frame);
  show_step(newest);
}

void LiveBar::show_step(const LiveStep& step) {
  step_ = step.step;
  shown_ = step;
  since_.start();
  workspace_.study.continue_source(step.source);
  refresh();
}

void LiveBar::go_to(std::size_t kept) {
  if (!is_shown() || kept >= stream_.steps.size()) return;
  follow_ = kept + 1 == stream_.steps.size();
  show_step(LiveStep(stream_.steps[kept]));
  if (follow_) advance();
}

void LiveBar::set_following(bool on) {
  follow_ = on;
  if (on && workspace_.study.paused()) workspace_.study.resume();
  advance();
  refresh();
}

void LiveBar::dismiss() {
  hidden_.insert(name_);
  awaited_.clear();
  if (is_shown()) follow_ = false;  // pictures must not change without a bar that says why
  refresh();
}

QString LiveBar::text() const {
  return isHidden() ? QString() : (title_->text() + " " + place_->text()).trimmed();
}

void LiveBar::refresh() {
  if (streams_ && !name_.empty()) stream_ = streams_->stream(name_);
  if (const std::string& source = workspace_.study.session().source;
      is_live(source) && !is_shown() && awaited_.empty()) {
    name_ = source.substr(live_prefix.size());
    if (streams_) stream_ = streams_->stream(name_);
  }
  const bool shown = is_shown(), waits = !awaited_.empty();
  const bool there = !stream_.steps.empty();
  setVisible(!name_.empty() && !hidden_.contains(name_) && (there || shown || waits));
  refresh_names();
  const QString name = to_qt(name_);
  const Index last = there ? stream_.steps.back().step : 0;
  title_->setText(shown ? "live: " + name
                  : waits && listens_ && !listens_()
                      ? QString("Another Fovea takes what programs send: look for “%1” in its "
                                "windows, or close them.")
                            .arg(name)
                  : waits ? QString("Waiting for a program to send “%1”…").arg(name)
                          : QString("A program sends “%1”, step %2.").arg(name).arg(last));
  set_style(*title_, shown ? "link" : "");
  slider_->setVisible(shown && there);
  place_->setVisible(shown && there);
  follow_button_->setVisible(shown);
  capture_->setVisible(shown);
  show_->setVisible(!shown && !waits);
  const QSignalBlocker quiet_slider(slider_), quiet_button(follow_button_);
  follow_button_->setChecked(follow_);
  if (!shown || !there) return;
  const auto& steps = stream_.steps;
  const auto at = std::ranges::lower_bound(steps, step_.value_or(last), {}, &LiveStep::step);
  slider_->setRange(0, int(steps.size()) - 1);
  slider_->setValue(int(std::min<std::ptrdiff_t>(at - steps.begin(), std::ssize(steps) - 1)));
  const Index shown_step = step_.value_or(last);
  place_->setText(shown_step == last
                      ? QString("step %1").arg(last)
                      : QString("step %1, the last is %2").arg(shown_step).arg(last));
  QString tip = to_qt(plural(std::ssize(steps), "step")) + " kept";
  if (stream_.thinned_out > 0)
    tip += QString("; %1 older ones were dropped to save memory").arg(stream_.thinned_out);
  place_->setToolTip(tip + ".");
  if (stream_.thinned_out > 0)
    place_->setText(place_->text() + QString(", %1 kept").arg(steps.size()));
}

void LiveBar::refresh_names() {
  const auto names = streams_ ? streams_->names() : std::vector<std::string>();
  names_->setVisible(names.size() > 1);
  const QSignalBlocker quiet(names_);
  QStringList texts, listed;
  for (const std::string& name : names) texts << to_qt(name);
  for (int at = 0; at < names_->count(); ++at) listed << names_->itemText(at);
  if (texts != listed) {
    names_->clear();
    for (const QString& text : texts) names_->addItem(text, text);
  }
  names_->setCurrentIndex(names_->findData(to_qt(name_)));
}

void LiveBar::offer_capture() {
  workspace_.info_bar.offer(
      "What is shown is sent by a running program and is no file, so a session of it could not be "
      "opened again. Save the shown step as a file first.",
      "Save the capture…", [this] {
        const LiveStep step = shown_;  // the stream goes on while the dialog is open
        const QString path = ask_capture_path();
        if (!path.isEmpty())
          write_capture(path, step, [this, path] { open_and_save_session(path.toStdString()); });
      });
}

void LiveBar::open_and_save_session(const std::string& path) {
  Study& study = workspace_.study;
  Session session = study.session();
  session.source = path;
  auto* once = new QObject(this);
  connect(&study, &Study::not_opened, once, &QObject::deleteLater);
  connect(
      &study, &Study::opened, once,
      [this, once, path] {
        once->deleteLater();
        if (workspace_.study.session().source == path) files_.save_session_by_dialog();
      },
      Qt::QueuedConnection);
  study.open(path, session);
}

void LiveBar::save_capture_by_dialog() {
  const LiveStep step = shown_;
  if (const QString path = ask_capture_path(); !path.isEmpty()) write_capture(path, step, {});
}

// A stream may have any name.
QString LiveBar::ask_capture_path() {
  QString name = to_qt(name_).replace('/', '_');
  while (name.startsWith('.')) name.remove(0, 1);
  return ask_new_file(workspace_.window, "Save the capture",
                      in_last_directory((name.isEmpty() ? QString("live") : name) + ".safetensors"),
                      {"Tensors (*.safetensors)"});
}

void LiveBar::save_capture_to(const QString& path, std::function<void()> then) {
  write_capture(path, shown_, std::move(then));
}

void LiveBar::write_capture(const QString& path, const LiveStep& step, std::function<void()> then) {
  if (!step.bytes) return;
  const auto write = [path = path.toStdString(), bytes = step.bytes](const Run& run) {
    write_atomically(path, {reinterpret_cast<const char*>(bytes->data()), bytes->size()}, run.stop);
  };
  exports_.write(path, write, std::move(then));
}

}  // namespace fovea

#include "moc_live_bar.cpp"
