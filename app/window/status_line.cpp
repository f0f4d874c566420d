#include "window/status_line.h"

#include <QLabel>
#include <QMainWindow>
#include <QProgressBar>
#include <QStatusBar>
#include <QTimer>
#include <QToolButton>

#include "study/study.h"

namespace fovea {

StatusLine::StatusLine(QMainWindow& window, Study& study)
    : window_(window),
      study_(study),
      text_(new QLabel(&window)),
      head_(new QLabel(&window)),
      progress_(new QProgressBar(&window)),
      cancel_(new QToolButton(&window)) {
  constexpr int pixels = 160;  // and steps: no more can be seen, and each redraws the window
  progress_->setRange(0, pixels);
  progress_->setTextVisible(false);
  progress_->setFixedWidth(pixels);
  progress_->setAccessibleName("Progress");
  cancel_->setText("Cancel");
  cancel_->setObjectName("cancel_button");
  cancel_->setToolTip("Stop computing; what is there stays (Esc)");
  QObject::connect(cancel_, &QToolButton::clicked, &study, &Study::cancel);
  QStatusBar* bar = window.statusBar();
  bar->addWidget(text_, 1);
  bar->addPermanentWidget(progress_);
  bar->addPermanentWidget(cancel_);
  bar->addPermanentWidget(head_);
  auto* clock = new QTimer(text_);
  QObject::connect(clock, &QTimer::timeout, text_, [this] { refresh(); });
  clock->start(100);
  for (const auto signal : {&Study::session_changed, &Study::columns_changed})
    QObject::connect(&study, signal, head_, [this] { refresh_head(); });
}

QString StatusLine::provenance() const {
  const auto source = study_.source();
  if (!source) return {};
  const Session& session = study_.session();
  QStringList parts{QString::fromStdString(source->name)};
  const std::string& layer = source->layers[std::size_t(session.layer)].name;
  if (source->layers.size() > 1 || source->layers.front().heads() > 1)
    parts << QString("%1, head %2")
                 .arg(layer.empty() ? QString("layer %1").arg(session.layer)
                                    : QString::fromStdString(layer))
                 .arg(session.head);
  if (const auto problem = study_.problem())
    parts << QString("n %1, d %2, scale %3%4")
                 .arg(problem->n())
                 .arg(problem->d())
                 .arg(problem->scale, 0, 'g', 4)
                 .arg(problem->causal ? ", causal" : "");
  const Backend& backend = study_.backend();
  parts << QString::fromStdString(backend.device() + ", " + backend.precision());
  return parts.join("  ·  ");
}

void StatusLine::refresh_head() {
  const QString text = provenance();
  if (head_->text() == text) return;
  head_->setText(text);
  window_.setWindowTitle(text.isEmpty() ? "Fovea" : text + " — Fovea");
}

void StatusLine::refresh() {
  const Engine::Status status = study_.status();
  const bool working = study_.can_cancel();
  // Between the pieces of long work the engine is idle for moments.
  if (status.busy() || !study_.refining()) {
    progress_->setVisible(working && status.busy() && status.seconds > 0.3);
    progress_->setValue(int(progress_->maximum() * status.fraction));
  }
  cancel_->setVisible(working);
  QString text;
  if (study_.paused()) text = "Cancelled. F5 computes again.";
  if (working) {
    text = study_.opening() ? text_of(RequestKind::open)
           : status.busy()  ? text_of(status.running->kind)
                            : "Computing";
    text += QString::fromStdString(time_left_text(status));
  }
  if (text_->text() != text) text_->setText(text);
}

}  // namespace fovea
