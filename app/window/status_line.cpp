#include "window/status_line.h"

#include <QLabel>
#include <QProgressBar>
#include <QStatusBar>
#include <QToolButton>

#include "window/main_window.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"

namespace fovea {

namespace {

class StatusLine : public QObject {
 public:
  explicit StatusLine(MainWindow& window)
      : QObject(&window),
        window_(window),
        study_(window.study()),
        text_(new QLabel),
        head_(new QLabel),
        progress_(new QProgressBar),
        cancel_(new QToolButton) {
    // As many steps as pixels: more could not be seen, and each one redraws the window.
    constexpr int pixels = 160;
    progress_->setRange(0, pixels);
    progress_->setTextVisible(false);
    progress_->setFixedWidth(pixels);
    progress_->setAccessibleName("Progress");
    cancel_->setText("Cancel");
    cancel_->setObjectName("cancel_button");
    cancel_->setToolTip("End this work and keep what is there (Esc)");
    connect(cancel_, &QToolButton::clicked, &window, &MainWindow::cancel);
    make_selectable(*head_);
    for (QLabel* of_files : {text_, head_}) of_files->setTextFormat(Qt::PlainText);
    QStatusBar* bar = window.statusBar();
    bar->addWidget(text_, 1);
    for (QWidget* part : std::initializer_list<QWidget*>{progress_, cancel_, head_})
      bar->addPermanentWidget(part);
    startTimer(100);
    for (const auto signal : {&Study::session_changed, &Study::columns_changed})
      connect(&study_, signal, this, &StatusLine::refresh_head);
  }

 private:
  void refresh_head() {
    head_->setText(provenance_of(study_, false));
    const auto source = study_.source();
    window_.setWindowTitle(source ? to_qt(source->name) + " — Fovea" : "Fovea");
  }

  void timerEvent(QTimerEvent*) override {
    cancel_->setVisible(window_.can_cancel());
    if (const QString writing = window_.exports().text(); !writing.isEmpty()) {
      progress_->setVisible(true);
      progress_->setValue(int(progress_->maximum() * window_.exports().fraction()));
      return text_->setText(writing);
    }
    const Engine::Status status = study_.status();
    const bool working = study_.can_cancel();
    // Between the pieces of long work the engine is briefly idle.
    if (status.busy() || !study_.refining()) {
      progress_->setVisible(working && status.busy() && status.seconds > 0.3);
      progress_->setValue(int(progress_->maximum() * status.fraction));
    }
    QString text;
    if (study_.paused())
      text = "Cancelled";
    else if (status.busy() && traits_of(*status.running).in_background)
      text = traits_of(*status.running).text + to_qt(time_left_text(status));
    if (working) {
      text = study_.opening() ? traits_of(RequestKind::open).text
             : status.busy()  ? traits_of(*status.running).text
                              : "Computing";
      text += to_qt(time_left_text(status));
    }
    if (const QString layers = to_qt(study_.layers_text()); !layers.isEmpty())
      text = (study_.opening() ? text + ", "
              : status.busy()  ? text + "; reading the model: "
                               : "Reading the model: ") +
             layers;
    text_->setText(text);
  }

  MainWindow& window_;
  Study& study_;
  QLabel *text_, *head_;
  QProgressBar* progress_;
  QToolButton* cancel_;
};

/// The head, and the numbers that belong to it.
QStringList words_of_head(const Study& study, bool names_source) {
  const auto source = study.source();
  if (!source) return {};
  const Session& session = study.session();
  QStringList parts;
  if (names_source) parts << to_qt(source->name);
  if (source->layers.size() > 1 || source->layers.front().heads() > 1)
    parts
        << QString("%1, head %2").arg(to_qt(layer_label(*source, session.layer))).arg(session.head);
  if (const auto problem = study.problem())
    parts << QString("%1, d %2, scale %3%4%5")
                 .arg(to_qt(problem->lengths().text()).replace("n = ", "n "))
                 .arg(problem->d())
                 .arg(problem->scale, 0, 'g', 4)
                 .arg(problem->is_causal() ? ", causal"
                      : !session.conditions.causal && mask_is_assumed(*source, session.layer)
                          ? ", mask not stated"
                          : "")
                 .arg(to_qt(conditions_text(*problem)));
  return parts;
}

}  // namespace

QString provenance_of(const Study& study, bool names_source) {
  if (!study.source()) return {};
  const Backend& backend = study.backend();
  return (words_of_head(study, names_source)
          << to_qt(backend.device() + ", " + backend.precision()))
      .join("  ·  ");
}

QString subject_of(const Study& study, bool names_source) {
  return words_of_head(study, names_source).join(", ");
}

void make_status_line(MainWindow& window) {
  new StatusLine(window);  // owned by the window
}

}  // namespace fovea
