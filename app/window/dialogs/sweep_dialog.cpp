#include "window/dialogs/sweep_dialog.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QHBoxLayout>
#include <QHideEvent>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QSettings>
#include <QVBoxLayout>

#include "study/background.h"
#include "window/dialogs/export_dialog.h"
#include "window/dialogs/sweep_plot.h"
#include "window/dialogs/sweep_reading.h"
#include "window/widgets/theme.h"

namespace fovea {
namespace {

const QString cancel_text = "&Stop measuring";

// A control with its name before it, reached by Alt and a letter of it.
template <class Control>
Control* named(QHBoxLayout* row, const QString& name, Control* control) {
  auto* label = new QLabel(name);
  label->setBuddy(control);
  control->setAccessibleName(QString(name).remove('&'));
  row->addWidget(label);
  row->addWidget(control);
  row->addSpacing(2 * rhythm);
  return control;
}

}  // namespace

SweepDialog::SweepDialog(Study& study, std::shared_ptr<Background> background,
                         std::function<QString()> provenance, QWidget* parent)
    : QDialog(parent),
      study_(study),
      background_(std::move(background)),
      provenance_(std::move(provenance)),
      run_(study) {
  setWindowTitle("Sweep over n");
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(12, 12, 12, 12);
  column->setSpacing(rhythm);
  make_controls();
  column->addWidget(plot_ = new SweepPlot(this), 1);
  column->addWidget(reading_ = new QLabel(this));
  reading_->setObjectName("sweep_reading");
  reading_->setAccessibleName("Chosen point");
  reading_->setWordWrap(true);
  reading_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  reading_->setMinimumHeight(2 * fontMetrics().lineSpacing());
  make_buttons();
  connect(&run_, &SweepRun::changed, this, &SweepDialog::refresh);
  for (const auto signal : {&Study::session_changed, &Study::columns_changed})
    connect(&study_, signal, this, [this] {
      if (isVisible()) refresh_state();
    });
  connect(plot_, &SweepPlot::chosen, this, &SweepDialog::read);
  resize(1080, 660);
  restoreGeometry(QSettings().value("sweep/geometry").toByteArray());
  plot_->setFocus();
}

SweepDialog::~SweepDialog() {
  run_.disconnect(this);  // its end needs no refresh
}

void SweepDialog::make_controls() {
  auto* row = new QHBoxLayout;
  static_cast<QVBoxLayout*>(layout())->addLayout(row);
  time_ = named(row, "&Time", new QComboBox(this));
  time_->addItem("plan, upload and apply", int(SweepTime::total));
  time_->addItem("apply alone", int(SweepTime::apply));
  time_->setToolTip("Trees are built while planning: the paper learns them beforehand");
  longest_ = named(row, "&Up to n =", new QComboBox(this));
  allowed_ = named(row, "&Measure for at most", new QComboBox(this));
  for (const auto& [text, seconds] :
       {std::pair{"10 s", 10}, {"1 min", 60}, {"5 min", 300}, {"30 min", 1800}})
    allowed_->addItem(text, seconds);
  allowed_->setCurrentIndex(
      std::max(0, allowed_->findData(QSettings().value("sweep/seconds", 60).toInt())));
  row->addStretch(1);
  row->addWidget(measure_ = new QPushButton(this));
  measure_->setObjectName("sweep_measure");
  measure_->setText(cancel_text);  // the longer of its two
  measure_->setMinimumWidth(measure_->sizeHint().width());
  connect(time_, &QComboBox::currentIndexChanged, this, &SweepDialog::refresh);
  for (QComboBox* choice : {longest_, allowed_})
    connect(choice, &QComboBox::activated, this, &SweepDialog::measure);
  connect(measure_, &QPushButton::clicked, this, [this] {
    if (run_.running())
      run_.stop();
    else
      measure();
  });
}

void SweepDialog::make_buttons() {
  auto* row = new QHBoxLayout;
  static_cast<QVBoxLayout*>(layout())->addLayout(row);
  row->addWidget(state_ = new QLabel(this), 1);
  state_->setObjectName("sweep_state");
  row->addWidget(progress_ = new QProgressBar(this));
  progress_->setRange(0, 1000);
  progress_->setTextVisible(false);
  progress_->setFixedWidth(160);
  progress_->setAccessibleName("Progress of the sweep");
  const auto button = [&](const QString& text, const QString& tip, auto clicked) {
    auto* made = new QPushButton(text, this);
    made->setToolTip(tip);
    made->setAutoDefault(false);
    connect(made, &QPushButton::clicked, this, clicked);
    row->addWidget(made);
    return made;
  };
  measure_->setAutoDefault(false);
  copy_ = button("&Copy as CSV", "All points with their runs, as a table for the clipboard",
                 [this] { copy_table(); });
  export_ = button("&Export…", "As PNG, SVG or PDF", [this] { export_by_dialog(); });
  button("C&lose", "Ends the measuring; what was measured stays", [this] { close(); });
}

void SweepDialog::open_dialog() {
  show();
  raise();
  activateWindow();
  refresh_lengths();
  if (!run_.running() && (!run_.complete() || run_.stale())) measure();
  refresh();
}

void SweepDialog::hideEvent(QHideEvent* event) {
  if (!event->spontaneous()) run_.stop();  // not when the desktop minimises it
  QSettings().setValue("sweep/geometry", saveGeometry());
  QDialog::hideEvent(event);
}

void SweepDialog::measure() {
  SweepLimits limits;
  limits.longest = longest_->currentData().toLongLong();
  limits.seconds = allowed_->currentData().toDouble();
  QSettings().setValue("sweep/seconds", allowed_->currentData());
  plot_->choose(std::nullopt);
  run_.start(limits, provenance_() + (niceness > 0 ? QString(", at nice %1").arg(niceness) : ""));
  refresh();
}

// Lengths of the head that is open; the choice stays when it can, else all of it.
void SweepDialog::refresh_lengths() {
  const auto problem = study_.problem();
  std::vector<Index> lengths;
  if (problem) lengths = sweep_lengths(problem->n());
  bool same = longest_->count() == int(lengths.size());
  longest_->setEnabled(!lengths.empty());
  for (int i = 0; same && i < longest_->count(); ++i)
    same = longest_->itemData(i).toLongLong() == lengths[std::size_t(i)];
  if (same) return;
  longest_->clear();
  for (const Index n : lengths) longest_->addItem(QString::number(n), qlonglong(n));
  longest_->setCurrentIndex(longest_->count() - 1);
}

QString SweepDialog::message() const {
  if (!study_.source()) return "Nothing is open: open a head to measure it.";
  if (study_.shows_matrix())
    return "This source holds an attention matrix alone: without Q, K and V there is nothing to "
           "measure.";
  if (run_.status().waiting) return "Waiting until the window has computed what it shows";
  return run_.running() ? "Measuring…" : "Not measured";
}

QString SweepDialog::state() const {
  const SweepRun::Status& status = run_.status();
  if (run_.running()) {
    QString text = status.waiting ? "Waiting while the window computes"
                                  : ("Measuring " + status.doing).trimmed();
    if (status.seconds_left > 1) text += QString(", %1 s left").arg(status.seconds_left, 0, 'f', 0);
    return text;
  }
  if (run_.sweep().series.empty()) return {};
  if (run_.stale()) return "Of the head and columns as they were: measure again.";
  return run_.complete() ? run_.provenance() : "Cancelled: what was measured stays.";
}

void SweepDialog::refresh() {
  plot_->show_sweep(run_.sweep(), SweepTime(time_->currentData().toInt()), message());
  refresh_state();
  read(plot_->figure().marked);
}

// All but the plots, which would be laid out again at every move of the pointer over the canvas.
void SweepDialog::refresh_state() {
  refresh_lengths();
  const bool warns = !run_.running() && run_.stale();
  state_->setText(state());
  state_->setToolTip(run_.provenance());
  if (state_->property("style").toString() != (warns ? "warning" : "note")) {
    state_->setProperty("style", warns ? "warning" : "note");
    state_->setStyleSheet(" ");  // reads the property again
    state_->setStyleSheet("");
  }
  progress_->setVisible(run_.running());
  progress_->setValue(int(1000 * run_.status().fraction));
  measure_->setText(run_.running() ? cancel_text : "Measure a&gain");
  measure_->setEnabled(run_.running() || study_.problem());
  const bool any = !run_.sweep().series.empty() && !run_.sweep().series.front().points.empty();
  export_->setEnabled(any);
  copy_->setEnabled(any);
}

QString SweepDialog::message_text() const {
  return state_->text() + "\n" + reading_->text();
}

void SweepDialog::read(std::optional<SweepSpot> spot) {
  const QString text = spot ? sweep_reading(plot_->figure().sweep, *spot)
                       : copy_->isEnabled()
                           ? "Point at a measurement, or choose one with the arrow keys."
                           : "";
  if (reading_->text() != text) reading_->setText(text);
}

void SweepDialog::copy_table() {
  QApplication::clipboard()->setText(QString::fromStdString(to_csv(run_.sweep())));
}

void SweepDialog::export_by_dialog() {
  ExportDialog dialog("Export the sweep", this);
  const QString path = dialog.ask_path("sweep.pdf");
  if (!path.isEmpty()) export_to(path, dialog.style());
}

void SweepDialog::export_to(const QString& path, const FigureStyle& style) {
  SweepFigure figure = plot_->figure_for(style);
  figure.title = "Time, memory and error against n";
  figure.footer = run_.provenance().toStdString();
  state_->setText("Writing " + path + "…");
  background_->files.run(
      [path = path.toStdString(), figure] { write_figure(path, figure_of(figure)); }, this,
      [this, path](const std::string& error) {
        state_->setText(error.empty() ? "Wrote " + path : QString::fromStdString(error));
      });
}

}  // namespace fovea
